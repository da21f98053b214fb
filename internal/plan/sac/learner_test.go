package sac

import (
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/nn"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// still returns a learner that does not move, after an update with drawn transitions:
// its gradients, targets and losses are there to be looked at.
func still(t *testing.T) *learner {
	t.Helper()
	s := Settings{Hidden: []int{24, 24}, Batch: 32, Discount: 0.9, Polyak: 0.005, Starts: 1, Every: 1, Time: true}
	h := shape{obs: 4, time: 1, act: 2, width: 8}
	l := must.Get(newLearner(s, h, rng.New(1, "networks", 0)))(t)
	for _, c := range l.critics { // else they would be their targets
		c.target.Init(rng.New(2, "targets", uint64(c.net.Len())))
	}
	r, stream := newReplay(h, 500), rng.New(3, "transitions", 0)
	normals := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(stream.NormFloat64())
		}
		return x
	}
	r.begin(normals(5))
	for k := range 400 {
		kind := idrl.Mid
		if k%10 == 9 {
			kind = idrl.Terminated
		}
		r.add(normals(2), normals(1)[0], nil, normals(5), kind)
		if kind == idrl.Terminated {
			r.begin(normals(5))
		}
	}
	l.heat.Log = math.Log(0.3)
	must.Do(t, l.update(r, 0, 1, stream))
	return l
}

// output returns what a network gives for inputs, with a pass of its own.
func output(n *nn.Net, x []float32, rows int) []float32 { return n.NewPass(rows).Forward(x, rows) }

func TestCriticTargets(t *testing.T) {
	l := still(t)
	m := &l.mini
	q0, q1 := output(l.critics[0].target, m.nextChosen, l.Batch), output(l.critics[1].target, m.nextChosen, l.Batch)
	alpha := math.Exp(l.heat.Log)
	must.Do(t, l.learn())
	ends := 0
	for i, got := range m.worth {
		want := float64(m.reward[i])
		if m.live[i] == 1 {
			want += 0.9 * (min(float64(q0[i]), float64(q1[i])) - alpha*float64(m.nextp[i]))
		} else {
			ends++
		}
		if math.Abs(float64(got)-want) > 1e-5 {
			t.Errorf("row %d: target %v, want %v", i, got, want)
		}
	}
	if ends == 0 || ends == l.Batch {
		t.Errorf("%d of %d states are terminal", ends, l.Batch)
	}
}

// TestGradients compares gradients with central differences of the losses along random
// directions.
func TestGradients(t *testing.T) {
	l := still(t)
	m := &l.mini
	half := func(k int) func() float64 {
		return func() float64 {
			sum := 0.0
			for i, q := range output(l.critics[k].net, m.taken, l.Batch) {
				sum += math.Pow(float64(q)-float64(m.worth[i]), 2) / 2
			}
			return sum / float64(l.Batch)
		}
	}
	actor := func() float64 {
		logp := make([]float32, l.Batch)
		l.now.sample(output(l.actor.net, m.obs, l.Batch), logp)
		l.place(m.chosen, l.now.action)
		q0, q1 := output(l.critics[0].net, m.chosen, l.Batch), output(l.critics[1].net, m.chosen, l.Batch)
		sum := 0.0
		for i, v := range logp {
			sum += 0.3*float64(v) - min(float64(q0[i]), float64(q1[i]))
		}
		return sum / float64(l.Batch)
	}
	for _, test := range []struct {
		name string
		net  trained
		loss func() float64
	}{{"first critic", l.critics[0].trained, half(0)}, {"second critic", l.critics[1].trained, half(1)}, {"actor", l.actor, actor}} {
		t.Run(test.name, func(t *testing.T) { checkGradient(t, test.net, test.loss, rng.New(4, test.name, 0)) })
	}
}

func checkGradient(t *testing.T, n trained, loss func() float64, stream *rand.Rand) {
	const h = 1e-4
	p, g := n.net.Params(nil), n.pass.Grad(nil)
	moved := make([]float32, len(p))
	var off, size float64
	for range 30 {
		direction := make([]float64, len(p))
		want := 0.0
		for i := range direction {
			direction[i] = stream.NormFloat64()
			want += direction[i] * float64(g[i])
		}
		at := func(h float64) float64 {
			for i := range p {
				moved[i] = p[i] + float32(h*direction[i])
			}
			must.Do(t, n.net.SetParams(moved))
			return loss()
		}
		got := (at(h) - at(-h)) / (2 * h)
		off += (got - want) * (got - want)
		size += want * want
	}
	must.Do(t, n.net.SetParams(p))
	if relative := math.Sqrt(off / size); !(relative < 0.01) {
		t.Errorf("the gradient is off by %.2g of its size", relative)
	}
}

// TestTemperature holds that the first step of Adam moves log α by the rate, up when
// there is less entropy than wanted and down when there is more.
func TestTemperature(t *testing.T) {
	for _, test := range []struct {
		logp float32
		want float64
	}{{5, 0.01}, {-5, -0.01}} {
		l := &learner{Settings: Settings{Rate: 0.01, Batch: 2}, entropy: -1, updates: 1, mini: minibatch{logp: []float32{test.logp, test.logp}}}
		if l.warm(); math.Abs(l.heat.Log-test.want) > 1e-8 {
			t.Errorf("log density %v: log α = %v, want %v", test.logp, l.heat.Log, test.want)
		}
	}
}

// TestTargetsFollow holds that targets move by the share that the settings say.
func TestTargetsFollow(t *testing.T) {
	l := still(t)
	c := l.critics[0]
	before, net := c.target.Params(nil), c.net.Params(nil)
	must.Do(t, l.learn())
	for i, v := range c.target.Params(nil) {
		if want := before[i] + 0.005*(net[i]-before[i]); math.Abs(float64(v-want)) > 1e-6 {
			t.Fatalf("parameter %d of a target: %v, want %v", i, v, want)
		}
	}
}

// TestNormalisedRewards holds what the critics get of rewards far from 0.
func TestNormalisedRewards(t *testing.T) {
	l := still(t)
	l.NormaliseReward = true
	r := newReplay(l.shape, 10)
	r.begin(make([]float32, 5))
	r.add(make([]float32, 2), 106, nil, make([]float32, 5), idrl.Mid)
	for _, test := range []struct{ shift, factor, want float32 }{{100, 0.5, 3}, {100, 50, 10}, {200, 1, -10}} {
		l.fill(r, test.shift, test.factor, rng.New(1, "fill", 0))
		if got := l.mini.reward[0]; got != test.want {
			t.Errorf("(106 − %v)·%v: the critics get %v, want %v", test.shift, test.factor, got, test.want)
		}
	}
}

func TestDivergence(t *testing.T) {
	l := still(t)
	l.mini.reward[3] = float32(math.Inf(1))
	if err := l.learn(); idrl.KindOf(err) != idrl.Internal || err == nil {
		t.Errorf("an infinite target: %v", err)
	}
	l = still(t)
	l.now.noise[5] = float32(math.NaN())
	if err := l.learn(); idrl.KindOf(err) != idrl.Internal || err == nil {
		t.Errorf("an action that is no number: %v", err)
	}
}
