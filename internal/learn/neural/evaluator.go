package neural

import (
	"fmt"

	"tiebreak/internal/base/nn"
	"tiebreak/internal/idrl"
)

// An Evaluator computes rewards and features of many steps. It is owned by one goroutine,
// and its methods do not allocate.
type Evaluator struct {
	model *Model
	net   *nn.Net
	pass  *nn.Pass
	x     []float32 // blockRows×width
}

// blockRows is how many steps are evaluated at a time.
const blockRows = 256

// Evaluator returns one under the weights theta of the last layer, length Dim: nil for the
// mean of the posterior, or a draw from it. theta is used in single precision.
func (m *Model) Evaluator(theta []float64) *Evaluator {
	e := &Evaluator{model: m, net: m.net, x: make([]float32, blockRows*m.cfg.inputs())}
	if theta != nil {
		if len(theta) != m.Dim() {
			panic("neural: weights have the wrong length")
		}
		e.net = m.with(theta)
	}
	e.pass = e.net.NewPass(blockRows)
	return e
}

// with returns a copy of the network with other weights of the last layer.
func (m *Model) with(theta []float64) *nn.Net {
	out, err := m.cfg.network()
	if err == nil {
		w := m.net.Params(nil)
		for i, v := range theta {
			w[len(w)-len(theta)+i] = float32(v)
		}
		err = out.SetParams(w)
	}
	if err != nil {
		panic("neural: a network that was made once cannot be made again: " + err.Error())
	}
	return out
}

// Reward stores in dst the rewards of n steps, of which obs, n×ObsDim, are the
// observations before the actions act, n×ActDim, by rows. dst has length n or more.
func (e *Evaluator) Reward(dst []float64, obs, act []float32, n int) {
	for from := 0; from < n; from += blockRows {
		rows := min(blockRows, n-from)
		for i, y := range e.forward(obs, act, from, rows) {
			dst[from+i] = float64(y)
		}
	}
}

// Features stores in dst the features of n steps, n×Dim by rows; the other arguments are
// those of Reward.
func (e *Evaluator) Features(dst []float32, obs, act []float32, n int) {
	d, last := e.model.Dim(), len(e.model.cfg.Hidden)-1
	for from := 0; from < n; from += blockRows {
		rows := min(blockRows, n-from)
		e.forward(obs, act, from, rows)
		copy(dst[from*d:(from+rows)*d], e.pass.Hidden(last))
	}
}

// forward evaluates some rows, at most blockRows, from one on.
func (e *Evaluator) forward(obs, act []float32, from, rows int) []float32 {
	o, a, w := e.model.cfg.ObsDim, e.model.cfg.ActDim, e.model.cfg.inputs()
	for i := range rows {
		x := e.x[i*w : (i+1)*w]
		copy(x, obs[(from+i)*o:(from+i+1)*o])
		copy(x[o:], act[(from+i)*a:(from+i+1)*a])
		e.model.scale.apply(x)
	}
	return e.pass.Forward(e.x[:rows*w], rows)
}

// sum is Model.Features.
func (e *Evaluator) sum(dst []float64, s idrl.Steps) []float64 {
	if err := e.model.cfg.fits(s); err != nil {
		panic(fmt.Sprintf("neural: steps that do not fit the network: %v", err))
	}
	clear(dst)
	d, w, last := len(dst), e.model.cfg.inputs(), len(e.model.cfg.Hidden)-1
	for from := 0; from < s.Len(); from += blockRows {
		rows := min(blockRows, s.Len()-from)
		for i := range rows {
			x := e.x[i*w : (i+1)*w]
			copy(x, s.Obs[from+i])
			copy(x[e.model.cfg.ObsDim:], s.Actions[from+i])
			e.model.scale.apply(x)
		}
		e.pass.Forward(e.x[:rows*w], rows)
		for i, v := range e.pass.Hidden(last)[:rows*d] {
			dst[i%d] += float64(v)
		}
	}
	return dst
}
