package session_test

import (
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/session"
)

// What a person sees in thirty questions differs in meaning, seldom are both clips bad, and the leader of the moment is among
// them. In a session that asks anything it is not so.
func TestQuestionsDifferInMeaning(t *testing.T) {
	t.Parallel()
	for env, seeds := range map[string]uint64{"driver": 2, "gridworld": 1} {
		for seed := uint64(31); seed < 31+seeds; seed++ {
			t.Run(fmt.Sprint(env, " ", seed), func(t *testing.T) {
				t.Parallel()
				const n = 30
				got := meant(t, env, idrl.AnswerableQuestions, seed, n)
				if got.often > 0 || got.lately > 1 || got.same > 0 || got.useless > n/5 || got.leader < n/6 {
					t.Errorf("%+v", got)
				}
				without := meant(t, env, idrl.AnyQuestions, seed, n)
				if env == "driver" && without.often == 0 && without.same == 0 && without.useless <= n/5 {
					t.Errorf("any question: %+v: this test tells nothing apart", without)
				}
				t.Logf("%+v; any question: %+v", got, without)
			})
		}
	}
}

// meaning counts questions of a session.
type meaning struct {
	often   int // that show two names for the fourth time or more in thirty
	lately  int // that show two names which one of the nine before showed
	same    int // two clips of one useless name
	useless int // two useless clips
	leader  int // the policy that is recommended when it is asked
}

// meant has a person answer n questions by weights of their own, with a clear preference, and counts the questions.
func meant(t *testing.T, env, rule string, seed uint64, n int) (out meaning) {
	t.Helper()
	b := sighted(t, env, idrl.CompareClips, func(s *idrl.SessionSpec) {
		s.Seed, s.Questions, s.TrainEvery, s.AdoptAfter, s.Ahead = seed, rule, 3, 1, 1
	})
	s, stop := b.start(t)
	defer stop()
	truth := []float64{3, -3, 3, -1, 0} // of somebody who wants to get on, on the road
	if env != "driver" {
		truth = make([]float64, len(b.journal.rec.Spec.Features))
		for i, r := 0, rng.New(seed, "truth", 0); i < len(truth); i++ {
			truth[i] = r.NormFloat64()
		}
	}
	var pairs [][2]string
	for k := range n {
		as := claim(t, s, "ann").Open[0]
		best := must.Get(session.Inside{Of: s}.Recommended(t.Context()))(t)
		v := b.views(t, as.Query)
		x, y := v[0].Happens(), v[1].Happens()
		if x.Name == "" || y.Name == "" {
			t.Fatalf("question %d has clips without names: %q, %q", k+1, x.Name, y.Name)
		}
		pair := [2]string{min(x.Name, y.Name), max(x.Name, y.Name)}
		pairs = append(pairs, pair)
		seen := 0
		for _, p := range pairs {
			if p == pair {
				seen++
			}
		}
		count := func(n *int, is bool) {
			if is {
				*n++
			}
		}
		count(&out.often, seen > 3)
		count(&out.lately, slices.Contains(pairs[max(0, k-9):k], pair))
		count(&out.same, x == y && x.Useless)
		count(&out.useless, x.Useless && y.Useless)
		leader := b.views(t, idrl.Query{Clips: []idrl.ClipID{best.Clip}})[0]
		count(&out.leader, slices.ContainsFunc(v[:], func(o *measure.View) bool {
			is, err := measure.Alike(leader, o)
			return err == nil && is
		}))
		a := reply(as, k)
		a.Choice = idrl.ChoseA
		if floats.Dot(truth, b.phi(t, as.Query.Clips[0])) < floats.Dot(truth, b.phi(t, as.Query.Clips[1])) {
			a.Choice = idrl.ChoseB
		}
		mustAnswer(t, s, "ann", a)
	}
	return out
}

// phi returns the features of a clip of the generation, or of one that was asked about.
func (b *bench) phi(t *testing.T, id idrl.ClipID) []float64 {
	t.Helper()
	c, known := b.journal.rec.Clips[id]
	if !known {
		t.Fatalf("clip %s was not asked about", id)
	}
	return c.Phi
}
