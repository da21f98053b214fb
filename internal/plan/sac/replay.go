package sac

import (
	"math/rand/v2"

	"tiebreak/internal/idrl"
)

// A shape is the layout of a row of the replay: the inputs of the networks, the action in [−1, 1],
// the reward, and the features.
type shape struct {
	obs, time, act, phi int // numbers
	width               int
}

func newShape(s Settings, spec idrl.EnvSpec) shape {
	h := shape{obs: spec.ObsDim, act: spec.Actions.Dim()}
	if s.Time {
		h.time = 1
	}
	if s.Features {
		h.phi = spec.FeatureDim()
	}
	h.width = h.seen() + h.act + 1 + h.phi
	return h
}

// seen returns the number of inputs of the actor.
func (h shape) seen() int { return h.obs + h.time }

// Kinds of a row.
const (
	open       uint8 = iota // no transition starts here: the end of an episode, or the present row
	transition              // to the state in the next row
	final                   // likewise, and that state is terminal: its value is 0
)

// A replay is a ring of rows. A transition leads from its row to the next one, so that
// every state is stored once and a row is left open at the end of each episode.
type replay struct {
	shape
	data  []float32 // rows of width
	kind  []uint8   // by row
	pos   int       // row of the present state
	used  int       // rows that were written, the present one included
	valid int       // rows that are transitions
}

func newReplay(h shape, rows int) *replay {
	return &replay{shape: h, data: make([]float32, rows*h.width), kind: make([]uint8, rows)}
}

func (r *replay) row(i int) []float32 { return r.data[i*r.width : (i+1)*r.width] }

func (r *replay) next(i int) int {
	if i++; i < len(r.kind) {
		return i
	}
	return 0
}

// begin starts an episode in the state with these inputs of the networks.
func (r *replay) begin(obs []float32) {
	if r.used > 0 {
		r.pos = r.next(r.pos) // the row before is where the last transition leads
	}
	r.present(obs)
}

// present stores the present state in row pos.
func (r *replay) present(obs []float32) {
	if r.kind[r.pos] != open {
		r.valid--
	}
	r.kind[r.pos] = open
	r.used = max(r.used, r.pos+1)
	copy(r.row(r.pos), obs)
}

// add stores the transition from the present state.
func (r *replay) add(act []float32, reward float32, phi, obs []float32, kind idrl.StepKind) {
	row := r.row(r.pos)[r.seen():]
	copy(row, act)
	row[r.act] = reward
	copy(row[r.act+1:], phi)
	r.kind[r.pos] = transition
	if kind == idrl.Terminated {
		r.kind[r.pos] = final
	}
	r.valid++
	r.pos = r.next(r.pos)
	r.present(obs)
}

// draw returns the row of a uniformly drawn transition. There must be one.
func (r *replay) draw(rng *rand.Rand) int {
	for {
		if i := rng.IntN(r.used); r.kind[i] != open {
			return i
		}
	}
}

// chunk is how many rows are relabelled in one call of the reward.
const chunk = 1024

// A labeller computes rewards of rows of a replay.
type labeller struct {
	batch  Batch
	rows   [chunk]int
	reward [chunk]float32
	scale  scaler
}

func newLabeller(h shape, s scaler) *labeller {
	return &labeller{scale: s, batch: Batch{
		Obs: make([]float32, chunk*h.obs), Act: make([]float32, chunk*h.act), Phi: make([]float32, chunk*h.phi),
	}}
}

// put appends a transition to the batch.
func (l *labeller) put(h shape, obs, act, phi []float32) {
	n := l.batch.N
	copy(l.batch.Obs[n*h.obs:(n+1)*h.obs], obs)
	l.scale.real32(l.batch.Act[n*h.act:(n+1)*h.act], act)
	copy(l.batch.Phi[n*h.phi:(n+1)*h.phi], phi)
	l.batch.N++
}

// take returns the rewards of the batch, which it empties.
func (l *labeller) take(h shape, f Reward) ([]float32, error) {
	n := l.batch.N
	l.batch.N = 0
	b := Batch{N: n, Obs: l.batch.Obs[:n*h.obs], Act: l.batch.Act[:n*h.act]}
	if h.phi > 0 {
		b.Phi = l.batch.Phi[:n*h.phi]
	}
	rewards := l.reward[:n]
	f(rewards, b)
	return rewards, checkRewards(rewards)
}

// relabel gives every transition the reward of f, and returns the moments of the rewards. After an
// error only some have the new reward.
func (r *replay) relabel(f Reward, l *labeller) (m moments, err error) {
	for i := 0; i < r.used; {
		for ; i < r.used && l.batch.N < chunk; i++ {
			if r.kind[i] != open {
				row := r.row(i)
				l.rows[l.batch.N] = i
				l.put(r.shape, row[:r.obs], row[r.seen():r.seen()+r.act], row[r.seen()+r.act+1:])
			}
		}
		rewards, err := l.take(r.shape, f)
		if err != nil {
			return m, err
		}
		for k, v := range rewards {
			r.row(l.rows[k])[r.seen()+r.act] = v
			m.add(float64(v))
		}
	}
	return m, nil
}

// A scaler turns actions in [−1, 1] into those of the environment.
type scaler struct{ mid, half, low, high []float64 }

func newScaler(a idrl.ActionSpec) scaler {
	s := scaler{make([]float64, a.Dim()), make([]float64, a.Dim()), a.Low, a.High}
	for i, low := range a.Low {
		s.half[i] = (a.High[i] - low) / 2
		s.mid[i] = low + s.half[i]
	}
	return s
}

func (s scaler) component(i int, t float32) float64 {
	return max(s.low[i], min(s.high[i], s.mid[i]+float64(s.half[i]*float64(t))))
}

func (s scaler) real(dst []float64, t []float32) {
	for i := range dst {
		dst[i] = s.component(i, t[i])
	}
}

func (s scaler) real32(dst, t []float32) {
	for i := range dst {
		dst[i] = float32(s.component(i, t[i]))
	}
}
