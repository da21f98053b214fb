package quality_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
)

// clickers returns the answers of people to the same n questions, each of which is the
// opposite of the truth with a probability of the person's; everybody is asked the first ten twice.
func clickers(n int, wrong map[idrl.AnnotatorID]float64, order ...idrl.AnnotatorID) (log []idrl.Answer) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, who := range order {
		stream := rng.New(5, "clicker "+string(who), 0)
		for k := range n + 10 {
			c := idrl.ChoseA
			if rng.New(5, "truth", uint64(k%n)).IntN(2) == 1 {
				c = idrl.ChoseB
			}
			if stream.Float64() < wrong[who] {
				c = map[idrl.Choice]idrl.Choice{idrl.ChoseA: idrl.ChoseB, idrl.ChoseB: idrl.ChoseA}[c]
			}
			id := fmt.Sprintf("%s.%d", who, k)
			log = append(log, idrl.Answer{
				ID: idrl.AnswerID(id), Assignment: idrl.AssignmentID(id), Seq: int64(len(log) + 1), Annotator: who, Query: idrl.QueryID(fmt.Sprint("q", k%n)),
				Choice: c, Left: idrl.SideA, AnsweredAt: at, ResponseMS: 2000,
			})
		}
	}
	return log
}

// Two reliable people and one who answers at random: their agreement is what their
// probabilities of a mistake imply, and the random one is seen.
func TestReportOfARandomClicker(t *testing.T) {
	log := clickers(400, map[idrl.AnnotatorID]float64{"a1": 0.1, "a2": 0.1, "a3": 0.5}, "a1", "a2", "a3")
	r := quality.Of(log, nil, 7)
	if len(r.People) != 3 || r.Questions != 400 || r.People[0].Repeats != 10 || r.People[0].Answers != 410 {
		t.Fatalf("report %+v", r)
	}
	if r.People[0].SaidSame < 6 || r.People[2].SaidSame > 9 {
		t.Errorf("said the same again: %d and %d of 10", r.People[0].SaidSame, r.People[2].SaidSame)
	}
	for _, c := range r.Cohen {
		want := 0.64 // κ = 2·0.82 − 1 for two who err in one of ten, where both categories are as frequent
		if c.B == "a3" {
			want = 0
		}
		if c.Kappa == nil || *c.Kappa < want-0.15 || *c.Kappa > want+0.15 { // three standard errors
			t.Errorf("kappa of %s and %s is %v, want about %v", c.A, c.B, c.Kappa, want)
		}
	}
	for name, c := range map[string]*quality.Coefficient{"alpha": r.Alpha, "kappa": r.Fleiss} {
		want := 0.64 / 3 // the mean over the three pairs
		if c == nil || c.Low == nil || *c.Low > want || *c.High < want || !(*c.Low <= c.Value && c.Value <= *c.High) {
			t.Errorf("%s is %v, want an interval around %.2f", name, c, want)
		}
	}
	var b strings.Builder
	must.Do(t, r.Print(&b))
	for _, want := range []string{"a3", "Krippendorff's alpha", "Fleiss' kappa", "Cohen's kappa of a1 and a2", "over 400 questions"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
	if again := quality.Of(log, nil, 7); fmt.Sprint(*again.Alpha.Low, *again.Alpha.High) != fmt.Sprint(*r.Alpha.Low, *r.Alpha.High) {
		t.Error("the same log gives another interval")
	}
}

// Without answers, or with those of one person, the report says so.
func TestReportOfFew(t *testing.T) {
	for _, test := range []struct {
		log  []idrl.Answer
		says string
	}{
		{nil, "There are no answers yet."},
		{clickers(20, nil, "a1"), "No question was answered by two annotators"},
	} {
		var b strings.Builder
		must.Do(t, quality.Of(test.log, nil, 1).Print(&b))
		if !strings.Contains(b.String(), test.says) {
			t.Errorf("the report is %q, want %q in it", b.String(), test.says)
		}
	}
}

// What the posterior knows of annotators stands with them, and in a table of its own.
func TestReportOnManners(t *testing.T) {
	log := []idrl.Answer{
		{ID: "1", Seq: 1, Query: "q1", Annotator: "ann", Choice: idrl.ChoseA, Left: "a"},
		{ID: "2", Seq: 2, Query: "q2", Annotator: "bob", Choice: idrl.ChoseA, Left: "a"},
	}
	r := quality.Of(log, nil, 1)
	r.Know([]idrl.Manner{{
		Annotator: "bob", Random: 0.97, Reversed: 0.02, Noise: idrl.Range{Middle: 1.2, Low: 0.4, High: 3}, Lapse: idrl.Range{Middle: 0.99, Low: 0.7, High: 1}, TieWidth: idrl.Range{Middle: 0.5, Low: 0.1, High: 2},
	}})
	if r.People[0].Manner != nil || r.People[1].Manner == nil {
		t.Fatalf("manners of %+v", r.People)
	}
	var b strings.Builder
	must.Do(t, r.Print(&b))
	for _, want := range []string{"AT RANDOM", "97 %  ", "REVERSED", "2 %  ", "1.20 (0.40 to 3.00)", "99 % (70 to 100)", "0.50 (0.10 to 2.00)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	few := quality.Of(log, nil, 1)
	few.Know([]idrl.Manner{{Annotator: "bob", Lapse: idrl.Range{Middle: 0.02, Low: 0, High: 1}}})
	b.Reset()
	must.Do(t, few.Print(&b))
	if text := b.String(); !strings.Contains(text, "too few answers") || strings.Contains(text, "(0 to 100)") {
		t.Errorf("lapses of which nothing is known:\n%s", text)
	}
	var without strings.Builder
	if err := quality.Of(log, nil, 1).Print(&without); err != nil || strings.Contains(without.String(), "AT RANDOM") {
		t.Errorf("a table of nothing known:\n%s", without.String())
	}
}
