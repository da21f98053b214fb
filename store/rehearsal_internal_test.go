package store

import (
	"testing"
	"time"

	"tiebreak/internal/check/must"
)

// Notices that waited for the web hook in format 44 get names of their own, and rehearsals can be kept.
func TestFormat45(t *testing.T) {
	dir := t.TempDir()
	old, err := open(t.Context(), dir, upTo(44))
	if err != nil {
		t.Fatal(err)
	}
	now := encodeTime(time.Now())
	for _, query := range []string{
		`INSERT INTO session (id, created_at, spec) VALUES ('s', '` + now + `', '{"ID":"s"}')`,
		`INSERT INTO notice_unsent (session_id, title, kind, text, since) VALUES ('s', 'Title', 'quiet', 'One.', '` + now + `'), ('s', 'Title', 'quiet', 'Two.', '` + now + `')`,
	} {
		must.Do(t, old.do(t.Context(), func(tx *tx) error { _, err := tx.exec(query); return err }))
	}
	must.Do(t, old.Close())
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list, err := db.UnsentNotices(t.Context())
	if err != nil || len(list) != 2 || list[0].Text != "One." || len(list[0].Key) != 32 || len(list[1].Key) != 32 || list[0].Key == list[1].Key {
		t.Errorf("they wait as %+v, %v", list, err)
	}
	if list, err := db.Rehearsals(t.Context(), ""); err != nil || len(list) != 0 {
		t.Errorf("rehearsals: %+v, %v", list, err)
	}
}
