package session_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
)

// labelled returns a bench whose annotator has given eight answers and withdrawn
// one: log row 4 is the base of the generation in use, and row 8 that of the next.
func labelled(t *testing.T) *bench {
	t.Helper()
	b := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter = 1 })
	s, stop := b.start(t)
	for i := range 7 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
		if i == 2 {
			must.Get(s.Undo(t.Context(), "ann", "undo-1", "answer-1"))(t)
		}
	}
	stop()
	return b
}

// goOn starts the session again, gives four more answers, and returns the record.
func goOn(t *testing.T, b *bench) record.Record {
	t.Helper()
	s, stop := b.start(t)
	for i := range 4 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 100+i))
	}
	stop()
	return b.journal.rec
}

// ofEarlierVersion makes the record what earlier versions kept: the belief after every row.
func ofEarlierVersion(b *bench) {
	snaps := slices.Clone(b.journal.rec.Snapshots)
	for i := range snaps {
		snaps[i].Mean, snaps[i].Slot, snaps[i].Belief = nil, 0, b.journal.Beliefs[snaps[i].Seq]
	}
	b.journal.rec.Snapshots = snaps
}

// Stored beliefs are a cache: a session whose beliefs are damaged goes on as it
// would have, bit for bit, and says in the log that it had to compute them again.
func TestDamagedBeliefsAreComputedAgain(t *testing.T) {
	want := goOn(t, labelled(t))
	small := must.Get(belief.Isotropic(dim-1, 1).MarshalBinary())(t)
	for name, damage := range map[string]func([]byte) []byte{
		"zeros":           func(b []byte) []byte { return make([]byte, len(b)) },
		"nothing":         func([]byte) []byte { return []byte{} },
		"cut":             func(b []byte) []byte { return b[:len(b)-9] },
		"a bit":           func(b []byte) []byte { b = bytes.Clone(b); b[20] ^= 4; return b },
		"other dimension": func([]byte) []byte { return small },
	} {
		for where, rows := range map[string][]int64{"last": {8}, "middle": {2}, "last two": {7, 8}, "all": {1, 2, 3, 4, 5, 6, 7, 8}} {
			t.Run(name+" "+where, func(t *testing.T) {
				b := labelled(t)
				var log strings.Builder
				b.log = slog.New(slog.NewTextHandler(&log, nil))
				if n := len(b.journal.rec.Log); n != 8 {
					t.Fatalf("%d log rows, want 8", n)
				}
				if where != "last" {
					ofEarlierVersion(b)
				}
				snaps := slices.Clone(b.journal.rec.Snapshots)
				for _, seq := range rows {
					snaps[seq-1].Belief = damage(snaps[seq-1].Belief)
				}
				b.journal.rec.Snapshots = snaps
				got := goOn(t, b)
				if d := cmp.Diff(want.Snapshots[8:], got.Snapshots[8:]); d != "" {
					t.Errorf("beliefs after the damage (-sound +damaged):\n%s", d)
				}
				if d := cmp.Diff(want.Assignments, got.Assignments); d != "" {
					t.Errorf("questions (-sound +damaged):\n%s", d)
				}
				if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "session=s1") {
					t.Errorf("%d warnings, want one that names the session:\n%s", n, log.String())
				}
			})
		}
	}
}

// Means that are kept in place of beliefs give the same marks of the answers as these. A belief
// of an earlier version that is damaged in the middle costs the mark of the one answer that it
// would have foretold.
func TestDamagedBeliefLosesItsPrediction(t *testing.T) {
	foretold := func(b *bench) int {
		s, stop := b.start(t)
		defer stop()
		st := must.Get(s.Status(t.Context()))(t)
		return st.Annotators[0].PredictedSize
	}
	b := labelled(t)
	sound := foretold(b)
	ofEarlierVersion(b)
	if got := foretold(b); got != sound || sound < 3 {
		t.Errorf("%d answers with a prediction by beliefs, %d by means; want as many, more than 2", got, sound)
	}
	b.journal.rec.Snapshots[5].Belief = nil
	if got := foretold(b); got != sound-1 {
		t.Errorf("%d answers with a prediction, want %d", got, sound-1)
	}
}

// Beliefs that an earlier version stored, by another definition, are not used: the
// session goes on as if all answers had been given to this one.
func TestBeliefsOfEarlierVersions(t *testing.T) {
	want := goOn(t, labelled(t))
	b := labelled(t)
	b.journal.rec.Snapshots = slices.Clone(b.journal.rec.Snapshots)
	for i := range b.journal.rec.Snapshots {
		other := must.Get(belief.Isotropic(dim, 0.3).MarshalBinary())(t)
		b.journal.rec.Snapshots[i].Definition, b.journal.rec.Snapshots[i].Mean, b.journal.rec.Snapshots[i].Belief = 0, nil, other
	}
	got := goOn(t, b)
	if d := cmp.Diff(want.Snapshots[8:], got.Snapshots[8:]); d != "" {
		t.Errorf("beliefs (-this version +from an earlier one):\n%s", d)
	}
	if d := cmp.Diff(want.Assignments, got.Assignments); d != "" {
		t.Errorf("questions (-this version +from an earlier one):\n%s", d)
	}
}
