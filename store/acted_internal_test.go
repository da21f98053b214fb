package store

import (
	"testing"
	"time"

	"tiebreak/internal/idrl"
)

// Policies of format 46 say nothing of a trajectory that acted.
func TestFormat47(t *testing.T) {
	dir := t.TempDir()
	old, err := open(t.Context(), dir, upTo(46))
	if err != nil {
		t.Fatal(err)
	}
	now := encodeTime(time.Now())
	for _, query := range []string{
		`INSERT INTO session (id, created_at, spec) VALUES ('s', '` + now + `', '{"ID":"s"}')`,
		`INSERT INTO generation (session_id, based_on, adopted_at, queries, engine, created_at, cov) VALUES ('s', 0, 0, x'', '', '` + now + `', x'')`,
		`INSERT INTO policy (session_id, id, based_on, k, origin, params, theta, mu, mus, rollouts) VALUES ('s', 'u1', 0, 0, 'upload', x'', x'', x'', x'', '')`,
	} {
		if err := old.do(t.Context(), func(tx *tx) error { _, err := tx.exec(query); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list, err := candidates(t.Context(), db.read, "s", 0)
	if err != nil || len(list) != 1 || list[0].ID != "u1" || list[0].Acted != (idrl.Acted{}) {
		t.Errorf("the policies are %+v, %v", list, err)
	}
}
