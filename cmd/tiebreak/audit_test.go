package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store/storetest"
)

// TestAuditCommand: the trail is listed and checked beside a server, and a row that somebody changed is named.
func TestAuditCommand(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	id, _ := newLink(t, data, addr, "--env", "gridworld")
	if status, _, errs := cli(t, "audit", "verify", "--data", t.TempDir()); status == 0 {
		t.Errorf("of an empty folder: %s", errs)
	}
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	mustCLI(t, "invite", "new", "--data", data, "--session", id)
	list := mustCLI(t, "audit", "list", "--data", data, "--session", id)
	if !strings.Contains(list, "invite") || !strings.Contains(list, id) {
		t.Errorf("it lists\n%s", list)
	}
	if none := mustCLI(t, "audit", "list", "--data", data, "--action", "rename"); !strings.Contains(none, "no such row") {
		t.Errorf("without rows it says %q", none)
	}
	if status, _, errs := cli(t, "audit", "list", "--data", data, "--limit", "-1"); status != 2 {
		t.Errorf("--limit -1: status %d, %s", status, errs)
	}
	out := mustCLI(t, "audit", "verify", "--data", data)
	head := regexp.MustCompile(`Head: (\S+)`).FindStringSubmatch(out)
	if head == nil || !strings.Contains(out, "fits") {
		t.Fatalf("it says\n%s", out)
	}
	mustCLI(t, "invite", "new", "--data", data, "--session", id)
	mustCLI(t, "audit", "verify", "--data", data, "--head", head[1])
	for _, bad := range []string{"1", "x:y", "0:" + strings.Repeat("0", 64)} {
		if status, _, errs := cli(t, "audit", "verify", "--data", data, "--head", bad); status != 2 || !strings.Contains(errs, "POSITION:HASH") {
			t.Errorf("--head %s: status %d, %s", bad, status, errs)
		}
	}
	var entries []record.AuditEntry
	for line := range strings.Lines(mustCLI(t, "audit", "list", "--data", data, "--json", "--action", "invite")) {
		var e record.AuditEntry
		must.Do(t, json.Unmarshal([]byte(line), &e))
		entries = append(entries, e)
	}
	if len(entries) < 2 || entries[0].Session != idrl.SessionID(id) || entries[0].Position <= entries[1].Position {
		t.Fatalf("as JSON: %+v", entries)
	}
	p.kill()
	must.Do(t, storetest.Exec(t.Context(), data, `DROP TRIGGER audit_update; UPDATE audit SET actor = 'nobody' WHERE id = ?`, entries[0].Position))
	status, _, errs := cli(t, "audit", "verify", "--data", data)
	if want := "row " + jsonOf(t, entries[0].Position) + " "; status != 1 || !strings.Contains(errs, want) {
		t.Errorf("a changed row: status %d, %s; want 1 and %q", status, errs, want)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b := must.Get(json.Marshal(v))(t)
	return string(b)
}
