package store

import (
	"testing"
	"time"

	"tiebreak/internal/check/must"
)

// Answers of format 45 say nothing of when it went wrong.
func TestFormat46(t *testing.T) {
	dir := t.TempDir()
	old, err := open(t.Context(), dir, upTo(45))
	if err != nil {
		t.Fatal(err)
	}
	now := encodeTime(time.Now())
	for _, query := range []string{
		`INSERT INTO session (id, created_at, spec) VALUES ('s', '` + now + `', '{"ID":"s"}')`,
		`INSERT INTO annotator (session_id, id, name, created_at) VALUES ('s', '', '', '` + now + `')`,
		`INSERT INTO answer (session_id, seq, id, query_id, annotator_id, choice, rating, reason, left_side, shown_at, answered_at, received_at, response_ms, hidden_ms, loops, input, instructions, late)
		 VALUES ('s', 1, 'a', 'q', '', 'erased', 0, '', '', '` + now + `', '` + now + `', '` + now + `', 0, 0, 0, '', 0, 0)`,
	} {
		must.Do(t, old.do(t.Context(), func(tx *tx) error { _, err := tx.exec(query); return err }))
	}
	must.Do(t, old.Close())
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	log, err := readLog(t.Context(), db.read, "s", nil)
	if err != nil || len(log) != 1 || log[0].WrongMS != 0 {
		t.Errorf("the log is %+v, %v", log, err)
	}
}
