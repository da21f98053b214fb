package trainer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/trainer"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
)

// maker returns a constructor of equal instances of an environment.
func maker(t *testing.T, id string) func() idrl.Environment {
	t.Helper()
	e := must.Get(envs.Catalogue().Find(id))(t)
	return func() idrl.Environment { return e.New(rng.New(3, "layout", 0)) }
}

func thompson(t *testing.T, id string, kind idrl.QueryKind) *trainer.Thompson {
	t.Helper()
	newEnv := maker(t, id)
	s := must.Get(solver.For(newEnv()))(t)
	return &trainer.Thompson{NewEnv: newEnv, Solver: s, Kind: kind, Mu: solver.Mu, Samples: 3, Pool: 4}
}

func jobFor(tr *trainer.Thompson) idrl.TrainJob {
	d := tr.NewEnv().Spec().FeatureDim()
	return idrl.TrainJob{BasedOn: 7, Posterior: belief.Isotropic(d, 2), Seed: 42}
}

func train(t *testing.T, tr *trainer.Thompson, job idrl.TrainJob) idrl.Generation {
	t.Helper()
	g := must.Get(tr.Train(t.Context(), job))(t)
	return g
}

func TestGenerations(t *testing.T) {
	for _, env := range []string{"driver", "gridworld", "chain", "junction"} {
		for _, kind := range idrl.QueryKinds() {
			t.Run(env+" "+string(kind), func(t *testing.T) {
				tr := thompson(t, env, kind)
				g := train(t, tr, jobFor(tr))
				checkCandidates(t, tr, g)
				checkQueries(t, kind.Made(), g)
			})
		}
	}
}

func checkCandidates(t *testing.T, tr *trainer.Thompson, g idrl.Generation) {
	t.Helper()
	if len(g.Candidates) != 4 || g.BasedOn != 7 {
		t.Fatalf("%d candidates from answer %d, want 4 from 7", len(g.Candidates), g.BasedOn)
	}
	for k, c := range g.Candidates {
		if want := idrl.PolicyID(fmt.Sprintf("g7.p%d", k)); c.ID != want {
			t.Errorf("candidate %d is called %s, want %s", k, c.ID, want)
		}
		origin := idrl.FromSample
		if k == 3 {
			origin = idrl.FromMean
		}
		if c.Origin != origin {
			t.Errorf("candidate %d comes from the %s, want the %s", k, c.Origin, origin)
		}
		if _, ok := g.Clips[c.Clip]; !ok {
			t.Errorf("the clip of candidate %d is missing", k)
		}
		p := must.Get(solver.FromParams(tr.NewEnv(), c.Params))(t)
		if mu := solver.Mu(tr.NewEnv(), p, rng.New(1, "", 0)); !floats.EqualApprox(mu, c.Mu, 1e-9) {
			t.Errorf("candidate %d: Mu = %v, its Params give %v", k, c.Mu, mu)
		}
	}
	for _, c := range g.Candidates[:3] { // nobody beats a candidate under its own weights by much
		for _, other := range g.Candidates {
			if gap := floats.Dot(c.Theta, other.Mu) - floats.Dot(c.Theta, c.Mu); gap > 0.5 {
				t.Errorf("%s beats %s by %v under the latter's weights", other.ID, c.ID, gap)
			}
		}
	}
}

func checkQueries(t *testing.T, kind idrl.QueryKind, g idrl.Generation) {
	t.Helper()
	if len(g.Queries) < 4 {
		t.Fatalf("only %d questions", len(g.Queries))
	}
	seen := map[idrl.QueryID]bool{}
	for _, q := range g.Queries {
		if q.Kind != kind {
			t.Errorf("question %s is a %s, want a %s", q.ID, q.Kind, kind)
		}
		if seen[q.ID] {
			t.Errorf("question %s occurs twice", q.ID)
		}
		seen[q.ID] = true
		if kind.Comparison() && slices.Equal(g.Clips[q.Clips[0]].Phi, g.Clips[q.Clips[1]].Phi) {
			t.Errorf("question %s compares equals", q.ID)
		}
		for _, id := range q.Clips {
			c, ok := g.Clips[id]
			if !ok {
				t.Fatalf("clip %s of question %s is missing", id, q.ID)
			}
			if c.ID != id || len(c.Snapshots) != c.Steps+1 || (c.Steps == 0) != kind.Still() {
				t.Errorf("clip %s does not fit: %d steps, %d states, called %s", id, c.Steps, len(c.Snapshots), c.ID)
			}
		}
	}
}

// A tabular still per type of cell: eleven types make at most 55 pairs.
func TestTabularStates(t *testing.T) {
	ratings, pairs := thompson(t, "gridworld", idrl.RateState), thompson(t, "gridworld", idrl.CompareStates)
	if got := len(train(t, ratings, jobFor(ratings)).Queries); got != 11 {
		t.Errorf("%d ratings, want 11", got)
	}
	if got := len(train(t, pairs, jobFor(pairs)).Queries); got != 55 {
		t.Errorf("%d comparisons, want 55", got)
	}
}

func TestTrainIsAFunctionOfItsJob(t *testing.T) {
	for _, env := range []string{"driver", "gridworld", "junction"} {
		t.Run(env, func(t *testing.T) {
			one := thompson(t, env, idrl.CompareClips)
			first := train(t, one, jobFor(one))
			again := train(t, one, jobFor(one)) // its pool is ready now
			two := thompson(t, env, idrl.CompareClips)
			other := train(t, two, idrl.TrainJob{BasedOn: 3, Posterior: belief.Isotropic(len(first.Candidates[0].Mu), 1), Seed: 5})
			fresh := train(t, two, jobFor(two)) // after another session
			noPolicies := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Policy" }, cmp.Ignore())
			if d := cmp.Diff(first, again, noPolicies); d != "" {
				t.Errorf("the same job again:\n%s", d)
			}
			if d := cmp.Diff(first, fresh, noPolicies); d != "" {
				t.Errorf("the same job on another trainer:\n%s", d)
			}
			if cmp.Equal(first.Candidates[0].Theta, other.Candidates[0].Theta) {
				t.Error("another seed drew the same weights")
			}
		})
	}
}

// TestWarmStart: with an almost certain belief, a good warm start must not be
// lost: the mean-optimal policy is at least as good.
func TestWarmStart(t *testing.T) {
	tr := thompson(t, "driver", idrl.CompareClips)
	tr.Restarts, tr.Pool = 1, -1
	job := jobFor(tr)
	theta := []float64{1, -1, 0.5, -1, 0}
	job.Posterior = mustGaussian(t, theta)
	strong := must.Get(tr.Solver.Solve(t.Context(), idrl.SolveTask{Env: tr.NewEnv(), Theta: theta, Restarts: 30}, rng.New(1, "strong", 0)))(t)
	job.Warm = [][]float64{strong.Params()}
	g := train(t, tr, job)
	best := tr.NewEnv().(idrl.Differentiable).Return(nil, strong.Params(), theta)
	if got := floats.Dot(theta, g.Candidates[3].Mu); got < best-1e-9 {
		t.Errorf("return of the mean-optimal policy = %v, its warm start had %v", got, best)
	}
}

func mustGaussian(t *testing.T, mean []float64) idrl.Posterior {
	t.Helper()
	p := belief.Isotropic(len(mean), 1)
	model := belief.Model{Start: p, Rating: belief.Rating{NoiseVar: 1e-8}}
	var out idrl.Posterior = p
	for i, v := range mean {
		x := make([]float64, len(mean))
		x[i] = 1
		q := idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateState}, X: x}
		var err error
		if out, err = model.Condition(out, q, idrl.Answer{Choice: idrl.Rated, Rating: v}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestQuestionsAreThinnedOut(t *testing.T) {
	tr := thompson(t, "driver", idrl.CompareClips)
	tr.Pool, tr.MaxQueries = 20, 40
	g := train(t, tr, jobFor(tr))
	if len(g.Queries) != 40 {
		t.Fatalf("%d questions, want 40", len(g.Queries))
	}
	checkQueries(t, idrl.CompareClips, g)
	between := 0
	mine := map[idrl.ClipID]bool{}
	for _, c := range g.Candidates {
		mine[c.Clip] = true
	}
	for _, q := range g.Queries {
		if mine[q.Clips[0]] && mine[q.Clips[1]] {
			between++
		}
	}
	if want := len(mine) * (len(mine) - 1) / 2; between != want {
		t.Errorf("%d questions compare two candidates, want all %d", between, want)
	}
}

// TestRollouts: where an episode is a matter of chance a policy has several, the
// n-th of which begins in the same state for all policies, so that there is
// something to compare whatever the session's seed; elsewhere it has one.
func TestRollouts(t *testing.T) {
	for _, test := range []struct {
		env              string
		rollouts, starts int // at most
	}{
		{"driver", 4, 1},
		{"gridworld", 4, 1},
		{"chain", 1, 1},
		{"chain", 0, 4},
		{"junction", 1, 1},
		{"junction", 0, 4},
		{"junction", 9, 9},
	} {
		most, least := 0, 1000
		for seed := range uint64(8) {
			tr := thompson(t, test.env, idrl.CompareClips)
			tr.Rollouts, tr.Samples, tr.Restarts = test.rollouts, 1, 1
			job := jobFor(tr)
			job.Seed = seed
			g := train(t, tr, job)
			starts := map[string]bool{}
			for _, c := range g.Clips {
				starts[fmt.Sprint(c.Snapshots[0])] = true
			}
			most, least = max(most, len(starts)), min(least, len(g.Queries))
		}
		if most > test.starts || most < min(test.starts, 3) {
			t.Errorf("%s, %d rollouts: clips begin in up to %d states, want up to %d", test.env, test.rollouts, most, test.starts)
		}
		if test.starts > 1 && least < 6 { // four clips that differ
			t.Errorf("%s, %d rollouts: only %d questions with some seed", test.env, test.rollouts, least)
		}
	}
}

func TestEncode(t *testing.T) {
	tr := thompson(t, "driver", idrl.RateClip)
	tr.Encode = func(_ idrl.Environment, c idrl.Clip) ([]byte, error) { return []byte(c.ID), nil }
	for id, c := range train(t, tr, jobFor(tr)).Clips {
		if string(c.Media) != string(id) {
			t.Errorf("clip %s has media %q", id, c.Media)
		}
	}
	broken := errors.New("no ink")
	tr.Encode = func(idrl.Environment, idrl.Clip) ([]byte, error) { return nil, broken }
	if _, err := tr.Train(t.Context(), jobFor(tr)); !errors.Is(err, broken) {
		t.Errorf("error = %v, want that of Encode", err)
	}
}

func TestProgress(t *testing.T) {
	tr := thompson(t, "gridworld", idrl.RateState)
	drafts := thompson(t, "gridworld", idrl.RateState)
	drafts.First = drafts.Solver
	for _, test := range []struct {
		name  string
		tr    *trainer.Thompson
		first bool
		want  int
	}{
		{"a pool of four, four candidates, the clips", tr, false, 4 + 5},
		{"the pool is ready in the second training", tr, false, 5},
		{"candidates are chosen from the pool, which takes no time", drafts, true, 4 + 1},
	} {
		job, last, reached := jobFor(test.tr), -1, map[int]bool{}
		job.First = test.first
		job.Progress = func(done, total int, what string) {
			if done < last || total != test.want || what == "" {
				t.Errorf("%s: progress %d of %d (%q) after %d", test.name, done, total, what, last)
			}
			last, reached[done] = done, true
		}
		train(t, test.tr, job)
		if last != test.want || len(reached) != test.want+1 {
			t.Errorf("%s: last progress %d in %d steps, want %d at the end", test.name, last, len(reached), test.want)
		}
	}
}

// cancelling is a solver that cancels the run on its n-th solve.
type cancelling struct {
	idrl.Solver
	n      int
	cancel context.CancelFunc
}

func (c *cancelling) Solve(ctx context.Context, task idrl.SolveTask, stream *rand.Rand) (idrl.Policy, error) {
	if c.n--; c.n == 0 {
		c.cancel()
	}
	return c.Solver.Solve(ctx, task, stream)
}

func TestCancel(t *testing.T) {
	for _, at := range []int{1, 3, 6} { // in the pool of four, and after it
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			tr := thompson(t, "driver", idrl.CompareClips)
			want := train(t, thompson(t, "driver", idrl.CompareClips), jobFor(tr))
			ctx, cancel := context.WithCancel(t.Context())
			sound := tr.Solver
			tr.Solver = &cancelling{sound, at, cancel}
			if _, err := tr.Train(ctx, jobFor(tr)); !errors.Is(err, context.Canceled) {
				t.Errorf("error = %v, want context.Canceled", err)
			}
			got := train(t, tr, jobFor(tr)) // nothing half-done was kept
			if d := cmp.Diff(want.Queries, got.Queries); d != "" {
				t.Errorf("after a cancelled run:\n%s", d)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	tr := thompson(t, "driver", idrl.CompareClips)
	wrong := jobFor(tr)
	wrong.Posterior = belief.Isotropic(3, 1)
	if _, err := tr.Train(t.Context(), wrong); err == nil || idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("belief of another dimension: error = %v, want one of kind Invalid", err)
	}
	tr = thompson(t, "driver", "essay")
	if _, err := tr.Train(t.Context(), jobFor(tr)); err == nil || idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("unknown kind of question: error = %v, want one of kind Invalid", err)
	}
}
