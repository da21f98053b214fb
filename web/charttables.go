package web

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/idrl"
	"tiebreak/web/figure"
)

// chartTables are the tables behind the charts of the pages of a session with these settings: those that hold something in it.
func chartTables(spec idrl.SessionSpec) []table {
	out := []table{{"questions", "Each answered question: why it was asked, and what was predicted", []string{
		"row", "annotator", "answer", "counts", "p_a", "p_b", "p_equal", "picture_difference", "p_clear",
		"policy_1", "policy_2", "rivals", "shares", "info_nats", "pair_std", "candidates_of", "response_ms", "purpose", "p_best", "p_best_rivals", "turned",
	}, func(ctx context.Context, s watching, session Session, put func(...any) error) error {
		return s.questionTable(ctx, session, put)
	}}}
	for _, of := range []figure.Part{figure.OfInsight, figure.OfStatus} {
		if of == figure.OfStatus {
			out = append(out,
				table{"leases", "Questions that annotators have now", []string{"question", "annotator", "asked", "held_until", "policy_1", "policy_2"}, leasesTable},
				table{"trainings", "Trainings that have ended", []string{"training", "generation", "answers", "follow_up", "began", "ended", "took_s", "end", "policies", "why"}, trainingsTable})
		}
		for _, t := range figure.Tables() {
			if t.Of == of && figure.Fits(spec, t.Name) {
				out = append(out, ofMoment(t))
			}
		}
	}
	return out
}

// ofMoment is a table that is computed from what a session says of itself.
func ofMoment(t figure.Table) table {
	return table{t.Name, t.What, t.Columns, func(ctx context.Context, s watching, session Session, put func(...any) error) error {
		m, err := s.moment(ctx, session, t.Of)
		if err != nil {
			return err
		}
		return t.Write(m, put)
	}}
}

func leasesTable(ctx context.Context, _ watching, session Session, put func(...any) error) error {
	open, err := session.Open(ctx)
	if err != nil {
		return err
	}
	for _, as := range open {
		if err := put(as.N, string(as.Annotator), as.IssuedAt, as.LeaseUntil, string(as.Why.First), string(as.Why.Second)); err != nil {
			return err
		}
	}
	return nil
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
