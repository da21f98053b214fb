package outside

import (
	"slices"
)

// A snapshot of a program that saves states is
//
//	steps of the episode so far, 1 if it has ended else 0, the state
//
// and else how to get there again:
//
//	steps, 1 if it has ended else 0, seed, checksum of the observation, all actions so far
//
// Programs that save no states must do the same again under the same seed and actions; the
// checksum finds those that do not.
const replayHead = 4

// Snapshot implements idrl.Snapshotter.
func (e *Env) Snapshot(dst []float64) []float64 {
	ended := 0.
	if e.ended {
		ended = 1
	}
	dst = append(dst[:0], float64(e.steps()), ended)
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
	if e.p.Hello.State == 0 {
		if len(s) < replayHead {
			panic("outside: not a snapshot")
		}
		e.goTo(base{seed: uint32(s[2]), begun: true, sum: uint32(s[3])}, s[replayHead:])
	} else {
		if len(s) != 2+e.p.Hello.State {
			panic("outside: not a snapshot")
		}
		e.goTo(base{state: slices.Clone(s[2:]), steps: int(s[0]), ended: s[1] == 1, begun: true}, nil)
		e.at = -1
	}
	e.ended = s[1] == 1
}
