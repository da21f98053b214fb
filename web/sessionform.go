package web

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/study/studyfile"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// sessionForm is the form for a new session: what was typed, what it means, and
// what is wrong with it.
type sessionForm struct {
	values map[string]string
	errs   map[string]string // by field, for people
	whole  string            // what is wrong with the form as a whole
	spec   idrl.SessionSpec
}

// moreFields stand under "More settings".
var moreFields = []string{
	"model", "solver", "return", "prior", "likelihood", "candidates", "ahead", "repeat_every", "gold_every", "train_every", "prior_var", "noise_std", "tie_band", "rating_var",
	"tolerance", "doubt", "stop_by_itself", "show_learnt", "completion_code", "answers_each", "questions", "consent", "withdraw_days",
	"conditions", "held_out", "strength", "much_band", "remarks", "noise_model", "rating_model", "adopt_after", "min_dwell", "max_rate",
}

// maxControls is how long the list of control strategies may be, in bytes.
const maxControls = 500

// FormFields returns the names of the fields of the form.
func FormFields() []string {
	return append([]string{"title", "env", "kind", "instructions", "budget", "acquisition", "seed"}, moreFields...)
}

// readSessionForm reads what a browser sent. Empty fields take their defaults.
func readSessionForm(c echo.Context, catalogue []EnvChoice) *sessionForm {
	f := &sessionForm{values: map[string]string{}, errs: map[string]string{}}
	for _, name := range FormFields() {
		f.values[name] = strings.TrimSpace(strings.ReplaceAll(c.FormValue(name), "\r\n", "\n"))
	}
	s := &f.spec
	s.Title, s.Instructions = f.text("title", 1, idrl.MaxTitle), f.text("instructions", 0, idrl.MaxInstructions)
	s.Env = f.env(catalogue)
	s.InstructionsFormat = idrl.Markdown
	f.legendOnly(catalogue)
	s.Kind = idrl.QueryKind(f.oneOf("kind", values(kindOptions())))
	s.Acquisition = f.oneOf("acquisition", acquisition.Names(acquisition.Live()))
	if f.errs["kind"] == "" && f.errs["acquisition"] == "" && !slices.Contains(acquisition.Names(acquisition.LiveFor(s.Kind)), s.Acquisition) {
		f.errs["acquisition"] = methodText(s.Acquisition) + " cannot choose questions of the kind above. Choose another one."
	}
	s.Controls, s.HeldOut = f.controls(), f.upTo("held_out", idrl.MaxHeldOut)
	s.Model = f.oneOf("model", idrl.RewardModels())
	if f.errs["kind"] == "" && s.Model == idrl.NetworkModel && s.Kind != idrl.CompareClips {
		f.errs["model"] = "A network learns from comparisons of clips only. Choose that kind of question above, or the features."
	}
	s.Solver, s.Return = f.oneOf("solver", idrl.Solvers()), f.oneOf("return", idrl.Returns())
	s.Prior, s.Likelihood = f.oneOf("prior", idrl.Priors()), f.oneOf("likelihood", idrl.Likelihoods())
	s.Budget = int(f.whole64("budget", 0, idrl.MaxBudget))
	s.Seed = uint64(f.whole64("seed", 0, 1<<53))
	s.Candidates, s.Ahead = int(f.whole64("candidates", 2, 50)), int(f.whole64("ahead", 1, 10))
	s.RepeatEvery = int(f.whole64("repeat_every", 2, idrl.MaxBudget))
	s.GoldEvery, s.MinDwell, s.MaxRate = f.goldEvery(), f.minDwell(), f.maxRate()
	s.TrainEvery, s.AdoptAfter = f.whole64("train_every", 1, idrl.MaxBudget), f.whole64("adopt_after", 0, idrl.MaxBudget)
	if f.errs["adopt_after"] == "" && s.TrainEvery > 0 && s.AdoptAfter > s.TrainEvery {
		f.errs["adopt_after"] = "Must not exceed the number of answers between two trainings."
	}
	s.PriorVar, s.NoiseStd = f.positive("prior_var"), f.positive("noise_std")
	s.TieBand, s.RatingVar = f.positive("tie_band"), f.positive("rating_var")
	s.Tolerance, s.Doubt = f.share("tolerance"), f.share("doubt")
	s.StopByItself = f.oneOf("stop_by_itself", values(stopOptions())) == "stop"
	s.CompletionCode = f.text("completion_code", 0, idrl.MaxCode)
	s.AnswersEach = int(f.whole64("answers_each", 0, idrl.MaxBudget))
	s.Consent, s.WithdrawDays = f.text("consent", 0, idrl.MaxConsent), int(f.whole64("withdraw_days", 0, idrl.MaxWithdrawDays))
	s.ShowLearnt = f.oneOf("show_learnt", values(learntOptions())) == "show"
	s.Questions = f.oneOf("questions", idrl.QuestionRules())
	s.Strength, s.MuchBand = f.oneOf("strength", values(strengthOptions())) == "ask", f.positive("much_band")
	s.Remarks = f.oneOf("remarks", values(remarkOptions())) == "take"
	s.Noise, s.RatingModel = f.noise(), f.oneOf("rating_model", idrl.RatingModels())
	if f.errs["model"] == "" && !s.StatesRegret() {
		f.refuseRule()
	}
	return f
}

// legendOnly says that a session without uploads can show no pictures but the legend's.
func (f *sessionForm) legendOnly(catalogue []EnvChoice) {
	i := slices.IndexFunc(catalogue, func(e EnvChoice) bool { return e.ID == f.spec.Env })
	if f.errs["instructions"] != "" || i < 0 {
		return
	}
	if err := unknownPicture(f.spec.Instructions, catalogue[i], nil); err != nil {
		f.errs["instructions"] = sentence(err.Error()) + " Pictures can be uploaded once the session is made."
	}
}

// noise reads whose noise of answers the session goes by. Each annotator's own is the default,
// which gives way where the model of the reward or of a comparison has no such noise.
func (f *sessionForm) noise() string {
	if f.oneOf("noise_model", idrl.NoiseRules()) == idrl.SharedNoise {
		return idrl.SharedNoise
	}
	return ""
}

// refuseRule says that a rule cannot stop sessions that state no regret.
func (f *sessionForm) refuseRule() {
	const why = "Sessions on a network state no regret, so that no rule can stop them. "
	for _, name := range []string{"tolerance", "doubt"} {
		if f.values[name] != "" {
			f.errs[name] = why + "Leave this empty."
		}
	}
	if f.spec.StopByItself {
		f.errs["stop_by_itself"] = why + "Choose the other option, or the features as the model of the reward."
	}
}

// controls reads the control strategies and their shares.
func (f *sessionForm) controls() (c idrl.Controls) {
	if err := c.Set(f.text("conditions", 0, maxControls)); err != nil && f.errs["conditions"] == "" {
		f.errs["conditions"] = "Write strategies with their shares of the questions, such as uniform=0.25, igr=0.1."
		return c
	}
	names := acquisition.Names(acquisition.LiveFor(f.spec.Kind))
	for _, k := range c {
		if f.errs["kind"] == "" && f.errs["conditions"] == "" && !slices.Contains(names, k.Strategy) {
			f.errs["conditions"] = fmt.Sprintf("There is no strategy %q for such questions. Those that there are: %s.", k.Strategy, strings.Join(names, ", "))
		}
	}
	return c
}

// upTo reads a number from 0 to most; an empty field is 0.
func (f *sessionForm) upTo(name string, most float64) float64 {
	v := f.values[name]
	if v == "" {
		return 0
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(v, ",", "."), 64)
	if err != nil || !(x >= 0 && x <= most) {
		f.errs[name] = fmt.Sprintf("Write a number from 0 to %v.", most)
	}
	return x
}

// text reads a field of low to high bytes.
func (f *sessionForm) text(name string, low, high int) string {
	v := f.values[name]
	switch {
	case len(v) < low:
		f.errs[name] = "Write something here."
	case len(v) > high:
		f.errs[name] = fmt.Sprintf("At most %d characters; these are %d.", high, len(v))
	}
	return v
}

// oneOf reads a field that must be empty or one of the known values, of which
// the first is the default.
func (f *sessionForm) oneOf(name string, known []string) string {
	v := f.values[name]
	if v == "" {
		return known[0]
	}
	for _, k := range known {
		if v == k {
			return v
		}
	}
	f.errs[name] = fmt.Sprintf("There is no %q here. Choose one of: %s.", v, strings.Join(known, ", "))
	return v
}

// env reads the environment, which must be available.
func (f *sessionForm) env(catalogue []EnvChoice) string {
	for _, e := range catalogue {
		if e.ID == f.values["env"] && e.Unavailable != "" {
			f.errs["env"] = fmt.Sprintf("%s %s. Choose another environment.", e.Title, strings.TrimSuffix(e.Unavailable, "."))
			return e.ID
		}
	}
	return f.oneOf("env", values(envOptions(catalogue)))
}

// whole64 reads a whole number from low to high; an empty field is 0.
func (f *sessionForm) whole64(name string, low, high int64) int64 {
	v := f.values[name]
	if v == "" {
		return 0
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < low || n > high {
		f.errs[name] = fmt.Sprintf("Write a whole number from %d to %d.", low, high)
	}
	return n
}

// goldEvery reads how often gold questions come.
func (f *sessionForm) goldEvery() int {
	if f.values["gold_every"] == "" {
		return idrl.DefaultGoldEvery
	}
	n := f.whole64("gold_every", 0, idrl.MaxBudget)
	if n == 1 {
		f.errs["gold_every"] = "Every question would be gold. Write at least 2, or 0 for never."
	}
	return int(n)
}

// minDwell reads the share of a clip that is to be on screen before an answer.
func (f *sessionForm) minDwell() float64 {
	v := f.values["min_dwell"]
	if v == "" {
		return idrl.DefaultMinDwell
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(v, ",", "."), 64)
	if err != nil || !(x >= 0 && x <= 1) {
		f.errs["min_dwell"] = "Write a number from 0 to 1, such as 0.25."
	}
	return x
}

// maxRate reads how many answers a minute are not hurried.
func (f *sessionForm) maxRate() int {
	if f.values["max_rate"] == "" {
		return idrl.DefaultMaxRate
	}
	return int(f.whole64("max_rate", 0, idrl.MaxRate))
}

// positive reads a number above 0; an empty field is 0.
func (f *sessionForm) positive(name string) float64 {
	v := f.values[name]
	if v == "" {
		return 0
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(v, ",", "."), 64)
	if err != nil || !(x > 0 && x <= 1e6) || math.IsInf(x, 0) {
		f.errs[name] = "Write a number above 0, at most 1000000."
	}
	return x
}

// share reads a number between 0 and 1; an empty field is 0.
func (f *sessionForm) share(name string) float64 {
	v := f.values[name]
	if v == "" {
		return 0
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(v, ",", "."), 64)
	if err != nil || !(x > 0 && x < 1) {
		f.errs[name] = "Write a number above 0 and below 1, such as 0.05."
	}
	return x
}

func (f *sessionForm) field(name string) templates.Field {
	return templates.Field{Value: f.values[name], Error: f.errs[name], Default: strings.Trim(studyfile.Default(name), `"[]`)}
}

// choice selects what was chosen if it may be, or the first option.
func (f *sessionForm) choice(name string, options []templates.Option) templates.Choice {
	chosen := 0
	for i, o := range options {
		if o.Value == f.values[name] && !o.Disabled {
			chosen = i
		}
	}
	options[chosen].Selected = true
	return templates.Choice{Options: options, Error: f.errs[name]}
}

// more reports whether "More settings" must be open to show what was typed.
func (f *sessionForm) more() bool {
	for _, name := range moreFields {
		if f.errs[name] != "" {
			return true
		}
	}
	return false
}

// values returns those that may be chosen.
func values(options []templates.Option) (out []string) {
	for _, o := range options {
		if !o.Disabled {
			out = append(out, o.Value)
		}
	}
	return out
}
