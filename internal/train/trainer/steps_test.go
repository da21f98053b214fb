package trainer_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// Every clip that was cut from a trajectory names raw steps that are handed over, with
// the generation or with the first one, and they are the clip's: its features are their
// sum, and the episode can be repeated from them.
func TestRawSteps(t *testing.T) {
	for _, env := range []string{"driver", "gridworld", "junction"} {
		t.Run(env, func(t *testing.T) {
			tr := thompson(t, env, idrl.CompareClips)
			tr.Steps = func(tr *idrl.Trajectory, episode uint64) (idrl.StepsID, []byte, error) {
				return steps.Encode(steps.Of(tr, idrl.Steps{Env: env, Seed: 42, Episode: episode}))
			}
			job := jobFor(tr)
			job.BasedOn, job.First = 0, true
			first := train(t, tr, job)
			later := train(t, tr, jobFor(tr))
			all := map[idrl.StepsID][]byte{}
			for _, g := range []idrl.Generation{first, later} {
				for id, b := range g.Steps {
					all[id] = b
				}
			}
			for _, g := range []idrl.Generation{first, later} {
				for _, c := range g.Clips {
					s := must.Get(steps.Decode(c.Raw, all[c.Raw]))(t)
					phi := make([]float64, len(c.Phi))
					for _, row := range s.Phi[c.Start : c.Start+c.Steps] {
						floats.Add(phi, row)
					}
					if !slices.Equal(phi, c.Phi) {
						t.Errorf("clip %s: features %v, of its raw steps %v", c.ID, c.Phi, phi)
					}
					repeats(t, tr.NewEnv(), s)
				}
			}
			if len(later.Steps) > len(later.Candidates)*4 { // at most four rollouts are shown
				t.Errorf("%d raw steps of %d candidates: those of the pool are handed over again", len(later.Steps), len(later.Candidates))
			}
		})
	}
}

// repeats checks that the actions of s, in the environment and episode that it names,
// give its observations, within the error of their single precision.
func repeats(t *testing.T, env idrl.Environment, s idrl.Steps) {
	t.Helper()
	if _, random := env.(idrl.Tabular); random {
		return // the stream also decides what the policy does
	}
	step := env.Reset(rng.New(s.Seed, "rollout", s.Episode))
	for k, a := range s.Actions {
		for i, v := range step.Obs {
			if math.Abs(v-float64(s.Obs[k][i])) > 1e-5 {
				t.Fatalf("step %d: observation %v, recorded %v", k, step.Obs, s.Obs[k])
			}
		}
		action := make(idrl.Action, len(a))
		for i, v := range a {
			action[i] = float64(v)
		}
		step = env.Step(action)
	}
	if step.Kind != s.End {
		t.Errorf("the episode ends with %d, recorded %d", step.Kind, s.End)
	}
}

// Without a function that encodes them no raw steps are kept.
func TestNoRawSteps(t *testing.T) {
	tr := thompson(t, "driver", idrl.CompareClips)
	g := train(t, tr, jobFor(tr))
	if g.Steps != nil {
		t.Errorf("%d raw steps", len(g.Steps))
	}
	for id, c := range g.Clips {
		if c.Raw != "" {
			t.Errorf("clip %s names raw steps %s", id, c.Raw)
		}
	}
}
