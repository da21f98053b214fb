package outside

import (
	"slices"

	"tiebreak/internal/base/drawing"
)

// A snapshot of a program that saves states is
//
//	head, the state
//
// and else how to get there again:
//
//	head, seed, checksum of the observation, all actions so far
//
// Programs that save no states must do the same again under the same seed and actions; the
// checksum finds those that do not. The head is
//
//	steps of the episode so far, 1 if it has ended else 0, and
//	if the program names what happens: the number of what happened in the last step

// head returns the length of the head of snapshots.
func (e *Env) head() int {
	if len(e.p.Hello.Happens) > 0 {
		return 3
	}
	return 2
}

// Snapshot implements idrl.Snapshotter.
func (e *Env) Snapshot(dst []float64) []float64 {
	ended := 0.
	if e.ended {
		ended = 1
	}
	dst = append(dst[:0], float64(e.steps()), ended)
	if e.head() == 3 {
		dst = append(dst, float64(e.happens))
	}
	if e.p.Hello.State == 0 {
		if e.base.sum == 0 {
			e.follow()
		}
		return append(append(dst, float64(e.base.seed), float64(e.base.sum)), e.acts...)
	}
	if e.base.state != nil && len(e.acts) == 0 {
		return append(dst, e.base.state...)
	}
	var saved struct {
		State []float64 `json:"state"`
	}
	state := make([]float64, e.p.Hello.State)
	e.do(func() *failure {
		if f := e.link.ask(request{Cmd: "save"}, e.p.answerLimit(), &saved); f != nil {
			return f
		}
		return e.take("save", "state", state, saved.State)
	})
	return append(dst, state...)
}

// Restore implements idrl.Snapshotter. The process goes there when it is needed. It panics if
// s is no snapshot of an equal environment.
func (e *Env) Restore(s []float64) {
	n := e.head()
	if saved := e.p.Hello.State; saved > 0 && len(s) != n+saved || saved == 0 && len(s) < n+2 {
		panic("outside: not a snapshot")
	}
	ended, happens := s[1] == 1, e.happened(s)
	if e.p.Hello.State == 0 {
		e.goTo(base{seed: uint32(s[n]), begun: true, sum: uint32(s[n+1])}, s[n+2:])
	} else {
		e.goTo(base{state: slices.Clone(s[n:]), steps: int(s[0]), ended: ended, happens: happens, begun: true}, nil)
		e.at = -1
	}
	e.ended, e.happens = ended, happens
}

// happened returns the number of what happened in the step that led to a snapshot.
func (e *Env) happened(s []float64) int {
	if e.head() == 3 {
		return int(s[2])
	}
	return 0
}

// Name implements drawing.Namer. Of what happens in the steps of a clip it returns what the program lists first.
func (e *Env) Name(states [][]float64) (is drawing.Happening) {
	first := 0
	for i, s := range states {
		if k := e.happened(s); k > 0 && (i > 0 || len(states) == 1) && (first == 0 || k < first) {
			first = k
		}
	}
	if first > 0 {
		is = e.p.Hello.Happens[first-1].Read()
	}
	return is
}
