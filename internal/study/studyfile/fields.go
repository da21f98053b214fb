package studyfile

import (
	"reflect"
	"strconv"
	"strings"

	"tiebreak/internal/idrl"
)

// A Field is one setting of a study file.
type Field struct {
	Key      string // in the file; with - for _ the flag, and the name of the form's field
	Go       string // field of idrl.SessionSpec
	About    string // what it says, for people
	Default  string // if the file leaves it out, as it would stand there
	Positive bool   // a number that cannot be 0, which stands for the default elsewhere
}

// Words that stand for values in a study file.
const (
	unlimited = "unlimited" // a budget without limit
	plainText = "plain"     // idrl.PlainText
)

// Limits of a study file.
const MaxFile = 256 << 10 // bytes

// Fields returns the settings of a study file, in the order in which it has them.
func Fields() []Field {
	list := func(names []string) string { return strings.Join(names, ", ") }
	kinds := make([]string, 0, len(idrl.QueryKinds()))
	for _, k := range idrl.QueryKinds() {
		kinds = append(kinds, string(k))
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return []Field{
		{Key: "title", Go: "Title", About: "what people call the session; annotators see it", Default: "Untitled session"},
		{Key: "env", Go: "Env", About: "environment: one that `tiebreak session --help` lists, or a model of your own", Default: "driver"},
		{Key: "kind", Go: "Kind", About: "query type: " + list(kinds), Default: kinds[0]},
		{Key: "budget", Go: "Budget", About: "answers after which the session is complete, or " + unlimited, Default: unlimited},
		{Key: "seed", Go: "Seed", About: "of every random choice and of the environment's layout; the form draws one if it is empty", Default: "1"},
		{Key: "instructions", Go: "Instructions", About: "what annotators read; empty: what the environment brings", Default: `""`},
		{Key: "instructions_format", Go: "InstructionsFormat", About: "of the instructions: " + idrl.Markdown + ", or " + plainText + ", one point per line", Default: idrl.Markdown},
		{Key: "consent", Go: "Consent", About: "Markdown that people agree to before their first question; empty: they are not asked", Default: `""`},
		{Key: "withdraw_days", Go: "WithdrawDays", About: "days after they joined for which people are offered to erase their data themselves; 0: they are not", Default: "0"},
		{Key: "completion_code", Go: "CompletionCode", About: "shown to annotators at the end, such as that of a crowd platform; empty: none", Default: `""`},
		{Key: "answers_each", Go: "AnswersEach", About: "answers after which a person has done their part; 0: no limit", Default: "0"},

		{Key: "acquisition", Go: "Acquisition", About: "strategy that chooses questions; `tiebreak session --help` lists them", Default: idrl.DefaultAcquisition},
		{Key: "conditions", Go: "Controls", About: "control strategies that choose a share of the questions beside `acquisition`, which has the rest (section 4)", Default: "[]"},
		{Key: "held_out", Go: "HeldOut", About: "share of the questions that are held out, up to 0.5: comparisons drawn at random, from which nothing learns, to judge what is learnt (section 4)", Default: "0"},
		{Key: "questions", Go: "Questions", About: "which may be asked: " + list(idrl.QuestionRules()), Default: idrl.QuestionRules()[0]},
		{Key: "candidates", Go: "Candidates", About: "sampled candidate policies of a generation, 2 to 50", Default: "5", Positive: true},
		{Key: "ahead", Go: "Ahead", About: "questions that an annotator holds, 1 to 10", Default: "3", Positive: true},
		{Key: "train_every", Go: "TrainEvery", About: "answers between the starts of two trainings; 0: 1 where a training takes less than a second, else 3", Default: "0"},
		{Key: "adopt_after", Go: "AdoptAfter", About: "adopt a generation exactly so many answers after its training began, so that a run can be repeated; 0: when it is ready", Default: "0"},

		{Key: "model", Go: "Model", About: "of the reward: " + list(idrl.RewardModels()), Default: idrl.RewardModels()[0]},
		{Key: "solver", Go: "Solver", About: "of policies: " + list(idrl.Solvers()), Default: idrl.Solvers()[0]},
		{Key: "return", Go: "Return", About: "by which policies of imported rollouts are compared: " + idrl.MeanReturn + ", the mean reward of a step; " + idrl.SumReturn + ", the sum over the episode; " + idrl.AutoReturn + ", the mean. Of simulated policies it is the sum", Default: idrl.Returns()[0]},
		{Key: "prior", Go: "Prior", About: "of the reward: " + list(idrl.Priors()), Default: idrl.Priors()[0]},
		{Key: "prior_var", Go: "PriorVar", About: "prior variance of each weight, on robots in units of its scale squared", Default: "1", Positive: true},
		{Key: "likelihood", Go: "Likelihood", About: "of a comparison: " + list(idrl.Likelihoods()), Default: idrl.Likelihoods()[0]},
		{Key: "noise_model", Go: "Noise", About: "whose noise of answers: " + list(idrl.NoiseRules()), Default: idrl.OwnNoise + "; where the models have no such noise, " + idrl.SharedNoise},
		{Key: "noise_std", Go: "NoiseStd", About: "standard deviation of the noise of comparisons, in units of return", Default: "3; of stills 0.5", Positive: true},
		{Key: "tie_band", Go: "TieBand", About: "half-width of equal, in units of return", Default: "a quarter of the noise", Positive: true},
		{Key: "rating_var", Go: "RatingVar", About: "variance of a rating, on a scale from -1 to 1", Default: "0.05", Positive: true},
		{Key: "rating_model", Go: "RatingModel", About: "of a rating: " + list(idrl.RatingModels()), Default: idrl.RatingModels()[0]},

		{Key: "strength", Go: "Strength", About: "annotators may say that a clip is much better", Default: "false"},
		{Key: "much_band", Go: "MuchBand", About: "half-width of what is not much better, with strength; 0: twice the noise", Default: "0"},
		{Key: "remarks", Go: "Remarks", About: "annotators may remark that both clips are bad, or good", Default: "false"},
		{Key: "show_learnt", Go: "ShowLearnt", About: "annotators see what was learnt from the answers", Default: "false"},

		{Key: "tolerance", Go: "Tolerance", About: "loss that counts as small, as a share of the range from the worst to the best policy", Default: number(idrl.DefaultTolerance), Positive: true},
		{Key: "doubt", Go: "Doubt", About: "propose to stop when a larger loss is at most this probable", Default: number(idrl.DefaultDoubt), Positive: true},
		{Key: "stop_by_itself", Go: "StopByItself", About: "stop then, rather than propose it", Default: "false"},

		{Key: "repeat_every", Go: "RepeatEvery", About: "repeat every so many questions one that the person has answered; 0: never", Default: "0"},
		{Key: "gold_every", Go: "GoldEvery", About: "hide among about every so many questions one with a known answer; 0: never", Default: strconv.Itoa(idrl.DefaultGoldEvery)},
		{Key: "min_dwell", Go: "MinDwell", About: "mark answers given before this share of the clip was on screen; 0: none", Default: number(idrl.DefaultMinDwell)},
		{Key: "max_rate", Go: "MaxRate", About: "mark answers that come faster than so many a minute; 0: none", Default: strconv.Itoa(idrl.DefaultMaxRate)},
	}
}

// Made lists the fields of idrl.SessionSpec that a study file does not have, because the
// program makes them with the session; an arena is no study.
func Made() []string {
	return []string{"ID", "Features", "PriorScale", "Clip", "InstructionsVersion", "ConsentVersion", "CreatedAt", "Arena"}
}

// Defaults returns the settings of an empty study file. Zero fields have the default that
// idrl.SessionSpec.WithDefaults fills in, which may depend on others.
func Defaults() idrl.SessionSpec {
	return idrl.SessionSpec{
		Title: "Untitled session", Env: "driver", Kind: idrl.CompareClips, Seed: 1, InstructionsFormat: idrl.Markdown,
		Acquisition: idrl.DefaultAcquisition, Questions: idrl.QuestionRules()[0],
		Model: idrl.RewardModels()[0], Solver: idrl.Solvers()[0], Return: idrl.Returns()[0], Prior: idrl.Priors()[0], Likelihood: idrl.Likelihoods()[0],
		Tolerance: idrl.DefaultTolerance, Doubt: idrl.DefaultDoubt,
		GoldEvery: idrl.DefaultGoldEvery, MinDwell: idrl.DefaultMinDwell, MaxRate: idrl.DefaultMaxRate,
	}
}

// Default returns the default of a setting as it would stand in a file, or in words.
func Default(key string) string {
	for _, f := range Fields() {
		if f.Key == key {
			return f.Default
		}
	}
	return ""
}

// value returns the field of a spec that f is.
func (f Field) value(spec *idrl.SessionSpec) reflect.Value {
	return reflect.ValueOf(spec).Elem().FieldByName(f.Go)
}

// Text returns the value of f in a spec as text: a budget without limit is 0, and a text is
// as it is.
func (f Field) Text(spec idrl.SessionSpec) string {
	v := f.value(&spec)
	switch v.Kind() { //nolint:exhaustive // text is the rest
	case reflect.Slice:
		return v.Interface().(idrl.Controls).String()
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	}
	return v.String()
}

// Copy sets the field of a spec that f is to that of another.
func (f Field) Copy(to *idrl.SessionSpec, from idrl.SessionSpec) { f.value(to).Set(f.value(&from)) }

// kind says what the value of f is, for people.
func (f Field) kind() string {
	switch f.value(new(idrl.SessionSpec)).Kind() { //nolint:exhaustive // text is the rest
	case reflect.Slice:
		return "a list of strategies and shares, such as `[{strategy: uniform, share: 0.25}]`"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		if f.Key == "budget" {
			return "a whole number, or " + unlimited
		}
		return "a whole number"
	}
	return "text"
}

// Table returns the settings as the rows of a Markdown table.
func Table() string {
	var b strings.Builder
	b.WriteString("| key | value | default | meaning |\n|---|---|---|---|\n")
	for _, f := range Fields() {
		b.WriteString("| `" + f.Key + "` | " + f.kind() + " | " + f.Default + " | " + f.About + " |\n")
	}
	return b.String()
}
