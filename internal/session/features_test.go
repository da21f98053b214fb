package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/envs/chain"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/learn/representation"
	"tiebreak/internal/learn/representation/representationtest"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/session"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/train/trainer"
)

// waves is how many features are learnt below, from every ten answers.
const waves = 16

// newLearning returns the bench of a session in Chain whose features are learnt anew from
// every ten answers.
func newLearning(t *testing.T, change func(*idrl.SessionSpec)) *bench {
	t.Helper()
	env := chain.New(chain.Config{})
	b := newBench(func(s *idrl.SessionSpec) {
		s.Kind, s.TrainEvery, s.AdoptAfter, s.Features = idrl.CompareClips, 3, 2, env.Spec().FeatureNames
		if change != nil {
			change(s)
		}
	})
	exact := must.Get(solver.For(env))(t)
	b.play(t, func() idrl.Environment { return chain.New(chain.Config{}) }, exact)
	b.learner = representationtest.Learner{Every: 10, Dim: waves, Model: b.model}
	return b
}

// play makes b a session in an environment, whose raw steps are kept.
func (b *bench) play(t *testing.T, newEnv func() idrl.Environment, s idrl.Solver) {
	t.Helper()
	spec, env := b.journal.rec.Spec, newEnv()
	var err error
	if b.model, err = belief.ForSpec(spec, env); err != nil {
		t.Fatal(err)
	}
	b.averaged = averaged
	b.trainer = &trainer.Thompson{
		NewEnv: newEnv, Solver: s, Kind: spec.Kind, Samples: 3, Restarts: 2, Pool: 8, Rollouts: 2, Mu: solver.Mu, MaxQueries: 200,
		Steps: func(tr *idrl.Trajectory, episode uint64) (idrl.StepsID, []byte, error) {
			return steps.Encode(steps.Of(tr, idrl.Steps{Env: env.Spec().ID, Version: 1, Seed: spec.Seed, Episode: episode}))
		},
	}
}

// say gives answer i to the question that is open, and takes some answers back: of the
// present, and of before the last fit.
func say(t *testing.T, s *session.Session, i int) {
	t.Helper()
	mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	switch i {
	case 7, 19, 20, 21:
		undo(t, s, i)
	case 24:
		for _, k := range []int{24, 23, 22, 18, 17} {
			undo(t, s, k)
		}
	}
}

func undo(t *testing.T, s *session.Session, i int) {
	t.Helper()
	must.Get(s.Undo(t.Context(), "ann", idrl.AnswerID(fmt.Sprint("undo-", i)), idrl.AnswerID(fmt.Sprint("answer-", i))))(t)
}

// under returns the view of the last features of a record, and their model.
func (b *bench) under(t *testing.T, rec record.Record) (*representation.View, idrl.RewardModel) {
	t.Helper()
	f := rec.Fits[len(rec.Fits)-1]
	rep, model, err := b.learner.Open(f.Version, f.Content)
	if err != nil {
		t.Fatal(err)
	}
	return representation.New(rep, representation.Source{
		Clip: func(id idrl.ClipID) (idrl.Clip, error) { return rec.Clips[id], nil },
		Steps: func(name idrl.StepsID) (*idrl.Steps, error) {
			content, err := b.journal.Steps(t.Context(), "s1", name)
			if err != nil {
				return nil, err
			}
			out, err := steps.Decode(name, content)
			return &out, err
		},
		Discount: 1,
	}), model
}

// fresh returns the encoded posterior of the answers of rec that count, under its last
// features, computed from the log and the raw steps alone.
func (b *bench) fresh(t *testing.T, rec record.Record) []byte {
	t.Helper()
	view, model := b.under(t, rec)
	queries := map[idrl.AssignmentID]idrl.Query{}
	for _, as := range rec.Assignments {
		queries[as.ID] = as.Query
	}
	var items []posterior.Item
	for _, a := range record.Effective(rec.Log) {
		q := must.Get(view.Query(queries[a.Assignment]))(t)
		if a.Informative() {
			items = append(items, posterior.ItemOf(q, a))
		}
	}
	p := must.Get(posterior.Of(t.Context(), model, items))(t)
	out := must.Get(model.Encode(p))(t)
	return out
}

// A session whose features are learnt anew every ten answers: generations are trained
// under them, withdrawals reach back before them, and however often it is started again,
// every row, question, fit and posterior is the same, bit for bit.
func TestLearntFeatures(t *testing.T) {
	const n = 45
	run := func(restart bool) *bench {
		b := newLearning(t, nil)
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
	rec := plain.journal.rec
	if len(rec.Fits) < 3 {
		t.Fatalf("%d fits, want at least 3", len(rec.Fits))
	}
	at := int64(0)
	for i, f := range rec.Fits {
		if f.Version != int64(i)+1 || f.BasedOn <= at || f.AdoptedAt != f.BasedOn {
			t.Errorf("fit %d: version %d, learnt from row %d after row %d, in use after %d", i, f.Version, f.BasedOn, at, f.AdoptedAt)
		}
		at = f.BasedOn
	}
	for _, snap := range rec.Snapshots {
		want := int64(0)
		for _, f := range rec.Fits {
			if f.AdoptedAt < snap.Seq {
				want = f.Version
			}
		}
		if snap.Representation != want {
			t.Errorf("the posterior after row %d is about features %d, want %d", snap.Seq, snap.Representation, want)
		}
	}
	if got := len(rec.Generation.Candidates[0].Theta); rec.Generation.BasedOn <= rec.Fits[0].AdoptedAt || got != waves {
		t.Errorf("the generation from row %d was trained for %d weights, want %d", rec.Generation.BasedOn, got, waves)
	}
	loaded := must.Get(plain.journal.Load(t.Context(), "s1"))(t)
	if !bytes.Equal(lastBelief(rec), plain.fresh(t, loaded)) {
		t.Error("the posterior is not that of the answers that count under the last features")
	}
	again := must.Get(run(true).journal.Load(t.Context(), "s1"))(t)
	if diff := cmp.Diff(loaded, again, journaltest.Same); diff != "" {
		t.Errorf("records differ (-without restarts +with):\n%s", diff)
	}
}

// An answer and its withdrawal leave the posterior as it was, also where the answer is
// from before the features.
func TestUndoUnderLearntFeatures(t *testing.T) {
	b := newLearning(t, nil)
	s, _ := b.start(t)
	for i := range 14 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	before := lastBelief(b.record(t, s))
	mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 14))
	undo(t, s, 14)
	if !bytes.Equal(lastBelief(b.record(t, s)), before) {
		t.Error("an answer and its withdrawal change the posterior")
	}
	undo(t, s, 6)
	rec := b.record(t, s)
	if len(rec.Fits) != 1 || !bytes.Equal(lastBelief(rec), b.fresh(t, rec)) {
		t.Errorf("%d fits; after the withdrawal of an earlier answer the posterior is not that of the others", len(rec.Fits))
	}
}

// People answer, withdraw and are asked while features are learnt, and those that come
// late are as good as those that come at once.
func TestFeaturesThatTakeLong(t *testing.T) {
	b := newLearning(t, func(s *idrl.SessionSpec) { s.AdoptAfter = 0 })
	gate := make(chan struct{})
	learner := b.learner.(representationtest.Learner)
	learner.Before = func(ctx context.Context) error {
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	b.learner = learner
	s, stop := b.start(t)
	for i := range 15 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	undo(t, s, 13)
	if rec := b.record(t, s); len(rec.Fits) != 0 || len(rec.Log) != 16 {
		t.Fatalf("%d fits and %d rows, want none and 16", len(rec.Fits), len(rec.Log))
	}
	stop() // a killed learning begins again
	s, stop = b.start(t)
	gate <- struct{}{}
	for len(b.record(t, s).Fits) == 0 {
		claim(t, s, "ann")
	}
	mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 15))
	stop()
	rec := must.Get(b.journal.Load(t.Context(), "s1"))(t)
	if f := rec.Fits[0]; f.BasedOn != 16 || f.AdoptedAt != 16 {
		t.Errorf("learnt from row %d, in use after row %d; want 16 and 16", f.BasedOn, f.AdoptedAt)
	}
	if !bytes.Equal(lastBelief(rec), b.fresh(t, rec)) {
		t.Error("the posterior is not that of the answers that count")
	}
}

// Answers and withdrawals that come while features are learnt are in the posterior once
// they are in use.
func TestAnswersWhileFeaturesAreLearnt(t *testing.T) {
	for name, during := range map[string]func(t *testing.T, s *session.Session){
		"answers":     func(t *testing.T, s *session.Session) {},
		"withdrawals": func(t *testing.T, s *session.Session) { undo(t, s, 12); undo(t, s, 8) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newLearning(t, func(s *idrl.SessionSpec) { s.AdoptAfter = 0 })
			gate := make(chan struct{})
			learner := b.learner.(representationtest.Learner)
			learner.Before = func(context.Context) error { <-gate; return nil }
			b.learner = learner
			s, stop := b.start(t)
			for i := range 13 {
				mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
			}
			during(t, s)
			rows := int64(len(b.record(t, s).Log))
			gate <- struct{}{}
			for len(b.record(t, s).Fits) == 0 {
				claim(t, s, "ann")
			}
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 13))
			rec := b.record(t, s)
			if f := rec.Fits[0]; f.BasedOn != 10 || f.AdoptedAt != rows {
				t.Errorf("learnt from row %d, in use after row %d; want 10 and %d", f.BasedOn, f.AdoptedAt, rows)
			}
			if !bytes.Equal(lastBelief(rec), b.fresh(t, rec)) {
				t.Error("the posterior is not that of the answers that count")
			}
			close(gate)
			stop()
		})
	}
}

// Where learnt features cannot be used the session says so and goes on with those of its
// environment; once they can, the next start uses them, with every answer.
func TestFeaturesThatCannotBeUsed(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(b *bench) (mend func())
		says  string
	}{
		{"unknown to the program", func(b *bench) func() {
			l := b.learner
			b.learner = nil
			return func() { b.learner = l }
		}, `features of kind \"fourier\" (version 1) are unknown to this program`},
		{"damaged", func(b *bench) func() {
			f := &b.journal.rec.Fits[0]
			content := f.Content
			f.Content = nil
			return func() { f.Content = content }
		}, "damaged; restore a backup"},
		{"of a later format", func(b *bench) func() {
			f := &b.journal.rec.Fits[0]
			content := f.Content
			f.Content = []byte(`{"Layers": 2}`)
			return func() { f.Content = content }
		}, "0 phases for 0 frequencies"},
		{"without raw steps", func(b *bench) func() {
			c := b.journal.rec.Clips
			b.journal.rec.Clips = map[idrl.ClipID]idrl.Clip{}
			for id, clip := range c {
				clip.Raw = ""
				b.journal.rec.Clips[id] = clip
			}
			return func() {
				for id, clip := range c {
					b.journal.rec.Clips[id] = clip
				}
			}
		}, "no raw steps are kept of clip"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newLearning(t, func(s *idrl.SessionSpec) { s.AdoptAfter = 0; s.TrainEvery = 100 })
			var log bytes.Buffer
			s, stop := b.start(t)
			for i := range 10 {
				mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
			}
			for len(b.record(t, s).Fits) == 0 {
				claim(t, s, "ann")
			}
			for i := range 2 { // under the learnt features
				mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 10+i))
			}
			stop()
			mend := test.spoil(b)
			b.log = slog.New(slog.NewTextHandler(&log, nil))
			s, stop = b.start(t)
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 12))
			rec := b.record(t, s)
			stop()
			if !strings.Contains(log.String(), test.says) {
				t.Errorf("the log says %q, want %q", log.String(), test.says)
			}
			if last := rec.Snapshots[12]; last.Representation != 0 || !bytes.Equal(last.Belief, b.afresh(t, rec)) || len(rec.Fits) != 1 {
				t.Errorf("features %d, %d fits; want the posterior of 13 answers under the environment's features", last.Representation, len(rec.Fits))
			}
			mend()
			s, stop = b.start(t)
			mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 13))
			rec = b.record(t, s)
			stop()
			if last := rec.Snapshots[13]; last.Representation != 1 || !bytes.Equal(last.Belief, b.fresh(t, rec)) {
				t.Errorf("features %d; want the posterior of 14 answers under those that were learnt", last.Representation)
			}
		})
	}
}

// Learning that fails leaves the session as it is. It is tried again when features are
// due the next time.
func TestLearningThatFails(t *testing.T) {
	b := newLearning(t, nil)
	var log bytes.Buffer
	b.log = slog.New(slog.NewTextHandler(&log, nil))
	var fails atomic.Bool
	fails.Store(true)
	learner := b.learner.(representationtest.Learner)
	learner.Before = func(context.Context) error {
		if fails.Load() {
			return errors.New("no memory")
		}
		return nil
	}
	b.learner = learner
	s, stop := b.start(t)
	for i := range 15 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	fails.Store(false)
	for i := range 6 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 15+i))
	}
	rec := b.record(t, s)
	stop()
	if n := strings.Count(log.String(), "no memory"); n != 1 || len(rec.Fits) != 1 || rec.Fits[0].BasedOn != 20 {
		t.Errorf("%d failures and fits %+v; want one failure, and features learnt from 20 answers\n%s", n, rec.Fits, log.String())
	}
}

// What a session states and asks under learnt features is about them: the statement
// over the known policies is that of the posterior and of μ computed from the raw steps.
func TestStatementsUnderLearntFeatures(t *testing.T) {
	b := newLearning(t, nil)
	s, _ := b.start(t)
	for i := range 14 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	st := status(t, s)
	rec := b.record(t, s)
	view, model := b.under(t, rec)
	p := must.Get(model.Decode(lastBelief(rec)))(t)
	mean, most := p.Mean(nil), math.Inf(-1)
	var best idrl.PolicyID
	for _, c := range slices.Concat(rec.Generation.Candidates, rec.Pool, slices.Concat(rec.Archive...)) {
		mu := must.Get(view.Policy(c))(t)
		g := 0.0
		for k := range mu {
			g += mean[k] * mu[k]
		}
		if g > most+1e-9 {
			best, most = c.ID, g
		}
	}
	if st.Best != best {
		t.Errorf("the session recommends %s, but %s has the highest mean return", st.Best, best)
	}
	if last := st.Regret[len(st.Regret)-1]; last.Seq != 14 || last.Span <= 0 || last.Mean < 0 || st.Weights != nil {
		t.Errorf("statement %+v and weights %v", last, st.Weights)
	}
}

// Which answers were foretold is the same after a restart at any row. The first answer after
// features came into use has no mark: the record has no posterior under them before it.
func TestForetoldAfterRestarts(t *testing.T) {
	const n, fits = 45, 4
	play := func(restart bool) (told []quality.AnnotatorStats) {
		b := newLearning(t, nil)
		s, stop := b.start(t)
		for i := range n {
			a := reply(claim(t, s, "ann").Open[0], i)
			a.Choice = []idrl.Choice{idrl.ChoseA, idrl.ChoseB}[rng.New(1, "person", uint64(i)).IntN(2)]
			mustAnswer(t, s, "ann", a)
			if restart {
				stop()
				s, stop = b.start(t)
			}
			told = append(told, status(t, s).Annotators...)
		}
		stop()
		if got := len(b.journal.rec.Fits); got != fits {
			t.Errorf("%d fits, want %d", got, fits)
		}
		return told
	}
	live, again := play(false), play(true)
	if diff := cmp.Diff(live, again); diff != "" {
		t.Errorf("what was foretold (-live +started again after each answer):\n%s", diff)
	}
	if got, want := live[n-1].PredictedSize, live[n-1].Decisive-1-fits; got != want { // the prior mean is 0 and foretells nothing
		t.Errorf("%d of %d answers have a mark, want %d", got, n, want)
	}
}

// A researcher changes what the session is called while features are learnt beside it, which
// reads nothing that this changes. The race detector tells.
func TestTitleChangesWhileFeaturesAreLearnt(t *testing.T) {
	b := newLearning(t, func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter = 1000, 0 })
	s, _ := b.start(t)
	for i := range 10 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	for version, n := int64(0), 0; version == 0; n++ {
		title := fmt.Sprint("title ", n)
		b.want(0, record.Settings{Title: title})
		follow(t, s)
		if got := s.Spec().Title; got != title {
			t.Fatalf("the title is %q, want %q", got, title)
		}
		held := must.Get(s.Posterior(t.Context()))(t)
		version = held.Representation
	}
}
