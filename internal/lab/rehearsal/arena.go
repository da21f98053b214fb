package rehearsal

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
)

// A ranking compares the result of an arena with the true reward. It orders the entrants by the
// mean true return of their clips, which people compare.
type ranking struct {
	data    Data
	session idrl.SessionID
	theta   []float64 // true weights of the environment's features, length d
}

// A standing is an entrant as an arena ranks it, and what its clips are worth.
type standing struct {
	bradley.ReportEntrant
	worth float64 // mean true return of its clips
}

// compare returns the entrants in the order of the arena, the strongest first, and the number of
// answers that count. There are no entrants before the clips are made.
func (r *ranking) compare(ctx context.Context) (order []standing, answers int, err error) {
	rec, err := r.data.Record(ctx, r.session)
	if err != nil {
		return nil, 0, fmt.Errorf("read the server's data: %w", err)
	}
	if rec.Generation == nil {
		return nil, 0, nil
	}
	report, _, err := bradley.NewReport(rec)
	if err != nil {
		return nil, 0, err
	}
	worth := r.worth(rec)
	for _, e := range report.Entrants {
		k := slices.IndexFunc(rec.Spec.Arena.Entrants, func(o idrl.Entrant) bool { return o.Title == e.Title })
		order = append(order, standing{e, worth[k]})
	}
	return order, report.Answers, nil
}

// worth returns the mean true return of the clips of each entrant.
func (r *ranking) worth(rec record.Record) []float64 {
	mean := make([]float64, len(rec.Spec.Arena.Entrants))
	clips := make([]float64, len(mean))
	for _, id := range slices.Sorted(maps.Keys(rec.Generation.Clips)) {
		c := rec.Generation.Clips[id]
		if k, ok := rec.Spec.Arena.EntrantOf(c.From); ok {
			mean[k], clips[k] = mean[k]+floats.Dot(r.theta, c.Phi), clips[k]+1
		}
	}
	floats.Div(mean, clips)
	return mean
}

// say writes the order of an arena beside the true one, in lines without an end of the last.
func say(order []standing, answers int) string {
	if len(order) == 0 {
		return "The clips of the entrants are not made yet."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "After %d answers the arena ranks (strength with its 95 %% interval; mean true return of the clips):\n", answers)
	right, pairs := 0, 0
	for i, s := range order {
		fmt.Fprintf(&b, "  %d  %-28s %+6.2f  %+.2f to %+.2f  %10.4g\n", i+1, s.Title, s.Strength, s.Low, s.High, s.worth)
		for _, weaker := range order[i+1:] {
			if pairs++; s.worth >= weaker.worth {
				right++
			}
		}
	}
	fmt.Fprintf(&b, "  %d of %d pairs are in the order of the true reward.", right, pairs)
	return b.String()
}
