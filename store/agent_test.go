package store_test

import (
	"bytes"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

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
	must.Do(t, db.Adopt(t.Context(), "s", first, 0))
	must.Do(t, db.Adopt(t.Context(), "s", second, 0))
	wantKind(t, db.Adopt(t.Context(), "s", refused, 0), idrl.Conflict)
	for name, want := range map[string]string{"agent 0": "new", "agent 1": "one", "empty": ""} {
		if got, err := db.Agent(t.Context(), "s", name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	_, err := db.Agent(t.Context(), "s", "agent 2")
	wantKind(t, err, idrl.NotFound)

	raw, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	must.Do(t, err)
	defer raw.Close()
	_, err = raw.ExecContext(t.Context(), `UPDATE agent_part SET content = x'00' WHERE hash = (SELECT hash FROM agent WHERE name = 'agent 0')`)
	must.Do(t, err)
	_, err = db.Agent(t.Context(), "s", "agent 0")
	wantKind(t, err, idrl.Damaged)
}

// A session tells the engines of its generations, each once, and its last one's.
func TestEngines(t *testing.T) {
	db := seeded(t, t.TempDir())
	for k, engine := range []string{"", "MuJoCo 3.3.7", "MuJoCo 2.2.2", "MuJoCo 3.3.7"} {
		g := generation(int64(k + 1))
		g.Engine = engine
		must.Do(t, db.Adopt(t.Context(), "s", g, int64(k)))
	}
	got := must.Get(db.Engines(t.Context(), "s"))(t)
	if want := []string{"MuJoCo 3.3.7", "MuJoCo 2.2.2"}; !slices.Equal(got, want) {
		t.Errorf("engines %q, want %q", got, want)
	}
	rec := must.Get(db.Load(t.Context(), "s"))(t)
	if rec.Generation == nil || rec.Generation.Engine != "MuJoCo 3.3.7" {
		t.Errorf("the last generation is %+v", rec.Generation)
	}
}

// States that are staged before the adoption are those that it names, however large; what
// is staged and not adopted is seen by nobody, and removed by the next adoption or start.
func TestStagedAgents(t *testing.T) {
	dir := t.TempDir()
	db := seeded(t, dir)
	large := bytes.Repeat([]byte("0123456789abcdef"), 150_000) // three parts
	parts := func() (n int) {
		raw := must.Get(sql.Open("sqlite", filepath.Join(dir, store.FileName)))(t)
		defer raw.Close()
		must.Do(t, raw.QueryRowContext(t.Context(), `SELECT count(*) FROM agent_part`).Scan(&n))
		return n
	}
	wantKind(t, db.StageAgents(t.Context(), "elsewhere", map[string][]byte{"agent 0": large}), idrl.NotFound)
	must.Do(t, db.StageAgents(t.Context(), "s", map[string][]byte{"agent 0": large, "agent 1": []byte("lost")}))
	_, err := db.Agent(t.Context(), "s", "agent 0")
	wantKind(t, err, idrl.NotFound)
	if n := parts(); n != 4 {
		t.Errorf("%d parts are staged, want 4", n)
	}
	g := generation(1)
	g.Agents = map[string][]byte{"agent 0": large}
	must.Do(t, db.Adopt(t.Context(), "s", g, 0))
	if got, err := db.Agent(t.Context(), "s", "agent 0"); err != nil || !bytes.Equal(got, large) {
		t.Errorf("%d bytes, %v; want %d", len(got), err, len(large))
	}
	if n := parts(); n != 3 {
		t.Errorf("%d parts after the adoption, want 3", n)
	}
	must.Do(t, db.StageAgents(t.Context(), "s", map[string][]byte{"agent 0": []byte("of a server that died")}))
	must.Do(t, db.Close())
	if db, err = store.Open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if n := parts(); n != 3 {
		t.Errorf("%d parts after a restart, want 3", n)
	}
	if got, err := db.Agent(t.Context(), "s", "agent 0"); err != nil || !bytes.Equal(got, large) {
		t.Errorf("after a restart: %d bytes, %v; want %d", len(got), err, len(large))
	}
}
