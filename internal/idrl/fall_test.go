package idrl_test

import (
	"math/rand/v2"
	"testing"

	"tiebreak/internal/idrl"
)

// tower is an environment that has fallen from one step to another, exclusive.
type tower struct {
	idrl.Environment
	t, from, to int
}

func (e *tower) Reset(*rand.Rand) idrl.TimeStep { e.t = 0; return idrl.TimeStep{Kind: idrl.First} }

func (e *tower) Step(idrl.Action) idrl.TimeStep {
	e.t++
	kind := idrl.Mid
	if e.t == 10 {
		kind = idrl.Truncated
	}
	return idrl.TimeStep{Kind: kind, Phi: []float64{float64(e.t)}}
}

func (e *tower) Fallen() bool { return e.t >= e.from && e.t < e.to }

func TestUntilFall(t *testing.T) {
	for _, test := range []struct {
		name     string
		from, to int
		steps    int
		end      idrl.StepKind
	}{
		{"never", 11, 11, 10, idrl.Truncated},
		{"on the way", 4, 11, 4, idrl.Terminated},
		{"and up again", 4, 6, 4, idrl.Terminated},
		{"with the last step", 10, 11, 10, idrl.Truncated}, // the horizon cuts it short in any case
		{"at the start alone", 0, 1, 10, idrl.Truncated},   // no step led there
	} {
		t.Run(test.name, func(t *testing.T) {
			env := idrl.UntilFall(&tower{from: test.from, to: test.to})
			for range 2 { // a second episode begins as the first
				steps, last := 0, idrl.TimeStep{}
				for _, s := range idrl.Episode(env, func([]float64) idrl.Action { return nil }, nil) {
					if s.Kind != idrl.First {
						steps++
					}
					last = s
				}
				if steps != test.steps || last.Kind != test.end || last.Phi[0] != float64(steps) {
					t.Errorf("%d steps to %v with features %v, want %d to %v", steps, last.Kind, last.Phi, test.steps, test.end)
				}
			}
		})
	}
	plain := struct{ idrl.Environment }{}
	if idrl.UntilFall(plain) != idrl.Environment(plain) {
		t.Error("an environment that cannot tell is not itself")
	}
}

func TestUntilFallIsOver(t *testing.T) {
	env := idrl.UntilFall(&tower{from: 1, to: 2})
	env.Reset(nil)
	env.Step(nil)
	defer func() {
		if recover() == nil {
			t.Error("an episode went on after a fall")
		}
	}()
	env.Step(nil)
}

func TestFall(t *testing.T) {
	for _, test := range []struct {
		name   string
		fallen []bool // of four states
		want   int
	}{
		{"not known", nil, 4},
		{"never", []bool{false, false, false, false}, 4},
		{"for good", []bool{false, false, true, true}, 2},
		{"up again", []bool{false, true, true, false}, 4},
		{"again and for good", []bool{true, true, false, true}, 3},
		{"all along", []bool{true, true, true, true}, 0},
	} {
		tr := idrl.Trajectory{Actions: make([]idrl.Action, 3), Fallen: test.fallen}
		if got := tr.Fall(); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}
