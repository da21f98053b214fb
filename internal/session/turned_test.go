package session_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/session"
)

// said returns an answer to as that is not the same for all n.
func said(as record.Assignment, n int) idrl.Answer {
	a := reply(as, n)
	switch as.Query.Kind { //nolint:exhaustive // these are asked
	case idrl.RateClip:
		a.Choice, a.Rating = idrl.Rated, []float64{-0.6, 0, 0.2, 1}[n%4]
	default:
		a.Choice = []idrl.Choice{idrl.ChoseA, idrl.Equal, idrl.ChoseB, idrl.CantTell, idrl.ChoseA}[n%5]
	}
	return a
}

// contrary returns what somebody says who prefers what a does not.
func contrary(a idrl.Answer) idrl.Answer {
	switch a.Choice { //nolint:exhaustive // all others are the same
	case idrl.ChoseA:
		a.Choice = idrl.ChoseB
	case idrl.ChoseB:
		a.Choice = idrl.ChoseA
	case idrl.Rated:
		if a.Rating != 0 {
			a.Rating *= -1
		}
	}
	return a
}

// ratingTrainer asks for ratings of the clips of a fakeTrainer.
type ratingTrainer struct{ fakeTrainer }

func (r ratingTrainer) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	g, err := r.fakeTrainer.Train(ctx, job)
	g.Queries = nil
	for _, c := range g.Candidates {
		g.Queries = append(g.Queries, idrl.NewRating(g.Clips[c.Clip]))
	}
	return g, err
}

// belief returns the posterior of the session, encoded.
func (b *bench) belief(t *testing.T, s *session.Session) []byte {
	t.Helper()
	held := must.Get(s.Posterior(t.Context()))(t)
	text := must.Get(b.rewards().Encode(held.Posterior))(t)
	return text
}

// twin returns the posterior of a session in which who gave the contrary answers up to row seq,
// without a decision that turns answers.
func (b *bench) twin(t *testing.T, s *session.Session, who idrl.AnnotatorID, seq int64) []byte {
	t.Helper()
	rec := b.record(t, s)
	other := *b
	var log []idrl.Answer
	for _, a := range rec.Log {
		switch {
		case a.Decision(): // its place is kept by a row of which nothing is learnt
			a.Choice = idrl.TakenIn
		case a.Annotator == who && a.Seq <= seq:
			a = contrary(a)
		}
		log = append(log, a)
	}
	rec.Log, rec.Snapshots, rec.Settings.Turned = log, nil, nil
	other.journal = newJournal(rec)
	s, stop := other.start(t)
	defer stop()
	return other.belief(t, s)
}

// The posterior after turning is, to the byte, that of a session whose annotator gave the contrary
// answers: also after a kill, from the log alone, and when answers are undone; what they answer
// later counts as it is given. Turned back it is the one of before.
func TestTurning(t *testing.T) {
	plain := func(adoptAfter int64, own bool) func(t *testing.T) *bench {
		return func(t *testing.T) *bench {
			b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter = adoptAfter })
			if own {
				b.own(t)
			}
			return b
		}
	}
	ratings := func(*testing.T) *bench {
		b := newBench(func(s *idrl.SessionSpec) { s.Kind = idrl.RateClip })
		b.trainer = ratingTrainer{fakeTrainer{d: dim}}
		return b
	}
	for name, make := range map[string]func(t *testing.T) *bench{
		"comparisons": plain(0, false), "after each training": plain(2, false), "own noise": plain(2, true),
		"ratings": ratings,
	} {
		t.Run(name, func(t *testing.T) {
			b := make(t)
			s, stop := b.start(t)
			n := 0
			answer := func(people ...idrl.AnnotatorID) {
				t.Helper()
				for _, who := range people {
					mustAnswer(t, s, who, said(claim(t, s, who).Open[0], n))
					n++
				}
			}
			turn := func(seq int64) {
				t.Helper()
				var turned map[idrl.AnnotatorID]int64
				if seq > 0 {
					turned = map[idrl.AnnotatorID]int64{"bad": seq}
				}
				b.want(0, record.Settings{Turned: turned})
				follow(t, s)
			}
			same := func(when string, seq int64) {
				t.Helper()
				if !bytes.Equal(b.belief(t, s), b.twin(t, s, "bad", seq)) {
					t.Errorf("%s: the belief is not that of the contrary answers", when)
				}
			}
			answer("bad", "good", "bad", "bad", "good", "bad", "bad", "bad", "other")
			must.Get(s.Undo(t.Context(), "bad", "u", "answer-2"))(t)
			before := b.belief(t, s)

			turn(10)
			follow(t, s) // again: nothing to do
			rec := b.record(t, s)
			if last := rec.Log[len(rec.Log)-1]; len(rec.Log) != 11 || last.Choice != idrl.Turned || last.Annotator != "bad" || rec.Settings.Turned["bad"] != 11 {
				t.Fatalf("%d rows, the last is %+v; settings %v", len(rec.Log), last, rec.Settings.Turned)
			}
			if bytes.Equal(before, b.belief(t, s)) {
				t.Error("turning changes nothing")
			}
			same("turned", 11)
			for _, p := range status(t, s).Annotators {
				if want := map[bool]int{true: 5}[p.Annotator == "bad"]; p.Turned != want { // six, of which one is undone
					t.Errorf("%d answers of %s are turned, want %d", p.Turned, p.Annotator, want)
				}
			}

			answer("bad", "good", "bad", "bad")
			same("with later answers", 11)
			must.Get(s.Undo(t.Context(), "bad", "v", "answer-7"))(t)
			same("after an undo", 11)
			after := b.belief(t, s)
			stop()
			s, stop = b.start(t)
			if !bytes.Equal(after, b.belief(t, s)) {
				t.Error("after a kill the belief is another")
			}
			stop()
			b.journal.rec.Snapshots = nil
			s, _ = b.start(t)
			if !bytes.Equal(after, b.belief(t, s)) {
				t.Error("from the log alone the belief is another")
			}

			turn(b.record(t, s).Log[15].Seq) // once more, with the later answers
			same("turned again", 17)
			turn(0)
			same("turned back", 0)
			if rec := b.record(t, s); len(rec.Log) != 18 || rec.Log[17].Choice != idrl.TakenIn || len(rec.Settings.Turned) != 0 {
				t.Errorf("%d rows, the last is %+v", len(rec.Log), rec.Log[len(rec.Log)-1])
			}
		})
	}
}

// Leaving out and turning are alternatives: of somebody who is left out nothing is turned, and taking
// in again counts answers as they were given.
func TestTurnedAndLeftOut(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	for n, who := range []idrl.AnnotatorID{"bad", "good", "bad"} {
		mustAnswer(t, s, who, said(claim(t, s, who).Open[0], n))
	}
	given := b.belief(t, s)
	b.want(0, record.Settings{Turned: map[idrl.AnnotatorID]int64{"bad": 3}})
	follow(t, s)
	b.want(0, record.Settings{LeftOut: []idrl.AnnotatorID{"bad"}})
	follow(t, s)
	b.same(t, s, "left out", "good")
	b.want(0, record.Settings{})
	follow(t, s)
	if !bytes.Equal(given, b.belief(t, s)) {
		t.Error("taken in again, the belief is not that of the answers as they were given")
	}
}

// What the page says of predictions follows: questions say that their answer is turned, and the
// report has what was predicted of the answer as it counts.
func TestTurnedPredictions(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	for n := range 8 { // from answer-0 on
		mustAnswer(t, s, "bad", said(claim(t, s, "bad").Open[0], n))
	}
	b.want(0, record.Settings{Turned: map[idrl.AnnotatorID]int64{"bad": 8}})
	follow(t, s)
	mustAnswer(t, s, "bad", said(claim(t, s, "bad").Open[0], 10))
	r := must.Get(s.Insight(t.Context()))(t)
	order, log := idrl.Outcomes(), b.record(t, s).Log
	for _, f := range r.Forecasts {
		want := log[f.Seq-1]
		if f.Seq <= 8 {
			want = contrary(want)
		}
		if order[f.Actual] != want.Choice {
			t.Errorf("row %d is said to be answered %q, counts as %q", f.Seq, order[f.Actual], want.Choice)
		}
	}
	if len(r.Forecasts) != 8 { // one of nine is can't tell
		t.Errorf("%d predictions, want 8", len(r.Forecasts))
	}
	for _, q := range status(t, s).Recent {
		if q.Turned != (q.Answer.Seq <= 8) || q.Answer.Choice != log[q.Answer.Seq-1].Choice {
			t.Errorf("row %d: %q, turned %t", q.Answer.Seq, q.Answer.Choice, q.Turned)
		}
	}
}

// TestTurningIsTrue simulates sessions of two people who answer by a known reward, and a third who
// does, but the other way round. Turned, the third is one more who answers by it: the posterior
// orders more pairs of fresh clips as the reward does than without the third, and the third agrees
// with predictions as the others do and is not said to be reversed.
func TestTurningIsTrue(t *testing.T) {
	const seeds, each = 40, 12
	theta := []float64{1, -0.5, 0.25}
	right := map[string]float64{} // share of pairs, summed over the seeds
	before, agree, others := 0.0, 0.0, 0.0
	for seed := range uint64(seeds) {
		b := newBench(func(s *idrl.SessionSpec) { s.Seed, s.TrainEvery, s.NoiseStd, s.TieBand = seed+1, 1000, 1.5, 0 })
		b.trainer, b.method = wideTrainer{clips: 24}, method(t, "uniform")
		s, stop := b.start(t)
		claim(t, s, "good1")
		clips := b.record(t, s).Generation.Clips
		for round := range each {
			for _, who := range []idrl.AnnotatorID{"good1", "good2", "bad"} {
				as := claim(t, s, who).Open[0]
				stream := rng.New(seed, "answers of "+string(who), uint64(round))
				better := floats.Dot(theta, clips[as.Query.Clips[0]].Phi)-floats.Dot(theta, clips[as.Query.Clips[1]].Phi)+1.5*stream.NormFloat64() > 0
				a := idrl.Answer{ID: idrl.AnswerID(fmt.Sprint(who, round)), Assignment: as.ID, Choice: idrl.ChoseB, Left: as.Left, Input: "api"}
				if better != (who == "bad") {
					a.Choice = idrl.ChoseA
				}
				mustAnswer(t, s, who, a)
			}
		}
		before += person(t, s, "bad").Predicted / seeds
		for name, set := range map[string]record.Settings{
			"left out": {LeftOut: []idrl.AnnotatorID{"bad"}}, "turned": {Turned: map[idrl.AnnotatorID]int64{"bad": 3 * each}}, "as given": {},
		} {
			b.want(0, set)
			follow(t, s)
			right[name] += ordered(t, s, theta, seed) / seeds
			if bad := person(t, s, "bad"); name == "turned" {
				if bad.Reversed || bad.Turned != each {
					t.Errorf("seed %d: turned, %.2f of %d as predicted, %d turned, reversed: %t", seed, bad.Predicted, bad.PredictedSize, bad.Turned, bad.Reversed)
				}
				agree += bad.Predicted / seeds
				others += (person(t, s, "good1").Predicted + person(t, s, "good2").Predicted) / (2 * seeds)
			}
		}
		stop()
	}
	t.Logf("right: %v; as predicted %.3f before, %.3f turned, others %.3f", right, before, agree, others)
	if !(right["turned"] > right["left out"] && right["left out"] > right["as given"]) {
		t.Errorf("share of pairs in the right order: %v", right)
	}
	if d := agree - others; d < -0.1 || d > 0.1 { // of 40 · 12 answers and twice as many: 0.025 is a standard deviation
		t.Errorf("%.3f of the turned answers are as predicted, of the others' %.3f", agree, others)
	}
}

func person(t *testing.T, s *session.Session, who idrl.AnnotatorID) quality.AnnotatorStats {
	t.Helper()
	for _, p := range status(t, s).Annotators {
		if p.Annotator == who {
			return p
		}
	}
	t.Fatalf("there is no %s", who)
	return quality.AnnotatorStats{}
}

// ordered returns the share of random pairs that the posterior mean orders as theta does.
func ordered(t *testing.T, s *session.Session, theta []float64, seed uint64) (share float64) {
	t.Helper()
	held := must.Get(s.Posterior(t.Context()))(t)
	mean, stream := held.Posterior.Mean(nil), rng.New(seed, "pairs", 0)
	const pairs = 4000
	for range pairs {
		x := []float64{stream.NormFloat64(), stream.NormFloat64(), stream.NormFloat64()}
		if (floats.Dot(mean, x) > 0) == (floats.Dot(theta, x) > 0) {
			share += 1. / pairs
		}
	}
	return share
}
