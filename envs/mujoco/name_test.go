//go:build mujoco

package mujoco_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/envs/corridor"
	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// begun returns the state that an episode begins with, in which robots stand.
func begun(e *mujoco.Env) []float64 {
	e.Reset(rng.New(1, "env", 0))
	return e.Snapshot(nil)
}

// posed returns the states of a clip, whose positions are those of a robot that stands, moved by
// shift(share of the clip that is over) from position at on.
func posed(e *mujoco.Env, at int, shift func(share float64) []float64) (out [][]float64) {
	state, n := begun(e), e.Spec().ClipSteps
	for k := range n + 1 {
		s := slices.Clone(state)
		for i, v := range shift(float64(k) / float64(n)) {
			s[2+at+i] += v
		}
		out = append(out, s)
	}
	return out
}

// way is a shift by some metres until the end of the clip.
func way(metres ...float64) func(float64) []float64 {
	return func(share float64) (out []float64) {
		for _, m := range metres {
			out = append(out, m*share)
		}
		return out
	}
}

// bobbing moves by metres, and up and down by rise five times.
func bobbing(metres, rise float64) func(float64) []float64 {
	return func(share float64) []float64 {
		return []float64{metres * share, rise * math.Abs(math.Sin(5*math.Pi*share))}
	}
}

// leaning moves the trunk by metres while it leans by an angle, without a hop.
func leaning(metres, angle float64) func(float64) []float64 {
	return func(share float64) []float64 { return []float64{metres * share, 0, angle * share} }
}

// flipped goes by metres after a somersault backward.
func flipped(metres float64) func(float64) []float64 {
	return func(share float64) []float64 { return []float64{metres * share, 0, -2 * math.Pi} }
}

// backAndOver falls on its back and then turns over to its front, where it lies for as long.
func backAndOver(share float64) []float64 {
	if share < 0.5 {
		return []float64{-2 * share, -3.2 * share}
	}
	return []float64{-1, -1.6 + 6.4*(share-0.5)}
}

// halfUp falls on its back and ends upright, but no higher than a squat.
func halfUp(share float64) []float64 {
	return []float64{-0.4 * min(1, 4*share), -1.6 * math.Sin(math.Pi*share)}
}

// A move is a clip in which the trunk moves and the limbs are as in a robot that stands, and its name. Clips
// are of 2 s, but for those of Hopper, Walker2d and Reacher (1), Swimmer (4), and the corridors (8 and 12).
type move struct {
	id      string
	at      int // first position that is shifted
	shift   func(share float64) []float64
	want    string
	useless bool
}

func checkMoves(t *testing.T, list []move) {
	t.Helper()
	for _, test := range list {
		e := listed(t, test.id)
		if got, want := e.Name(posed(e, test.at, test.shift)), (drawing.Happening{Name: test.want, Useless: test.useless}); got != want {
			t.Errorf("%s from position %d on: %v, want %v", test.id, test.at, got, want)
		}
	}
}

func TestNamesInThePlane(t *testing.T) {
	checkMoves(t, []move{
		{"hopper", 0, way(0), "stands still", true},
		{"hopper", 0, bobbing(0, 0.1), "hops on the spot", false},
		{"hopper", 0, bobbing(-1, 0.1), "hops backward", false},
		{"hopper", 0, bobbing(0.5, 0.1), "hops forward slowly", false},
		{"hopper", 0, bobbing(1.2, 0.1), "hops forward", false},
		{"hopper", 0, bobbing(2.4, 0.1), "hops forward fast", false},
		{"hopper", 0, bobbing(1.2, 0.3), "leaps forward high", false},
		{"hopper", 0, way(0.5), "creeps forward", false},
		{"hopper", 0, way(-0.5), "creeps backward", false},
		{"hopper", 0, leaning(-0.4, -0.5), "tips backward", true},
		{"hopper", 0, leaning(0.4, 0.5), "tips forward", true},
		{"hopper", 1, way(-0.7), "collapses", true},
		{"hopper", 1, backAndOver, "falls backward", true},
		{"hopper", 1, halfUp, "falls backward", true},
		{"hopper", 2, way(1.6), "falls forward", true},
		{"hopper", 2, way(-1.6), "falls backward", true},
		{"hopper", 0, flipped(0), "stands still", true},
		{"hopper", 0, flipped(0.5), "creeps forward", false},
		{"hopper", 2, func(share float64) []float64 { return []float64{-2*math.Pi - 1.6*share} }, "falls backward", true},
		{"walker2d", 0, flipped(1.2), "walks", false},
		{"walker2d", 0, way(0), "stands still", true},
		{"walker2d", 0, way(-0.6), "walks backward", false},
		{"walker2d", 0, way(0.5), "walks slowly", false},
		{"walker2d", 0, way(1.2), "walks", false},
		{"walker2d", 0, func(share float64) []float64 { return []float64{1.2 * share, 0, -0.4} }, "walks leaning back", false},
		{"walker2d", 0, way(2.4), "runs", false},
		{"walker2d", 2, way(1.6), "falls forward", true},
		{"half-cheetah", 0, way(0), "stands still", true},
		{"half-cheetah", 0, way(3), "trots forward", false},
		{"half-cheetah", 0, way(8), "runs forward fast", false},
		{"half-cheetah", 0, way(-3), "goes backward", false},
		{"half-cheetah", 0, way(-8), "runs backward fast", false},
		{"half-cheetah", 2, func(float64) []float64 { return []float64{0.8} }, "pushes along on its head", false},
		{"half-cheetah", 2, func(float64) []float64 { return []float64{-0.8} }, "rears up", false},
		{"half-cheetah", 2, way(-2 * math.Pi), "turns a somersault", false},
		{"half-cheetah", 2, way(-math.Pi), "falls on its back", true},
		{"half-cheetah", 2, func(float64) []float64 { return []float64{math.Pi} }, "lies on its back", true},
	})
}

func TestNamesOfRoaming(t *testing.T) {
	lying := turned(math.Pi)
	checkMoves(t, []move{
		{"ant", 0, way(0, 0), "stays still", true},
		{"ant", 0, way(0.8, 0), "creeps about", false},
		{"ant", 0, way(2, 0.5), "walks forward", false},
		{"ant", 0, way(-2, 0.5), "walks backward", false},
		{"ant", 0, way(0.5, 2), "walks to the left", false},
		{"ant", 0, way(0.5, -2), "walks to the right", false},
		{"ant", 0, func(share float64) []float64 { return []float64{0, 0, math.Sin(math.Pi * share)} }, "jumps", false},
		{"ant", 3, func(float64) []float64 { return []float64{lying[0] - 1, lying[1]} }, "lies on its back", true},
		{"ant", 0, func(share float64) []float64 { return []float64{4 * share, 0, 0, lying[0] - 1, lying[1]} }, "tumbles along", true},
		{"ant", 3, func(share float64) []float64 { // about the vertical axis
			sin, cos := math.Sincos(share)
			return []float64{cos - 1, 0, 0, sin}
		}, "turns round and round", false},
		{"swimmer", 0, way(0, 0), "stays", true},
		{"swimmer", 0, way(0, 1), "swims to the left", false},
		{"swimmer", 2, way(2), "turns on the spot", false},
		{"swimmer", 3, func(share float64) []float64 {
			return []float64{math.Sin(6 * math.Pi * share), -math.Sin(6 * math.Pi * share)}
		}, "winds on the spot", false},
		{"ant-corridor", 0, way(0, 0), "stays still", true},
		{"ant-corridor", 0, way(1.5, 0), "creeps towards the goal", false},
		{"ant-corridor", 0, way(5, 0), "walks towards the goal", false},
		{"ant-corridor", 0, way(0, 1.5), "walks across the corridor", false},
		{"ant-corridor", 0, way(-1.5, 0), "walks away from the goal", false},
		{"ant-corridor", 0, func(float64) []float64 { return []float64{0, 1.9} }, "stays at the wall", true},
		{"ant-corridor", 0, way(4*corridor.Goal, 0), "reaches the goal", false},
		{"ant-corridor", 0, func(share float64) []float64 { return []float64{4*corridor.Goal + 5*share} }, "leaves the goal", false},
		{"ant-corridor", 0, func(float64) []float64 { return []float64{4 * corridor.Goal} }, "stays in the goal", false},
		{"ant-corridor", 0, func(share float64) []float64 { return []float64{0.9 * share, 0, 0, 0, 0, 0, 0, math.Sin(20 * share)} }, "hardly gets anywhere", true},
		{"swimmer-corridor", 0, way(5, 0), "swims towards the goal", false},
	})
}

func TestNamesOfPolesAndArms(t *testing.T) {
	checkMoves(t, []move{
		{"inverted-pendulum", 0, way(0), "balances in its place", false},
		{"inverted-pendulum", 0, way(0.8), "balances, goes to the right", false},
		{"inverted-pendulum", 0, func(share float64) []float64 { return []float64{0.5 * math.Sin(20*share)} }, "balances, to and fro a lot", false},
		{"inverted-pendulum", 1, way(1.4), "the pole falls to the right", true},
		{"inverted-double-pendulum", 1, way(8), "the pole goes round", true},
		{"reacher", 0, way(0), "hardly moves", true},
		{"reacher", 0, way(20), "goes round and round", false},
		{"reacher", 0, way(-60), "spins fast", false},
	})
}

// The arm stops where the target is, or is not.
func TestNameOfReaching(t *testing.T) {
	for _, test := range []struct {
		x, y float64
		want string
	}{
		{0, 0.21, "stops at the target"},
		{0.04, 0.2, "stops near the target"},
		{0, -0.15, "stops away from the target"},
	} {
		e := listed(t, "reacher")
		var states [][]float64
		for k := range 51 { // a quarter turn to the left, and rest
			s := slices.Clone(begun(e))
			copy(s[2:], []float64{math.Pi / 2 * min(1, float64(k)/25), 0, test.x, test.y})
			states = append(states, s)
		}
		if got := e.Name(states); got.Name != test.want || got.Useless {
			t.Errorf("the target at %v, %v: %v, want %q", test.x, test.y, got, test.want)
		}
	}
}

// Without torques a hopper falls, and an ant stays. After the fall it lies.
func TestNamesOfActing(t *testing.T) {
	for _, test := range []struct {
		id    string
		after int // steps of the episode
		want  string
	}{
		{"hopper", 80, "falls backward"},
		{"hopper", 300, "lies"},
		{"walker2d", 0, "falls backward"},
		{"ant", 60, "stays still"},
		{"half-cheetah", 60, "stands still"},
		{"swimmer", 500, "stays"},
		{"inverted-double-pendulum", 0, "the pole falls to the right"},
		{"ant-corridor", 60, "stays still"},
	} {
		e := listed(t, test.id)
		e.Reset(rng.New(1, "env", 0))
		idle := make(idrl.Action, e.Spec().Actions.Dim())
		if test.id == "ant-corridor" {
			idle[4] = 20 // the part of doing nothing
		}
		var states [][]float64
		for k := range test.after + e.Spec().ClipSteps + 1 {
			if k >= test.after {
				states = append(states, e.Snapshot(nil))
			}
			e.Step(idle)
		}
		if got := e.Name(states); got.Name != test.want || !got.Useless {
			t.Errorf("%s after %d steps: %v, want %q", test.id, test.after, got, test.want)
		}
	}
}
