package web

import (
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"
)

func calibrationTable(r *insight.Report, put func(...any) error) error {
	type fit struct {
		of string
		insight.Calibration
	}
	all := []fit{{"answer", r.Fit}}
	if r.FitBest.N > 0 {
		all = []fit{{"best", r.FitBest}, {"worst", r.FitWorst}}
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

func predictionTable(r *insight.Report, put func(...any) error) error {
	names := idrl.Outcomes()
	return each(r.Forecasts, put, func(f insight.Forecast) []any {
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

func groupTable(r *insight.Report, put func(...any) error) error {
	for i, best := range r.Best {
		worst := r.Worst[i]
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

func transformTable(r *insight.Report, put func(...any) error) error {
	fit := r.FitRatings
	for k, n := range fit.Bins {
		if err := put(float64(k)/10, float64(k+1)/10, n, float64(fit.N)/10, fit.Band[0], fit.Band[1]); err != nil {
			return err
		}
	}
	return nil
}

func ratingTable(r *insight.Report, put func(...any) error) error {
	return each(r.Ratings, put, func(f insight.RatingForecast) []any {
		return []any{f.Seq, f.Rating, f.Mean, f.Low, f.High, f.PIT}
	})
}
