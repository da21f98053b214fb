package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/session/memory"
	"tiebreak/internal/session/view"
	"tiebreak/internal/study/settings"
)

// journal is a Journal in memory of one session.
type journal struct {
	memory.Journal

	mu   sync.Mutex
	rec  record.Record // guarded by mu
	fail error         // guarded by mu: of the next writes, as of a full disk
}

func newJournal(rec record.Record) *journal {
	j := &journal{rec: rec}
	j.Record, j.Guard, j.Fail = &j.rec, &j.mu, func() error { return j.fail }
	return j
}

// fails makes the next writes fail with err; they succeed again if it is nil.
func (j *journal) fails(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.fail = err
}

type nobody struct{}

func (nobody) Publish(idrl.SessionID, live.Event) {}

// fakeTrainer makes generations of random clips, a function of the job alone.
type fakeTrainer struct {
	d    int
	gate chan struct{} // if not nil, a training waits for a value
	err  error
}

func (f fakeTrainer) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	if f.gate != nil {
		select {
		case <-f.gate:
		case <-ctx.Done():
			return idrl.Generation{}, ctx.Err()
		}
	}
	if f.err != nil {
		return idrl.Generation{}, f.err
	}
	r := rng.New(job.Seed, "fake", uint64(job.BasedOn)+uint64(job.From)<<32)
	vec := func() []float64 {
		v := job.Posterior.Sample(nil, r)
		for i := range v {
			v[i] += r.NormFloat64()
		}
		return v
	}
	g := idrl.Generation{BasedOn: job.BasedOn, Clips: map[idrl.ClipID]idrl.Clip{}}
	var clips []idrl.Clip
	n := 6
	if job.From > 0 {
		n = 2
	}
	for k := job.From; k < job.From+n; k++ {
		c := idrl.Clip{ID: idrl.ClipID(fmt.Sprintf("clip-%d-%d", job.BasedOn, k)), Steps: 5, Phi: vec()}
		clips, g.Clips[c.ID] = append(clips, c), c
		g.Candidates = append(g.Candidates, idrl.Candidate{
			ID: idrl.PolicyID(fmt.Sprintf("g%d.p%d", job.BasedOn, k)), Origin: idrl.FromSample,
			Params: vec(), Theta: vec(), Mu: c.Phi, Clip: c.ID,
		})
	}
	for i, a := range clips {
		for _, b := range clips[:i] {
			g.Queries = append(g.Queries, idrl.NewComparison(a, b))
		}
	}
	return g, nil
}

// clock is a clock that only moves when told to.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

const dim = 3

type bench struct {
	journal  *journal
	clock    *clock
	trainer  idrl.Trainer
	model    belief.Model
	personal idrl.RewardModel                   // in the place of model; may be nil
	averaged func(idrl.RewardModel) idrl.Filter // may be nil
	rival    func(stds []float64) posterior.Personal
	method   acquisition.Method
	log      *slog.Logger

	learner  idrl.FeatureLearner
	rejected func(error)
	rests    func()
	title    func(idrl.Candidate) string
	steps    func(idrl.Candidate) float64
	exact    bool
	stepSec  float64
	expired  func(int)
	uncut    bool
}

func newBench(change func(*idrl.SessionSpec)) *bench {
	spec := settings.Complete(idrl.SessionSpec{ID: "s1", Title: "test", Env: "none", Seed: 7, TrainEvery: 4, AdoptAfter: 2, Features: []string{"x", "y", "z"}})
	if change != nil {
		change(&spec)
	}
	return &bench{
		journal: newJournal(record.Record{Spec: spec}),
		clock:   &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		trainer: fakeTrainer{d: dim},
		method:  acquisition.Methods()[0],
		log:     slog.New(slog.DiscardHandler),
		model: belief.Model{
			Start: belief.Isotropic(dim, spec.PriorVar), Comparison: belief.Probit{NoiseStd: spec.NoiseStd, TieBand: spec.TieBand},
			Rating: belief.Rating{NoiseVar: spec.RatingVar},
		},
	}
}

// rewards returns the reward model of the session.
func (b *bench) rewards() idrl.RewardModel {
	if b.personal != nil {
		return b.personal
	}
	return b.model
}

// own makes the posterior learn the noise of each annotator.
func (b *bench) own(t testing.TB) {
	t.Helper()
	own, ok := b.model.Own(b.journal.rec.Spec.Kind)
	if !ok {
		t.Fatal("there is no model of annotators")
	}
	b.personal, b.averaged = own, func(idrl.RewardModel) idrl.Filter { return own.Always() }
}

// start runs a session on what the journal holds; stop ends it as a kill would:
// nothing is flushed.
func (b *bench) start(t testing.TB) (s *session.Session, stop func()) {
	t.Helper()
	return b.startOn(t, b.journal)
}

func (b *bench) startOn(t testing.TB, j record.Journal) (s *session.Session, stop func()) {
	t.Helper()
	rec := must.Get(b.journal.Load(t.Context(), "s1"))(t)
	s = must.Get(session.New(session.Config{
		Record: rec, Model: b.rewards(), Averaged: b.averaged, Rival: b.rival, Acquisition: b.method,
		Trainer: b.trainer, Journal: j, Publisher: nobody{}, Learner: b.learner, Discount: 1,
		Log: b.log, Now: b.clock.Now, Rejected: b.rejected, Rests: b.rests,
		Title: b.title, Steps: b.steps, Exact: b.exact, StepSec: b.stepSec, Expired: b.expired, Uncut: b.uncut,
	}))(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Run(ctx)
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return s, stop
}

// record returns what the journal holds once the session has served its present request.
func (b *bench) record(t *testing.T, s *session.Session) record.Record {
	t.Helper()
	must.Get(s.Status(t.Context()))(t)
	rec := must.Get(b.journal.Load(t.Context(), "s1"))(t)
	return rec
}

// claim asks until there is a question.
func claim(t testing.TB, s *session.Session, who idrl.AnnotatorID) view.Offer {
	t.Helper()
	for {
		o := must.Get(s.Claim(t.Context(), who))(t)
		if len(o.Open) > 0 || o.Done {
			return o
		}
	}
}

func reply(as record.Assignment, n int) idrl.Answer {
	choice := idrl.ChoseA
	if n%3 == 0 {
		choice = idrl.ChoseB
	}
	return idrl.Answer{ID: idrl.AnswerID(fmt.Sprintf("answer-%d", n)), Assignment: as.ID, Choice: choice, Left: as.Left, Input: "api"}
}

func mustAnswer(t testing.TB, s *session.Session, who idrl.AnnotatorID, a idrl.Answer) view.Receipt {
	t.Helper()
	r := must.Get(s.Answer(t.Context(), who, a))(t)
	return r
}

// questions returns the queries that a session asks one annotator, who answers n of them.
func questions(t *testing.T, b *bench, n int, restart bool) (ids []idrl.QueryID) {
	t.Helper()
	s, stop := b.start(t)
	for i := range n {
		o := claim(t, s, "ann")
		ids = append(ids, o.Open[0].Query.ID)
		mustAnswer(t, s, "ann", reply(o.Open[0], i))
		if restart {
			stop()
			s, stop = b.start(t)
		}
	}
	stop()
	return ids
}

// Whatever chooses the questions, a session goes on after a restart as it would
// have gone on without: generations of the past included, which some look at.
func TestRestartChangesNothing(t *testing.T) {
	for _, name := range acquisition.Names(acquisition.Live()) {
		t.Run(name, func(t *testing.T) {
			plain, restarted := newBench(nil), newBench(nil)
			plain.method, restarted.method = method(t, name), method(t, name)
			want := questions(t, plain, 15, false)
			got := questions(t, restarted, 15, true)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("questions after restarts differ (-without +with):\n%s", diff)
			}
			if diff := cmp.Diff(plain.journal.rec, restarted.journal.rec); diff != "" {
				t.Errorf("records differ (-without +with):\n%s", diff)
			}
		})
	}
}

// afresh returns the encoded posterior after the effective answers of rec.
func (b *bench) afresh(t *testing.T, rec record.Record) []byte {
	t.Helper()
	queries := journaltest.Vectors(t, rec)
	var items []posterior.Item
	for _, a := range record.Effective(rec.Log) {
		if q := queries[a.Assignment]; a.Informative() {
			items = append(items, posterior.ItemOf(&q, a))
		}
	}
	p := must.Get(posterior.Of(t.Context(), b.model, items))(t)
	text := must.Get(b.model.Encode(p))(t)
	return text
}

// An answer and its withdrawal leave the posterior as it was, to the bit, wherever
// fits lie, and also after a restart.
func TestAnswerAndUndo(t *testing.T) {
	b := newBench(nil)
	s, stop := b.start(t)
	for i := range 12 {
		before := []byte(nil)
		if i > 0 {
			before = lastBelief(b.record(t, s))
		}
		a := reply(claim(t, s, "ann").Open[0], i)
		mustAnswer(t, s, "ann", a)
		if i%2 == 0 {
			stop()
			s, stop = b.start(t)
		}
		undo := func(id idrl.AnswerID) {
			t.Helper()
			must.Get(s.Undo(t.Context(), "ann", "undo-"+id, id))(t)
		}
		undo(a.ID)
		if rec := b.record(t, s); i > 0 && !bytes.Equal(lastBelief(rec), before) || !bytes.Equal(lastBelief(rec), b.afresh(t, rec)) {
			t.Fatalf("after answer %d and its withdrawal the posterior is another", i)
		}
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 100+i))
	}
}

// Withdrawals, and people left out or turned, whose work is long are prepared beside the session,
// which goes on taking answers; the posterior is that of the log all the same.
func TestLongEditsBesideAnswers(t *testing.T) {
	const d = 200 // so that fits of more than seven answers count as long
	b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter = 0 })
	b.trainer, b.model.Start = fakeTrainer{d: d}, belief.Isotropic(d, 1)
	s, stop := b.start(t)
	n := 0
	answer := func(who idrl.AnnotatorID) idrl.AnswerID {
		t.Helper()
		a := reply(claim(t, s, who).Open[0], n)
		mustAnswer(t, s, who, a)
		n++
		return a.ID
	}
	for round := range 6 {
		var last []idrl.AnswerID
		for range 4 {
			answer("good")
			last = append(last, answer("bad"))
		}
		done := make(chan error, 2)
		go func() {
			_, err := s.Undo(t.Context(), "bad", idrl.AnswerID(fmt.Sprint("undo-", round)), last[0])
			done <- err
		}()
		switch round {
		case 1:
			b.want(0, record.Settings{LeftOut: []idrl.AnnotatorID{"bad"}})
		case 2, 3, 5: // with the answers since
			b.want(0, record.Settings{Turned: map[idrl.AnnotatorID]int64{"bad": status(t, s).Seq}})
		case 4:
			b.want(0, record.Settings{})
		}
		go func() { done <- s.Follow(t.Context()) }()
		for range 5 {
			answer("good")
		}
		for range 2 {
			must.Do(t, waittest.For(t, done, "a call of the session"))
		}
		if rec := b.record(t, s); !bytes.Equal(lastBelief(rec), b.afresh(t, rec)) {
			t.Fatalf("round %d: the posterior is not that of the log", round)
		}
	}
	stop()
}

func TestBeliefIsAFunctionOfTheLog(t *testing.T) {
	b := newBench(nil)
	s, stop := b.start(t)
	for i := range 8 {
		o := claim(t, s, "ann")
		mustAnswer(t, s, "ann", reply(o.Open[0], i))
		if i == 5 {
			must.Get(s.Undo(t.Context(), "ann", "undo-1", "answer-4"))(t)
		}
	}
	stop()
	rec := b.journal.rec
	last := rec.Snapshots[len(rec.Snapshots)-1]
	want := b.afresh(t, rec)
	if !slices.Equal(last.Belief, want) {
		t.Error("the last snapshot is not the replay of the log")
	}
	if n := len(record.Effective(rec.Log)); n != 7 || len(rec.Log) != 9 {
		t.Errorf("%d effective answers in %d rows, want 7 in 9", n, len(rec.Log))
	}

	b.journal.rec.Snapshots = rec.Snapshots[:3] // a lost cache is rebuilt
	s, _ = b.start(t)
	st := must.Get(s.Status(t.Context()))(t)
	p := must.Get(b.model.Decode(want))(t)
	for k, w := range st.Weights {
		if mean := p.Mean(nil)[k]; w.Mean != mean {
			t.Errorf("weight %d = %v after a restart without snapshots, want %v", k, w.Mean, mean)
		}
	}
}

func TestUndoAsksTheQuestionAgain(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	before, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := claim(t, s, "ann").Open[0]
	mustAnswer(t, s, "ann", reply(first, 1))
	o, err := s.Claim(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	if o.Undo != "answer-1" || o.Mine != 1 {
		t.Errorf("offer has undo %q and %d answers, want answer-1 and 1", o.Undo, o.Mine)
	}
	must.Get(s.Undo(t.Context(), "ann", "undo-1", "answer-1"))(t)
	o = claim(t, s, "ann")
	again := o.Open[0]
	if again.Query.ID != first.Query.ID || again.Left != first.Left || again.ID == first.ID || o.Mine != 0 {
		t.Errorf("after undo the first question is %s (left %s), %d answers; want %s (left %s), 0",
			again.Query.ID, again.Left, o.Mine, first.Query.ID, first.Left)
	}
	after, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Weights, after.Weights); diff != "" {
		t.Errorf("the belief after undo is not the prior (-prior +after):\n%s", diff)
	}
	r, err := s.Undo(t.Context(), "ann", "undo-1", "answer-1")
	if err != nil || !r.Replay {
		t.Errorf("the same undo again: receipt %+v, error %v; want a replay", r, err)
	}
	mustAnswer(t, s, "ann", reply(again, 2))
}

// namesNoID reports an error that names one of ids: people read it.
func namesNoID(t *testing.T, err error, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err != nil && len(id) > 1 && strings.Contains(err.Error(), id) {
			t.Errorf("the error %q names the id %s", err, id)
		}
	}
}

func TestRefusals(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	mine := claim(t, s, "ann").Open
	theirs := claim(t, s, "bob").Open
	mustAnswer(t, s, "ann", reply(mine[0], 1))
	for _, test := range []struct {
		name string
		who  idrl.AnnotatorID
		a    idrl.Answer
		kind idrl.Kind
	}{
		{"somebody else's assignment", "ann", reply(theirs[0], 2), idrl.Forbidden},
		{"unknown assignment", "ann", idrl.Answer{ID: "x", Assignment: "s1.999", Choice: idrl.ChoseA, Left: "a"}, idrl.NotFound},
		{"answered already", "ann", reply(mine[0], 3), idrl.Conflict},
		{"id used for another answer", "ann", idrl.Answer{ID: "answer-1", Assignment: mine[1].ID, Choice: idrl.Equal, Left: "a"}, idrl.Conflict},
		{"no id", "ann", idrl.Answer{Assignment: mine[1].ID, Choice: idrl.ChoseA, Left: "a"}, idrl.Invalid},
		{"a rating of a comparison", "ann", idrl.Answer{ID: "x", Assignment: mine[1].ID, Choice: idrl.Rated, Rating: 0.5}, idrl.Invalid},
		{"unknown choice", "ann", idrl.Answer{ID: "x", Assignment: mine[1].ID, Choice: "left", Left: "a"}, idrl.Invalid},
		{"side missing", "ann", idrl.Answer{ID: "x", Assignment: mine[1].ID, Choice: idrl.ChoseA}, idrl.Invalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := s.Answer(t.Context(), test.who, test.a)
			if err == nil || idrl.KindOf(err) != test.kind {
				t.Errorf("error %v of kind %d, want kind %d", err, idrl.KindOf(err), test.kind)
			}
			namesNoID(t, err, string(test.a.ID), string(test.a.Assignment), string(mine[1].Query.ID))
		})
	}
	for _, a := range []idrl.AssignmentID{theirs[0].ID, mine[0].ID, "s1.999"} {
		err := s.Renew(t.Context(), "ann", a)
		if err == nil {
			t.Errorf("the lease of %s was renewed", a)
		}
		namesNoID(t, err, string(a))
	}
	for _, test := range []struct {
		name string
		who  idrl.AnnotatorID
		of   idrl.AnswerID
		kind idrl.Kind
	}{
		{"undo somebody else's", "bob", "answer-1", idrl.Forbidden},
		{"undo nothing", "ann", "answer-9", idrl.NotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := s.Undo(t.Context(), test.who, "undo-x", test.of)
			if err == nil || idrl.KindOf(err) != test.kind {
				t.Errorf("error %v of kind %d, want kind %d", err, idrl.KindOf(err), test.kind)
			}
			namesNoID(t, err, string(test.of))
		})
	}
	if n := len(b.record(t, s).Log); n != 1 {
		t.Errorf("%d rows in the log after refusals, want 1", n)
	}
}

func TestReplayedAnswer(t *testing.T) {
	b := newBench(nil)
	s, stop := b.start(t)
	a := reply(claim(t, s, "ann").Open[0], 1)
	first := mustAnswer(t, s, "ann", a)
	again := mustAnswer(t, s, "ann", a)
	if again.Seq != first.Seq || !again.Replay || first.Replay {
		t.Errorf("receipts %+v and %+v, want the same seq and a replay", first, again)
	}
	stop()
	s, _ = b.start(t)
	if r := mustAnswer(t, s, "ann", a); r.Seq != first.Seq || !r.Replay {
		t.Errorf("after a restart: receipt %+v, want a replay of seq %d", r, first.Seq)
	}
	have, err := s.Have(t.Context(), "ann", []idrl.AnswerID{"answer-1", "answer-2"})
	if err != nil || !slices.Equal(have, []idrl.AnswerID{"answer-1"}) {
		t.Errorf("have %v, error %v; want answer-1", have, err)
	}
	if have, _ := s.Have(t.Context(), "bob", []idrl.AnswerID{"answer-1"}); len(have) != 0 {
		t.Errorf("bob is told of %v, which is not his", have)
	}
}

func TestNothingIsTakenInThatIsNotDurable(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	open := claim(t, s, "ann").Open
	before, _ := s.Status(t.Context())
	b.journal.mu.Lock()
	b.journal.fail = idrl.Errorf(idrl.Unavailable, "disk full")
	b.journal.mu.Unlock()
	if _, err := s.Answer(t.Context(), "ann", reply(open[0], 1)); idrl.KindOf(err) != idrl.Unavailable {
		t.Fatalf("error %v, want Unavailable", err)
	}
	after, _ := s.Status(t.Context())
	if diff := cmp.Diff(before.Weights, after.Weights); diff != "" || after.Seq != 0 {
		t.Errorf("a refused write changed the belief:\n%s", diff)
	}
	b.journal.mu.Lock()
	b.journal.fail = nil
	b.journal.mu.Unlock()
	if r := mustAnswer(t, s, "ann", reply(open[0], 1)); r.Seq != 1 || r.Replay {
		t.Errorf("receipt %+v, want seq 1", r)
	}
}

func TestTwoAnnotatorsGetDifferentQuestions(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	seen := map[idrl.QueryID]idrl.AnnotatorID{}
	for _, who := range []idrl.AnnotatorID{"ann", "bob"} {
		open := claim(t, s, who).Open
		if len(open) != 3 {
			t.Fatalf("%s has %d questions, want 3", who, len(open))
		}
		for _, as := range open {
			if other, ok := seen[as.Query.ID]; ok {
				t.Errorf("query %s went to both %s and %s", as.Query.ID, other, who)
			}
			seen[as.Query.ID] = who
		}
	}
}

func TestTwoTabsShareTheirQuestions(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	one, two := claim(t, s, "ann"), claim(t, s, "ann")
	if diff := cmp.Diff(one.Open, two.Open); diff != "" {
		t.Errorf("two tabs differ:\n%s", diff)
	}
}

func TestLease(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	open := claim(t, s, "ann").Open
	b.clock.advance(11 * time.Minute)
	mustAnswer(t, s, "ann", reply(open[0], 1)) // late answers are kept
	if a := b.record(t, s).Log[0]; !a.Late {
		t.Error("an answer after its lease is not marked late")
	}
	if err := s.Renew(t.Context(), "ann", open[1].ID); err != nil {
		t.Error(err)
	}
	if err := s.Renew(t.Context(), "bob", open[1].ID); idrl.KindOf(err) != idrl.Forbidden {
		t.Errorf("bob renews ann's question: error %v, want Forbidden", err)
	}
	mustAnswer(t, s, "ann", reply(open[1], 2))
	if a := b.record(t, s).Log[1]; a.Late {
		t.Error("an answer under a renewed lease is marked late")
	}
}

// A lease that ends without an answer is told once, also if the answer comes later; one that is
// renewed in time is not.
func TestExpiredLeases(t *testing.T) {
	b := newBench(nil)
	expired := 0
	b.expired = func(n int) { expired += n }
	s, _ := b.start(t)
	want := func(n int, when string) {
		t.Helper()
		if _, err := s.Status(t.Context()); err != nil || expired != n { // the session's goroutine is done with what came before
			t.Errorf("%s: %d leases have ended (%v), want %d", when, expired, err, n)
		}
	}
	open := claim(t, s, "ann").Open
	want(0, "at the beginning")
	b.clock.advance(6 * time.Minute)
	claim(t, s, "ann") // renews
	b.clock.advance(6 * time.Minute)
	claim(t, s, "ann")
	want(0, "renewed in time")
	b.clock.advance(11 * time.Minute)
	mustAnswer(t, s, "ann", reply(open[0], 1))
	want(len(open), "an answer after all leases")
	claim(t, s, "ann")
	claim(t, s, "bob")
	want(len(open), "as they were counted")
	b.clock.advance(time.Hour)
	claim(t, s, "bob")
	want(2*len(open)+len(claim(t, s, "bob").Open), "those of both")
}

func TestBudget(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Budget = 4 })
	s, _ := b.start(t)
	n := 0
	for o := claim(t, s, "ann"); !o.Done; o = claim(t, s, "ann") {
		mustAnswer(t, s, "ann", reply(o.Open[0], n))
		n++
	}
	if asked := len(b.record(t, s).Assignments); n != 4 || asked != 4 {
		t.Errorf("%d answers to %d questions, want 4 to 4", n, asked)
	}
	must.Get(s.Undo(t.Context(), "ann", "u", "answer-3"))(t)
	if o := claim(t, s, "ann"); o.Done || len(o.Open) != 1 {
		t.Errorf("after undo of the last answer: done %v with %d questions, want one question", o.Done, len(o.Open))
	}
}

func TestLabellingNeverWaitsForTraining(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter = 0; s.TrainEvery = 2 })
	gate := make(chan struct{})
	b.trainer = fakeTrainer{d: dim, gate: gate}
	s, _ := b.start(t)
	if o, err := s.Claim(t.Context(), "ann"); err != nil || len(o.Open) != 0 || o.Waiting == "" {
		t.Fatalf("before the first generation: %d questions, waiting %q, error %v", len(o.Open), o.Waiting, err)
	}
	gate <- struct{}{}
	for i := range 7 { // the second training hangs all the while
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	st, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.BasedOn != 0 || !st.Training.Running || st.Training.BasedOn != 2 {
		t.Errorf("in use %d, training %+v; want 0 in use while 2 trains", st.BasedOn, st.Training)
	}
	gate <- struct{}{}
	gate <- struct{}{} // the third starts only after the second was adopted
	if st, err = s.Status(t.Context()); err != nil || st.BasedOn < 2 {
		t.Errorf("in use %d, error %v; want at least 2", st.BasedOn, err)
	}
}

func TestFailedTrainingIsShown(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter = 0 })
	b.trainer = fakeTrainer{err: errors.New("no memory")}
	s, _ := b.start(t)
	for {
		st := must.Get(s.Status(t.Context()))(t)
		if st.Training.Err != "" {
			return
		}
	}
}

func TestStatus(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	for i := range 3 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	st := must.Get(s.Status(t.Context()))(t)
	if st.Answers != 3 || len(st.Regret) != 4 || len(st.Recent) != 3 || len(st.Weights) != dim || len(st.Candidates) != 6 {
		t.Errorf("status counts: %d answers, %d regret, %d recent, %d weights, %d candidates",
			st.Answers, len(st.Regret), len(st.Recent), len(st.Weights), len(st.Candidates))
	}
	for _, a := range st.Recent {
		if a.Why.First == "" || a.Why.First == a.Why.Second || !(a.Why.Info > 0) {
			t.Errorf("answer %d has no reason: %+v", a.Answer.Seq, a.Why)
		}
	}
	for i, r := range st.Regret {
		if !(r.Mean >= 0 && r.Mean <= 1 && r.Bound >= 0 && r.Bound <= 1 && r.Within >= 0 && r.Within <= 1 && r.Span > 0) || r.Seq != int64(i) || r.Definition != idrl.RegretDefinition {
			t.Errorf("regret %d = %+v", i, r)
		}
	}
	if st.Candidates[0].ID != string(st.Best) || !slices.IsSortedFunc(st.Candidates, func(a, b view.Estimate) int { return int(b.Mean*1e6) - int(a.Mean*1e6) }) {
		t.Error("candidates are not sorted by predicted return")
	}
}

// fewTrainer makes generations with n queries.
type fewTrainer struct{ n int }

func (f fewTrainer) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	g, err := fakeTrainer{d: dim}.Train(ctx, job)
	g.Queries = g.Queries[:f.n]
	return g, err
}

func TestFewQuestionsServeMany(t *testing.T) {
	b := newBench(nil)
	b.trainer = fewTrainer{2}
	s, _ := b.start(t)
	claim(t, s, "ann") // holds both
	if open := claim(t, s, "bob").Open; len(open) != 2 || open[0].Query.ID == open[1].Query.ID {
		t.Errorf("bob has %d questions while ann holds all, want both of them", len(open))
	}
}

func TestNothingToAsk(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter = 1, 1 })
	b.trainer = fewTrainer{0}
	s, _ := b.start(t)
	for {
		o, err := s.Claim(t.Context(), "ann")
		if err != nil || len(o.Open) > 0 {
			t.Fatalf("%d questions, error %v; want none", len(o.Open), err)
		}
		if strings.Contains(o.Waiting, "all clips look alike") {
			return
		}
	}
}

func TestUnclearQuestionsComeLast(t *testing.T) {
	for _, test := range []struct {
		name  string
		reply idrl.Answer
		again bool // whether it may be asked again at all
	}{
		{"can't tell", idrl.Answer{Choice: idrl.CantTell}, true},
		{"offensive", idrl.Answer{Choice: idrl.Skip, Reason: "offensive"}, true},
		{"broken", idrl.Answer{Choice: idrl.Skip, Reason: "broken"}, false},
		{"does not play", idrl.Answer{Choice: idrl.TechnicalFailure}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery, s.Ahead = 1000, 1 })
			b.trainer = fewTrainer{4}
			s, _ := b.start(t)
			a := test.reply
			bad := claim(t, s, "ann").Open[0]
			a.ID, a.Assignment, a.Left = "bad", bad.ID, bad.Left
			mustAnswer(t, s, "ann", a)
			place := -1 // of the bad question among those put to bob
			for i := range 8 {
				as := claim(t, s, "bob").Open[0]
				if as.Query.ID == bad.Query.ID {
					place = i
					break
				}
				mustAnswer(t, s, "bob", reply(as, i))
			}
			// Of four, ann holds one more: two are clear and free, then comes this one.
			if want := map[bool]int{true: 2, false: -1}[test.again]; place != want {
				t.Errorf("bob is asked it in place %d, want %d", place, want)
			}
		})
	}
}

// A question that was held back until a generation was adopted is chosen in the
// request of the adoption, whatever the annotator does first.
func TestAdoptionServesThoseWhoWait(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter = 2, 1 })
	gate := make(chan struct{}, 1)
	gate <- struct{}{} // lets the first generation pass
	b.trainer = fakeTrainer{d: dim, gate: gate}
	s, _ := b.start(t)
	for i := range 3 { // the third meets the adoption point while training hangs
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	gate <- struct{}{}
	rec := b.record(t, s) // no claim
	last := rec.Assignments[len(rec.Assignments)-1]
	if last.Why.BasedOn != 2 || last.Why.AfterSeq != 3 {
		t.Errorf("the last question is of generation %d after row %d, want generation 2 after row 3", last.Why.BasedOn, last.Why.AfterSeq)
	}
}
