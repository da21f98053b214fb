package session_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"
)

// What a question was asked for is recorded with it, and shown as it was: later answers and
// candidates change nothing of it.
func TestWhatAQuestionWasAskedFor(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) {
		s.Acquisition, s.Controls, s.HeldOut = "lvar", idrl.Controls{{Strategy: "uniform", Share: 0.2}}, 0.2
		s.RepeatEvery, s.GoldEvery = 10, 6
	})
	b.method = method(t, "lvar")
	s, _ := b.start(t)
	claim(t, s, "ann")
	set := record.Settings{Gold: record.GoldSettings{Questions: known(b.record(t, s), 8)}}
	b.want(0, set)
	follow(t, s)
	asked, count := map[idrl.AssignmentID]record.Assignment{}, map[record.Purpose]int{}
	for n := range 60 {
		as := claim(t, s, "ann").Open[0]
		asked[as.ID] = as
		count[as.Why.Purpose]++
		if want := purposeOf(as, asked); as.Why.Purpose != want {
			t.Errorf("question %d is asked for %q, want %q", as.N, as.Why.Purpose, want)
		}
		if p, told := as.Why.Best[0].P(); told != (as.Why.First != "") || told && p == 0 && as.Why.Best[1] == 0 {
			t.Errorf("question %d about %q: probabilities %v", as.N, as.Why.First, as.Why.Best)
		}
		mustAnswer(t, s, "ann", reply(as, n))
	}
	for _, p := range []record.Purpose{record.ForValue, record.AtRandom, record.ForHeldOut, record.ForGold, record.ForRepeat} {
		if count[p] == 0 {
			t.Errorf("no question is asked for %q", p)
		}
	}
	list, _, err := s.Questions(t.Context(), insight.Wanted{N: 50, Best: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range list {
		was := asked[q.Assignment.ID].Why
		if q.Assignment.Why != was {
			t.Errorf("question %d was asked for %+v, and is shown as asked for %+v", q.Assignment.N, was, q.Assignment.Why)
		}
		for i, p := range q.Policies {
			if p.Then != was.Best[i] {
				t.Errorf("question %d: policy %s was the best with %v, shown %v", q.Assignment.N, p.ID, was.Best[i], p.Then)
			}
		}
	}
}

// purposeOf derives the purpose of the last question from what else is known of it.
func purposeOf(as record.Assignment, asked map[idrl.AssignmentID]record.Assignment) record.Purpose {
	for _, old := range asked {
		if old.Query.ID == as.Query.ID && old.N < as.N && old.Left != as.Left && as.Gold == 0 && as.N%10 == 0 {
			return record.ForRepeat
		}
	}
	switch {
	case as.Gold > 0:
		return record.ForGold
	case as.Condition == record.HeldOut:
		return record.ForHeldOut
	case as.Condition == "uniform":
		return record.AtRandom
	}
	return record.ForValue
}

// A question that is asked again after a withdrawal keeps what it was asked for.
func TestAskedAgainForTheSame(t *testing.T) {
	b := newBench(nil)
	b.method = method(t, "lvar")
	s, _ := b.start(t)
	as := claim(t, s, "ann").Open[0]
	mustAnswer(t, s, "ann", reply(as, 1))
	must.Get(s.Undo(t.Context(), "ann", "u", "answer-1"))(t)
	again := claim(t, s, "ann").Open[0]
	if again.Reopens != "answer-1" || again.Why != as.Why || again.Why.Purpose != record.ForValue {
		t.Errorf("asked for %+v, then for %+v", as.Why, again.Why)
	}
}

// The scores of conditions say how many answers they leave out because their pair had been
// answered: planned repeats.
func TestRepeatsAreNotScored(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { several(s); s.RepeatEvery, s.HeldOut = 4, 0.5 })
	s, _ := b.start(t)
	replies, again := 0, 0
	for n := range 60 {
		as := claim(t, s, "ann").Open[0]
		if as.Condition == record.HeldOut {
			if replies++; as.Why.Purpose == record.ForRepeat {
				again++
			}
		}
		mustAnswer(t, s, "ann", reply(as, n))
	}
	got := must.Get(s.Conditions(t.Context()))(t)
	p, _ := got.All.Last()
	if again == 0 || got.Again != again || got.Replies != replies || p.Answered != replies-again {
		t.Errorf("%d answers, %d of them again, %d scored; want %d, %d and the rest", got.Replies, got.Again, p.Answered, replies, again)
	}
}

// Of people who answer by a known reward, at random and the other way round, the last alone are
// said to answer the other way round, by what the posterior predicted; turned they are not, until
// they go on; and somebody who answers rightly is, if they are turned.
func TestReversedPeopleInASession(t *testing.T) {
	theta := []float64{1, -0.5, 0.25}
	for seed := range uint64(3) {
		b := newBench(func(s *idrl.SessionSpec) { s.Seed, s.TrainEvery = seed+1, 1000 })
		b.trainer, b.method = wideTrainer{clips: 24}, method(t, "uniform")
		s, _ := b.start(t)
		claim(t, s, "good1")
		clips := b.record(t, s).Generation.Clips
		n := 0
		ask := func(round int, people ...idrl.AnnotatorID) {
			for _, who := range people {
				as := claim(t, s, who).Open[0]
				stream := rng.New(seed, "answers of "+string(who), uint64(round))
				better := floats.Dot(theta, clips[as.Query.Clips[0]].Phi)-floats.Dot(theta, clips[as.Query.Clips[1]].Phi)+0.3*stream.NormFloat64() > 0
				switch who {
				case "reversed":
					better = !better
				case "random":
					better = stream.IntN(2) == 0
				}
				a := idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("r", n)), Assignment: as.ID, Choice: idrl.ChoseB, Left: as.Left, Input: "api"}
				if better {
					a.Choice = idrl.ChoseA
				}
				mustAnswer(t, s, who, a)
				n++
			}
		}
		named := func(when string, want idrl.AnnotatorID) {
			for _, p := range status(t, s).Annotators {
				if p.Reversed != (p.Annotator == want) {
					t.Errorf("seed %d, %s: %s, %.2f of %d as predicted, answers the other way round: %t", seed, when, p.Annotator, p.Predicted, p.PredictedSize, p.Reversed)
				}
			}
		}
		for round := range 40 {
			ask(round, "good1", "good2", "good3", "random", "reversed")
		}
		named("at first", "reversed")
		b.want(0, record.Settings{Turned: map[idrl.AnnotatorID]int64{"reversed": 200}})
		follow(t, s)
		named("turned", "")
		for round := range 20 { // half as many as are turned
			ask(40+round, "reversed")
		}
		named("after more answers of that kind", "reversed")
		b.want(0, record.Settings{Turned: map[idrl.AnnotatorID]int64{"reversed": 200, "good1": 200}})
		follow(t, s)
		if good := person(t, s, "good1"); !good.Reversed {
			t.Errorf("seed %d: somebody is turned who answered rightly, and %.2f of %d as predicted is not said to be the other way round", seed, good.Predicted, good.PredictedSize)
		}
	}
}

// The two shares of predictions that pages state are what their sentences say, of answers by people of known kinds: of those that
// prefer a clip, how many named the one of higher expected return, which by guessing is one half; and of all, how many were the most
// probable of the three.
func TestSharesOfPredictions(t *testing.T) {
	theta := []float64{1, -0.5, 0.25}
	hits, guesses := 0.0, 0
	for seed := range uint64(3) {
		b := newBench(func(s *idrl.SessionSpec) { s.Seed, s.TrainEvery = seed+1, 1000 })
		b.trainer, b.method = wideTrainer{clips: 24}, method(t, "uniform")
		s, _ := b.start(t)
		claim(t, s, "good")
		clips := b.record(t, s).Generation.Clips
		for n := range 80 {
			who := idrl.AnnotatorID([]string{"good", "random"}[n%2])
			as, stream := claim(t, s, who).Open[0], rng.New(seed, "answers of "+string(who), uint64(n))
			better := floats.Dot(theta, clips[as.Query.Clips[0]].Phi) - floats.Dot(theta, clips[as.Query.Clips[1]].Phi)
			if who == "random" {
				better = stream.NormFloat64()
			}
			a := idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("r", n)), Assignment: as.ID, Choice: idrl.ChoseB, Left: as.Left, Input: "api"}
			switch {
			case math.Abs(better) < 0.2:
				a.Choice = idrl.Equal
			case better > 0:
				a.Choice = idrl.ChoseA
			}
			mustAnswer(t, s, who, a)
		}
		chose, decisive := map[idrl.AnnotatorID]float64{}, map[idrl.AnnotatorID]int{}
		most, all, equal := 0, 0, 0
		for before := int64(0); ; {
			list, more, err := s.Questions(t.Context(), insight.Wanted{Before: before, N: insight.MostWanted})
			must.Do(t, err)
			for _, q := range list {
				p, at := q.Predicted.Reply, slices.Index([]idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal}, q.Answer.Choice)
				if all++; at == slices.Index(p, slices.Max(p)) {
					most++
				}
				if before = q.Answer.Seq; at == 2 {
					equal++
				} else if p[0] != p[1] {
					decisive[q.Answer.Annotator]++
					if p[at] == max(p[0], p[1]) {
						chose[q.Answer.Annotator]++
					}
				}
			}
			if !more {
				break
			}
		}
		for who, n := range decisive {
			if p := person(t, s, who); p.PredictedSize != n || math.Abs(p.Predicted-chose[who]/float64(n)) > 1e-9 || who == "good" && p.Predicted < 0.7 {
				t.Errorf("seed %d: of %s %v of %d are stated, and were %v of %d", seed, who, p.Predicted, p.PredictedSize, chose[who], n)
			}
		}
		hits, guesses = hits+chose["random"], guesses+decisive["random"]
		if r := must.Get(s.Insight(t.Context()))(t); r.Fit.N != all || equal == 0 || math.Abs(r.Fit.Right-float64(most)/float64(all)) > 1e-9 {
			t.Errorf("seed %d: %v of %d were the most probable answer, and %d of %d were; %d equal", seed, r.Fit.Right, r.Fit.N, most, all, equal)
		}
	}
	if share := hits / float64(guesses); math.Abs(share-0.5) > 3*0.5/math.Sqrt(float64(guesses)) {
		t.Errorf("%.2f of %d guesses were predicted", share, guesses)
	}
}
