package quality_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
)

// A clicker is a simulated person. What they say is drawn: how often they are right, say the
// same again, and choose the left clip.
type clicker struct{ right, same, left float64 }

// work returns the report on n gold questions, n questions that came twice, and n on random
// sides, of one person.
func (c clicker) work(n int, r *rand.Rand) quality.Person {
	var log []idrl.Answer
	right := map[idrl.AnswerID]bool{}
	say := func(query string, choice idrl.Choice, left idrl.Side) idrl.AnswerID {
		a := idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("a", len(log))), Seq: int64(len(log) + 1), Query: idrl.QueryID(query), Annotator: "ann", Choice: choice, Left: left}
		log = append(log, a)
		return a.ID
	}
	for i := range n {
		right[say(fmt.Sprint("gold", i), idrl.Equal, "")] = r.Float64() < c.right
		first, second := idrl.ChoseA, idrl.ChoseA
		if r.Float64() >= c.same {
			second = idrl.Equal
		}
		say(fmt.Sprint("again", i), first, "")
		say(fmt.Sprint("again", i), second, "")
		choice, left := idrl.ChoseA, []idrl.Side{idrl.SideA, idrl.SideB}[r.IntN(2)]
		if (r.Float64() < c.left) != (left == idrl.SideA) {
			choice = idrl.ChoseB
		}
		say(fmt.Sprint("side", i), choice, left)
	}
	q := quality.Of(log, nil, 1)
	q.KnowGold(log, right)
	return q.People[0]
}

// The intervals of 95 % hold what is true of simulated people about that often, and a warning
// comes rarely where it is wrong and nearly always where it is right.
func TestIntervalsCoverWhatIsTrue(t *testing.T) {
	const people, n = 1500, 60
	stream := rng.New(5, "people", 0)
	is := clicker{right: 0.85, same: 0.8, left: 0.55}
	covered := map[string]int{}
	for range people {
		p := is.work(n, stream)
		if p.Gold != n || p.Repeats != n || p.Sided != n {
			t.Fatalf("%d gold, %d repeats and %d sides, want %d each", p.Gold, p.Repeats, p.Sided, n)
		}
		for name, in := range map[string]bool{
			"gold": p.GoldLow <= is.right && is.right <= p.GoldHigh, "repeats": p.SameLow <= is.same && is.same <= p.SameHigh,
			"sides": p.LeftLow <= is.left && is.left <= p.LeftHigh,
		} {
			if in {
				covered[name]++
			}
		}
		if len(p.Warnings) > 0 {
			covered["warned"]++
		}
	}
	for _, name := range []string{"gold", "repeats", "sides"} {
		// Wilson's intervals of a share near these hold it in 94 to 96.5 % (exact sum over
		// the binomial); 1,500 people have a standard error of 0.6 %.
		if share := float64(covered[name]) / people; share < 0.92 || share > 0.985 {
			t.Errorf("%s: the interval holds the truth in %.1f %%", name, 100*share)
		}
	}
	if covered["warned"] > people/50 {
		t.Errorf("%d of %d good people are warned of", covered["warned"], people)
	}
}

// Bad work is told from good where there is enough of it, and only there.
func TestWarnings(t *testing.T) {
	good := clicker{right: 1, same: 1, left: 0.5}
	for _, test := range []struct {
		name  string
		who   clicker
		n     int
		warns string
	}{
		{"good", good, 200, ""},
		{"clicks at random on gold", clicker{0.4, 1, 0.5}, 200, "gold questions"},
		{"says other things again", clicker{1, 0.4, 0.5}, 200, "gives the same answer"},
		{"always left", clicker{1, 1, 1}, 200, "left clip too often"},
		{"always right", clicker{1, 1, 0}, 200, "right clip too often"},
		{"a little to the left", clicker{1, 1, 0.62}, 100, ""},
		{"everything wrong, but of few", clicker{0, 0, 1}, quality.Enough - 1, ""},
		{"everything wrong, of just enough", clicker{0, 0, 1}, quality.Enough, "gold questions, gives the same answer, left clip too often"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := test.who.work(test.n, rng.New(11, test.name, 0))
			want := strings.Split(test.warns, ", ")
			if test.warns == "" {
				want = nil
			}
			if len(p.Warnings) != len(want) {
				t.Fatalf("warnings %q, want %q", p.Warnings, want)
			}
			for i, w := range want {
				if !strings.Contains(p.Warnings[i], w) {
					t.Errorf("warning %q, want %q in it", p.Warnings[i], w)
				}
			}
		})
	}
}
