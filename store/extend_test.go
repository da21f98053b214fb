package store_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session/journaltest"
	"tiebreak/store"

	"github.com/google/go-cmp/cmp"
)

// An extension is there after a restart, with the states of agents that came with it, and
// in the audit trail once, however often it is recorded.
func TestExtensionIsKept(t *testing.T) {
	dir := t.TempDir()
	db := seeded(t, dir)
	first, longer := generation(1), journaltest.Extended(1, 1)
	first.Agents = map[string][]byte{"gaits": []byte("old")}
	longer.Agents = map[string][]byte{"gaits": []byte("new")}
	must.Do(t, db.Adopt(t.Context(), "s", first, 2))
	must.Do(t, db.StageAgents(t.Context(), "s", longer.Agents))
	must.Do(t, db.Extend(t.Context(), "s", longer, 3, 5))
	want := must.Get(db.Load(t.Context(), "s"))(t)
	must.Do(t, db.Close())
	db = open(t, dir)
	must.Do(t, db.Extend(t.Context(), "s", longer, 3, 6))
	refused := journaltest.Extended(1, 1)
	refused.Candidates[3].Params = []float64{0}
	refused.Agents = map[string][]byte{"gaits": []byte("never")}
	wantKind(t, db.Extend(t.Context(), "s", refused, 3, 6), idrl.Conflict)
	got := must.Get(db.Load(t.Context(), "s"))(t)
	if d := cmp.Diff(want, got, journaltest.Same); d != "" || len(got.Generation.Candidates) != 4 || got.AdoptedAt != 2 {
		t.Errorf("%d candidates, adopted at %d; after a restart (-before +after):\n%s", len(got.Generation.Candidates), got.AdoptedAt, d)
	}
	if state, err := db.Agent(t.Context(), "s", "gaits"); err != nil || string(state) != "new" {
		t.Errorf("the state is %q, %v", state, err)
	}
	longer.Agents = map[string][]byte{"gaits": []byte("newest")}
	must.Do(t, db.Extend(t.Context(), "s", longer, 4, 7))
	if state, err := db.Agent(t.Context(), "s", "gaits"); err != nil || string(state) != "newest" {
		t.Errorf("the state alone: %q, %v", state, err)
	}
	raw := must.Get(sql.Open("sqlite", filepath.Join(dir, store.FileName)))(t)
	defer raw.Close()
	var n int
	var what string
	must.Do(t, raw.QueryRowContext(t.Context(), `SELECT count(*), max(object) FROM audit WHERE action = 'extend'`).Scan(&n, &what))
	if n != 1 || what != "generation 1 from candidate 3 at 5" {
		t.Errorf("the audit trail has %d extensions: %q", n, what)
	}
}
