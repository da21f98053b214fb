package session_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/neural"
	"tiebreak/internal/session/insight"
)

// Correlations by hand: with itself, with its negative, with what goes half with it, and with what
// does not vary.
func TestCorrelations(t *testing.T) {
	got := insight.Correlations([]float64{1, 2, 3}, [][]float64{{2, -1, 1, 5}, {4, -2, 3, 5}, {6, -3, 2, 5}})
	if !cmp.Equal(got, []float64{1, -1, 0.5, math.NaN()}, cmpopts.EquateApprox(0, 1e-12), cmpopts.EquateNaNs()) {
		t.Errorf("correlations %v", got)
	}
	if got := insight.Correlations([]float64{1, 1}, [][]float64{{1}, {2}}); !math.IsNaN(got[0]) {
		t.Errorf("of rewards that do not vary %v", got)
	}
	if got := insight.Correlations(nil, nil); len(got) != 0 {
		t.Errorf("of no clips %v", got)
	}
}

// What is shown of networks is true: where a person wants one feature of the environment, the
// correlations of the reward that is learnt come to be those of the reward that the person has, and
// they are the same after a restart.
func TestWhatNetworksReward(t *testing.T) {
	t.Parallel()
	b := newNetwork(t)
	b.journal.rec.Spec.Model = idrl.NetworkModel
	b.learner = neural.Learner{Config: neural.Config{Mode: neural.Anchored, Hidden: []int{24, 24}, Updates: 2000, Comparison: belief.BradleyTerry{Beta: 1}}}
	s, stop := b.start(t)
	insights := func() []insight.Network {
		t.Helper()
		r := must.Get(s.Insight(t.Context()))(t)
		return r.Networks
	}
	if n := insights(); n != nil {
		t.Errorf("before the first network %+v", n)
	}
	const wanted, answers = 2, 121
	stream := rng.New(1, "person", 0)
	for i := range answers {
		q := claim(t, s, "ann").Open[0]
		phi := b.journal.phi(t, q.Query.Clips)
		a := reply(q, i)
		a.Choice = idrl.ChoseB
		if u := phi[0][wanted] - phi[1][wanted]; stream.Float64() < 1/(1+math.Exp(-4*u)) {
			a.Choice = idrl.ChoseA
		}
		mustAnswer(t, s, "ann", a)
	}
	got := insights()
	if len(got) < 4 || got[0].Version != 1 || got[0].BasedOn != 10 || got[0].Clips < 20 {
		t.Fatalf("networks %+v", got)
	}
	// The truth over the same clips.
	rec := must.Get(b.journal.Load(t.Context(), "s1"))(t)
	var clips []idrl.ClipID
	for _, a := range rec.Log[:got[len(got)-1].BasedOn] {
		as := rec.Assignments[slices.IndexFunc(rec.Assignments, func(o record.Assignment) bool { return o.ID == a.Assignment })]
		for _, id := range as.Query.Clips {
			if !slices.Contains(clips, id) {
				clips = append(clips, id)
			}
		}
	}
	phi := b.journal.phi(t, clips)
	rewards := make([]float64, len(phi))
	for i, f := range phi {
		rewards[i] = f[wanted]
	}
	truth := insight.Correlations(rewards, phi)
	off := func(n insight.Network) (mean float64) {
		known := 0.0
		for k, v := range n.Correlation {
			if !math.IsNaN(truth[k]) {
				mean, known = mean+math.Abs(v-truth[k]), known+1
			}
		}
		return mean / known
	}
	last := got[len(got)-1]
	for _, n := range got {
		t.Logf("network %d of row %d: %.2f, off by %.2f; truth %.2f", n.Version, n.BasedOn, n.Correlation, off(n), truth)
	}
	if last.Clips != len(clips) || last.Correlation[wanted] < 0.75 || off(last) > 0.2 || off(last) > off(got[0])/2 {
		t.Errorf("the last network goes with the feature that is wanted by %.2f, and is off by %.2f on average, the first by %.2f", last.Correlation[wanted], off(last), off(got[0]))
	}
	stop()
	s, _ = b.start(t)
	if d := cmp.Diff(got, insights(), cmpopts.EquateNaNs()); d != "" {
		t.Errorf("after a restart (-before +after):\n%s", d)
	}
}

// phi returns the sums of the environment's features over clips that were asked about.
func (j *journal) phi(t *testing.T, clips []idrl.ClipID) (out [][]float64) {
	t.Helper()
	rec := must.Get(j.Load(t.Context(), "s1"))(t)
	for _, id := range clips {
		c, ok := rec.Clips[id]
		if !ok {
			t.Fatalf("clip %s is not recorded", id)
		}
		out = append(out, c.Phi)
	}
	return out
}
