package quality_test

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
)

func TestSpent(t *testing.T) {
	log := []idrl.Answer{
		{ID: "1", Seq: 1, Annotator: "ann", Choice: idrl.ChoseA, ResponseMS: 1000},
		{ID: "2", Seq: 2, Annotator: "bob", Choice: idrl.Equal, ResponseMS: 9000},
		{ID: "3", Seq: 3, Annotator: "ann", Choice: idrl.CantTell, ResponseMS: 3000},
		{ID: "4", Seq: 4, Annotator: "ann", Choice: idrl.ChoseB, ResponseMS: 50_000},
		{ID: "u", Seq: 5, Annotator: "ann", Undoes: "4"},
		{ID: "6", Seq: 6, Annotator: "ann", Choice: idrl.ChoseB, ResponseMS: 1000},
		{ID: "7", Seq: 7, Annotator: "eve", Choice: idrl.ChoseB, Input: idrl.ImportedInput},
	}
	q := quality.Of(log, nil, 1)
	q.KnowSpent(log, map[int64]bool{2: false, 3: true, 4: true, 6: false})
	want := map[idrl.AnnotatorID]quality.Spent{
		"ann": {Answers: 3, MS: 5000, Hesitated: 1, CantTell: 3000, Known: 2, KnownMS: 4000, Changed: 1, ChangedMS: 3000},
		"bob": {Answers: 1, MS: 9000, Known: 1, KnownMS: 9000},
		"eve": {},
	}
	for _, p := range q.People {
		if p.Spent != want[p.Annotator] {
			t.Errorf("%s: %+v, want %+v", p.Annotator, p.Spent, want[p.Annotator])
		}
	}
	if got, want := q.People[0].Spent.Words(), (quality.SpentWords{Time: "5.0 s", Each: "1.7", Changes: "75 % (1 of 2 answers)", CantTell: "60 %", Hesitations: "1 of 3"}); got != want {
		t.Errorf("in words %+v, want %+v", got, want)
	}
}

// Of times as people have them (docs/simulate.md), 3.4 % are hesitations: P(Z > ln 3/0.6), and the mean is
// exp(0.6²/2) times the median.
func TestSpentOfLogNormalTimes(t *testing.T) {
	const n = 20_000
	stream := rng.New(7, "times", 0)
	var log []idrl.Answer
	for i := range n {
		ms := int64(3000 * math.Exp(0.6*stream.NormFloat64()))
		log = append(log, idrl.Answer{ID: idrl.AnswerID(fmt.Sprint(i)), Seq: int64(i + 1), Annotator: "ann", Choice: idrl.ChoseA, ResponseMS: ms})
	}
	q := quality.Of(log, nil, 1)
	q.KnowSpent(log, nil)
	s := q.People[0].Spent
	share := float64(s.Hesitated) / n
	want := 0.5 * math.Erfc(math.Log(3)/0.6/math.Sqrt2)
	if math.Abs(share-want) > 4*math.Sqrt(want*(1-want)/n) {
		t.Errorf("%.4f are hesitations, want %.4f", share, want)
	}
	mean := 3 * math.Exp(0.18)
	if std := mean * math.Sqrt(math.Exp(0.36)-1); math.Abs(s.Seconds()-mean) > 4*std/math.Sqrt(n) {
		t.Errorf("%.3f s a question, want %.3f", s.Seconds(), mean)
	}
}
