package session_test

import (
	"bytes"
	"testing"

	"tiebreak/envs/driver"
	"tiebreak/internal/belief"
	"tiebreak/internal/idrl"
	"tiebreak/internal/neural"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/solver"

	"github.com/google/go-cmp/cmp"
)

// newNetwork returns the bench of a session in Driver whose features are those of a small
// network.
func newNetwork(t *testing.T) *bench {
	t.Helper()
	env := driver.New()
	b := newBench(func(s *idrl.SessionSpec) {
		s.Kind, s.TrainEvery, s.AdoptAfter, s.Features = idrl.CompareClips, 6, 2, env.Spec().FeatureNames
	})
	b.play(t, func() idrl.Environment { return driver.New() }, solver.ARS{Directions: 2, Iterations: 2, Episodes: 1})
	b.learner = neural.Learner{Config: neural.Config{Hidden: []int{8, 8}, Updates: 40, Comparison: belief.BradleyTerry{Beta: 1, TieWidth: 0.4}}}
	return b
}

// A session whose features are a network's goes through fits and withdrawals, of answers
// before and after them, and is the same to the last bit however often it is started again.
func TestNetworkFeatures(t *testing.T) {
	const n = 33
	run := func(restart bool) *bench {
		b := newNetwork(t)
		s, stop := b.start(t)
		for i := range n {
			say(t, s, i)
			if restart {
				stop()
				s, stop = b.start(t)
			}
		}
		stop()
		return b
	}
	plain := run(false)
	rec, err := plain.journal.Load(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Fits) < 2 || rec.Fits[0].Learner != "network" || rec.Generation.BasedOn <= rec.Fits[0].AdoptedAt || len(rec.Generation.Candidates[0].Theta) != 8 {
		t.Fatalf("%d fits, a generation from row %d for %d weights: too few to tell", len(rec.Fits), rec.Generation.BasedOn, len(rec.Generation.Candidates[0].Theta))
	}
	if last := rec.Snapshots[len(rec.Snapshots)-1]; last.Representation != int64(len(rec.Fits)) || !bytes.Equal(lastBelief(rec), plain.fresh(t, rec)) {
		t.Error("the posterior is not that of the answers that count under the network")
	}
	again, err := run(true).journal.Load(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rec, again, journaltest.Same); diff != "" {
		t.Errorf("records differ (-without restarts +with):\n%s", diff)
	}
}
