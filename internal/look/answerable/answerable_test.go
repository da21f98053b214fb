package answerable_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/answerable"
)

// The prior alone says what docs/methods.md, section 1.5, says of it.
func TestPrior(t *testing.T) {
	for _, test := range []struct {
		name string
		q    answerable.Question
		want float64
	}{
		{"just easy, 2 s", answerable.Question{Apart: 1, Seconds: 2}, 0.818},         // σ(1.5)
		{"half of it", answerable.Question{Apart: 0.5, Seconds: 2}, 0.442},           // σ(1.5 − 2.5 log 2)
		{"twice of it", answerable.Question{Apart: 2, Seconds: 2}, 0.962},            // σ(1.5 + 2.5 log 2)
		{"clearly liked", answerable.Question{Apart: 1, Lead: 2, Seconds: 2}, 0.891}, // σ(1.5 + 0.6)
		{"any lead above 3", answerable.Question{Apart: 1, Lead: 50, Seconds: 2}, 0.917},
		{"7 s", answerable.Question{Apart: 1, Seconds: 7}, 0.881}, // σ(1.5 + 0.5)
		{"a still state", answerable.Question{Apart: 1}, 0.818},
		{"nothing between them", answerable.Question{}, 0.014}, // as 0.1 apart
	} {
		if got := answerable.Prior().Probability(test.q); math.Abs(got-test.want) > 1e-3 {
			t.Errorf("%s: %.4f, want %.3f", test.name, got, test.want)
		}
	}
	if got, want := answerable.Fit(nil), answerable.Prior(); got != want {
		t.Errorf("without replies the model is %v, want the prior %v", got, want)
	}
}

// person is a simulated annotator who gives a clear answer with a logistic probability.
type person struct{ base, apart, lead, seconds float64 }

func (p person) probability(q answerable.Question) float64 {
	return 1 / (1 + math.Exp(-(p.base + p.apart*math.Log(q.Apart) + p.lead*q.Lead + p.seconds*(q.Seconds-2))))
}

// replies simulates n replies of a person.
func (p person) replies(n int, stream *rand.Rand) (out []answerable.Reply) {
	for k := range n {
		q := answerable.Question{
			Apart: 0.3 * math.Exp(2.5*stream.Float64()), Lead: 2 * stream.Float64(), Seconds: 1 + 3*stream.Float64(),
		}
		a := idrl.Answer{ID: idrl.AnswerID(fmt.Sprint(k)), Annotator: "a1", Choice: idrl.CantTell}
		if stream.Float64() < p.probability(q) {
			a.Choice = idrl.ChoseA
		}
		out = append(out, answerable.Reply{Answer: &a, Question: q})
	}
	return out
}

// After 300 replies of people who see better or worse than the prior supposes, what the
// model says comes true: among other questions, in each third by what it says, and closer
// to the truth than the prior is.
func TestCalibration(t *testing.T) {
	for name, p := range map[string]person{
		"sees little":         {-1, 2, 0.3, 0.1},
		"sees well":           {3, 1.5, 0, 0},
		"looks at the worth":  {0, 1, 0.8, 0.1},
		"needs a large apart": {-2, 4, 0, 0.2},
	} {
		t.Run(name, func(t *testing.T) {
			var learnt, prior [][2]float64 // what is said, and what is true
			for run := range uint64(20) {
				stream := rng.New(run, "replies", 0)
				m := answerable.Fit(answerable.Lessons(p.replies(300, stream)))
				for _, r := range p.replies(200, stream) {
					learnt = append(learnt, [2]float64{m.Probability(r.Question), p.probability(r.Question)})
					prior = append(prior, [2]float64{answerable.Prior().Probability(r.Question), p.probability(r.Question)})
				}
			}
			slices.SortFunc(learnt, func(a, b [2]float64) int { return int(math.Copysign(1, a[0]-b[0])) })
			for third := range 3 {
				part := learnt[third*len(learnt)/3 : (third+1)*len(learnt)/3]
				var said, is float64
				for _, v := range part {
					said, is = said+v[0]/float64(len(part)), is+v[1]/float64(len(part))
				}
				if math.Abs(said-is) > 0.03 {
					t.Errorf("third %d: says %.3f, is %.3f", third, said, is)
				}
			}
			if l, b := wrong(learnt), wrong(prior); !(l < 0.5*b && l < 0.07) {
				t.Errorf("off by %.3f, the prior by %.3f; want less than half of it, and at most 0.07", l, b)
			}
		})
	}
}

// wrong returns the root mean square difference of what is said and what is true.
func wrong(list [][2]float64) (sum float64) {
	for _, v := range list {
		sum += (v[0] - v[1]) * (v[0] - v[1]) / float64(len(list))
	}
	return math.Sqrt(sum)
}

// The fit is where the derivative of what it maximises is 0, also far from the prior.
func TestFitIsTheMaximum(t *testing.T) {
	always := slices.Repeat([]answerable.Lesson{{Question: answerable.Question{Apart: 0.2, Seconds: 9}, Clear: 0}, {Question: answerable.Question{Apart: 5, Lead: 9}, Clear: 1}}, 250)
	mixed := answerable.Lessons(person{-1, 2, 0.3, 0.1}.replies(100, rng.New(3, "replies", 0)))
	for name, lessons := range map[string][]answerable.Lesson{"always": always, "mixed": mixed, "one": mixed[:1]} {
		if g := answerable.Gradient(answerable.Fit(lessons), lessons); !(g < 1e-6) {
			t.Errorf("%s: a derivative of %v at the maximum", name, g)
		}
	}
}

// What replies teach.
func TestLessons(t *testing.T) {
	timed := func(choice idrl.Choice, ms int64) answerable.Reply {
		return answerable.Reply{Answer: &idrl.Answer{Annotator: "a1", Choice: choice, ResponseMS: ms, Input: "keyboard"}}
	}
	usual := make([]answerable.Reply, 9)
	for i := range usual {
		usual[i] = timed(idrl.ChoseA, 1000)
	}
	change := func(r answerable.Reply, f func(*idrl.Answer)) answerable.Reply { f(r.Answer); return r }
	for _, test := range []struct {
		name string
		r    answerable.Reply
		want float64 // −1: nothing
	}{
		{"a choice", timed(idrl.ChoseB, 900), 1},
		{"a rating", timed(idrl.Rated, 900), 1},
		{"the best and the worst of a group", timed(idrl.BestWorst, 900), 1},
		{"equal", timed(idrl.Equal, 900), 0.5},
		{"can't tell", timed(idrl.CantTell, 900), 0},
		{"skip", timed(idrl.Skip, 900), -1},
		{"technical failure", timed(idrl.TechnicalFailure, 900), -1},
		{"twice the usual time", timed(idrl.ChoseA, 2000), 1},
		{"√8 times", timed(idrl.ChoseA, 2828), 0.75},
		{"an hour", timed(idrl.ChoseA, 3_600_000), 0.5},
		{"an hour for equal", timed(idrl.Equal, 3_600_000), 0.5},
		{"an hour, with the page hidden", change(timed(idrl.ChoseA, 3_600_000), func(a *idrl.Answer) { a.HiddenMS = 10 }), 1},
		{"an hour that cannot be true", change(timed(idrl.ChoseA, 3_600_000), func(a *idrl.Answer) { a.Doubts = idrl.DoubtDuration }), 1},
		{"an hour of a program", change(timed(idrl.ChoseA, 3_600_000), func(a *idrl.Answer) { a.Input = "api" }), 1},
		{"an hour of somebody of whom little is known", change(timed(idrl.ChoseA, 3_600_000), func(a *idrl.Answer) { a.Annotator = "a2" }), 1},
	} {
		got := answerable.Lessons(append(slices.Clone(usual), test.r))
		switch {
		case test.want < 0 && len(got) != len(usual):
			t.Errorf("%s: it teaches %v", test.name, got[len(got)-1].Clear)
		case test.want >= 0 && (len(got) != len(usual)+1 || math.Abs(got[len(got)-1].Clear-test.want) > 1e-3):
			t.Errorf("%s: %v, want the last to be %v", test.name, got, test.want)
		}
	}
}

// What is recorded of questions of each kind.
func TestOf(t *testing.T) {
	w := record.Why{Apart: 1.5, MotionA: 0.15, MotionB: 9, Lead: 2, Seconds: 3}
	for kind, want := range map[idrl.QueryKind]answerable.Question{
		idrl.CompareClips:  {Apart: 1.5, Lead: 2, Seconds: 3},
		idrl.CompareStates: {Apart: 1.5, Lead: 2, Seconds: 3},
		idrl.RateClip:      {Apart: 0.5, Seconds: 3},
		idrl.RateState:     {Apart: 1},
	} {
		if got := answerable.Of(kind, w); got != want {
			t.Errorf("%s: %+v, want %+v", kind, got, want)
		}
	}
}

func BenchmarkFit(b *testing.B) {
	replies := person{-1, 2, 0.3, 0.1}.replies(500, rng.New(1, "replies", 0))
	for b.Loop() {
		answerable.Fit(answerable.Lessons(replies))
	}
}
