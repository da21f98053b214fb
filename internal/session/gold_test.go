package session_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// known returns the first n questions of the generation in use as gold, with the right
// answer a, and the rest of what the journal holds of them.
func known(rec record.Record, n int) (out []record.Known) {
	for i, q := range rec.Generation.Queries[:n] {
		k := record.Known{Version: int64(i + 1), Query: q, Use: record.AsGold, Choice: idrl.ChoseA}
		for _, id := range q.Clips {
			k.Clips = append(k.Clips, rec.Generation.Clips[id])
		}
		out = append(out, k)
	}
	return out
}

// golden labels 60 questions of a session, of which every sixth or so may be gold.
func golden(t *testing.T, size, every int, restart bool) (*bench, []record.Assignment) {
	t.Helper()
	b := newBench(func(s *idrl.SessionSpec) { s.GoldEvery = every })
	s, stop := b.start(t)
	claim(t, s, "ann")
	set := record.Settings{Gold: record.GoldSettings{Questions: known(b.record(t, s), size)}}
	b.want(0, set)
	follow(t, s)
	var all []record.Assignment
	for i := range 60 {
		as := claim(t, s, "ann").Open[0]
		all = append(all, as)
		mustAnswer(t, s, "ann", reply(as, i))
		if restart && i%7 == 0 {
			stop()
			s, stop = b.start(t)
		}
	}
	stop()
	return b, all
}

// One among every so many questions of a person is gold, each once and at places that do not
// repeat; also questions whose clips are of a generation long gone, and the same after
// restarts.
func TestGoldQuestions(t *testing.T) {
	b, all := golden(t, 8, 6, false)
	perBlock, places, times := map[int]int{}, map[int]bool{}, map[idrl.QueryID]int{}
	for i, as := range all {
		if times[as.Query.ID]++; as.Gold != 0 {
			perBlock[i/6]++
			places[i%6] = true
			if times[as.Query.ID] > 1 {
				t.Errorf("gold question %d was asked before", i+1)
			}
		}
	}
	got := 0
	for block, n := range perBlock {
		if got += n; n > 1 {
			t.Errorf("%d gold questions among six, from %d on", n, 6*block+1)
		}
	}
	if got < 5 || got > 8 {
		t.Errorf("%d gold questions of 60, want one in six while there are any of the 8 that were not asked otherwise", got)
	}
	if len(places) < 2 {
		t.Errorf("gold questions come at foreseeable places %v of six", places)
	}
	if last := lastBelief(b.journal.rec); !bytes.Equal(last, b.afresh(t, b.journal.rec)) {
		t.Error("the posterior is not that of all answers, gold ones included")
	}
	again, _ := golden(t, 8, 6, true)
	if diff := cmp.Diff(b.journal.rec.Assignments, again.journal.rec.Assignments); diff != "" {
		t.Errorf("with restarts in between other questions are asked (-without +with):\n%s", diff)
	}
	if _, none := golden(t, 8, 0, false); slices.ContainsFunc(none, func(as record.Assignment) bool { return as.Gold != 0 }) {
		t.Error("a gold question where none are wanted")
	}
}

// Without questions whose answer is known the setting changes nothing.
func TestNoGoldWithoutKnownQuestions(t *testing.T) {
	b, _ := golden(t, 0, 2, false)
	plain, _ := golden(t, 0, 0, false)
	if diff := cmp.Diff(plain.journal.rec.Assignments, b.journal.rec.Assignments); diff != "" {
		t.Errorf("other questions are asked (-never +every second):\n%s", diff)
	}
}

// A withdrawn gold answer is asked for again as gold; which answers are right follows from
// the log and from what is known now.
func TestGoldAfterUndo(t *testing.T) {
	b, _ := golden(t, 8, 2, false)
	s, _ := b.start(t)
	n := 100
	as := claim(t, s, "ann").Open[0]
	for ; as.Gold == 0 && n < 140; n++ {
		mustAnswer(t, s, "ann", reply(as, n))
		if as = claim(t, s, "ann").Open[0]; n == 102 {
			set := b.journal.rec.Settings
			for i, k := range known(b.record(t, s), 6) {
				k.Version += int64(100 + i)
				set.Gold.Questions = append(slices.Clone(set.Gold.Questions), k)
			}
			b.want(0, set)
			follow(t, s)
		}
	}
	if as.Gold == 0 {
		t.Fatal("no gold question came")
	}
	a := reply(as, n)
	a.Choice = idrl.ChoseA
	mustAnswer(t, s, "ann", a)
	must.Get(s.Undo(t.Context(), "ann", idrl.AnswerID(fmt.Sprint("undo", n)), a.ID))(t)
	reopened := claim(t, s, "ann").Open[0]
	if reopened.Reopens != a.ID || reopened.Gold != as.Gold {
		t.Errorf("asked again: %+v", reopened)
	}
	a.ID, a.Assignment = "anew", reopened.ID
	mustAnswer(t, s, "ann", a)
	rec := b.record(t, s)
	right := record.GoldRight(rec.Log, rec.Assignments, rec.Settings.Gold.Questions)
	if _, was := right[idrl.AnswerID(fmt.Sprintf("answer-%d", n))]; was || !right["anew"] {
		t.Errorf("right: %v; want the answer that stands, and that it is right", right)
	}
}
