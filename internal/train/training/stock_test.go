package training_test

import (
	"bytes"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/training"
)

// shelf is a catalogue of one environment with a library.
func shelf(library func() ([]library.Behaviour, error)) envs.List {
	return envs.List{{
		ID: "point-mass", New: func(*rand.Rand) idrl.Environment { return pointmass.New(pointmass.Config{}) }, Library: library,
	}}
}

// first trains the first generation of a session on gaits.
func first(t *testing.T, list envs.List, seed uint64) (idrl.Generation, string) {
	t.Helper()
	spec := settings.Complete(idrl.SessionSpec{ID: "s", Title: "T", Env: list[0].ID, Solver: idrl.GaitSolver, Seed: seed})
	var log bytes.Buffer
	s := must.Get(training.NewStock(list, spec, slog.New(slog.NewTextHandler(&log, nil))))(t)
	tr := must.Get(training.New(list, spec))(t)
	tr.Stock = s
	m := must.Get(training.Model(list, spec))(t)
	g := must.Get(tr.Train(t.Context(), idrl.TrainJob{First: true, Posterior: m.Prior(), Seed: seed}))(t)
	return g, log.String()
}

// TestFirstFromALibrary: candidates are its behaviours in order.
func TestFirstFromALibrary(t *testing.T) {
	var list []library.Behaviour
	for k := range 20 {
		list = append(list, library.Behaviour{Name: "push", Params: behaviour.Linear.Params([]float64{0, 0, 0.3 * (float64(k) - 9.3)})})
	}
	g, log := first(t, shelf(func() ([]library.Behaviour, error) { return list, nil }), 3)
	if len(g.Candidates) != 20 || log != "" {
		t.Fatalf("%d candidates, log %q", len(g.Candidates), log)
	}
	for k, c := range g.Candidates {
		if !slices.Equal(c.Params, list[k].Params) {
			t.Errorf("candidate %d has %v", k, c.Params)
		}
	}
	checkPairs(t, g)
}

// checkPairs: people can answer every question, and the farthest pairs come first.
func checkPairs(t *testing.T, g idrl.Generation) {
	t.Helper()
	if len(g.Queries) == 0 {
		t.Fatal("no questions")
	}
	before := 100.0
	for k, q := range g.Queries {
		var v [2]*measure.View
		for i, id := range q.Clips {
			drawn, err := clip.Decode(g.Clips[id].Media)
			if err != nil {
				t.Fatal(err)
			}
			if v[i], err = measure.New(drawn); err != nil {
				t.Fatal(err)
			}
		}
		p := must.Get(measure.Compare(v[0], v[1]))(t)
		if !p.Answerable() || p.Apart() > before+1e-9 {
			t.Errorf("question %d is about clips %.3f apart after %.3f, answerable: %t", k, p.Apart(), before, p.Answerable())
		}
		before = p.Apart()
	}
}

// TestFirstWithoutALibrary: where there is no library, or one that does not fit, a session
// begins with random behaviours that differ, and the log says why.
func TestFirstWithoutALibrary(t *testing.T) {
	foreign := library.Behaviour{Name: "foreign", Params: behaviour.Linear.Params([]float64{1})}
	measured := library.Behaviour{Name: "measured", Params: behaviour.Linear.Params([]float64{0, 0, 1}), Mus: [][]float64{{1}}}
	var want []idrl.Candidate
	for _, test := range []struct {
		name, log string
		library   func() ([]library.Behaviour, error)
	}{
		{"no library", "", nil},
		{"an empty one", "", func() ([]library.Behaviour, error) { return nil, nil }},
		{"of another model", "make it again", func() ([]library.Behaviour, error) {
			return nil, errors.New("of another model: make it again")
		}},
		{"of another robot", "linear policy of", func() ([]library.Behaviour, error) { return []library.Behaviour{foreign}, nil }},
		{"of other features", "another environment", func() ([]library.Behaviour, error) { return []library.Behaviour{measured}, nil }},
	} {
		g, log := first(t, shelf(test.library), 5)
		if (log == "") != (test.log == "") || !strings.Contains(log, test.log) {
			t.Errorf("%s: log %q, want %q", test.name, log, test.log)
		}
		if len(g.Candidates) < 8 {
			t.Errorf("%s: %d candidates", test.name, len(g.Candidates))
		}
		if want == nil {
			want = g.Candidates
		}
		for k, c := range g.Candidates {
			if !slices.Equal(c.Params, want[k].Params) {
				t.Errorf("%s: candidate %d differs from that without a library", test.name, k)
			}
		}
		checkPairs(t, g)
	}
}
