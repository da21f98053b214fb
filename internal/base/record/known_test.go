package record_test

import (
	"math"
	"strings"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

func TestKnownRight(t *testing.T) {
	a, b := idrl.Clip{ID: "a", Steps: 1}, idrl.Clip{ID: "b", Steps: 1}
	ab, ba := idrl.NewComparison(a, b), idrl.NewComparison(b, a) // one question
	rate := idrl.NewRating(a)
	for _, test := range []struct {
		name      string
		known     record.Known
		asked     idrl.Query
		answer    idrl.Answer
		right, ok bool
	}{
		{"right", record.Known{Query: ab, Choice: idrl.ChoseA}, ab, idrl.Answer{Choice: idrl.ChoseA}, true, true},
		{"wrong", record.Known{Query: ab, Choice: idrl.ChoseA}, ab, idrl.Answer{Choice: idrl.ChoseB}, false, true},
		{"clips in the other order", record.Known{Query: ab, Choice: idrl.ChoseA}, ba, idrl.Answer{Choice: idrl.ChoseB}, true, true},
		{"equal", record.Known{Query: ab, Choice: idrl.Equal}, ba, idrl.Answer{Choice: idrl.Equal}, true, true},
		{"equal where one is better", record.Known{Query: ab, Choice: idrl.ChoseB}, ab, idrl.Answer{Choice: idrl.Equal}, false, true},
		{"says nothing", record.Known{Query: ab, Choice: idrl.ChoseB}, ab, idrl.Answer{Choice: idrl.CantTell}, false, false},
		{"another question", record.Known{Query: ab, Choice: idrl.ChoseB}, rate, idrl.Answer{Choice: idrl.ChoseB}, false, false},
		{"a rating two points off", record.Known{Query: rate, Choice: idrl.Rated, Rating: 0.2}, rate, idrl.Answer{Choice: idrl.Rated, Rating: 0.6}, true, true},
		{"a rating three points off", record.Known{Query: rate, Choice: idrl.Rated, Rating: 0.2}, rate, idrl.Answer{Choice: idrl.Rated, Rating: -0.4}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if right, ok := test.known.Right(test.asked, test.answer); right != test.right || ok != test.ok {
				t.Errorf("right = %t, %t; want %t, %t", right, ok, test.right, test.ok)
			}
		})
	}
}

func TestKnownCheck(t *testing.T) {
	q := idrl.NewComparison(idrl.Clip{ID: "a", Steps: 1}, idrl.Clip{ID: "b", Steps: 1})
	rate := idrl.NewRating(idrl.Clip{ID: "a", Steps: 1})
	for _, test := range []struct {
		known record.Known
		wrong string // part of the message; empty if it is right
	}{
		{record.Known{Query: q, Use: record.AsGold, Choice: idrl.ChoseA}, ""},
		{record.Known{Query: rate, Use: record.ForPractice, Choice: idrl.Rated, Rating: -1}, ""},
		{record.Known{Query: q, Use: "", Choice: idrl.ChoseA}, "use"},
		{record.Known{Query: q, Use: record.AsGold, Choice: idrl.CantTell}, "which clip"},
		{record.Known{Query: q, Use: record.AsGold, Choice: idrl.Rated}, "which clip"},
		{record.Known{Query: rate, Use: record.AsGold, Choice: idrl.Rated, Rating: 1.1}, "scale"},
		{record.Known{Query: rate, Use: record.AsGold, Choice: idrl.ChoseA}, "scale"},
		{record.Known{Query: q, Use: record.AsGold, Choice: idrl.ChoseA, Note: strings.Repeat("é", record.MaxNote)}, ""},
		{record.Known{Query: q, Use: record.AsGold, Choice: idrl.ChoseA, Note: strings.Repeat("x", record.MaxNote+1)}, "explanation"},
		{record.Known{Query: q, Use: record.AsGold, Choice: idrl.ChoseA, Note: "\xff"}, "explanation"},
		{record.Known{Use: record.AsGold, Choice: idrl.ChoseA}, "query type"},
	} {
		err := test.known.Check()
		if (err == nil) != (test.wrong == "") || err != nil && (idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.wrong)) {
			t.Errorf("%+v: %v", test.known, err)
		}
	}
}

func TestKnownAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind       idrl.QueryKind
		text, want string
		choice     idrl.Choice
		rating     float64
	}{
		{idrl.CompareClips, "a", "a", idrl.ChoseA, 0},
		{idrl.CompareClips, "equal", "equal", idrl.Equal, 0},
		{idrl.RateClip, "0", "0", idrl.Rated, -1},
		{idrl.RateClip, "7.5", "7.5", idrl.Rated, 0.5},
		{idrl.RateClip, "7,5", "7.5", idrl.Rated, 0.5},
		{idrl.RateClip, "10", "10", idrl.Rated, 1},
		{idrl.RateClip, "good", "NaN", idrl.Rated, math.NaN()},
	} {
		var k record.Known
		k.SetAnswer(test.kind, test.text)
		if k.Choice != test.choice || k.Rating != test.rating && !(math.IsNaN(k.Rating) && math.IsNaN(test.rating)) || k.Answer() != test.want {
			t.Errorf("%s %q: %s %v, written %q; want %s %v, %q", test.kind, test.text, k.Choice, k.Rating, k.Answer(), test.choice, test.rating, test.want)
		}
	}
}
