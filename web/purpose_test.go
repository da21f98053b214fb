package web_test

import (
	"testing"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"
)

// The page of questions says of each what it was asked for, as it was recorded; of questions
// that an earlier version asked it says that this was not recorded.
func TestPurposesOnTheQuestionsPage(t *testing.T) {
	for _, test := range []struct {
		name      string
		strategy  string
		condition record.Condition
		purpose   record.Purpose
		pair      bool
		says      []string
		never     string
	}{
		{"valued", "idrl", "", record.ForValue, true, []string{"value, by the strategy IDRL", "the strategy IDRL does not compute it"}, "earlier version"},
		{"valued for the reward", "igr", "", record.ForValue, false, []string{"value, by the strategy IGR", "for the reward"}, "at random"},
		{"nothing to tell", "lvar", "", record.ForValue, false, []string{"found no question that distinguishes two policies", "drawn at random"}, "not recorded"},
		{"at random", "lvar", "uniform", record.AtRandom, false, []string{"at random, by the strategy Uniform"}, "repeat"},
		{"held out", "lvar", record.HeldOut, record.ForHeldOut, false, []string{"<dd>held out</dd>", "drawn at random and held out", "its answer is not used for learning"}, "repeat"},
		{"gold", "lvar", "", record.ForGold, false, []string{"gold: the right answer is known", "checks attention"}, "at random"},
		{"repeat", "lvar", "", record.ForRepeat, false, []string{"<dd>repeat</dd>", "repeated on purpose, with the sides swapped, to measure consistency"}, "at random"},
		{"earlier version", "lvar", "", "", true, []string{"not recorded: an earlier version", "P(best) before the answer was not recorded"}, "when asked"},
		{"earlier version without a pair", "lvar", "", "", false, []string{"purpose of this question was not recorded"}, "at random"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, nil)
			c := b.researcher()
			b.s1.spec.Acquisition = test.strategy
			q := insight.Question{Answer: idrl.Answer{Seq: 3, Annotator: "a1", Choice: idrl.ChoseA}, Assignment: record.Assignment{
				Query: idrl.Query{ID: "q", Kind: idrl.CompareClips, Clips: []idrl.ClipID{"c1", "c2"}}, Left: idrl.SideA, Condition: test.condition, Why: record.Why{Purpose: test.purpose},
			}}
			if test.pair {
				q.Assignment.Why.First, q.Assignment.Why.Second = "g0.p1", "g0.p2"
				q.Policies = []insight.Policy{{ID: "g0.p1"}, {ID: "g0.p2"}}
			}
			b.s1.set(live.EventAnswered, func() { b.s1.questions = []insight.Question{q} })
			page := b.get(c, "/sessions/s1/questions?part=1")
			if page.status != 200 || page.lacks(test.says...) != nil || page.lacks(test.never) == nil {
				t.Errorf("status %d, lacks %q, or says %q: %s", page.status, page.lacks(test.says...), test.never, page.body)
			}
		})
	}
}
