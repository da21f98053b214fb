package session_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"

	"tiebreak/envs/driver"
	"tiebreak/envs/gridworld"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/session"
	"tiebreak/internal/session/insight"
)

// looked returns what the session shows of what it has learnt.
func looked(t testing.TB, s *session.Session) *insight.Learnt {
	t.Helper()
	l := must.Get(s.Learnt(t.Context()))(t)
	return l
}

// exhibitions are sessions of several kinds.
func exhibitions(t *testing.T) map[string]func() *bench {
	out := map[string]func() *bench{
		"of a known noise each": func() *bench {
			b := newBench(nil)
			b.own(t)
			return b
		},
		"drawn":   func() *bench { return sighted(t, "gridworld", idrl.CompareClips, nil) },
		"ratings": func() *bench { return sighted(t, "gridworld", idrl.RateState, nil) },
	}
	for _, m := range acquisition.Live() {
		out["by "+m.Name] = func() *bench {
			b := newBench(func(s *idrl.SessionSpec) { s.Acquisition = m.Name })
			b.method = m
			return b
		}
	}
	return out
}

// rounds is how many answers each person gives: to questions about clips that are drawn, which take long, few. Another
// generation is in use before the last ones.
func rounds(b *bench) int {
	if _, quick := b.trainer.(fakeTrainer); quick {
		return 8
	}
	return 4
}

// Whether somebody looks at what was learnt changes neither a question nor the posterior.
func TestLookingChangesNothing(t *testing.T) {
	for name, newOf := range exhibitions(t) {
		t.Run(name, func(t *testing.T) {
			var was record.Record
			var beliefs map[int64][]byte
			for _, look := range []bool{false, true} {
				b := newOf()
				s, stop := b.start(t)
				if look {
					looked(t, s)
				}
				for n := range rounds(b) {
					for _, who := range []idrl.AnnotatorID{"ann", "bob"} {
						o := claim(t, s, who)
						if look {
							looked(t, s)
						}
						a := variously(o.Open[0], n)
						a.ID += idrl.AnswerID(who)
						mustAnswer(t, s, who, a)
						if look {
							looked(t, s)
						}
					}
				}
				stop()
				if !look {
					was, beliefs = b.journal.rec, b.journal.Beliefs
					continue
				}
				for seq, p := range beliefs {
					if !bytes.Equal(p, b.journal.Beliefs[seq]) {
						t.Fatalf("another posterior after row %d", seq)
					}
				}
				if d := cmp.Diff(was.Assignments, b.journal.rec.Assignments); d != "" {
					t.Errorf("other questions (-without +with looking):\n%s", d)
				}
			}
		})
	}
}

// Somebody who joins is asked the question that is shown.
func TestNextIsAsked(t *testing.T) {
	for name, newOf := range exhibitions(t) {
		b := newOf()
		t.Run(name, func(t *testing.T) {
			s, stop := b.start(t)
			defer stop()
			claim(t, s, "ann") // waits for the first generation
			for n := range rounds(b) {
				next := looked(t, s).Next
				who := idrl.AnnotatorID(fmt.Sprint("new", n))
				as := claim(t, s, who).Open[0]
				if next == nil || !slices.Equal(next.Query.Clips, as.Query.Clips) || next.First.ID != as.Why.First || next.Second.ID != as.Why.Second || next.Rivals != as.Why.Rivals {
					t.Fatalf("after %d answers %+v is shown, and asked is %+v (%+v)", n, next, as.Query, as.Why)
				}
				if p := next.Better; as.Query.Kind.Comparison() && !(p >= 0 && p <= 1) {
					t.Errorf("the first clip is better with a probability of %v", p)
				}
				a := variously(as, n)
				mustAnswer(t, s, who, a)
			}
		})
	}
}

// The policies that are shown are those that are known and drawn, each once, the recommended one first; also after a restart.
func TestLearntPolicies(t *testing.T) {
	b := sighted(t, "gridworld", idrl.CompareClips, nil)
	s, stop := b.start(t)
	for n := range 9 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], n))
	}
	l, st := looked(t, s), status(t, s)
	if l.Policies[0].ID != st.Best || l.Policies[0].Group != insight.Recommended {
		t.Errorf("the first policy is %+v, recommended is %s", l.Policies[0], st.Best)
	}
	groups, ids := map[insight.Group]int{}, map[idrl.PolicyID]bool{}
	for _, p := range l.Policies {
		groups[p.Group]++
		if ids[p.ID] {
			t.Errorf("policy %s is there twice", p.ID)
		}
		ids[p.ID] = true
		for _, m := range p.Clips {
			if _, err := b.journal.ClipMedia(t.Context(), "s1", m.Clip); err != nil {
				t.Errorf("policy %s: %v", p.ID, err)
			}
		}
	}
	for _, c := range st.Candidates {
		if !ids[idrl.PolicyID(c.ID)] {
			t.Errorf("candidate %s is not among them", c.ID)
		}
	}
	if groups[insight.Recommended] != 1 || groups[insight.AtFirst] > 1 || groups[insight.Prepared] == 0 || groups[insight.Earlier] == 0 {
		t.Errorf("groups of policies: %v", groups)
	}
	stop()
	s, stop = b.start(t)
	defer stop()
	if d := cmp.Diff(l, looked(t, s)); d != "" {
		t.Errorf("after a restart (-before +now):\n%s", d)
	}
}

// What the reward is said to like is better by the true reward than what it is said to dislike. Answers of experts who
// say the contrary make it worse, so that the test tells the two apart.
func TestLikedClipsAreBetter(t *testing.T) {
	for _, test := range []setting{
		{name: "driver", newEnv: func(uint64) idrl.Environment { return driver.New() }, kind: idrl.CompareClips, adoptAfter: 1},
		{name: "gridworld", newEnv: func(seed uint64) idrl.Environment {
			return gridworld.New(gridworld.Config{MinReachable: 50}, rng.New(seed, "layout", 0))
		}, kind: idrl.CompareClips, adoptAfter: 1},
	} {
		const seeds, answers = 10, 15
		better := 0
		for n := range seeds {
			m := newMatched(t, test, n)
			s, stop := m.start(t)
			for k := range answers {
				mustAnswer(t, s, "ann", m.next(t, s, k))
			}
			whole := looked(t, s).Tastes[0]
			stop()
			if m.meanReturn(whole.Most) > m.meanReturn(whole.Least) {
				better++
			}
		}
		t.Logf("%s: after %d answers the clips with the highest reward are truly better than those with the lowest in %d of %d seeds", test.name, answers, better, seeds)
		if better < 9 {
			t.Errorf("%s: in %d of %d seeds, want at least 9", test.name, better, seeds)
		}
	}
}

// meanReturn returns the mean true reward of clips.
func (m *matched) meanReturn(list []insight.Liking) (sum float64) {
	for _, l := range list {
		sum += floats.Dot(m.theta, m.journal.rec.Generation.Clips[l.Clip].Phi) / float64(len(list))
	}
	return sum
}
