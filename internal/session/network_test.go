package session_test

import (
	"bytes"
	"context"
	"reflect"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/envs/driver"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/neural"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/session"
	"tiebreak/internal/session/journaltest"
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
	rec := must.Get(plain.journal.Load(t.Context(), "s1"))(t)
	if len(rec.Fits) < 2 || rec.Fits[0].Learner != "network" || rec.Generation.BasedOn <= rec.Fits[0].AdoptedAt || len(rec.Generation.Candidates[0].Theta) != 8 {
		t.Fatalf("%d fits, a generation from row %d for %d weights: too few to tell", len(rec.Fits), rec.Generation.BasedOn, len(rec.Generation.Candidates[0].Theta))
	}
	if last := rec.Snapshots[len(rec.Snapshots)-1]; last.Representation != int64(len(rec.Fits)) || !bytes.Equal(lastBelief(rec), plain.fresh(t, rec)) {
		t.Error("the posterior is not that of the answers that count under the network")
	}
	again := must.Get(run(true).journal.Load(t.Context(), "s1"))(t)
	if diff := cmp.Diff(rec, again, journaltest.Same); diff != "" {
		t.Errorf("records differ (-without restarts +with):\n%s", diff)
	}
}

// With a noise of each annotator's own the posterior under a network is a function of the answers that
// count and of the network, before and after a restart.
func TestNetworkOfSeveralAnnotators(t *testing.T) {
	b := newNetwork(t)
	b.learner = neural.Learner{Config: b.learner.(neural.Learner).Config, Own: true}
	b.averaged = nil // as where a session states no regret
	s, stop := b.start(t)
	for i := range 36 {
		if i == 33 {
			stop()
			s, stop = b.start(t)
		}
		who := [...]idrl.AnnotatorID{"ann", "bob", "eve"}[i%3]
		mustAnswer(t, s, who, reply(claim(t, s, who).Open[0], i))
	}
	stop()
	rec := must.Get(b.journal.Load(t.Context(), "s1"))(t)
	if last := rec.Snapshots[len(rec.Snapshots)-1]; last.Representation < 2 || !bytes.Equal(lastBelief(rec), b.fresh(t, rec)) {
		t.Errorf("under network %d the posterior is not that of the answers that count", last.Representation)
	}
	_, model := b.under(t, rec)
	p := must.Get(model.Decode(lastBelief(rec)))(t)
	if m := model.(belief.Own).Manners(p); len(m) != 3 || m[0].Annotator != "ann" || !(m[0].Random > 0 && m[0].Random < 1) {
		t.Errorf("annotators %+v", m)
	}
}

// Predictions of answers by a network are those of the posterior before each, are the same
// after a restart, and do not count what was withdrawn.
func TestPredictionsOfANetwork(t *testing.T) {
	b := newNetwork(t)
	b.journal.rec.Spec.Model = idrl.NetworkModel
	s, stop := b.start(t)
	if n := status(t, s).Network; !n.Used || n.Version != 0 || n.Predictions.Answers != 0 {
		t.Errorf("before the first answer: %+v", n)
	}
	for i := range 16 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	before := status(t, s).Network
	// The first ten answers were not predicted by a network, and the one after the fit cannot be told from the record.
	p := before.Predictions
	if before.Version != 1 || before.BasedOn != 10 || p.Answers != 5 || !(p.LogLoss > 0) || !(p.ECE >= 0 && p.ECE <= 1) || !(p.Right >= 0 && p.Right <= 1) {
		t.Errorf("after 16 answers: %+v", before)
	}
	stop()
	s, _ = b.start(t)
	if diff := cmp.Diff(before, status(t, s).Network); diff != "" {
		t.Errorf("a restart changes what is told (-before +after):\n%s", diff)
	}
	undo(t, s, 14)
	if got := status(t, s).Network.Predictions; got.Answers != 4 || got.LogLoss == p.LogLoss {
		t.Errorf("after a withdrawal: %+v, want 4 answers", got)
	}
}

// stuck is a trainer whose trainings after the first take until they are cancelled.
type stuck struct {
	idrl.Trainer
	began chan int64
}

func (s stuck) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	if job.First {
		return s.Trainer.Train(ctx, job)
	}
	s.began <- job.BasedOn
	<-ctx.Done()
	return idrl.Generation{}, ctx.Err()
}

// A training that is cancelled leaves the candidates in use; the next one begins after the
// next answer.
func TestCancelTraining(t *testing.T) {
	for name, test := range map[string]struct {
		set     func(*idrl.SessionSpec)
		answers int // before the first training of agents
	}{
		"network":                   {func(s *idrl.SessionSpec) { s.Model = idrl.NetworkModel }, 10},
		"soft actor-critic":         {func(s *idrl.SessionSpec) { s.Solver = idrl.ActorCritic }, 1},
		"solver of the environment": {func(*idrl.SessionSpec) {}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newNetwork(t)
			spec := &b.journal.rec.Spec
			spec.TrainEvery, spec.AdoptAfter = 0, 0
			if test.set(spec); spec.Model != idrl.NetworkModel {
				b.learner, spec.TrainEvery = nil, 1
			}
			cancelTraining(t, b, test.answers)
		})
	}
}

func cancelTraining(t *testing.T, b *bench, answers int) {
	t.Helper()
	trainer := stuck{b.trainer, make(chan int64)}
	b.trainer = trainer
	s, _ := b.start(t)
	for i := range answers {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	first := waittest.For(t, trainer.began, "the training to begin")
	if st := status(t, s).Training; !st.Running || !st.Cancel || st.Fixed != "" || st.Cancelled {
		t.Errorf("while it trains: %+v, want one that can be cancelled", st)
	}
	must.Do(t, s.CancelTraining(t.Context()))
	for status(t, s).Training.Running {
		claim(t, s, "ann")
	}
	if err := s.CancelTraining(t.Context()); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("cancelled again: error = %v, want one of kind Conflict", err)
	}
	if st := status(t, s); st.BasedOn != 0 || st.Training.Err != "" || st.Training.Cancel || !st.Training.Cancelled {
		t.Errorf("after the cancellation: candidates as of answer %d, %+v", st.BasedOn, st.Training)
	}
	mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], answers))
	if st := status(t, s).Training; st.Cancelled {
		t.Errorf("after another answer: %+v", st)
	}
	if next := waittest.For(t, trainer.began, "the next training to begin"); next != first+1 {
		t.Errorf("the next training is from row %d, want %d", next, first+1)
	}
}

// A training that questions wait for is not cancelled, and it is said why.
func TestTrainingsThatGoOn(t *testing.T) {
	for name, set := range map[string]func(*idrl.SessionSpec){
		"adopted at a fixed row": func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter, s.Solver = 2, 2, idrl.ActorCritic },
	} {
		t.Run(name, func(t *testing.T) {
			b := newNetwork(t)
			b.learner = nil
			set(&b.journal.rec.Spec)
			trainer := stuck{b.trainer, make(chan int64)}
			b.trainer = trainer
			s, _ := b.start(t)
			for i := range b.journal.rec.Spec.TrainEvery {
				mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], int(i)))
			}
			waittest.For(t, trainer.began, "the training to begin")
			if st := status(t, s).Training; !st.Running || st.Cancel || st.Fixed == "" {
				t.Errorf("%+v, want one that cannot be cancelled, and why", st)
			}
			if err := s.CancelTraining(t.Context()); idrl.KindOf(err) != idrl.Conflict {
				t.Errorf("error = %v, want one of kind Conflict", err)
			}
		})
	}
}

// A session on a network states no regret, at no time, and does not stop by it, also where
// an earlier version recorded statements and a rule.
func TestNoRegretUnderANetwork(t *testing.T) {
	b := newNetwork(t)
	spec := &b.journal.rec.Spec
	spec.StopByItself, spec.Tolerance, spec.Doubt = true, 0.99, 0.99 // with statements any answers would be enough
	s, stop := b.start(t)
	for i := range 3 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	if st := status(t, s); len(st.Regret) == 0 || st.Stopping.Held != 3 {
		t.Fatalf("without a network: %d statements, %+v", len(st.Regret), st.Stopping)
	}
	stop()
	spec.Model = idrl.NetworkModel
	s, stop = b.start(t)
	for i := 3; i < 14; i++ {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	st := status(t, s)
	if len(st.Regret) != 0 || !reflect.DeepEqual(st.Stopping, stopping.Stopping{}) || st.Network.Version != 1 {
		t.Errorf("network %d: %d statements, %+v; want none", st.Network.Version, len(st.Regret), st.Stopping)
	}
	for _, c := range st.Candidates {
		if c.Std != 0 || c.Mean == 0 {
			t.Errorf("candidate %s: %v ± %v, want a mean and no interval", c.ID, c.Mean, c.Std)
		}
	}
	stop()
	rec, err := b.journal.Load(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	for _, snap := range rec.Snapshots[3:] {
		if snap.Regret.Definition != 0 {
			t.Errorf("row %d records %+v", snap.Seq, snap.Regret)
		}
	}
	r, err := session.ReviewRecord(session.Config{
		Record: rec, Model: b.model, Acquisition: b.method, Journal: b.journal, Learner: b.learner, Discount: 1, Log: b.log,
	})
	if err != nil || r.Best.ID == "" || r.Regret != (idrl.Regret{Tolerance: 0.99}) {
		t.Errorf("the review states %+v of %s, error %v", r.Regret, r.Best.ID, err)
	}
}
