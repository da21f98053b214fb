package store_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// Of the states of agents, the newest of each name is kept, with the generation that made
// it or not at all.
func TestAgents(t *testing.T) {
	dir := t.TempDir()
	db := seeded(t, dir)
	first, second, refused := generation(1), generation(2), generation(2)
	first.Agents = map[string][]byte{"agent 0": []byte("old"), "agent 1": []byte("one")}
	second.Agents = map[string][]byte{"agent 0": []byte("new"), "empty": {}}
	refused.Agents = map[string][]byte{"agent 0": []byte("never")}
	refused.Queries = refused.Queries[:1]
	must(t, db.Adopt(t.Context(), "s", first, 0))
	must(t, db.Adopt(t.Context(), "s", second, 0))
	wantKind(t, db.Adopt(t.Context(), "s", refused, 0), idrl.Conflict)
	for name, want := range map[string]string{"agent 0": "new", "agent 1": "one", "empty": ""} {
		if got, err := db.Agent(t.Context(), "s", name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	_, err := db.Agent(t.Context(), "s", "agent 2")
	wantKind(t, err, idrl.NotFound)

	raw, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	must(t, err)
	defer raw.Close()
	_, err = raw.ExecContext(t.Context(), `UPDATE agent SET content = x'00' WHERE name = 'agent 0'`)
	must(t, err)
	_, err = db.Agent(t.Context(), "s", "agent 0")
	wantKind(t, err, idrl.Damaged)
}
