package web

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
)

// chartTables are the tables behind the charts of a session's page.
func chartTables() []table {
	return []table{
		{"questions", []string{
			"row", "annotator", "answer", "counts", "p_a", "p_b", "p_equal", "picture_difference", "p_clear",
			"policy_1", "policy_2", "rivals", "shares", "info_nats", "pair_std", "candidates_of", "response_ms", "purpose", "p_best", "p_best_rivals", "turned",
		}, func(ctx context.Context, s watching, session Session, put func(...any) error) error {
			return s.questionTable(ctx, session, put)
		}},
		{"calibration", []string{"from", "to", "answers", "came_true", "predicted", "share", "share_low", "share_high", "of"}, ofReport(calibrationTable)},
		{"predictions", []string{"row", "p_a", "p_b", "p_equal", "answer"}, ofReport(predictionTable)},
		{"group_predictions", groupColumns(), ofReport(groupTable)},
		{"transforms", []string{"from", "to", "ratings", "expected", "chance_low", "chance_high"}, ofReport(transformTable)},
		{"ratings", []string{"row", "rating", "predicted", "predicted_low", "predicted_high", "transform"}, ofReport(ratingTable)},
		{"history", []string{"answers", "weight", "mean", "std"}, ofReport(historyTable)},
		{"networks", []string{"network", "row", "clips", "feature", "correlation"}, func(ctx context.Context, _ watching, session Session, put func(...any) error) error {
			r, err := session.Insight(ctx)
			if err != nil {
				return err
			}
			return networkTable(session.Spec(), r, put)
		}},
		{"covariance", []string{"weight_1", "weight_2", "covariance", "correlation"}, ofReport(covarianceTable)},
		{"rate", []string{"hour", "answers"}, ofReport(rateTable)},
		{"times", []string{"annotator", "answers", "p5_s", "p25_s", "p50_s", "p75_s", "p95_s"}, ofReport(timesTable)},
		{"answers", []string{"answer", "number", "share", "share_low", "share_high"}, ofReport(mixTable)},
		{"leases", []string{"question", "annotator", "asked", "held_until", "policy_1", "policy_2"}, leasesTable},
		{"trainings", []string{"training", "generation", "answers", "follow_up", "began", "ended", "took_s", "end", "policies", "why"}, trainingsTable},
		{"regret", []string{"row", "definition", "p_within", "bound", "mean", "p_unbeaten", "span", "policies"}, ofStatus(regretTable)},
		{"candidates", []string{"policy", "title", "origin", "mean", "std", "candidates"}, ofStatus(candidateTable)},
		{"weights", []string{"weight", "mean", "std"}, ofStatus(weightTable)},
	}
}

func ofReport(write func(*insight.Report, func(...any) error) error) func(context.Context, watching, Session, func(...any) error) error {
	return func(ctx context.Context, _ watching, session Session, put func(...any) error) error {
		r, err := session.Insight(ctx)
		if err != nil {
			return err
		}
		return write(r, put)
	}
}

func ofStatus(write func(view.Status, func(...any) error) error) func(context.Context, watching, Session, func(...any) error) error {
	return func(ctx context.Context, _ watching, session Session, put func(...any) error) error {
		st, err := session.Status(ctx)
		if err != nil {
			return err
		}
		return write(st, put)
	}
}

// each writes a row for each element.
func each[T any](all []T, put func(...any) error, row func(T) []any) error {
	for _, one := range all {
		if err := put(row(one)...); err != nil {
			return err
		}
	}
	return nil
}

func historyTable(r *insight.Report, put func(...any) error) error {
	for _, p := range r.Posterior.Trace {
		for _, w := range r.Posterior.Weights {
			if err := put(p.Answers, w.Name, p.Mean[w.Index], p.Std[w.Index]); err != nil {
				return err
			}
		}
	}
	return nil
}

func covarianceTable(r *insight.Report, put func(...any) error) error {
	all := make([]int, len(r.Posterior.Weights))
	for i := range all {
		all[i] = i
	}
	cov, cor := r.Posterior.Covariance(all), r.Posterior.Correlation(all)
	for i, a := range r.Posterior.Weights {
		for j, b := range r.Posterior.Weights {
			if err := put(a.Name, b.Name, cov[i][j], cor[i][j]); err != nil {
				return err
			}
		}
	}
	return nil
}

func rateTable(r *insight.Report, put func(...any) error) error {
	return each(r.Labour.Hours, put, func(h insight.Hour) []any { return []any{h.Begin, h.Replies} })
}

func timesTable(r *insight.Report, put func(...any) error) error {
	return each(r.Labour.Times, put, func(t insight.Times) []any {
		out := []any{string(t.Annotator), t.N}
		for _, q := range t.Q {
			out = append(out, q.Seconds())
		}
		return out
	})
}

func mixTable(r *insight.Report, put func(...any) error) error {
	return each(r.Labour.Mix, put, func(s insight.Share) []any { return []any{string(s.Choice), s.N, s.Of, s.From, s.To} })
}

func leasesTable(ctx context.Context, _ watching, session Session, put func(...any) error) error {
	open, err := session.Open(ctx)
	if err != nil {
		return err
	}
	return each(open, put, func(as record.Assignment) []any {
		return []any{as.N, string(as.Annotator), as.IssuedAt, as.LeaseUntil, string(as.Why.First), string(as.Why.Second)}
	})
}

func regretTable(st view.Status, put func(...any) error) error {
	return each(st.Regret, put, func(r idrl.Regret) []any {
		return []any{r.Seq, r.Definition, r.Within, r.Bound, r.Mean, r.Unbeaten, r.Span, r.Policies}
	})
}

func candidateTable(st view.Status, put func(...any) error) error {
	return each(st.Candidates, put, func(e view.Estimate) []any { return []any{e.ID, e.Title, e.Name, e.Mean, e.Std, e.Draws} })
}

func weightTable(st view.Status, put func(...any) error) error {
	return each(st.Weights, put, func(e view.Estimate) []any { return []any{e.Name, e.Mean, e.Std} })
}

// A csvFile writes a table as a response. Its header is sent with the first row, so that an earlier
// error can still be reported.
type csvFile struct {
	c       echo.Context
	name    string
	columns []string
	out     *csv.Writer
}

// put writes a row. Nil is an empty cell; a number that is not finite is one too.
func (f *csvFile) put(cells ...any) error {
	if len(cells) != len(f.columns) {
		panic(fmt.Sprintf("web: %d cells in a table of %d columns", len(cells), len(f.columns)))
	}
	if err := f.begin(); err != nil {
		return err
	}
	row := make([]string, len(cells))
	for i, v := range cells {
		row[i] = cell(v)
	}
	return f.out.Write(row)
}

func (f *csvFile) begin() error {
	if f.out != nil {
		return nil
	}
	h := f.c.Response().Header()
	h.Set(echo.HeaderContentType, "text/csv; charset=utf-8")
	h.Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", f.name))
	h.Set(echo.HeaderCacheControl, "no-store")
	f.c.Response().WriteHeader(http.StatusOK)
	f.out = csv.NewWriter(f.c.Response())
	return f.out.Write(f.columns)
}

// end writes what is buffered, including the header of a table without rows.
func (f *csvFile) end() error {
	if err := f.begin(); err != nil {
		return err
	}
	f.out.Flush()
	return f.out.Error()
}

func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return exact(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	}
	return fmt.Sprint(v)
}

// exact writes a number so that reading it gives the same bits; nothing if it is not finite.
func exact(v float64) string {
	if v-v != 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
