package session_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session"
	"tiebreak/internal/session/journaltest"
)

// several are two control strategies and comparisons that are held out.
func several(s *idrl.SessionSpec) {
	s.Controls, s.HeldOut = idrl.Controls{{Strategy: "uniform", Share: 0.25}, {Strategy: "igr", Share: 0.15}}, 0.2
	s.Acquisition, s.TrainEvery = "idrl", 8
}

// ask labels n questions, in turns by people, with restarts in between if that is asked for.
func ask(t *testing.T, b *bench, n int, restart bool, answer func(record.Assignment, int) idrl.Answer, people ...idrl.AnnotatorID) record.Record {
	t.Helper()
	s, stop := b.start(t)
	for i := range n {
		who := people[i%len(people)]
		mustAnswer(t, s, who, answer(claim(t, s, who).Open[0], i))
		if restart {
			stop()
			s, stop = b.start(t)
		}
	}
	rec := b.record(t, s)
	stop()
	return rec
}

func conditionsOf(rec record.Record) (out []record.Condition) {
	for _, as := range rec.Assignments {
		out = append(out, as.Condition)
	}
	return out
}

// The condition of a question is drawn by its number: shares are kept, and it does not depend on
// who is asked, nor on restarts.
func TestConditions(t *testing.T) {
	const n = 300
	rec := ask(t, newBench(several), n, false, reply, "ann", "bob")
	count := map[record.Condition]int{}
	for _, as := range rec.Assignments {
		count[as.Condition]++
		if random := as.Condition == "uniform" || as.Condition == record.HeldOut; random && as.Why.First != "" {
			t.Errorf("question %d of condition %s was chosen for a pair of policies", as.N, as.Condition)
		}
	}
	total := float64(len(rec.Assignments))
	for condition, share := range map[record.Condition]float64{record.HeldOut: 0.2, "uniform": 0.8 * 0.25, "igr": 0.8 * 0.15, "idrl": 0.8 * 0.6} {
		if got, sd := float64(count[condition]), math.Sqrt(total*share*(1-share)); math.Abs(got-total*share) > 4*sd {
			t.Errorf("%v of %v questions are of condition %s, want %v ± %.1f", got, total, condition, total*share, sd)
		}
	}
	if count[""] != 0 {
		t.Errorf("%d questions have no condition", count[""])
	}
	alone := conditionsOf(ask(t, newBench(several), 60, false, reply, "cy"))
	if d := cmp.Diff(conditionsOf(rec)[:60], alone[:60]); d != "" {
		t.Errorf("with one annotator the conditions are others:\n%s", d)
	}
	whole, restarted := ask(t, newBench(several), 30, false, reply, "ann"), ask(t, newBench(several), 30, true, reply, "ann")
	if d := cmp.Diff(whole, restarted); d != "" {
		t.Errorf("with restarts the record is another:\n%s", d)
	}
	for _, as := range ask(t, newBench(nil), 20, false, reply, "ann").Assignments {
		if as.Condition != "" {
			t.Fatalf("a session without conditions has %q", as.Condition)
		}
	}
}

// Nothing is learnt from what is held out: with other answers to it the session asks the same
// and believes the same, which is what the other answers teach. A pair that is held out was
// asked never before, and is not asked again.
func TestHeldOutTeachesNothing(t *testing.T) {
	change := func(s *idrl.SessionSpec) { several(s); s.RepeatEvery = 10 }
	flipped := func(as record.Assignment, n int) idrl.Answer {
		a := reply(as, n)
		if as.Condition == record.HeldOut {
			a.Choice = []idrl.Choice{idrl.Equal, idrl.ChoseB}[n%2]
		}
		return a
	}
	plain := func(as record.Assignment, n int) idrl.Answer {
		a := reply(as, n)
		if as.Condition == record.HeldOut {
			a.Choice = idrl.ChoseA
		}
		return a
	}
	b := newBench(change)
	b.own(t)
	one := ask(t, b, 120, false, plain, "ann", "bob")
	c := newBench(change)
	c.own(t)
	other := ask(t, c, 120, false, flipped, "ann", "bob")
	held := 0
	for i, as := range one.Assignments {
		if d := cmp.Diff(as, other.Assignments[i]); d != "" {
			t.Fatalf("question %d depends on what is held out:\n%s", i, d)
		}
		if as.Condition == record.HeldOut {
			held++
		}
	}
	if held < 10 {
		t.Fatalf("%d comparisons are held out", held)
	}
	if got := teaching(t, b, one); !bytes.Equal(got, lastBelief(one)) {
		t.Error("the posterior is not that of the answers that are not held out")
	}
	first := map[idrl.QueryID]record.Assignment{}
	repeats := 0
	for _, as := range one.Assignments {
		old, again := first[as.Query.ID]
		if !again {
			first[as.Query.ID] = as
		} else if held := as.Condition == record.HeldOut; held != (old.Condition == record.HeldOut) {
			t.Errorf("question %d of condition %s is %d of condition %s again", as.N, as.Condition, old.N, old.Condition)
		} else if held {
			if repeats++; as.Annotator != old.Annotator || as.Left == old.Left {
				t.Errorf("question %d is %d, which is held out, and no planned repeat of it", as.N, old.N)
			}
		}
	}
	if repeats == 0 {
		t.Error("no comparison that is held out is repeated")
	}
}

// teaching returns the encoded posterior after the answers of rec that are not held out.
func teaching(t *testing.T, b *bench, rec record.Record) []byte {
	t.Helper()
	queries, held := journaltest.Vectors(t, rec), map[idrl.AssignmentID]bool{}
	for _, as := range rec.Assignments {
		held[as.ID] = as.Condition == record.HeldOut
	}
	var items []posterior.Item
	for _, a := range record.Effective(rec.Log) {
		if q := queries[a.Assignment]; a.Informative() && !held[a.Assignment] {
			items = append(items, posterior.ItemOf(&q, a))
		}
	}
	p := must.Get(posterior.Of(t.Context(), b.rewards(), items))(t)
	text := must.Get(b.rewards().Encode(p))(t)
	return text
}

// A withdrawal opens the question again in its condition, and the posterior stays that of what
// is not held out; also where it was long work, and after a restart.
func TestUndoInConditions(t *testing.T) {
	b := newBench(several)
	s, stop := b.start(t)
	undone := map[record.Condition]int{}
	for i := range 60 {
		as := claim(t, s, "ann").Open[0]
		a := reply(as, i)
		mustAnswer(t, s, "ann", a)
		if i%2 == 0 {
			undone[as.Condition]++
			must.Get(s.Undo(t.Context(), "ann", idrl.AnswerID(fmt.Sprint("undo-", i)), a.ID))(t)
			if rec := b.record(t, s); !bytes.Equal(teaching(t, b, rec), lastBelief(rec)) {
				t.Fatalf("after the withdrawal of answer %d the posterior is another", i)
			}
			again := claim(t, s, "ann").Open[0]
			if again.Query.ID != as.Query.ID || again.Condition != as.Condition {
				t.Fatalf("question %d of condition %s is asked again as %s", as.N, as.Condition, again.Condition)
			}
			mustAnswer(t, s, "ann", reply(again, 1000+i))
		}
		if i%7 == 0 {
			stop()
			s, stop = b.start(t)
		}
	}
	if undone[record.HeldOut] == 0 || undone["uniform"] == 0 || undone["idrl"] == 0 {
		t.Errorf("withdrawn: %v", undone)
	}
}

// A session needs strategies that there are.
func TestUnknownCondition(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Controls = idrl.Controls{{Strategy: "guess", Share: 0.1}} })
	_, err := session.New(session.Config{Record: b.journal.rec, Model: b.model, Acquisition: b.method, Trainer: b.trainer, Journal: b.journal, Publisher: nobody{}, Log: b.log})
	if idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("error %v, want one of kind Invalid", err)
	}
}
