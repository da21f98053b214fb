package web

import (
	"fmt"
	"math"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"
	"tiebreak/templates"
)

// predictions compare predictions of answers with the answers: of comparisons, of ratings, or of the best and the worst clip of groups.
func (p *pen) predictions() []templates.ChartCard {
	switch r, kind := p.m.Insight, p.m.Spec.Kind; {
	case kind.Group():
		return []templates.ChartCard{p.calibration("best", "group_predictions", r.FitBest), p.calibration("worst", "group_predictions", r.FitWorst)}
	case kind.Comparison():
		return []templates.ChartCard{p.calibration("", "predictions", r.Fit)}
	default:
		return []templates.ChartCard{p.ratings()}
	}
}

// calibration draws how often what was predicted came true; all is the table of every prediction.
func (p *pen) calibration(of, all string, fit insight.Calibration) templates.ChartCard {
	none, r := "", p.m.Insight
	switch {
	case fit.N == 0 && p.m.Spec.Model == idrl.NetworkModel:
		none = "Shown from the first answer on that a reward network has predicted."
	case fit.N == 0:
		none = "Shown from the first answer on."
	}
	p.look.Of = of
	c := p.card("calibration", "each predicted from the answers before it; above: number of answers; hollow: fewer than five; dashed: as predicted", none)
	p.look.Of = ""
	if none != "" {
		return c
	}
	c.All = chartURL(p.m.Spec.ID, all)
	said := "Of %s, %.0f %% were the most probable of clip a, clip b and equal."
	if of != "" {
		said = "Of %s, %.0f %% named the most probable clip."
	}
	c.Said = fmt.Sprintf(said, plural(fit.N, "answer"), 100*fit.Right)
	c.Verdict = fmt.Sprintf("Calibration error (ECE) %.3f; if the predictions are right, it lies between %.3f and %.3f by chance.", fit.ECE, fit.ByChance[0], fit.ByChance[1])
	switch {
	case fit.Useless(): // that they are badly calibrated, too, says less
		unseen := "the features do not describe"
		if p.m.Spec.Model == idrl.NetworkModel {
			unseen = "is not in what the robot observes"
		}
		c.Cautions = []string{"The predictions were no better than predictions made without knowledge of the clips. People may answer at random, judge by something that " + unseen + ", or rarely prefer one clip."}
	case fit.Beyond():
		c.Cautions = []string{"The calibration error is larger than chance explains: the likelihood does not describe how people answer. The intervals of the reward may be too narrow."}
	}
	c.Scores = []string{fmt.Sprintf("Brier score %.2f (%s%.2f without knowledge of the clips). Log loss %.2f nats (%.2f without knowledge of the clips).",
		fit.Brier, within(fit.BrierRange, "%.2f to %.2f; "), fit.BlindBrier, fit.LogLoss, fit.BlindLoss), basis(r)}
	if r.Left > 0 {
		c.Scores = append(c.Scores, fmt.Sprintf("Predictions after the first %d answers were recorded when the answers came. Those that no longer apply are left out: %s.", insight.Followed, plural(r.Left, "other answer")))
	}
	return c
}

// within writes an interval; nothing if there are too few answers for one.
func within(r [2]float64, format string) string {
	if math.IsNaN(r[0]) { // max and min keep it
		return ""
	}
	return fmt.Sprintf(format, r[0], r[1])
}

// basis says how predictions were made.
func basis(r *insight.Report) string {
	if r.Recorded {
		return "Each prediction was made without its answer, by the network in use when the answer came."
	}
	return "Each prediction is made without its answer, from the earlier answers that count now."
}

// ratings draws how many ratings are in each part of their predicted distributions.
func (p *pen) ratings() templates.ChartCard {
	fit := p.m.Insight.FitRatings
	if fit.N == 0 {
		return p.card("transforms", "each predicted from the ratings before it", "Shown from the first rating on.")
	}
	c := p.card("transforms", fmt.Sprintf("each predicted from the ratings before it; dashed: as predicted; dotted, %d to %d: each bin in 95 of 100 sessions, if the predictions are right; thick frame: outside of that",
		fit.Band[0], fit.Band[1]), "")
	c.All = chartURL(p.m.Spec.ID, "ratings")
	wrong := fmt.Sprintf("Rating minus prediction: %s of 10 points on average.", points(fit.Error))
	if low, high := fit.ErrorRange[0], fit.ErrorRange[1]; !math.IsNaN(low) {
		wrong = fmt.Sprintf("Rating minus prediction: %s of 10 points on average (%s to %s).", points(fit.Error), points(low), points(high))
	}
	c.Said = fmt.Sprintf("Of %s, %s lie in the predicted 50 %% interval and %s in the predicted 90 %% interval. %s Typical difference: %.1f points.",
		plural(fit.N, "rating"), coverage(fit.Half), coverage(fit.Most), wrong, 5*fit.Spread) + verdictScale(p.m.Spec.Kind)
	c.Verdict = fmt.Sprintf("Unevenness of the bins (χ²) %.1f; if the predictions are right, it is at most %.1f in 95 of 100 sessions.", fit.Uneven, fit.Limit)
	if fit.Beyond() {
		c.Cautions = []string{"The ratings differ from the predictions more than chance explains: the model of a rating does not describe how people rate. Many ratings in the first and last bins mean more noise than the model assumes; many in the middle mean less. The intervals of the reward may be wrong."}
	}
	c.Scores = []string{basis(p.m.Insight)}
	return c
}

// coverage shows a share with its interval.
func coverage(c insight.Coverage) string {
	return fmt.Sprintf("%.0f %% (%.0f to %.0f %%)", 100*c.Share, 100*c.From, 100*c.To)
}

// points shows a difference of ratings on the scale of the page.
func points(v float64) string {
	text := signed(5*v, 1)
	if v > 0 && text != "0.0" {
		text = "+" + text
	}
	return text
}
