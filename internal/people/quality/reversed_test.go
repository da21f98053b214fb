package quality_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
)

// People who answer the other way round are named so, by gold questions and by what others
// answer; those who answer by chance, or well, are not.
func TestReversedPeople(t *testing.T) {
	people := map[idrl.AnnotatorID]float64{"good1": 0.1, "good2": 0.15, "good3": 0.2, "random": 0.5, "reversed": 0.9}
	order := []idrl.AnnotatorID{"good1", "good2", "good3", "random", "reversed"}
	log := clickers(80, people, order...)
	for _, gold := range []int{0, 30} {
		if got := named(t, report(log, gold)); !slices.Equal(got, []idrl.AnnotatorID{"reversed"}) {
			t.Errorf("with %d gold questions %v are said to answer the other way round", gold, got)
		}
	}
}

// report is that of a log of clickers, of whose questions the first are gold.
func report(log []idrl.Answer, gold int) quality.Report {
	var assignments []record.Assignment
	var known []record.Known
	for k := range gold {
		q := idrl.Query{ID: idrl.QueryID(fmt.Sprint("q", k)), Kind: idrl.CompareClips, Clips: []idrl.ClipID{"c1", "c2"}}
		known = append(known, record.Known{Query: q, Choice: truth(k)})
		for _, a := range log {
			if a.Query == q.ID {
				assignments = append(assignments, record.Assignment{ID: a.Assignment, Query: q, Gold: 1})
			}
		}
	}
	r := quality.Of(log, nil, 1)
	r.KnowGold(log, record.GoldRight(log, assignments, known))
	return r
}

// named returns who is said to answer the other way round.
func named(t *testing.T, r quality.Report) (out []idrl.AnnotatorID) {
	t.Helper()
	for _, p := range r.People {
		says := slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, "the other way round") })
		if says != p.Reversed {
			t.Errorf("%s: reversed %t, with the remarks %q", p.Annotator, p.Reversed, p.Warnings)
		}
		if says {
			out = append(out, p.Annotator)
		}
	}
	return out
}

// Once a person's answers are turned they are right as often as those of others, and the person is not
// named; who goes on the other way round is named again, before there are as many answers of that
// kind as are turned; and so is somebody whose right answers are turned.
func TestTurnedPeople(t *testing.T) {
	people := map[idrl.AnnotatorID]float64{"good1": 0.1, "good2": 0.15, "good3": 0.2, "reversed": 0.9}
	log := clickers(80, people, "good1", "good2", "good3", "reversed")
	decide := func(log []idrl.Answer, who idrl.AnnotatorID, how idrl.Choice) []idrl.Answer {
		return append(slices.Clip(log), idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("decision", len(log))), Seq: int64(len(log) + 1), Annotator: who, Choice: how})
	}
	turned := decide(log, "reversed", idrl.Turned)
	again := turned
	for _, a := range log[len(log)-90:][:40] { // of reversed
		a.ID, a.Assignment, a.Query, a.Seq = "again."+a.ID, "again."+a.Assignment, "q"+a.Query[1:], int64(len(again)+1)
		again = append(again, a)
	}
	for _, test := range []struct {
		name string
		log  []idrl.Answer
		want []idrl.AnnotatorID
	}{
		{"as given", log, []idrl.AnnotatorID{"reversed"}},
		{"turned", turned, nil},
		{"turned back", decide(turned, "reversed", idrl.TakenIn), []idrl.AnnotatorID{"reversed"}},
		{"turned, and forty more", again, []idrl.AnnotatorID{"reversed"}},
		{"all are turned", decide(again, "reversed", idrl.Turned), nil},
		{"somebody else is turned", decide(turned, "good1", idrl.Turned), []idrl.AnnotatorID{"good1"}},
	} {
		if got := named(t, report(test.log, 40)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v are said to answer the other way round, want %v", test.name, got, test.want)
		}
	}
	before, after := report(log, 30).People, report(turned, 30).People
	if b, a := before[3], after[3]; a.GoldRight != a.Gold-b.GoldRight || a.Agreed < 60 || a.Turned != 90 || a.LeftShare != b.LeftShare {
		t.Errorf("turned: %d of %d gold questions right, %d of %d as the others, %d turned, %v left; before %+v", a.GoldRight, a.Gold, a.Agreed, a.Compared, a.Turned, a.LeftShare, b)
	}
	if report(turned, 0).Alpha.Value < report(log, 0).Alpha.Value+0.2 {
		t.Error("agreement does not rise when the answers are turned")
	}
}

// truth returns the answer to question k that clickers consider right.
func truth(k int) idrl.Choice {
	return clickers(k+1, map[idrl.AnnotatorID]float64{}, "sage")[k].Choice
}

// Of those who answer by chance few are named; of those who answer the other way round most.
func TestReversedByChance(t *testing.T) {
	for _, test := range []struct {
		k, n int
		want bool
	}{{0, 0, false}, {0, 5, false}, {0, 12, true}, {2, 20, true}, {6, 20, false}, {8, 40, true}, {10, 40, false}, {18, 40, false}, {40, 40, false}} {
		if got := quality.Reversed(test.k, test.n); got != test.want {
			t.Errorf("%d of %d agree: %t, want %t", test.k, test.n, got, test.want)
		}
	}
}
