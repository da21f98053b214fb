package questions

import (
	"fmt"
	"testing"

	"tiebreak/envs/chain"
	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/questions/questionstest"
)

// walk returns the drawing of a walk over fields of Chain, with a note over it.
func walk(t *testing.T, note string, fields ...int) []byte {
	t.Helper()
	return questionstest.Walk(t, chain.New(chain.Config{}), note, fields...)
}

func measured(t *testing.T, s questionstest.Shelf, rows ...record.Labelled) []Question {
	t.Helper()
	list := must.Get(Measure(t.Context(), rows, s.Media, nil))(t)
	return list
}

// aSession has clips on different fields; those with a second letter look like those without.
func aSession(t *testing.T) questionstest.Shelf {
	return questionstest.Shelf{
		"a": walk(t, "", 0, 1, 2, 3), "aa": walk(t, "", 0, 1, 2, 3),
		"b": walk(t, "", 12, 11, 10, 9), "bb": walk(t, "", 12, 11, 10, 9),
		"c": walk(t, "", 15, 16, 17, 18), "d": walk(t, "", 5, 6, 7, 8), "e": walk(t, "", 19, 19, 19, 19),
	}
}

func TestMeasure(t *testing.T) {
	s := aSession(t)
	swapped := questionstest.Ask(3, "a1", idrl.ChoseA, "bb", "aa")
	swapped.Answer.Left = idrl.SideB
	undone := questionstest.Ask(5, "a2", idrl.Equal, "c", "d")
	undone.Withdrawn = true
	list := measured(t, s,
		questionstest.Ask(1, "a1", idrl.ChoseA, "a", "b"),
		questionstest.Ask(2, "a1", idrl.CantTell, "c", "d"),
		swapped, // looks like the first, the other way round
		questionstest.Ask(4, "a2", idrl.ChoseB, "a", "b"), // of somebody else
		undone, //
		questionstest.Ask(6, "a2", idrl.ChoseB, "c", "d"),  // asked again
		questionstest.Ask(7, "a2", idrl.ChoseB, "a", "aa"), // alike
		questionstest.Ask(8, "a1", idrl.ChoseB, "bb", "a"), // once more: the newest counts
		questionstest.Ask(9, "a1", idrl.Rated, "c"),        //
		questionstest.Ask(10, "a1", idrl.Rated, "e"),       // nothing happens
		questionstest.Ask(11, "a1", idrl.Rated, "c"),       //
		questionstest.Ask(12, "a1", idrl.Equal, "missing", "a"),
	)
	for i, want := range []int{0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 9, 0} {
		if list[i].N != i+1 || list[i].Repeats != want {
			t.Errorf("question %d repeats %d, want %d", list[i].N, list[i].Repeats, want)
		}
	}
	for i, q := range list {
		alike, still, unseen := i == 6, i == 9, i == 11
		if q.Alike != alike || q.Still != still || q.Fallen || (q.Unseen != "") != unseen || q.Answerable() != !(alike || still || unseen) {
			t.Errorf("question %d: %+v", q.N, q)
		}
	}
	if got := list[2]; got.Shown[0].ID != "aa" || got.Chosen() != 1 {
		t.Errorf("the third question was shown as %+v, and %d chosen", got.Shown, got.Chosen())
	}
	got := Summarise(list)
	want := Summary{
		Questions: 11, Withdrawn: 1, Unseen: 1, Still: 1, Alike: 1, Unanswered: 2, Repeats: 3, Easy: got.Easy, Equal: 1, CantTell: 1, Median: 7e9, Probability: 0.75,
	}
	if got != want {
		t.Errorf("summary %+v\nwant    %+v", got, want)
	}
}

// A question that is asked again to see whether the person says the same is no repeat: it was
// not chosen for what it tells.
func TestPlannedRepeatsAreNone(t *testing.T) {
	for _, purpose := range []record.Purpose{record.ForRepeat, ""} { // earlier versions recorded no purpose
		again := questionstest.Ask(2, "a1", idrl.ChoseA, "a", "b")
		again.Why = record.Why{Purpose: purpose, BasedOn: 0, AfterSeq: 1}
		other := again
		other.Answer.Annotator, other.Answer.Seq = "a2", 3
		list := measured(t, aSession(t), questionstest.Ask(1, "a1", idrl.ChoseA, "a", "b"), again, other, questionstest.Ask(4, "a1", idrl.ChoseA, "a", "b"))
		for i, want := range [][2]int{{0, 0}, {0, 1}, {0, 0}, {2, 0}} {
			if got := [2]int{list[i].Repeats, list[i].Again}; got != want {
				t.Errorf("purpose %q, question %d: repeats and asks again %v, want %v", purpose, i+1, got, want)
			}
		}
		if s := Summarise(list); s.Repeats != 1 || s.Again != 1 {
			t.Errorf("purpose %q: summary: %d repeats, %d asked again", purpose, s.Repeats, s.Again)
		}
	}
}

// Two robots that stay where they are, as the line over their clips says, lack motion; who rates
// another one rates the same again.
func TestRobotsThatStay(t *testing.T) {
	s := questionstest.Shelf{
		"a": walk(t, idrl.Stays, 0, 1, 2, 3), "b": walk(t, "Far. "+idrl.Stays, 12, 11, 10, 9), "c": walk(t, "Far.", 15, 16, 17, 18),
	}
	list := measured(t, s, questionstest.Ask(1, "a1", idrl.ChoseA, "a", "b"), questionstest.Ask(2, "a1", idrl.ChoseA, "a", "c"),
		questionstest.Ask(3, "a1", idrl.Rated, "a"), questionstest.Ask(4, "a1", idrl.Rated, "c"), questionstest.Ask(5, "a1", idrl.Rated, "b"))
	for i, want := range []struct {
		still   bool
		repeats int
	}{{true, 0}, {false, 0}, {false, 0}, {false, 0}, {false, 3}} {
		if q := list[i]; q.Still != want.still || q.Repeats != want.repeats || q.Answerable() == want.still {
			t.Errorf("question %d: lacks motion %t, repeats %d", q.N, q.Still, q.Repeats)
		}
	}
}

// What was asked more than LookBack questions ago is no repeat any more.
func TestLookBack(t *testing.T) {
	s := questionstest.Shelf{}
	id := func(f int) idrl.ClipID { return idrl.ClipID(fmt.Sprint("field ", f)) }
	for f := range 20 {
		s[id(f)] = walk(t, "", f)
	}
	var rows []record.Labelled
	for a := 0; a < 20 && len(rows) < LookBack+1; a++ {
		for b := 0; b < a && len(rows) < LookBack+1; b++ {
			rows = append(rows, questionstest.Ask(int64(len(rows)+1), "a1", idrl.ChoseA, id(a), id(b)))
		}
	}
	second, first := rows[1], rows[0]
	first.Answer.Seq, second.Answer.Seq = 52, 53
	list := measured(t, s, append(rows, first, second)...)
	for i, want := range map[int]int{LookBack: 0, LookBack + 1: 0, LookBack + 2: 0} {
		if list[i].Repeats != want {
			t.Errorf("question %d repeats %d, want %d", i+1, list[i].Repeats, want)
		}
	}
	third := rows[4]
	if list = measured(t, s, append(rows, third)...); list[LookBack+1].Repeats != 5 {
		t.Errorf("a question of 47 before: repeats %d", list[LookBack+1].Repeats)
	}
}
