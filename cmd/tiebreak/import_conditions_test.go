package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A session with conditions and held-out comparisons is imported whole: its scores are those of
// the session it is from and of its page, to the last digit, and it goes on as that does.
func TestImportWithConditions(t *testing.T) {
	t.Parallel()
	s := labelledFolder{dir: t.TempDir()}
	id, _ := newLink(t, s.dir, freeAddr(t), "--env", "driver", "--title", "Two ways", "--conditions", "uniform=0.4", "--held-out", "0.3")
	s.session = idrl.SessionID(id)
	scores := func(s labelledFolder) string {
		t.Helper()
		status, stdout, stderr := cli(t, "session", "scores", string(s.session), "--data", s.dir, "--json")
		if status != 0 {
			t.Fatalf("scores: %s", stderr)
		}
		return stdout
	}
	var shown bytes.Buffer
	s.serve(t, envs.Catalogue(), func(a *app, base string) {
		token, err := a.auth.NewInvitation(t.Context(), s.session, 1, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if status, _, stderr := cli(t, "simulate", "--url", base+"/join/"+token, "--answers", "45"); status != 0 {
			t.Fatalf("simulate: %s", stderr)
		}
		session, err := a.manager.Session(t.Context(), s.session)
		if err != nil {
			t.Fatal(err)
		}
		page, err := session.Conditions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		enc := json.NewEncoder(&shown)
		enc.SetIndent("", "  ")
		if err := enc.Encode(page); err != nil {
			t.Fatal(err)
		}
		if scores(s) != shown.String() {
			t.Errorf("beside the server the command writes\n%s\nthe page has\n%s", scores(s), shown.String())
		}
	})
	if scores(s) != shown.String() {
		t.Errorf("the command writes\n%s\nthe page has\n%s", scores(s), shown.String())
	}
	if status, table, stderr := cli(t, "session", "scores", "--session", string(s.session), "--data", s.dir); status != 0 ||
		!strings.HasPrefix(table, "held out: ") || !strings.Contains(table, "accuracy after ") || !strings.Contains(table, "\nuniform ") || !strings.Contains(table, "\nall together ") {
		t.Errorf("%d %s%s", status, table, stderr)
	}

	from := exportedBundle(t, s.dir, s.session)
	other := labelledFolder{dir: t.TempDir(), session: s.session}
	if status, stdout, stderr := cli(t, "import", from, "--data", other.dir); status != 0 {
		t.Fatalf("%d %s%s", status, stdout, stderr)
	}
	if scores(other) != shown.String() {
		t.Errorf("after the import\n%s\nbefore\n%s", scores(other), shown.String())
	}
	asked, beliefs := goOn(t, s)
	askedToo, beliefsToo := goOn(t, other)
	if !slices.Equal(asked, askedToo) || len(asked) != 5 {
		t.Errorf("asked %q here and %q there", asked, askedToo)
	}
	if len(beliefs) != 50 || !slices.EqualFunc(beliefs, beliefsToo, func(a, b record.Snapshot) bool { return bytes.Equal(a.Belief, b.Belief) && a.Regret == b.Regret }) {
		t.Errorf("%d beliefs here, %d there, or they differ", len(beliefs), len(beliefsToo))
	}
	if here, there := scores(s), scores(other); here != there || here == shown.String() {
		t.Errorf("after five more answers\n%s\nthere\n%s", here, there)
	}
}

// There is nothing to score where nothing is compared.
func TestScoresOfOneStrategy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id, _ := newLink(t, dir, freeAddr(t), "--env", "driver")
	if status, _, stderr := cli(t, "session", "scores", id, "--data", dir); status == 0 || !strings.Contains(stderr, "--held-out") {
		t.Errorf("%d %s", status, stderr)
	}
}
