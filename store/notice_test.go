package store_test

import (
	"fmt"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// What was told of a session, and what waits for the web hook, is there after a restart; each that was sent is gone, and the oldest
// are removed when too many wait.
func TestNoticesAreKept(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	must.Do(t, db.CreateSession(t.Context(), spec("s")))
	at := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	told := []record.ToldNotice{{Session: "s", Kind: "may_stop", Text: "It can stop.", Since: at, Told: at.Add(time.Minute), Holds: true}, {Session: "s", Kind: "quiet", Text: "Quiet.", Since: at, Told: at}}
	wait := func(n int) record.UnsentNotice {
		return record.UnsentNotice{Key: fmt.Sprint("key ", n), Session: "s", Title: "Title", Kind: "quiet", Text: fmt.Sprintf("Notice %d.", n), Since: at}
	}
	removed, err := db.KeepNotices(t.Context(), "s", told, []record.UnsentNotice{wait(0), wait(1)})
	must.Do(t, err)
	must.Do(t, db.Close())
	db = open(t, dir)
	got, err := db.ToldNotices(t.Context())
	if diff := cmp.Diff(told, got); err != nil || removed != 0 || diff != "" {
		t.Errorf("told: %v, %d removed\n%s", err, removed, diff)
	}
	list, err := db.UnsentNotices(t.Context())
	if err != nil || len(list) != 2 || list[0].Text != "Notice 0." || list[1].Text != "Notice 1." || list[1].Title != "Title" || list[0].Key != "key 0" || list[1].Key != "key 1" || !list[1].Since.Equal(at) {
		t.Fatalf("unsent: %+v, %v", list, err)
	}
	must.Do(t, db.SentNotice(t.Context(), list[0].ID))
	if list, err = db.UnsentNotices(t.Context()); err != nil || len(list) != 1 || list[0].Text != "Notice 1." {
		t.Errorf("after the first was sent: %+v, %v", list, err)
	}
	var many []record.UnsentNotice
	for n := range store.MaxUnsent {
		many = append(many, wait(2+n))
	}
	if removed, err = db.KeepNotices(t.Context(), "s", told[:1], many); err != nil || removed != 1 {
		t.Errorf("too many: %d removed, %v", removed, err)
	}
	if list, err = db.UnsentNotices(t.Context()); err != nil || len(list) != store.MaxUnsent || list[0].Text != "Notice 2." {
		t.Errorf("%d wait, the first is %+v, %v", len(list), list[0], err)
	}
	if got, err = db.ToldNotices(t.Context()); err != nil || len(got) != 1 || got[0].Kind != "may_stop" {
		t.Errorf("told: %+v, %v", got, err)
	}
	if _, err := db.KeepNotices(t.Context(), "none", told, nil); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("of no session: %v", err)
	}
}
