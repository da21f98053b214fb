package neural_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/chain"
	"tiebreak/envs/driver"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/safetensors"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/neural"
	"tiebreak/internal/study/settings"
)

func encode(t *testing.T, m *neural.Model) []byte {
	t.Helper()
	b := must.Get(m.Encode())(t)
	return b
}

func TestEncode(t *testing.T) {
	w := newTask(1)
	d := w.answers(20)
	for _, mode := range neural.Modes() {
		cfg := small
		cfg.Mode, cfg.Lambda, cfg.Slope, cfg.Hidden = mode, 0.25, 0.02, []int{8, 6}
		m := train(t, cfg, d, nil, 1)
		b := encode(t, m)
		got, err := neural.Decode(neural.Config{}, b)
		if err != nil {
			t.Fatal(err)
		}
		s := w.clip()
		if !slices.Equal(rewards(got, s), rewards(m, s)) || !bytes.Equal(encode(t, got), b) {
			t.Errorf("%s: what was decoded is another model", mode)
		}
		if a, b := got.Posterior().Sample(nil, w.stream), m.Posterior(); len(a) != b.Dim() || got.Config().Lambda != 0.25 {
			t.Errorf("%s: %+v", mode, got.Config())
		}
		text, err := m.Describe()
		var described struct {
			Posterior struct {
				Mean       []float64
				Covariance [][]float64
			}
		}
		if err != nil || json.Unmarshal(text, &described) != nil || !slices.Equal(described.Posterior.Mean, m.Posterior().Mean(nil)) ||
			len(described.Posterior.Covariance) != 6 {
			t.Errorf("%s: description %.300s, error %v", mode, text, err)
		}
	}
}

// A network that was changed by a byte is refused, or is the same network: a space of the
// header may become another.
func TestDecodeRefusesDamage(t *testing.T) {
	w := newTask(1)
	cfg := small
	cfg.Hidden, cfg.Updates = []int{3, 2}, 1
	m := train(t, cfg, w.answers(5), nil, 1)
	b := encode(t, m)
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 0x11
		if got, err := neural.Decode(neural.Config{}, bad); err == nil && !bytes.Equal(encode(t, got), b) {
			t.Errorf("byte %d changed gives another network", i)
		} else if err != nil && idrl.KindOf(err) != idrl.Damaged && idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	for _, n := range []int{0, 7, len(b) / 2, len(b) - 1} {
		if _, err := neural.Decode(neural.Config{}, b[:n]); idrl.KindOf(err) != idrl.Damaged {
			t.Errorf("%d bytes of %d: %v, want an error of kind Damaged", n, len(b), err)
		}
	}
	var foreign bytes.Buffer
	must.Do(t, safetensors.Write(&foreign, nil, map[string]string{"tiebreak": `{"format": "tiebreak.policy-network"}`}))
	if _, err := neural.Decode(neural.Config{}, foreign.Bytes()); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "not a reward network") {
		t.Errorf("another network: %v", err)
	}
	later := bytes.Replace(b, []byte(`\"version\":1`), []byte(`\"version\":2`), 1)
	if _, err := neural.Decode(neural.Config{}, later); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "format version 2") {
		t.Errorf("a later version: %v", err)
	}
}

// FuzzDecode: whatever is decoded is a model that is encoded as the same bytes again and
// gives numbers.
func FuzzDecode(f *testing.F) {
	cfg := small
	cfg.Hidden = []int{3, 2}
	for _, mode := range neural.Modes() {
		cfg.Mode = mode
		m := must.Get(neural.Train(f.Context(), cfg, newTask(1).answers(2), nil, rng.New(1, "train", 0)))(f)
		b := must.Get(m.Encode())(f)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := neural.Decode(neural.Config{}, b)
		if err != nil {
			return
		}
		again, err := neural.Decode(neural.Config{}, encode(t, m))
		if err != nil || !bytes.Equal(encode(t, again), encode(t, m)) {
			t.Errorf("what was decoded is encoded as something else: %v", err)
		}
	})
}

func TestLearnerFor(t *testing.T) {
	spec := settings.Complete(idrl.SessionSpec{Kind: idrl.CompareClips})
	// At equal odds of preference and tie, the noise of the session has the same tie width.
	for noise, of := range map[string]idrl.Likelihood{
		idrl.OwnNoise:    belief.Probit{NoiseStd: spec.NoiseStd, TieBand: spec.TieBand},
		idrl.SharedNoise: belief.BradleyTerry{Beta: math.Sqrt(8/math.Pi) / spec.NoiseStd, TieWidth: spec.TieBand},
	} {
		spec.Noise = noise
		l := must.Get(neural.LearnerFor(spec, driver.New()))(t)
		got, want := idrl.Predict(l.Config.Comparison, 0, 0), idrl.Predict(of, 0, 0)
		if math.Abs(got[2]-want[2]) > 1e-12 || !(got[2] > 0.1) || l.Config.Rating == nil || l.Own != (noise == idrl.OwnNoise) {
			t.Errorf("noise %q, own %v: a tie has the probability %v, want %v; ratings %v", noise, l.Own, got[2], want[2], l.Config.Rating)
		}
	}
	if _, err := neural.LearnerFor(spec, chain.New(chain.Config{})); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("for a tabular environment: %v", err)
	}
}

func TestLearner(t *testing.T) {
	cfg := small
	cfg.ObsDim, cfg.ActDim = 0, 0
	l := neural.Learner{Config: cfg}
	var due []int
	for n := range 100 {
		if l.Due(n) {
			due = append(due, n)
		}
	}
	if !slices.Equal(due, []int{10, 20, 30, 40, 50, 62, 77, 96}) {
		t.Errorf("due at %v", due)
	}
	w := newTask(2)
	d := w.answers(20)
	b, err := l.Learn(t.Context(), d, 3, 7)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := l.Learn(t.Context(), d, 3, 7); err != nil || !bytes.Equal(again, b) {
		t.Errorf("learnt again from the same answers: other bytes, error %v", err)
	}
	rep, model, err := l.Open(3, b)
	if err != nil {
		t.Fatal(err)
	}
	s, whole := w.clip(), make([]float64, 8)
	rep.Features(whole, s)
	for i := range s.Len() { // additive over steps, as a reward that is linear in them must be
		for k, v := range rep.Features(make([]float64, 8), s.Cut(i, 1)) {
			whole[k] -= v
		}
	}
	for _, v := range whole {
		if math.Abs(v) > 1e-12 {
			t.Errorf("the features of a clip are not the sum of those of its steps: %v", whole)
		}
	}
	if rep.Version() != 3 || rep.Dim() != 8 || model.Prior().Dim() != 8 {
		t.Errorf("version %d, %d features, a prior of %d weights", rep.Version(), rep.Dim(), model.Prior().Dim())
	}
	if _, err := l.Learn(t.Context(), idrl.Dataset{}, 1, 1); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("learnt from nothing: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Learn(ctx, d, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a learning that is cancelled: %v", err)
	}
	if _, _, err := l.Open(1, nil); idrl.KindOf(err) != idrl.Damaged {
		t.Errorf("an empty network: %v", err)
	}
}
