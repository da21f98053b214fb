package quality

import (
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
)

// A Hit says whether the answer of a log row was predicted.
type Hit struct {
	Seq int64
	Hit bool
}

// Summarise returns the statistics of every annotator with a row in the log, in the order of their
// first rows, also of those who are left out. Withdrawn answers count only as Undone. predicted, by
// Seq, says of decisive comparisons whether the posterior before gave the chosen clip, as the
// answer was given, the higher probability; answers without an entry are left out of the share.
func Summarise(log []idrl.Answer, predicted []Hit) []AnnotatorStats {
	var order []idrl.AnnotatorID
	tallies := map[idrl.AnnotatorID]*tally{}
	of := func(id idrl.AnnotatorID) *tally {
		if tallies[id] == nil {
			tallies[id] = &tally{stats: AnnotatorStats{Annotator: id}}
			order = append(order, id)
		}
		return tallies[id]
	}
	for _, a := range log {
		if a.Erasure() {
			continue
		}
		if t := of(a.Annotator); a.Undoes != "" {
			t.stats.Undone++
		}
	}
	how := record.Countings(log)
	for a := range record.EachStanding(log) {
		for len(predicted) > 0 && predicted[0].Seq < a.Seq {
			predicted = predicted[1:]
		}
		var hit *Hit
		if len(predicted) > 0 && predicted[0].Seq == a.Seq {
			hit = &predicted[0]
		}
		of(a.Annotator).add(a, hit, how[a.Annotator].Turns(a.Seq))
	}
	for id, c := range how {
		of(id).stats.LeftOut = c.Out
	}
	out := make([]AnnotatorStats, 0, len(order))
	for _, id := range order {
		out = append(out, tallies[id].finish())
	}
	return out
}

// tally has the standing answers of one annotator.
type tally struct {
	stats       AnnotatorStats
	times       []int64 // response times, ms
	left, sided int     // decisive comparisons won by the left clip; all with a known side
	foretold    share   // decisive comparisons, as they count
}

// add adds a standing answer; turned says that it counts turned.
func (t *tally) add(a *idrl.Answer, predicted *Hit, turned bool) {
	t.stats.Answers++
	if turned {
		t.stats.Turned++
	}
	if a.Doubts != 0 {
		t.stats.Marked++
	}
	if a.Input != idrl.ImportedInput {
		t.times = append(t.times, a.ResponseMS)
	}
	switch a.Choice {
	case idrl.ChoseA, idrl.ChoseB:
		t.stats.Decisive++
		t.addSide(a)
		if predicted != nil {
			t.foretold.add(predicted.Hit != turned, turned)
		}
	case idrl.Rated, idrl.BestWorst:
		t.stats.Decisive++
	case idrl.Equal:
		t.stats.Equal++
	case idrl.CantTell:
		t.stats.CantTell++
	case idrl.Skip, idrl.TechnicalFailure:
		t.stats.Skipped++
	case idrl.LeftOut, idrl.Turned, idrl.TakenIn, idrl.Erased, idrl.Withdrew: // no replies
	}
}

// addSide counts a decisive comparison whose sides are known.
func (t *tally) addSide(a *idrl.Answer) {
	if a.Left == "" {
		return
	}
	t.sided++
	if string(a.Left) == string(a.Choice) {
		t.left++
	}
}

func (t *tally) finish() AnnotatorStats {
	s := t.stats
	s.MedianTime = time.Duration(stats.Median(t.times) * float64(time.Millisecond))
	if t.sided > 0 {
		s.LeftShare = float64(t.left) / float64(t.sided)
	}
	s.LeftLow, s.LeftHigh = stats.Wilson(float64(t.left), t.sided, stats.Z95)
	s.Sided = t.sided
	hits, n := t.foretold.of()
	if s.PredictedSize = n; n > 0 {
		s.Predicted = float64(hits) / float64(n)
		s.Reversed = t.foretold.reversed()
	}
	return s
}

// A share counts decisive answers, as they count, that agree with something. Turned ones are
// counted separately, so that people who answer the other way round are found as soon after some
// of their answers were turned as before.
type share struct{ turned, given part }

type part struct{ agree, n int }

func (s *share) add(agrees, turned bool) {
	p := &s.given
	if turned {
		p = &s.turned
	}
	if p.n++; agrees {
		p.agree++
	}
}

// of returns how many of how many agree.
func (s share) of() (agree, n int) { return s.turned.agree + s.given.agree, s.turned.n + s.given.n }

// reversed reports whether the turned answers, or the others, contradict as Reversed says.
func (s share) reversed() bool {
	return Reversed(s.turned.agree, s.turned.n) || Reversed(s.given.agree, s.given.n)
}

// Reversed reports whether only so few of n decisive answers, k, agree that the person answers the
// other way round, perhaps because of mistaken keys: the 99.9 % score interval of the share is
// below one half. Of people who answer at random, one in 2000 is reported.
func Reversed(k, n int) bool {
	_, high := stats.Wilson(float64(k), n, stats.Z999)
	return high < 0.5
}
