package statements_test

import (
	"cmp"
	"path/filepath"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/statements"
)

// Statements with an objection do not count as said; stops are judged at the first time; and a file
// gives the runs back.
func TestSum(t *testing.T) {
	run := statements.Run{World: "w", People: "p", Seed: 7, Moments: []statements.Moment{
		{Answers: 1, Regret: 0.5, Within: 0.95, Bound: 0.2, Mean: 0.1, Against: "untrained"},
		{Answers: 2, Regret: 0.1, Within: 0.92, Bound: 0.1, Mean: 0.05, MayStop: true},
		{Answers: 3, Regret: 0.02, Within: 0.5, Bound: 0.3, Mean: 0.1},
		{Answers: 4, Regret: 0.04, Within: 0.9, Bound: 0.01, Mean: 0.15, MayStop: true},
	}}
	file := filepath.Join(t.TempDir(), "said.csv")
	must.Do(t, cmp.Or(statements.Append(file, []statements.Run{run}), statements.Append(file, []statements.Run{run})))
	runs, err := statements.Read(file, 4)
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	near := func(got, want float64) bool { return got > want-1e-9 && got < want+1e-9 }
	f := statements.Sum(runs, 0)
	if f.Moments != 8 || !near(f.Withheld, 0.25) || !near(f.Covered.Value, 2.0/3) || !near(f.Always.Value, 0.5) ||
		f.Sure != 4 || !near(f.Right.Value, 0.5) || !near(f.Regret.Value, 0.165) || !near(f.Ratio.Value, 0.16/0.3) {
		t.Errorf("%+v", f)
	}
	if s := statements.StopsOf(runs); s != (statements.Stops{Stopped: 2, Wrong: 2, Answers: 2}) {
		t.Errorf("%+v", s)
	}
	if none, err := statements.Read(file, 40); err != nil || len(none) != 0 {
		t.Errorf("%d runs of 40 answers, %v", len(none), err)
	}
}

// All kinds of people answer a session, and the same seed gives the same moments.
func TestPeopleAnswer(t *testing.T) {
	w := must.Get(statements.FindWorld(t.Context(), "junction", t.TempDir()))(t)
	for _, k := range statements.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			var last []statements.Moment
			for range 2 {
				r, err := statements.Do(t.Context(), w, k, 3, 4)
				if err != nil || len(r.Moments) != 4 {
					t.Fatalf("%d moments, %v", len(r.Moments), err)
				}
				if last != nil && last[3] != r.Moments[3] {
					t.Errorf("%+v, and again %+v", last[3], r.Moments[3])
				}
				last = r.Moments
			}
		})
	}
}

// A trial of a seed has one result; without hidden features nothing is hidden.
func TestTrial(t *testing.T) {
	if _, err := statements.NewTrial(t.Context(), "half-cheetah", "taste:nonsense", ""); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a taste that there is not: %v", err)
	}
	for _, people := range []string{"matched", "hidden"} {
		trial := must.Get(statements.NewTrial(t.Context(), "gridworld", people, t.TempDir()))(t)
		one := must.Get(trial.Do(t.Context(), 5, 8))(t)
		if again, err := trial.Do(t.Context(), 5, 8); err != nil || again != one {
			t.Errorf("%s: %+v, and again %+v, %v", people, one, again, err)
		}
		if (one.Hidden > 0) != (people == "hidden") || people == "matched" && one.Told {
			t.Errorf("%s: %+v", people, one)
		}
	}
}
