package driver

import (
	"testing"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// driven plays an episode with an action for every ten steps, and returns its states.
func driven(e *Env, actions [5]idrl.Action) [][]float64 {
	e.Reset(nil)
	states := [][]float64{e.Snapshot(nil)}
	for t := range horizon {
		e.Step(actions[t/hold])
		states = append(states, e.Snapshot(nil))
	}
	return states
}

func TestName(t *testing.T) {
	always := func(turn, throttle float64) (out [5]idrl.Action) {
		for i := range out {
			out[i] = idrl.Action{turn, throttle}
		}
		return out
	}
	for _, test := range []struct {
		actions [5]idrl.Action
		want    string
		useless bool
	}{
		{always(0, 0.6), "hits the van", true}, // the van changes to its lane
		{[5]idrl.Action{{1, 1}, {-0.5, 1}, {-0.4, 1}, {0, 1}, {0, 1}}, "drives in the grass", true},
		{[5]idrl.Action{{1, 0}, {1, 0.2}, {1, 0.3}, {-1, 0.4}, {-1, 0.4}}, "drives in the grass", true}, // at its end
		{[5]idrl.Action{{0, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}}, "backs up and circles in the grass", true},
		{always(1, 1), "circles in the grass", true},
		{[5]idrl.Action{{0.5, -1}, {0.5, -1}, {0, -1}, {0, -1}, {0, -1}}, "backs off the road", true},
		{always(0, -1), "goes backwards", true},
		{always(0, 0), "hardly moves", true},
		{[5]idrl.Action{{0, -1}, {0, 0.4}, {0, 0.4}, {0, 0.4}, {0, 0.4}}, "backs up, then goes ahead", false},
		{[5]idrl.Action{{0, 0}, {0, 0.25}, {0, 0.35}, {0, 0.4}, {0, 0.4}}, "stays behind the van in its lane", false},
		{[5]idrl.Action{{1, 0}, {1, 0.4}, {-1, 0.4}, {-1, 0.4}, {0, 0.4}}, "changes lane behind the van", false},
		{always(0, 1), "overtakes the van", false},
	} {
		e := New()
		if got, want := e.Name(driven(e, test.actions)), (drawing.Happening{Name: test.want, Useless: test.useless}); got != want {
			t.Errorf("%v: %v, want %v", test.actions, got, want)
		}
	}
}

// A car that turns round on the road, which it could not do in so little room, and stills.
func TestNameOfStates(t *testing.T) {
	for _, test := range []struct {
		states [][]float64 // x, y, heading, speed and step
		want   drawing.Happening
	}{
		{[][]float64{{0, 0, 1.5, 0.5, 0}, {0, -0.5, -1.5, 0.5, 1}}, drawing.Happening{Name: "turns round", Useless: true}},
		{[][]float64{{0.5, 0, 1.5, 0.5, 0}}, drawing.Happening{Name: "is off the road", Useless: true}},
		{[][]float64{{laneWidth, 0, 1.5, 0.5, 0}}, drawing.Happening{Name: "is in the van", Useless: true}},
		{[][]float64{{0, -0.5, -1.5, 0.5, 0}}, drawing.Happening{Name: "faces the wrong way", Useless: true}},
		{[][]float64{{0, 0.5, 1.5, 0.5, 0}}, drawing.Happening{Name: "is ahead of the van"}},
		{[][]float64{{0, -0.5, 1.5, 0.5, 0}}, drawing.Happening{Name: "is behind the van"}},
	} {
		if got := New().Name(test.states); got != test.want {
			t.Errorf("%v: %v, want %v", test.states, got, test.want)
		}
	}
}
