package outside

import (
	"hash/crc32"
	"math"
	"reflect"

	"tiebreak/internal/data/foreign"
)

// advance brings the process where it shall be.
func (e *Env) advance() *failure {
	if f := e.connect(); f != nil {
		return f
	}
	if e.at < 0 {
		if f := e.begin(); f != nil {
			return f
		}
	}
	w := e.width()
	replayed := 0
	for ; e.at*w < len(e.acts); e.at++ {
		if e.ended && replayed > 0 {
			return failf(CodeReplay, "played again with the same seed and actions, the episode ended after %d steps", e.base.steps+e.at)
		}
		if f := e.step(e.acts[e.at*w : (e.at+1)*w]); f != nil {
			return f
		}
		replayed++
	}
	if sum := checksum(e.obs); replayed > 0 && e.base.sum != 0 && sum != e.base.sum {
		return failf(CodeReplay, "played again with the same seed and actions, the episode led to other observations: all of its randomness must come from the seed")
	} else if e.base.state == nil || replayed > 0 {
		e.base.sum = sum
	}
	return nil
}

// connect opens the link if there is none.
func (e *Env) connect() *failure {
	if e.link != nil {
		return nil
	}
	e.at = -1
	e.starts++
	l, h, f := e.p.greet(e.stop.holds)
	e.link = l
	if f == nil && !reflect.DeepEqual(h, e.p.Hello) {
		f = failf(CodeHello, "its description differs from the one at the start of this program")
	}
	return f
}

// begin brings the process to the base.
func (e *Env) begin() *failure {
	var start struct {
		Observation []float64 `json:"observation"`
	}
	if f := e.link.ask(request{Cmd: "reset", Seed: &e.base.seed}, e.p.answerLimit(), &start); f != nil {
		return f
	}
	if f := e.take("reset", "observation", e.obs, start.Observation); f != nil {
		return f
	}
	e.ended, e.happens = e.base.ended, e.base.happens
	if e.base.state != nil {
		var nothing struct{}
		if f := e.link.ask(request{Cmd: "restore", State: e.base.state}, e.p.answerLimit(), &nothing); f != nil {
			return f
		}
	}
	e.at = 0
	return nil
}

// step has the process play one step.
func (e *Env) step(a []float64) *failure {
	var next struct {
		Observation []float64 `json:"observation"`
		Features    []float64 `json:"features"`
		Terminated  bool      `json:"terminated"`
		Truncated   bool      `json:"truncated"`
		Happens     string    `json:"happens"` // may be missing
	}
	r := request{Cmd: "step", Action: a}
	if e.p.Hello.Action.Num > 0 {
		r.Action = int(a[0])
	}
	if f := e.link.ask(r, e.p.answerLimit(), &next); f != nil {
		return f
	}
	if f := e.take("step", "observation", e.obs, next.Observation); f != nil {
		return f
	}
	if next.Truncated && !next.Terminated && e.base.steps+e.at+1 < e.spec.Horizon {
		return failf(CodeReply, "it cut the episode short after %d steps; its horizon is %d", e.base.steps+e.at+1, e.spec.Horizon)
	}
	e.ended, e.happens = next.Terminated, e.p.Hello.happening(next.Happens)
	if e.happens == 0 && next.Happens != "" {
		return failf(CodeReply, "its answer to step says that %.80q happens, which its hello does not list", next.Happens)
	}
	return e.take("step", "features", e.phi, next.Features)
}

// take copies numbers that the process sent, all of which are finite.
func (e *Env) take(cmd, what string, dst, got []float64) *failure {
	if len(got) != len(dst) {
		return failf(CodeReply, "its answer to %s has %d numbers as %s; by its hello there are %d", cmd, len(got), what, len(dst))
	}
	if i := foreign.FirstLarge(got); i >= 0 {
		return failf(CodeReply, "its answer to %s has the number %v in %s %d", cmd, got[i], what, i)
	}
	copy(dst, got)
	return nil
}

// checksum tells observations apart; it is not 0.
func checksum(obs []float64) uint32 {
	h := crc32.NewIEEE()
	for _, v := range obs {
		b := math.Float64bits(v)
		_, _ = h.Write([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24), byte(b >> 32), byte(b >> 40), byte(b >> 48), byte(b >> 56)})
	}
	return max(1, h.Sum32())
}
