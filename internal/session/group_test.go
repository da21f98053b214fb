package session_test

import (
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
)

// picks answers a question about a group.
func picks(as record.Assignment, n int) idrl.Answer {
	a := reply(as, n)
	a.Order, a.Choice = as.Order, idrl.BestWorst
	a.Best, a.Worst = idrl.SideOf(n%idrl.GroupSize), idrl.SideOf((n+1+n/3%4)%idrl.GroupSize)
	return a
}

// groupsOf has a session about groups ask n questions, starting it again after each if restart.
func groupsOf(t *testing.T, b *bench, n int, restart bool) (asked []record.Assignment) {
	t.Helper()
	s, stop := b.start(t)
	for i := range n {
		as := claim(t, s, "ann").Open[0]
		asked = append(asked, as)
		mustAnswer(t, s, "ann", picks(as, i))
		if restart {
			stop()
			s, stop = b.start(t)
		}
	}
	stop()
	return asked
}

// Groups are of six clips that all look different, in an order of their own, and no two groups
// begin with the same pair; after restarts they are the same, and so is the record.
func TestGroupsThatAreAsked(t *testing.T) {
	t.Parallel()
	const n = 7
	b, again := sighted(t, "driver", idrl.GroupClips, nil), sighted(t, "driver", idrl.GroupClips, nil)
	asked := groupsOf(t, b, n, false)
	orders, ids := map[idrl.Order]bool{}, map[idrl.QueryID]bool{}
	for _, as := range asked {
		if as.Query.Kind != idrl.GroupClips || len(as.Query.Clips) != idrl.GroupSize || !as.Order.Valid(idrl.GroupSize) || as.Left != "" {
			t.Fatalf("asked %+v", as)
		}
		orders[as.Order], ids[as.Query.ID] = true, true
		for i, c := range as.Query.Clips {
			for _, d := range as.Query.Clips[:i] {
				views := b.views(t, idrl.Query{Clips: []idrl.ClipID{c, d}})
				if alike, err := measure.Alike(views[0], views[1]); err != nil || alike {
					t.Errorf("clips %s and %s of one group look alike, %v", c, d, err)
				}
			}
		}
		if as.Why.First == "" || !(as.Why.Info > 0) || !(as.Why.Answerable > 0) {
			t.Errorf("question %d was asked because %+v", as.N, as.Why)
		}
	}
	if len(orders) < n/2 || len(ids) != n {
		t.Errorf("%d orders and %d groups in %d questions", len(orders), len(ids), n)
	}
	if diff := cmp.Diff(asked, groupsOf(t, again, n, true)); diff != "" {
		t.Errorf("after restarts other groups are asked (-without +with):\n%s", diff)
	}
	if diff := cmp.Diff(b.journal.rec.Log, again.journal.rec.Log); diff != "" {
		t.Errorf("logs differ (-without +with):\n%s", diff)
	}
	if diff := cmp.Diff(b.journal.rec.Snapshots, again.journal.rec.Snapshots, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("posteriors differ (-without +with):\n%s", diff)
	}
	if last := b.journal.rec.Snapshots[n-1]; !slices.Equal(last.Belief, b.afresh(t, b.journal.rec)) {
		t.Error("the last snapshot is not the replay of the log")
	}
}

// What is no answer to a group is refused with a kind of its own and recorded nowhere; an undo
// asks the same clips again at the same places.
func TestAnswersToGroups(t *testing.T) {
	b := sighted(t, "driver", idrl.GroupClips, nil)
	s, stop := b.start(t)
	as := claim(t, s, "ann").Open[0]
	for name, change := range map[string]func(*idrl.Answer){
		"the best is the worst":   func(a *idrl.Answer) { a.Worst = a.Best },
		"no clip of the group":    func(a *idrl.Answer) { a.Best = "g" },
		"no worst":                func(a *idrl.Answer) { a.Worst = "" },
		"an order of five":        func(a *idrl.Answer) { a.Order = "abcde" },
		"a choice between two":    func(a *idrl.Answer) { a.Choice = idrl.ChoseA },
		"a rating":                func(a *idrl.Answer) { a.Choice = idrl.Rated },
		"an order with one twice": func(a *idrl.Answer) { a.Order = "aabcde" },
	} {
		a := picks(as, 0)
		change(&a)
		if _, err := s.Answer(t.Context(), "ann", a); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v, want one of kind invalid", name, err)
		}
	}
	first := picks(as, 0)
	mustAnswer(t, s, "ann", first)
	if r, err := s.Answer(t.Context(), "ann", first); err != nil || !r.Replay {
		t.Errorf("the same answer again: %+v, %v", r, err)
	}
	other := first
	other.Best, other.Worst = first.Worst, first.Best
	if _, err := s.Answer(t.Context(), "ann", other); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("the same id with other clips: error %v, want a conflict", err)
	}
	must.Get(s.Undo(t.Context(), "ann", "undo-1", first.ID))(t)
	reopened := claim(t, s, "ann").Open
	i := slices.IndexFunc(reopened, func(a record.Assignment) bool { return a.Reopens == first.ID })
	if i < 0 || reopened[i].Query.ID != as.Query.ID || reopened[i].Order != as.Order {
		t.Errorf("after the undo %+v is asked", reopened)
	}
	moved := picks(claim(t, s, "ann").Open[0], 1)
	moved.Order = moved.Order.Reversed()
	mustAnswer(t, s, "ann", moved)
	stop()
	log := b.journal.rec.Log
	if len(log) != 3 || log[0].Best != first.Best || log[2].Doubts&idrl.DoubtSide == 0 {
		t.Errorf("recorded are %+v", log)
	}
}
