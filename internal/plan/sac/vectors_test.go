package sac

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/nn"
	"tiebreak/internal/base/rng"
)

// parameters are parameters of all networks of a learner.
type parameters struct {
	Actor            []float32
	Critics, Targets [2][]float32
}

// TestAgainstPyTorch repeats updates that PyTorch computed in float64
// (peers/vectors.py): same parameters, transitions and noise.
func TestAgainstPyTorch(t *testing.T) {
	var want struct {
		parameters
		Rate, Discount, Polyak  float64
		Hidden, Obs, Act, Batch int
		Updates                 []struct {
			parameters
			Obs, Taken, Reward, Live, Next, Noise, NextNoise []float32
			LogAlpha                                         float64
		}
	}
	b, err := os.ReadFile("testdata/updates.json")
	if err == nil {
		err = json.Unmarshal(b, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := Settings{Hidden: []int{want.Hidden, want.Hidden}, Batch: want.Batch, Rate: want.Rate, Discount: want.Discount, Polyak: want.Polyak}
	h := shape{obs: want.Obs, act: want.Act, width: want.Obs + want.Act + 1}
	l, err := newLearner(s, h, rng.New(1, "vectors", 0))
	if err != nil {
		t.Fatal(err)
	}
	set := func(n *nn.Net, p []float32) {
		must.Do(t, n.SetParams(p))
	}
	set(l.actor.net, want.Actor)
	for k, c := range l.critics {
		set(c.net, want.Critics[k])
		set(c.target, want.Targets[k])
	}
	for i, u := range want.Updates {
		m := &l.mini
		copy(m.obs, u.Obs)
		copy(m.next, u.Next)
		copy(m.reward, u.Reward)
		copy(m.live, u.Live)
		in := want.Obs + want.Act
		for row := range want.Batch {
			for _, x := range [][]float32{m.taken, m.chosen} {
				copy(x[row*in:], u.Obs[row*want.Obs:(row+1)*want.Obs])
			}
			copy(m.nextChosen[row*in:], u.Next[row*want.Obs:(row+1)*want.Obs])
		}
		l.place(m.taken, u.Taken)
		copy(l.now.noise, u.Noise)
		copy(l.to.noise, u.NextNoise)
		must.Do(t, l.learn())
		if math.Abs(l.heat.Log-u.LogAlpha) > 1e-7 {
			t.Errorf("update %d: log α = %v, want %v", i, l.heat.Log, u.LogAlpha)
		}
		near(t, i, "actor", l.actor.net, u.Actor)
		for k, c := range l.critics {
			near(t, i, "critic", c.net, u.Critics[k])
			near(t, i, "target", c.target, u.Targets[k])
		}
	}
}

// near compares parameters, of size up to 1, that were moved by steps of up to 0.01.
func near(t *testing.T, update int, name string, n *nn.Net, want []float32) {
	t.Helper()
	for i, got := range n.Params(nil) {
		if math.Abs(float64(got-want[i])) > 2e-6 {
			t.Errorf("update %d: parameter %d of the %s is %v, want %v", update, i, name, got, want[i])
		}
	}
}
