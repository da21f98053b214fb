package quality_test

import (
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
)

// ruled returns the record of a session with rules, of a person with n gold questions of which right were answered as the researcher does, n repeats of
// which same were answered as before, and answers of which marked have doubts.
func ruled(rules idrl.SessionSpec, n, right, same, marked int) record.Record {
	r := record.Record{Spec: rules}
	say := func(query string, choice idrl.Choice, gold int64) {
		k := len(r.Log) + 1
		as := idrl.AssignmentID(fmt.Sprint("as", k))
		r.Log = append(r.Log, idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("a", k)), Seq: int64(k), Assignment: as, Query: idrl.QueryID(query), Annotator: "ann", Choice: choice})
		r.Assignments = append(r.Assignments, record.Assignment{ID: as, Annotator: "ann", Gold: gold, Query: idrl.Query{ID: idrl.QueryID(query), Kind: idrl.CompareClips, Clips: []idrl.ClipID{"x", "y"}}})
	}
	for i := range n {
		gold := fmt.Sprint("gold", i)
		r.Settings.Gold.Questions = append(r.Settings.Gold.Questions, record.Known{Query: idrl.Query{ID: idrl.QueryID(gold)}, Use: record.AsGold, Choice: idrl.ChoseA})
		say(gold, []idrl.Choice{idrl.ChoseB, idrl.ChoseA}[min(1, max(0, right-i))], 1)
		say(fmt.Sprint("again", i), idrl.ChoseA, 0)
		say(fmt.Sprint("again", i), []idrl.Choice{idrl.ChoseB, idrl.ChoseA}[min(1, max(0, same-i))], 0)
	}
	for i := range marked {
		r.Log[i].Doubts = idrl.DoubtDwell
	}
	return r
}

// A rule leaves somebody out from the stated number on, strictly beyond the stated share, and only where a researcher has not decided.
func TestExcluded(t *testing.T) {
	for name, test := range map[string]struct {
		rules                  idrl.SessionSpec
		n, right, same, marked int
		change                 func(*record.Record)
		why                    string
	}{
		"no rule":             {n: 10},
		"too few right":       {rules: idrl.SessionSpec{ExcludeGold: 0.6, ExcludeAfter: 10}, n: 10, right: 5, same: 10, why: "exclude_gold: 5 of 10 gold questions right, below 0.6"},
		"just enough right":   {rules: idrl.SessionSpec{ExcludeGold: 0.6, ExcludeAfter: 10}, n: 10, right: 6, same: 10},
		"too early":           {rules: idrl.SessionSpec{ExcludeGold: 0.6, ExcludeAfter: 10}, n: 9},
		"too few the same":    {rules: idrl.SessionSpec{ExcludeRepeats: 0.5, ExcludeAfter: 4}, n: 4, right: 4, same: 1, why: "exclude_repeats: 1 of 4 repeats as before, below 0.5"},
		"half the same":       {rules: idrl.SessionSpec{ExcludeRepeats: 0.5, ExcludeAfter: 4}, n: 4, right: 4, same: 2},
		"too many marked":     {rules: idrl.SessionSpec{ExcludeMarked: 0.5, ExcludeAfter: 12}, n: 4, right: 4, same: 4, marked: 7, why: "exclude_marked: 7 of 12 answers marked, above 0.5"},
		"half of them marked": {rules: idrl.SessionSpec{ExcludeMarked: 0.5, ExcludeAfter: 12}, n: 4, right: 4, same: 4, marked: 6},
		"marked, too early":   {rules: idrl.SessionSpec{ExcludeMarked: 0.5, ExcludeAfter: 13}, n: 4, marked: 12},
		"as few right as the rule allows, by a share that no float64 is":   {rules: idrl.SessionSpec{ExcludeGold: 0.28, ExcludeAfter: 25}, n: 25, right: 7, same: 25},
		"as many marked as the rule allows, by a share that no float64 is": {rules: idrl.SessionSpec{ExcludeMarked: 0.82, ExcludeAfter: 150}, n: 50, right: 50, same: 50, marked: 123},
		"left out before": {rules: idrl.SessionSpec{ExcludeGold: 1, ExcludeAfter: 1}, n: 4, change: func(r *record.Record) {
			r.Settings.LeftOut = []idrl.AnnotatorID{"ann"}
		}},
		"taken in again": {rules: idrl.SessionSpec{ExcludeGold: 1, ExcludeAfter: 1}, n: 4, change: func(r *record.Record) {
			for i, c := range []idrl.Choice{idrl.LeftOut, idrl.TakenIn} {
				r.Log = append(r.Log, idrl.Answer{ID: idrl.AnswerID(c), Seq: int64(13 + i), Annotator: "ann", Choice: c})
			}
		}},
	} {
		r := ruled(test.rules, test.n, test.right, test.same, test.marked)
		if test.change != nil {
			test.change(&r)
		}
		var want []quality.Exclusion
		if test.why != "" {
			want = []quality.Exclusion{{Annotator: "ann", Why: test.why}}
		}
		if got := quality.Excluded(r); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A rating given again is as before if it is as close as a right answer to a gold question has to be.
func TestExcludedByRepeatedRatings(t *testing.T) {
	for _, test := range []struct {
		apart float64 // of the two ratings of a clip, on −1 to 1
		why   string
	}{
		{0.2, ""},
		{record.RatingTolerance, ""},
		{1, "exclude_repeats: 0 of 10 repeats as before, below 0.7"},
	} {
		r := record.Record{Spec: idrl.SessionSpec{Kind: idrl.RateClip, ExcludeRepeats: 0.7, ExcludeAfter: 10}}
		for i := range 20 {
			r.Log = append(r.Log, idrl.Answer{
				ID: idrl.AnswerID(fmt.Sprint(i)), Seq: int64(i + 1), Query: idrl.QueryID(fmt.Sprint(i % 10)), Annotator: "ann",
				Choice: idrl.Rated, Rating: -0.7 + float64(i/10)*test.apart,
			})
		}
		var want []quality.Exclusion
		if test.why != "" {
			want = []quality.Exclusion{{Annotator: "ann", Why: test.why}}
		}
		if got := quality.Excluded(r); !slices.Equal(got, want) {
			t.Errorf("ratings %v apart: %v, want %v", test.apart, got, want)
		}
	}
}
