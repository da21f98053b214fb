package idrl_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

func trajectory() *idrl.Trajectory {
	return &idrl.Trajectory{
		ID: "t", Env: "toy", Policy: "p",
		Obs:       [][]float64{{0}, {1}, {2}, {3}},
		Actions:   []idrl.Action{{0}, {1}, {0}},
		Phi:       [][]float64{{1, 0}, {2, 1}, {4, 0.5}},
		Snapshots: [][]float64{{0}, {1}, {2}, {3}},
		End:       idrl.Truncated,
	}
}

func TestSegment(t *testing.T) {
	tr := trajectory()
	must.Do(t, tr.Validate())
	c := idrl.Segment(tr, 1, 2)
	if diff := cmp.Diff([]float64{6, 1.5}, c.Phi); diff != "" || c.Steps != 2 || len(c.Snapshots) != 3 {
		t.Errorf("segment: %d steps, %d snapshots, features (-want +got):\n%s", c.Steps, len(c.Snapshots), diff)
	}
	other := *tr
	other.ID, other.Policy = "u", "q"
	if same := idrl.Segment(&other, 1, 2); same.ID != c.ID {
		t.Error("the same content under another policy has another name")
	}
	for name, d := range map[string]idrl.Clip{
		"another segment": idrl.Segment(tr, 0, 2),
		"a still":         idrl.Still(tr, 1),
	} {
		if d.ID == c.ID {
			t.Errorf("%s has the same name", name)
		}
	}
	other.Env = "elsewhere"
	if idrl.Segment(&other, 1, 2).ID == c.ID {
		t.Error("another environment has the same name")
	}
	for _, bad := range [][2]int{{-1, 1}, {0, 0}, {2, 2}, {1, math.MaxInt}, {4, 1}} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			defer func() {
				if got := recover(); got != "idrl: segment out of range" {
					t.Errorf("panic %v", got)
				}
			}()
			idrl.Segment(tr, bad[0], bad[1])
		})
	}
}

func TestTrajectoryValidate(t *testing.T) {
	for name, spoil := range map[string]func(*idrl.Trajectory){
		"empty":            func(t *idrl.Trajectory) { t.Actions = nil },
		"no observation":   func(t *idrl.Trajectory) { t.Obs = nil },
		"features missing": func(t *idrl.Trajectory) { t.Phi = t.Phi[:2] },
		"state missing":    func(t *idrl.Trajectory) { t.Snapshots = t.Snapshots[:3] },
		"without an end":   func(t *idrl.Trajectory) { t.End = idrl.Mid },
	} {
		tr := trajectory()
		spoil(tr)
		if err := tr.Validate(); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v, want Invalid", name, err)
		}
	}
}

func TestQueries(t *testing.T) {
	tr := trajectory()
	a, b := idrl.Segment(tr, 0, 2), idrl.Segment(tr, 1, 2)
	ab, ba := idrl.ComparisonVector(a, b), idrl.ComparisonVector(b, a)
	if ab.ID != ba.ID {
		t.Error("(a, b) and (b, a) are two questions")
	}
	if diff := cmp.Diff([]float64{-3, -0.5}, ab.X); diff != "" {
		t.Errorf("x of a comparison (-want +got):\n%s", diff)
	}
	rating := idrl.RatingVector(a)
	if diff := cmp.Diff([]float64{1.5, 0.5}, rating.X); diff != "" || rating.ID == ab.ID {
		t.Errorf("x of a rating is the mean over its steps (-want +got):\n%s", diff)
	}
	still := idrl.Still(tr, 2)
	for _, test := range []struct {
		q    idrl.Query
		want idrl.QueryKind
	}{
		{ab.Query, idrl.CompareClips},
		{rating.Query, idrl.RateClip},
		{idrl.NewComparison(still, idrl.Still(tr, 0)), idrl.CompareStates},
		{idrl.NewRating(still), idrl.RateState},
	} {
		if test.q.Kind != test.want || !test.want.Valid() {
			t.Errorf("kind %q, want %q", test.q.Kind, test.want)
		}
	}
	if diff := cmp.Diff([]float64{4, 0.5}, idrl.RatingVector(still).X); diff != "" {
		t.Errorf("x of a state (-want +got):\n%s", diff)
	}
	for rating, want := range map[float64]float64{-1: idrl.Failure, -0.51: idrl.Failure, -0.49: idrl.Partial, 0.2: idrl.Partial, 0.6: idrl.Success, 1: idrl.Success} {
		if got := idrl.Verdict(rating); got != want || math.Signbit(got) != (want < 0) {
			t.Errorf("the verdict of %v is %v, want %v", rating, got, want)
		}
	}
	if idrl.QueryKind("essay").Valid() {
		t.Error("essay is a kind of query")
	}
}

func TestAnswerValidate(t *testing.T) {
	comparison := idrl.Query{ID: "q", Kind: idrl.CompareClips}
	rating := idrl.Query{ID: "q", Kind: idrl.RateState}
	group := idrl.Query{ID: "q", Kind: idrl.GroupClips, Clips: []idrl.ClipID{"1", "2", "3", "4", "5", "6"}}
	picked := func(best, worst idrl.Side, order idrl.Order) idrl.Answer {
		return idrl.Answer{Choice: idrl.BestWorst, Best: best, Worst: worst, Order: order}
	}
	for _, test := range []struct {
		name  string
		query idrl.Query
		a     idrl.Answer
		want  string // in the error; empty if there is none
	}{
		{"a", comparison, idrl.Answer{Choice: idrl.ChoseA, Left: idrl.SideB}, ""},
		{"equal", comparison, idrl.Answer{Choice: idrl.Equal, Left: idrl.SideA, Input: "touch"}, ""},
		{"rated", rating, idrl.Answer{Choice: idrl.Rated, Rating: -1}, ""},
		{"can't tell a state", rating, idrl.Answer{Choice: idrl.CantTell}, ""},
		{"skip", comparison, idrl.Answer{Choice: idrl.Skip, Reason: "offensive", Left: idrl.SideA}, ""},
		{"skip without reason", comparison, idrl.Answer{Choice: idrl.Skip, Left: idrl.SideA}, "reason"},
		{"left is no side", comparison, idrl.Answer{Choice: idrl.ChoseA, Left: "left"}, "shown_left"},
		{"choice for a rating", rating, idrl.Answer{Choice: idrl.ChoseB}, "asks for a rating"},
		{"rating for a comparison", comparison, idrl.Answer{Choice: idrl.Rated, Left: idrl.SideA}, "choice between two"},
		{"above the scale", rating, idrl.Answer{Choice: idrl.Rated, Rating: 1.01}, "-1 to 1"},
		{"not a number", rating, idrl.Answer{Choice: idrl.Rated, Rating: math.NaN()}, "-1 to 1"},
		{"unknown choice", comparison, idrl.Answer{Choice: "left"}, "unknown choice"},
		{"unknown input", rating, idrl.Answer{Choice: idrl.Rated, Input: "telepathy"}, "telepathy"},
		{"best and worst", group, picked("f", "a", "cafbed"), ""},
		{"can't tell a group", group, idrl.Answer{Choice: idrl.CantTell, Order: "abcdef"}, ""},
		{"the best is the worst", group, picked("b", "b", "cafbed"), "cannot be the best and the worst"},
		{"no clip of the group", group, picked("g", "a", "cafbed"), "clips of the question"},
		{"no worst", group, picked("a", "", "cafbed"), "clips of the question"},
		{"order of five", group, picked("a", "b", "cafbe"), "shown_order"},
		{"order with a clip twice", group, picked("a", "b", "caabed"), "shown_order"},
		{"no order", group, idrl.Answer{Choice: idrl.CantTell}, "shown_order"},
		{"best and worst of two", comparison, picked("a", "b", ""), "choice between two"},
		{"a of a group", group, idrl.Answer{Choice: idrl.ChoseA, Order: "abcdef"}, "best and the worst"},
		{"rating of a group", group, idrl.Answer{Choice: idrl.Rated, Order: "abcdef"}, "best and the worst"},
		{"withdrawal", comparison, idrl.Answer{Undoes: "x"}, "withdrawal"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.a.ID, test.a.Query = "id", "q"
			err := test.a.Validate(test.query)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if idrl.KindOf(err) != idrl.Invalid || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one of kind Invalid with %q", err, test.want)
			}
		})
	}
	if err := (idrl.Answer{Query: "q", Choice: idrl.CantTell}).Validate(rating); err == nil {
		t.Error("an answer without id is valid")
	}
	if err := (idrl.Answer{ID: "id", Query: "r", Choice: idrl.CantTell}).Validate(rating); err == nil {
		t.Error("an answer to another query is valid")
	}
}

// The answer to a group implies that the best is above all others and the worst below all.
func TestImplied(t *testing.T) {
	got := idrl.Answer{Choice: idrl.BestWorst, Best: "c", Worst: "a"}.Implied(4)
	if diff := cmp.Diff([][2]int{{2, 0}, {2, 1}, {2, 3}, {1, 0}, {3, 0}}, got); diff != "" {
		t.Errorf("implied comparisons (-want +got):\n%s", diff)
	}
	if got := (idrl.Answer{Choice: idrl.BestWorst, Best: "f", Worst: "a"}).Implied(idrl.GroupSize); len(got) != 9 {
		t.Errorf("%d comparisons of six clips, want 9", len(got))
	}
}

// The name of a group does not depend on the order of its clips.
func TestNewGroup(t *testing.T) {
	p, q := idrl.NewGroup("1", "2", "3", "4", "5", "6"), idrl.NewGroup("6", "2", "3", "4", "5", "1")
	if p.ID != q.ID || q.Clips[0] != "1" || q.Place("f") != 5 || q.Place("g") != -1 || q.Place("") != -1 || q.Place("aa") != -1 {
		t.Errorf("groups %+v and %+v", p, q)
	}
	if r := idrl.NewGroup("1", "2", "3", "4", "5", "7"); r.ID == p.ID {
		t.Error("two groups have one name")
	}
}

func TestPolarity(t *testing.T) {
	for _, test := range []struct {
		choice      idrl.Choice
		p           float64
		ok          bool
		informative bool
	}{
		{idrl.ChoseA, 1, true, true},
		{idrl.ChoseB, 0, true, true},
		{idrl.Equal, 0.5, true, true},
		{idrl.CantTell, 0, false, false},
		{idrl.Skip, 0, false, false},
		{idrl.TechnicalFailure, 0, false, false},
		{idrl.Rated, 0, false, true},
		{idrl.BestWorst, 0, false, true},
	} {
		a := idrl.Answer{Choice: test.choice}
		if p, ok := a.ProbA(); p != test.p || ok != test.ok || a.Informative() != test.informative {
			t.Errorf("%s: prob_a %v %v, informative %v", test.choice, p, ok, a.Informative())
		}
	}
}

func TestEffective(t *testing.T) {
	log := []idrl.Answer{{ID: "1"}, {ID: "2"}, {ID: "u", Undoes: "1"}, {ID: "3"}, {ID: "v", Undoes: "3"}, {ID: "4"}}
	var got []idrl.AnswerID
	for _, a := range record.Effective(log) {
		got = append(got, a.ID)
	}
	if diff := cmp.Diff([]idrl.AnswerID{"2", "4"}, got); diff != "" {
		t.Errorf("effective answers (-want +got):\n%s", diff)
	}
}

func TestActionSpec(t *testing.T) {
	discrete := idrl.ActionSpec{Num: 3}
	box := idrl.ActionSpec{Low: []float64{-1, 0}, High: []float64{1, 2}}
	for _, test := range []struct {
		spec idrl.ActionSpec
		a    idrl.Action
		want bool
	}{
		{discrete, idrl.Action{2}, true},
		{discrete, idrl.Action{3}, false},
		{discrete, idrl.Action{-1}, false},
		{discrete, idrl.Action{0.5}, false},
		{discrete, idrl.Action{0, 0}, false},
		{box, idrl.Action{1, 0}, true},
		{box, idrl.Action{1.1, 0}, false},
		{box, idrl.Action{math.NaN(), 0}, false},
		{box, idrl.Action{0}, false},
	} {
		if got := test.spec.Contains(test.a); got != test.want {
			t.Errorf("%+v contains %v = %v, want %v", test.spec, test.a, got, test.want)
		}
	}
}

func TestKindOf(t *testing.T) {
	err := fmt.Errorf("outer: %w", idrl.Errorf(idrl.NotFound, "no %s", "thing"))
	if idrl.KindOf(err) != idrl.NotFound || err.Error() != "outer: no thing" {
		t.Errorf("kind %d of %q", idrl.KindOf(err), err)
	}
	if idrl.KindOf(errors.New("plain")) != idrl.Internal {
		t.Error("a plain error is not Internal")
	}
}
