package paper

import (
	"fmt"
	"strings"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/study/settings"
)

// numbers are the rows of the table of numbers. Their keys are those of the files that have the same numbers.
func numbers(s Source) (out []fact) {
	add := func(key, name, format string, values ...any) {
		out = append(out, fact{key, name, fmt.Sprintf(format, values...)})
	}
	about := s.about()
	add("answers", "Answers that count", "%d", s.Status.Answers)
	add("skipped", "Skipped, can’t tell, or clip failed", "%d", s.Status.Skipped)
	add("people", "People whose answers count", "%d", about.People)
	add("left_out", "People left out", "%d", len(s.leftOut()))
	add("withdrawn", "People who withdrew their data", "%d", s.Withdrawn)
	if n := len(s.Status.Regret); n > 0 && s.Spec.StatesRegret() {
		r := s.Status.Regret[n-1]
		add("p_within", "Probability that the loss is within the tolerance", "%.4g", r.Within)
		add("bound", "Loss that is not exceeded with a probability of 95 %, as a share of the range", "%.4g", r.Bound)
		add("mean", "Expected loss, as a share of the range", "%.4g", r.Mean)
		add("policies", "Known policies", "%d", r.Policies)
		add("may_stop", "The session may stop", "%s", either(s.Status.Stopping.Propose, "yes", "no"))
	}
	if s.Insight != nil {
		predicted(s, add)
	}
	if p, ok := s.Scores.All.Last(); ok && p.Decisive > 0 {
		add("accuracy", "Accuracy on held-out comparisons", "%.4g (95 %% interval %.4g to %.4g, of %d)", p.Accuracy(), p.Low, p.High, p.Decisive)
		add("log_loss", "Log loss on held-out comparisons", "%.4g nats (of %d)", p.LogLoss, p.Answered)
	}
	q := s.Quality
	add("shared", "Questions that two people or more answered", "%d", q.Questions)
	if q.Questions == 0 {
		return out
	}
	add("krippendorff_alpha", "Krippendorff’s α", "%s", coefficient(q.Alpha))
	if !q.Rated {
		add("raw_agreement", "Pairs of answers to one question that are the same", "%s", coefficient(q.Raw))
		add("fleiss_kappa", "Fleiss’ κ", "%s", coefficient(q.Fleiss))
	}
	return out
}

// predicted adds how well answers were predicted.
func predicted(s Source, add func(key, name, format string, values ...any)) {
	in := s.Insight
	for _, f := range []struct {
		key, of string
		n       int
		ece     float64
		right   float64
		loss    float64
	}{
		{"answer", "answers", in.Fit.N, in.Fit.ECE, in.Fit.Right, in.Fit.LogLoss},
		{"best", "best clips", in.FitBest.N, in.FitBest.ECE, in.FitBest.Right, in.FitBest.LogLoss},
		{"worst", "worst clips", in.FitWorst.N, in.FitWorst.ECE, in.FitWorst.Right, in.FitWorst.LogLoss},
	} {
		if f.n == 0 {
			continue
		}
		add("right_"+f.key, "Predicted "+f.of+" that came, each predicted from the answers before it", "%.4g of %d", f.right, f.n)
		add("ece_"+f.key, "Calibration error (ECE) of predicted "+f.of, "%.4g", f.ece)
		add("loss_"+f.key, "Log loss of predicted "+f.of, "%.4g nats", f.loss)
	}
	if r := in.FitRatings; r.N > 0 {
		add("half", "Ratings within their predicted 50 % interval", "%.4g (95 %% interval %.4g to %.4g, of %d)", r.Half.Share, r.Half.From, r.Half.To, r.N)
		add("most", "Ratings within their predicted 90 % interval", "%.4g (95 %% interval %.4g to %.4g, of %d)", r.Most.Share, r.Most.From, r.Most.To, r.N)
	}
}

// withMinus writes the sign of numbers as figures do.
func withMinus(text string) string { return strings.ReplaceAll(text, "-", "−") }

func coefficient(c *quality.Coefficient) string {
	switch {
	case c == nil:
		return "not defined"
	case c.Low == nil || c.High == nil:
		return withMinus(fmt.Sprintf("%.4g", c.Value))
	}
	return withMinus(fmt.Sprintf("%.4g (95 %% interval %.4g to %.4g)", c.Value, *c.Low, *c.High))
}

// unstated stands for a part of a data card that a researcher has not written.
const unstated = "not stated"

// card are the rows of the data card.
func card(s Source) []fact {
	spec := s.Spec
	said := func(text string) string {
		if text == "" {
			return unstated
		}
		return text
	}
	out := []fact{
		{"authors", "Authors", said(spec.Authors)},
		{"licence", "Licence", said(spec.Licence)},
		{"recruitment", "How people were recruited", said(spec.Recruitment)},
		{"payment", "How people were paid", said(spec.Payment)},
		{"consent", "Consent", either(spec.Consent != "", "People agreed to a text before their first question.", "No consent was asked for by the program.")},
		{"env_id", "Environment specification", environment(s)},
		{"people_named", "Names of people", "In no file: people are named by pseudonyms."},
		{"reward", "Reward", "None is recorded: answers say what people preferred."},
	}
	return out
}

// environment says what an environment is, as far as the session knows it.
func environment(s Source) string {
	spec := s.Spec
	out := fmt.Sprintf("%s, id %s, layout by the seed %d", s.Env, spec.Env, spec.LayoutSeed())
	if !spec.IsArena() && len(spec.Features) > 0 {
		out += fmt.Sprintf("; %s of the reward: %s", words.Plural(len(spec.Features), "feature"), strings.Join(spec.Features, ", "))
	}
	if spec.Clip.Steps > 0 {
		out += fmt.Sprintf("; clips of %s of the environment", words.Plural(spec.Clip.Steps, "step"))
	}
	return out
}

// long are the settings that a report has elsewhere.
var long = map[string]bool{"instructions": true, "consent": true, "authors": true, "licence": true, "recruitment": true, "payment": true, "title": true}

// set lists all settings of a session.
func set(spec idrl.SessionSpec) (out []fact) {
	for _, one := range settings.All() {
		if long[one.Key] || one.Key == "completion_code" { // a secret of the crowd platform
			continue
		}
		value := one.Text(spec)
		switch {
		case one.IsZero(spec) && one.Zero != "":
			value = one.Zero
		case value == "":
			value = "–"
		}
		out = append(out, fact{one.Key, one.Key, value})
	}
	return out
}
