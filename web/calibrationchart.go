package web

import (
	"fmt"
	"math"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"
	"tiebreak/templates"
	"tiebreak/web/figure"
)

// calibrationCharts compare predictions of answers with the answers: of comparisons, or of the best
// and the worst clip of groups.
func calibrationCharts(spec idrl.SessionSpec, r *insight.Report) []templates.CalibrationChart {
	replies := idrl.Outcomes()
	switch {
	case spec.Kind.Group():
		return []templates.CalibrationChart{
			calibrationChart(spec, r, templates.CalibrationChart{
				ID: "calibration-best", Title: "Predicted and actual best clips", Of: "Probability of the most probable clip", All: chartURL(spec.ID, "group_predictions"),
			}, r.FitBest, idrl.GroupSize),
			calibrationChart(spec, r, templates.CalibrationChart{
				ID: "calibration-worst", Title: "Predicted and actual worst clips", Of: "Probability of the most probable clip", All: chartURL(spec.ID, "group_predictions"),
			}, r.FitWorst, idrl.GroupSize),
		}
	case spec.Kind.Comparison():
		return []templates.CalibrationChart{calibrationChart(spec, r, templates.CalibrationChart{
			ID: "calibration", Title: "Predicted and actual answers", Of: "Probability of the most probable answer", All: chartURL(spec.ID, "predictions"),
		}, r.Fit, len(replies[:]))}
	}
	return nil
}

// calibrationChart draws fit, of predictions of one of some outcomes, into c.
func calibrationChart(spec idrl.SessionSpec, r *insight.Report, c templates.CalibrationChart, fit insight.Calibration, outcomes int) templates.CalibrationChart {
	c.CSV = chartURL(spec.ID, "calibration")
	switch {
	case fit.N == 0 && spec.Model == idrl.NetworkModel:
		c.None = "Shown from the first answer on that a reward network has predicted."
		return c
	case fit.N == 0:
		c.None = "Shown from the first answer on."
		return c
	}
	least := math.Floor(10/float64(outcomes)) / 10 // of the most probable of so many outcomes
	x, y := axis{low: least, high: 1, from: 14, to: 97}, axis{low: 0, high: 1, from: 84, to: 8}
	for _, v := range []float64{0.2, 0.4, 0.6, 0.8, 1} {
		if v > least {
			c.X = append(c.X, templates.Tick{Place: x.place(v), Text: fmt.Sprintf("%.0f %%", 100*v)})
		}
	}
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c.Y = append(c.Y, templates.Tick{Place: y.place(v), Text: fmt.Sprintf("%.0f %%", 100*v)})
	}
	c.Ideal = y.place(least)
	var words []string
	for _, b := range fit.Bins {
		if b.N == 0 {
			continue
		}
		p := templates.CalibrationPoint{
			X: x.place(b.Predicted), Y: y.place(b.Share), Low: y.place(b.From), High: y.place(b.To),
			Middle: x.place((max(least, b.Low) + b.High) / 2), N: fmt.Sprint(b.N), Few: b.N < 5,
			Bin: fmt.Sprintf("%.0f to %.0f %%", 100*b.Low, 100*b.High), Answers: fmt.Sprint(b.N), Predicted: fmt.Sprintf("%.0f %%", 100*b.Predicted),
			Share: fmt.Sprintf("%.0f %%", 100*b.Share), Interval: fmt.Sprintf("%.0f to %.0f %%", 100*b.From, 100*b.To),
		}
		c.Points = append(c.Points, p)
		words = append(words, fmt.Sprintf("%s of %s predicted, %s came true (%s).", plural(b.N, "answer"), p.Predicted, p.Share, p.Interval))
	}
	c.Desc = "In ten bins of equal width. " + c.Of + ": " + strings.Join(words, " ")
	c.Sum = fmt.Sprintf("Of %s, %.0f %% were the most probable answer.", plural(fit.N, "answer"), 100*fit.Right)
	c.Error = fmt.Sprintf("Calibration error (ECE) %.3f;", fit.ECE)
	c.Error += fmt.Sprintf(" if the predictions are right, it lies between %.3f and %.3f by chance.", fit.ByChance[0], fit.ByChance[1])
	c.Beyond, c.Useless = fit.Beyond(), fit.Useless()
	c.Brier = fmt.Sprintf("Brier score %.2f (%s%.2f without knowledge of the clips). Log loss %.2f nats (%.2f without knowledge of the clips).",
		fit.Brier, within(fit.BrierRange, "%.2f to %.2f; "), fit.BlindBrier, fit.LogLoss, fit.BlindLoss)
	c.Basis = basis(r)
	if r.Left > 0 {
		c.Basis += fmt.Sprintf(" Predictions after the first %d answers were recorded when the answers came. Those that no longer apply are left out: %s.", insight.Followed, plural(r.Left, "other answer"))
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

// ratingChart draws the transforms of ratings; its ID is empty in sessions without ratings.
func ratingChart(spec idrl.SessionSpec, r *insight.Report) (c templates.RatingChart) {
	if spec.Kind.Group() || spec.Kind.Comparison() {
		return c
	}
	c = templates.RatingChart{ID: "transforms", CSV: chartURL(spec.ID, "transforms"), All: chartURL(spec.ID, "ratings")}
	fit := r.FitRatings
	if fit.N == 0 {
		c.None = "Shown from the first rating on."
		return c
	}
	most := fit.Band[1]
	for _, k := range fit.Bins {
		most = max(most, k)
	}
	x, y := axis{low: 0, high: 1, from: 14, to: 97}, axis{low: 0, high: float64(most), from: 84, to: 8}
	marks, _ := figure.Ticks(0, float64(most), 3)
	for _, v := range marks {
		if v == float64(int(v)) {
			c.Y = append(c.Y, templates.Tick{Place: y.place(v), Text: fmt.Sprintf("%.0f", v)})
		}
	}
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c.X = append(c.X, templates.Tick{Place: x.place(v), Text: fmt.Sprintf("%.0f %%", 100*v)})
	}
	expected := float64(fit.N) / float64(len(fit.Bins))
	c.Expected, c.BandTop = y.place(expected), y.place(float64(fit.Band[1]))
	c.BandHeight = percentage(y.at(float64(fit.Band[0])) - y.at(float64(fit.Band[1])))
	var words []string
	for k, n := range fit.Bins {
		low, high := float64(k)/10, float64(k+1)/10
		bar := templates.RatingBar{
			X: percentage(x.at(low) + 0.6), Width: percentage(x.at(high) - x.at(low) - 1.2), Y: y.place(float64(n)), Height: percentage(y.from - y.at(float64(n))),
			Bin: fmt.Sprintf("%.0f to %.0f %%", 100*low, 100*high), N: fmt.Sprint(n), Out: n < fit.Band[0] || n > fit.Band[1],
		}
		c.Bars = append(c.Bars, bar)
		words = append(words, bar.N)
	}
	c.Band = fmt.Sprintf("%d to %d", fit.Band[0], fit.Band[1])
	c.Desc = fmt.Sprintf("Ratings by the predicted probability of a lower rating, in ten bins: %s. Each bin has %s with a probability of 95 %% if the predictions are right.", strings.Join(words, ", "), c.Band)
	c.Sum = fmt.Sprintf("Of %s, %s lie in the predicted 50 %% interval and %s in the predicted 90 %% interval.", plural(fit.N, "rating"), coverage(fit.Half), coverage(fit.Most))
	c.Error = fmt.Sprintf("Rating minus prediction: %s of 10 points on average.", points(fit.Error))
	if low, high := fit.ErrorRange[0], fit.ErrorRange[1]; !math.IsNaN(low) {
		c.Error = fmt.Sprintf("Rating minus prediction: %s of 10 points on average (%s to %s).", points(fit.Error), points(low), points(high))
	}
	c.Error += fmt.Sprintf(" Typical difference: %.1f points.", 5*fit.Spread)
	c.Uneven = fmt.Sprintf("Unevenness of the bins (χ²) %.1f; if the predictions are right, it is at most %.1f in 95 of 100 sessions.", fit.Uneven, fit.Limit)
	c.Beyond = fit.Beyond()
	c.Basis = basis(r)
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
