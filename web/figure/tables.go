package figure

import (
	"cmp"
	"fmt"
	"math"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
)

// each writes a row for each element.
func each[T any](all []T, put func(...any) error, row func(T) []any) error {
	for _, one := range all {
		if err := put(row(one)...); err != nil {
			return err
		}
	}
	return nil
}

func calibrationTable(m Moment, put func(...any) error) error {
	type fit struct {
		of string
		insight.Calibration
	}
	all := []fit{{"answer", m.Insight.Fit}}
	if m.Insight.FitBest.N > 0 {
		all = []fit{{"best", m.Insight.FitBest}, {"worst", m.Insight.FitWorst}}
	}
	for _, f := range all {
		err := each(f.Bins[:], put, func(b insight.Bin) []any {
			if b.N == 0 {
				return []any{b.Low, b.High, 0, 0, nil, nil, nil, nil, f.of}
			}
			return []any{b.Low, b.High, b.N, b.Right, b.Predicted, b.Share, b.From, b.To, f.of}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func predictionTable(m Moment, put func(...any) error) error {
	names := idrl.Outcomes()
	return each(m.Insight.Forecasts, put, func(f insight.Forecast) []any {
		return []any{f.Seq, f.P[0], f.P[1], f.P[2], string(names[f.Actual])}
	})
}

// groupColumns are the columns of the predictions of groups.
func groupColumns() []string {
	out := []string{"row", "best", "worst"}
	for _, pick := range []string{"p_best_", "p_worst_"} {
		for i := range idrl.GroupSize {
			out = append(out, pick+string(idrl.SideOf(i)))
		}
	}
	return out
}

func groupTable(m Moment, put func(...any) error) error {
	for i, best := range m.Insight.Best {
		worst := m.Insight.Worst[i]
		row := []any{best.Seq, string(idrl.SideOf(best.Actual)), string(idrl.SideOf(worst.Actual))}
		for _, p := range append(append([]float64{}, best.P...), worst.P...) {
			row = append(row, p)
		}
		if err := put(row...); err != nil {
			return err
		}
	}
	return nil
}

func transformTable(m Moment, put func(...any) error) error {
	fit := m.Insight.FitRatings
	for k, n := range fit.Bins {
		if err := put(float64(k)/10, float64(k+1)/10, n, float64(fit.N)/10, fit.Band[0], fit.Band[1]); err != nil {
			return err
		}
	}
	return nil
}

func ratingTable(m Moment, put func(...any) error) error {
	return each(m.Insight.Ratings, put, func(f insight.RatingForecast) []any {
		return []any{f.Seq, f.Rating, f.Mean, f.Low, f.High, f.PIT}
	})
}

func historyTable(m Moment, put func(...any) error) error {
	for _, p := range m.Insight.Posterior.Trace {
		for _, w := range m.Insight.Posterior.Weights {
			if err := put(p.Answers, w.Name, p.Mean[w.Index], p.Std[w.Index]); err != nil {
				return err
			}
		}
	}
	return nil
}

func covarianceTable(m Moment, put func(...any) error) error {
	all := make([]int, len(m.Insight.Posterior.Weights))
	for i := range all {
		all[i] = i
	}
	return covariances(m.Insight.Posterior, all, put)
}

// correlatedTable is covarianceTable for the figure: of the largest weights, for there may be thousands.
func correlatedTable(m Moment, put func(...any) error) error {
	p := m.Insight.Posterior
	return covariances(p, p.Largest[:min(len(p.Largest), mostCorrelated)], put)
}

func covariances(p insight.Posterior, of []int, put func(...any) error) error {
	cov, cor := p.Covariance(of), p.Correlation(of)
	for i, a := range of {
		for j, b := range of {
			if err := put(p.Weights[a].Name, p.Weights[b].Name, cov[i][j], cor[i][j]); err != nil {
				return err
			}
		}
	}
	return nil
}

func rateTable(m Moment, put func(...any) error) error {
	return each(m.Insight.Labour.Hours, put, func(h insight.Hour) []any { return []any{h.Begin, h.Replies} })
}

func timesTable(m Moment, put func(...any) error) error {
	return each(m.Insight.Labour.Times, put, func(t insight.Times) []any {
		out := []any{string(t.Annotator), t.N}
		for _, q := range t.Q {
			out = append(out, q.Seconds())
		}
		return out
	})
}

func verdictTable(m Moment, put func(...any) error) error {
	return each(m.Insight.Verdicts.Rates, put, func(r insight.SuccessRate) []any {
		return []any{r.Policy, r.Task, r.Episodes(), r.Failures, r.Partial, r.Success, r.Share, r.Low, r.High}
	})
}

func mixTable(m Moment, put func(...any) error) error {
	return each(m.Insight.Labour.Mix, put, func(s insight.Share) []any { return []any{string(s.Choice), s.N, s.Of, s.From, s.To} })
}

func regretTable(m Moment, put func(...any) error) error {
	return each(m.Status.Regret, put, func(r idrl.Regret) []any {
		return []any{r.Seq, r.Answers, r.Definition, r.Within, r.Bound, r.Mean, r.Unbeaten, r.Span, r.Policies}
	})
}

func candidateTable(m Moment, put func(...any) error) error {
	return each(m.Status.Candidates, put, func(e view.Estimate) []any { return []any{e.ID, e.Title, e.Name, e.Mean, e.Std, e.Draws} })
}

func weightTable(m Moment, put func(...any) error) error {
	return each(m.Status.Weights, put, func(e view.Estimate) []any { return []any{e.Name, e.Mean, e.Std} })
}

// networkTable is the table of all networks.
func networkTable(m Moment, put func(...any) error) error {
	for _, n := range m.Insight.Networks {
		for k, v := range n.Correlation {
			if err := put(n.Version, n.BasedOn, n.Clips, FeatureName(m.Spec, k), v); err != nil {
				return err
			}
		}
	}
	return nil
}

// FeatureName returns the name of feature k of a session.
func FeatureName(spec idrl.SessionSpec, k int) string {
	if k < len(spec.Features) {
		return spec.Features[k]
	}
	return fmt.Sprintf("feature %d", k+1)
}

// allConditions names the posterior of all answers in the table of conditions.
const allConditions = "all"

func conditionTable(m Moment, put func(...any) error) error {
	for _, one := range append([]view.ConditionScore{m.Scores.All}, m.Scores.Conditions...) {
		name := cmp.Or(string(one.Name), allConditions)
		err := each(one.Points, put, func(p view.ScorePoint) []any {
			return []any{name, one.Share, one.Questions, one.Answers, p.Answers, p.Decisive, p.Right, p.Accuracy(), p.Low, p.High, p.Answered, p.LogLoss}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func strengthTable(m Moment, put func(...any) error) error {
	for k, e := range m.Arena.Entrants {
		low, high := math.NaN(), math.NaN() // which stand for none
		if e.Population != nil {
			low, high = e.Population.Low, e.Population.High
		}
		err := put(k+1, e.Title, string(e.Session), string(e.Policy), e.After, e.Strength, e.Low, e.High, e.Best, e.Answers, e.Wins, e.Ties, low, high, m.Arena.Cutting)
		if err != nil {
			return err
		}
	}
	return nil
}
