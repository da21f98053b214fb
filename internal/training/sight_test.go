package training_test

import (
	"log/slog"
	"testing"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/picture"
	"tiebreak/internal/training"
)

// firstOf trains the first generation of a session as a worker does.
func firstOf(t *testing.T, env string, kind idrl.QueryKind, rule string) idrl.Generation {
	t.Helper()
	list := envs.Catalogue()
	spec, err := training.Complete(list, idrl.SessionSpec{ID: "s", Title: "T", Env: env, Kind: kind, Questions: rule, Seed: 3}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	tr, err := training.New(list, spec)
	if err != nil {
		t.Fatal(err)
	}
	if spec.ByGaits() {
		if tr.Stock, err = training.NewStock(list, spec, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := training.Model(list, spec)
	if err != nil {
		t.Fatal(err)
	}
	g, err := tr.Train(t.Context(), idrl.TrainJob{First: true, Posterior: m.Prior(), Seed: spec.Seed})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// unfit returns how many questions of g a person cannot answer.
func unfit(t *testing.T, g idrl.Generation) (n int) {
	t.Helper()
	for _, q := range g.Queries {
		var clips []idrl.Clip
		for _, id := range q.Clips {
			clips = append(clips, g.Clips[id])
		}
		v, err := picture.Of(clips)
		if err != nil {
			t.Fatal(err)
		}
		ok := v[0].Ratable()
		if q.Kind.Comparison() {
			p, err := picture.Compare(v[0], v[1])
			if err != nil {
				t.Fatal(err)
			}
			ok = p.Answerable()
		}
		if !ok {
			n++
		}
	}
	return n
}

// A session asks nothing that a person cannot answer, in any environment, whatever trains
// its policies; sessions that ask any question do.
func TestQuestionsOfEveryEnvironment(t *testing.T) {
	others := 0
	for _, e := range envs.Catalogue() {
		if e.Unavailable != nil { // the machine has no MuJoCo
			continue
		}
		kinds := []idrl.QueryKind{idrl.CompareClips}
		switch e.ID {
		case "gridworld", "chain", "junction", "hopper":
			kinds = idrl.QueryKinds()
		case "driver":
			kinds = []idrl.QueryKind{idrl.CompareClips, idrl.RateClip}
		}
		for _, kind := range kinds {
			t.Run(e.ID+" "+string(kind), func(t *testing.T) {
				g := firstOf(t, e.ID, kind, idrl.AnswerableQuestions)
				if n := unfit(t, g); n > 0 || len(g.Queries) == 0 {
					t.Errorf("%d of %d questions cannot be answered", n, len(g.Queries))
				}
				if e.Engine == "" {
					others += unfit(t, firstOf(t, e.ID, kind, idrl.AnyQuestions))
				}
			})
		}
	}
	if others == 0 {
		t.Error("without the rule all questions can be answered too: this test tells nothing apart")
	}
}
