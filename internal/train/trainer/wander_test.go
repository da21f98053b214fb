package trainer_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/gridworld"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/trainer"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// manyWalls has a map on which the thirty policies of a pool take seven different walks.
// Clips are told apart by where the agent goes.
func manyWalls(kind idrl.QueryKind) *trainer.Thompson {
	pairs := func(clips []idrl.Clip) (out [][2]int, err error) {
		for j, b := range clips {
			for i, a := range clips[:j] {
				if !slices.EqualFunc(a.Snapshots, b.Snapshots, floats.Equal) {
					out = append(out, [2]int{i, j})
				}
			}
		}
		return out, nil
	}
	return &trainer.Thompson{
		NewEnv: func() idrl.Environment {
			return gridworld.New(gridworld.Config{WallTosses: 2, MinReachable: 50}, rng.New(4, "layout", 0))
		},
		Solver: solver.Tabular{}, Kind: kind, Mu: solver.Mu, Pool: 30, Pairs: pairs,
		Steps: func(t *idrl.Trajectory, episode uint64) (idrl.StepsID, []byte, error) {
			return steps.Encode(steps.Of(t, idrl.Steps{Env: t.Env, Episode: episode}))
		},
	}
}

// walks returns how many of the clips that g asks about show walks of their own.
func walks(g idrl.Generation) int {
	var seen []idrl.Clip
	for _, q := range g.Queries {
		for _, id := range q.Clips {
			c := g.Clips[id]
			if !slices.ContainsFunc(seen, func(o idrl.Clip) bool { return slices.EqualFunc(o.Snapshots, c.Snapshots, floats.Equal) }) {
				seen = append(seen, c)
			}
		}
	}
	return len(seen)
}

// Where a pool takes few different walks, others are added until there are a hundred questions
// that look different. Each is of a policy of its own, in every generation, the same each time.
func TestFewWalks(t *testing.T) {
	first := func(tr *trainer.Thompson) (idrl.TrainJob, idrl.Generation) {
		job := jobFor(tr)
		job.BasedOn, job.First, job.Seed = 0, true, 4
		return job, train(t, tr, job)
	}
	without := manyWalls(idrl.CompareClips)
	without.Pairs = nil
	if _, g := first(without); walks(g) > 10 || len(g.Pool) != 30 {
		t.Errorf("without a look at the clips %d walks of %d policies; this test needs a map with few, of 30", walks(g), len(g.Pool))
	}
	tr := manyWalls(idrl.CompareClips)
	job, g := first(tr)
	if n := walks(g); n < 15 || len(g.Queries) < 100 {
		t.Errorf("%d walks and %d questions, want 15 and 100", n, len(g.Queries))
	}
	if n := len(g.Pool); n < 31 || n > 45 {
		t.Errorf("a pool of %d policies, want the 30 and as many as there are new walks", n)
	}
	for k, c := range g.Pool {
		if place, ok := trainer.PoolPlace(c.ID); !ok || place != k {
			t.Errorf("policy %d of the pool is called %s", k, c.ID)
		}
	}
	for k, a := range g.Pool[30:] {
		for _, b := range g.Pool[:30+k] {
			if slices.Equal(g.Clips[a.Clip].Phi, g.Clips[b.Clip].Phi) {
				t.Errorf("the walk of %s, which was added, has the features of that of %s", a.ID, b.ID)
			}
		}
	}
	if _, again := first(manyWalls(idrl.CompareClips)); !reflect.DeepEqual(g, again) {
		t.Error("another trainer makes another first generation")
	}
	// A session that was begun before policies were added has their steps from its next generation.
	later := train(t, tr, next(job, g))
	if walks(later) < 15 {
		t.Errorf("%d walks in the next generation", walks(later))
	}
	for _, c := range g.Pool[30:] {
		if name := g.Clips[c.Clip].Raw; name == "" || later.Steps[name] == nil {
			t.Errorf("the next generation lacks the raw steps %q of %s", name, c.ID)
		}
	}
	if _, rated := first(manyWalls(idrl.RateClip)); walks(rated) < 15 {
		t.Errorf("%d walks to be rated", walks(rated))
	}
	if _, states := first(manyWalls(idrl.CompareStates)); len(states.Pool) != 30 {
		t.Errorf("questions about states: a pool of %d policies, want 30", len(states.Pool))
	}
}

// A policy that is added goes by the best way to the field that it likes best: under weights
// of states alone, its value at the start is that of the best of all shortest ways.
func TestWhims(t *testing.T) {
	env := manyWalls(idrl.CompareClips).NewEnv().(idrl.Tabular)
	n, d := env.NumStates(), env.Spec().FeatureDim()
	withIndicators := trainer.Whims(env)
	spec := withIndicators.Spec()
	if got := spec.FeatureDim(); got != d+n || !slices.Equal(spec.FeatureNames[:d], env.Spec().FeatureNames) || !strings.HasSuffix(spec.FeatureNames[d+7], "7") {
		t.Fatalf("%d features %v, want those of the environment and one for each of %d states", got, spec.FeatureNames, n)
	}
	if len(env.Spec().FeatureNames) != d {
		t.Fatal("the environment itself has other features now")
	}
	have, own := mat.NewDense(n, d+n, slices.Repeat([]float64{9}, n*(d+n))), mat.NewDense(n, d, nil)
	withIndicators.Features(have)
	env.Features(own)
	for s := range n {
		for i := range d + n {
			want := 0.0
			if i < d {
				want = own.At(s, i)
			} else if i == d+s {
				want = 1
			}
			if have.At(s, i) != want {
				t.Fatalf("feature %d of state %d is %v, want %v", i, s, have.At(s, i), want)
			}
		}
	}

	far := distances(env)
	for goal, steps := range far {
		if steps < 1 || goal%7 > 0 {
			continue
		}
		theta := make([]float64, d+n)
		theta[d+goal] = 1
		p := must.Get(solver.Tabular{}.Solve(t.Context(), idrl.SolveTask{Env: withIndicators, Theta: theta}, nil))(t)
		taken := 0
		for _, step := range idrl.EpisodeOf(env, p, rng.New(1, "", 0)) {
			if int(step.Obs[0]) == goal {
				break
			}
			taken++
		}
		if taken != steps {
			t.Errorf("%d steps to state %d, which is %d away", taken, goal, steps)
		}
	}
}

// distances returns how many steps each state is away from the start, -1 if it is not reached.
func distances(env idrl.Tabular) []int {
	out := slices.Repeat([]int{-1}, env.NumStates())
	queue := []int{slices.Index(env.Start(nil), 1)}
	out[queue[0]] = 0
	for ; len(queue) > 0; queue = queue[1:] {
		for a := range env.Spec().Actions.Num {
			if to := slices.Index(env.Transition(nil, queue[0], a), 1); out[to] < 0 {
				out[to] = out[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
	return out
}
