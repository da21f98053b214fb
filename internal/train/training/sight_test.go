package training_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/training"
)

// firstOf trains the first generation of a session as a worker does.
func firstOf(t *testing.T, env string, kind idrl.QueryKind, rule string, seed uint64) idrl.Generation {
	t.Helper()
	list := envs.Catalogue()
	spec, err := training.Complete(list, settings.Complete(idrl.SessionSpec{ID: "s", Title: "T", Env: env, Kind: kind, Questions: rule, Seed: seed}))
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
		v := must.Get(measure.Of(clips))(t)
		ok := v[0].Ratable()
		if q.Kind.Comparison() {
			p := must.Get(measure.Compare(v[0], v[1]))(t)
			ok = p.Answerable()
		}
		if !ok {
			n++
		}
	}
	return n
}

// checkLibrary: all behaviours of the robot's library are candidates with the features that the
// library has of them, and every one is asked about.
func checkLibrary(t *testing.T, e envs.Entry, g idrl.Generation) {
	t.Helper()
	all := must.Get(e.Library())(t)
	if len(g.Candidates) != len(all) || len(all) < 24 {
		t.Fatalf("%d candidates, %d behaviours", len(g.Candidates), len(all))
	}
	for k, c := range g.Candidates {
		if !slices.Equal(c.Params, all[k].Params) || !slices.Equal(c.Mu, all[k].Mu()) || c.Origin != idrl.FromLibrary {
			t.Errorf("candidate %d is not behaviour %q", k, all[k].Name)
		}
	}
	asked := map[string]bool{}
	for _, q := range g.Queries {
		for _, id := range q.Clips {
			asked[strings.Join(strings.SplitN(string(g.Clips[id].From), ".", 3)[:2], ".")] = true // g0.p5 and g0.p5.1 are episodes of one
		}
	}
	if len(asked) != len(all) {
		t.Errorf("%d questions are about %d of %d behaviours", len(g.Queries), len(asked), len(all))
	}
}

// A session asks nothing that a person cannot answer, in any environment, whatever trains
// its policies; sessions that ask any question do. Those on a robot begin with its whole library.
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
				g := firstOf(t, e.ID, kind, idrl.AnswerableQuestions, 3)
				if n := unfit(t, g); n > 0 || len(g.Queries) == 0 {
					t.Errorf("%d of %d questions cannot be answered", n, len(g.Queries))
				}
				if e.Library != nil && kind == idrl.CompareClips {
					checkLibrary(t, e, g)
				}
				if e.Engine == "" {
					others += unfit(t, firstOf(t, e.ID, kind, idrl.AnyQuestions, 3))
				}
			})
		}
	}
	if others == 0 {
		t.Error("without the rule all questions can be answered too: this test tells nothing apart")
	}
}

// looks returns how many questions of g, comparisons, look different: clips that look alike
// count as one.
func looks(t *testing.T, g idrl.Generation) int {
	t.Helper()
	var views []*measure.View
	look := func(id idrl.ClipID) int {
		v := must.Get(measure.Of([]idrl.Clip{g.Clips[id]}))(t)
		for k, w := range views {
			if alike, err := measure.Alike(v[0], w); err != nil {
				t.Fatal(err)
			} else if alike {
				return k
			}
		}
		views = append(views, v[0])
		return len(views) - 1
	}
	known, out := map[idrl.ClipID]int{}, map[[2]int]bool{}
	for _, q := range g.Queries {
		var pair [2]int
		for i, id := range q.Clips {
			if _, ok := known[id]; !ok {
				known[id] = look(id)
			}
			pair[i] = known[id]
		}
		out[[2]int{min(pair[0], pair[1]), max(pair[0], pair[1])}] = true
	}
	return len(out)
}

// A first generation has more questions that look different than a person remembers, also on
// maps with many walls, where the best policies take few walks.
func TestQuestionsLookDifferent(t *testing.T) {
	for _, env := range []string{"gridworld", "gridworld-code", "junction"} {
		few := 0
		for seed := range uint64(12) {
			if n := looks(t, firstOf(t, env, idrl.CompareClips, idrl.AnswerableQuestions, seed)); n <= learning.Remembered {
				t.Errorf("%s, seed %d: only %d questions look different, and a person remembers %d", env, seed, n, learning.Remembered)
			}
			if env == "gridworld-code" && looks(t, firstOf(t, env, idrl.CompareClips, idrl.AnyQuestions, seed)) <= learning.Remembered {
				few++
			}
		}
		if env == "gridworld-code" && few < 6 {
			t.Errorf("without a look at them %d of 12 maps have few: this test tells nothing apart", few)
		}
	}
}
