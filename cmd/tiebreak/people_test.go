package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/train/training"
	"tiebreak/store"
	"tiebreak/web/client"
)

// mustCLI runs a command that must succeed, and returns what it printed.
func mustCLI(t *testing.T, args ...string) string {
	t.Helper()
	status, out, stderr := cli(t, args...)
	if status != 0 {
		t.Fatalf("tiebreak %s: status %d\n%s", strings.Join(args, " "), status, stderr)
	}
	return out
}

// TestCommandsBesideAServer: a running server follows what commands change: a
// complete session goes on, a removed person is cut off, and their answers count or
// do not, whatever kills the server in between.
func TestCommandsBesideAServer(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	id, first := newLink(t, data, addr, "--env", "gridworld", "--kind", "clip_comparison", "--budget", "9")
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	made := strings.Fields(mustCLI(t, "invite", "new", "--data", data, "--session", id, "--uses", "1"))
	mustCLI(t, "invite", "revoke", "--data", data, "--link", "1")
	if _, err := client.Dial(t.Context(), first); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("by a revoked link: %v, want it not found", err)
	}
	good := join(t, made[1], 1)
	bad := join(t, strings.Fields(mustCLI(t, "invite", "new", "--data", data))[1], 2)
	for _, err := range []error{good.Label(3), bad.Label(3), good.Label(6)} { // good holds the last questions
		if err != nil {
			t.Fatal(err)
		}
	}
	mustCLI(t, "session", "set", "--data", data, "--budget", "20") // the session is complete, and goes on
	if err := good.Label(8); err != nil {
		t.Fatalf("after more answers are wanted: %v\n%s", err, p.out)
	}

	if out := mustCLI(t, "annotator", "revoke", "--data", data, "--annotator", "a2", "--answers", "leave-out"); !strings.Contains(out, "removed; answers left out") {
		t.Errorf("revoke says %q", out)
	}
	for err := error(nil); err == nil; { // until the server closes the socket
		_, err = bad.Conn.Recv()
	}
	if err := bad.Conn.Reconnect(t.Context()); err == nil || !strings.Contains(err.Error(), "ended your part") {
		t.Errorf("a removed person comes back: %v", err)
	}
	for _, test := range []struct {
		args []string
		want int
	}{{nil, 8}, {[]string{"--all"}, 11}} {
		rows := mustCLI(t, append([]string{"export", "--data", data, "--session", id}, test.args...)...)
		if n := strings.Count(rows, "\n"); n != test.want {
			t.Errorf("export %v has %d rows, want %d", test.args, n, test.want)
		}
	}
	list := mustCLI(t, "annotator", "list", "--data", data)
	if !strings.Contains(list, "a1") || strings.Count(list, "removed; answers left out") != 1 {
		t.Errorf("the list says:\n%s", list)
	}
	links := mustCLI(t, "invite", "list", "--data", data)
	for _, want := range []string{"0 of 1000  revoked", "1 of 1     used up", "1 of 100   valid"} {
		if !strings.Contains(links, want) {
			t.Errorf("the list of links lacks %q:\n%s", want, links)
		}
	}
	good = restart(t, data, addr, p.kill, good, 9)
	decided(t, data, id, idrl.LeftOut, "a1")

	p = startServer(t, "serve", "--data", data, "--addr", addr)
	if err := good.Conn.Reconnect(t.Context()); err != nil { // so that the session runs
		t.Fatal(err)
	}
	mustCLI(t, "annotator", "answers", "--data", data, "--annotator", "a2", "--answers", "count")
	restart(t, data, addr, p.kill, good, 10) // before or after the server learnt of it
	decided(t, data, id, idrl.TakenIn, "a1", "a2")

	if out := mustCLI(t, "annotator", "answers", "--data", data, "--annotator", "a2", "--answers", "turn"); !strings.Contains(out, "removed; answers turned up to row") {
		t.Errorf("turning says %q", out)
	}
	if rows := mustCLI(t, "export", "--data", data, "--session", id); strings.Count(rows, `"turned":true`) != 3 {
		t.Errorf("turned answers in the export:\n%s", rows)
	}
	startServer(t, "serve", "--data", data, "--addr", addr)
	must.Do(t, good.Conn.Reconnect(t.Context()))
	must.Do(t, good.Label(11))
	decided(t, data, id, idrl.Turned, "a1", "a2")
}

func join(t *testing.T, link string, seed uint64) *loadtest.Labeller {
	t.Helper()
	conn := must.Get(client.Dial(t.Context(), link))(t)
	t.Cleanup(func() { _ = conn.Close() })
	return loadtest.New(conn, seed)
}

// restart kills the server, starts another, has answers acknowledged until there are
// n, and kills that too.
func restart(t *testing.T, data, addr string, kill func(), l *loadtest.Labeller, n int) *loadtest.Labeller {
	t.Helper()
	kill()
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	must.Do(t, l.Conn.Reconnect(t.Context()))
	if err := l.Label(n); err != nil {
		t.Fatalf("after a restart: %v\n%s", err, p.out)
	}
	p.kill()
	return l
}

// recordOf returns what a data folder holds of a session.
func recordOf(t *testing.T, data, id string) record.Record {
	t.Helper()
	db := must.Get(store.OpenReadOnly(t.Context(), data))(t)
	defer db.Close()
	rec := must.Get(db.Load(t.Context(), idrl.SessionID(id)))(t)
	return rec
}

// decided fails unless the last decision in the log is choice, and the belief that was
// recorded last is, to the byte, that of the answers of people until then, followed by
// theirs after it.
func decided(t *testing.T, data, id string, choice idrl.Choice, people ...idrl.AnnotatorID) {
	t.Helper()
	rec := recordOf(t, data, id)
	at := len(rec.Log) - 1
	for at > 0 && !rec.Log[at].Decision() {
		at--
	}
	if rec.Log[at].Choice != choice || rec.Log[at].Annotator != "a2" {
		t.Fatalf("the last decision is %+v, want %s", rec.Log[at], choice)
	}
	followed(t, data, id, people...)
}

// followed fails unless the belief that was recorded last is, to the byte, that of the
// standing answers of people, turned where the log says so.
func followed(t *testing.T, data, id string, people ...idrl.AnnotatorID) {
	t.Helper()
	rec := recordOf(t, data, id)
	model := must.Get(training.Model(envs.Catalogue(), rec.Spec))(t)
	queries := journaltest.Vectors(t, rec)
	var items []posterior.Item
	how := record.Countings(rec.Log)
	for _, a := range record.Standing(rec.Log) {
		if q := queries[a.Assignment]; a.Informative() && slices.Contains(people, a.Annotator) {
			items = append(items, posterior.ItemOf(&q, how[a.Annotator].Of(a)))
		}
	}
	p := must.Get(posterior.Of(t.Context(), model, items))(t)
	want := must.Get(model.Encode(p))(t)
	if last := rec.Snapshots[len(rec.Snapshots)-1]; !bytes.Equal(last.Belief, want) {
		t.Errorf("the belief is not that of the %d answers of %v", len(items), people)
	}
}

// TestCommandsNameTheSession: with several sessions a command asks which, and says
// where they are listed.
func TestCommandsNameTheSession(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	one, _ := newLink(t, data, "127.0.0.1:1", "--budget", "4")
	newLink(t, data, "127.0.0.1:1")
	for _, test := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"session", "set", "--budget", "5"}, 1, "holds 2 sessions"},
		{[]string{"session", "show"}, 1, "holds 2 sessions"},
		{[]string{"session", "show", "--session", "gone"}, 1, "gone"},
		{[]string{"invite", "list"}, 1, "export --data " + data},
		{[]string{"annotator", "answers", "--session", one, "--annotator", "a9", "--answers", "turn"}, 1, "no annotator"},
		{[]string{"annotator", "answers", "--session", one, "--annotator", "a9", "--answers", "perhaps"}, 2, "count, turn, leave-out"},
		{[]string{"annotator", "revoke", "--session", one, "--annotator", "a9", "--answers", "turn"}, 2, "count, leave-out"},
		{[]string{"annotator", "list", "--session", "none"}, 1, "export --data " + data},
		{[]string{"session", "set", "--session", one}, 2, "--budget"},
		{[]string{"session", "set", "--session", one, "--budget", "10001"}, 1, "10000"},
		{[]string{"invite", "new", "--session", one, "--uses", "0"}, 1, "1 to 10000"},
		{[]string{"invite", "new", "--session", one, "--days", "9999999"}, 1, "365 days"},
		{[]string{"invite", "revoke", "--session", one, "--link", "9"}, 1, "invite list"},
		{[]string{"annotator", "revoke", "--session", one}, 2, "--annotator"},
		{[]string{"annotator", "revoke", "--session", one, "--annotator", "a1", "--answers", "perhaps"}, 2, "leave-out"},
		{[]string{"annotator", "answers", "--session", one, "--annotator", "a1"}, 1, "annotator list"},
	} {
		if status, _, stderr := cli(t, append(test.args, "--data", data)...); status != test.status || !strings.Contains(stderr, test.want) {
			t.Errorf("%v: status %d, want %d and %q:\n%s", test.args, status, test.status, test.want, stderr)
		}
	}
	var shown idrl.SessionSpec
	must.Do(t, json.Unmarshal([]byte(mustCLI(t, "session", "show", "--data", data, "--session", one)), &shown))
	if string(shown.ID) != one || shown.Budget != 4 || len(shown.Features) == 0 || shown.PriorScale != nil {
		t.Errorf("session show writes %+v", shown)
	}
	if out := mustCLI(t, "session", "set", "--data", data, "--session", one, "--budget", "0"); !strings.Contains(out, "any number of answers; before it was 4 answers") {
		t.Errorf("set says %q", out)
	}
	if out := mustCLI(t, "annotator", "list", "--data", data, "--session", one); !strings.Contains(out, "No annotator has joined") {
		t.Errorf("the empty list says %q", out)
	}
}

// TestWithdrawBesideAServer: a command erases a person while a server runs and others answer;
// the belief is that of the others, to the byte, and the export has nobody else.
func TestWithdrawBesideAServer(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "gridworld", "--kind", "clip_comparison")
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	good, gone := join(t, link, 1), join(t, link, 2)
	for _, err := range []error{good.Label(3), gone.Label(4), good.Label(6)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if out := mustCLI(t, "annotator", "withdraw", "--data", data, "--annotator", "a2"); !strings.Contains(out, "4 answers. Nothing was changed") {
		t.Errorf("without --yes it says %q", out)
	}
	if out := mustCLI(t, "annotator", "withdraw", "--data", data, "--annotator", "a2", "--yes"); !strings.Contains(out, "4 rows of the log are empty now.\na2: data withdrawn and erased") {
		t.Errorf("it says %q", out)
	}
	for err := error(nil); err == nil; { // until the server closes the socket
		_, err = gone.Conn.Recv()
	}
	if err := gone.Conn.Reconnect(t.Context()); err == nil {
		t.Error("a person whose data were withdrawn comes back")
	}
	if err := good.Label(9); err != nil {
		t.Fatalf("another who answers meanwhile: %v\n%s", err, p.out)
	}
	if rows := mustCLI(t, "export", "--data", data, "--session", id, "--all"); strings.Count(rows, "\n") != 9 || strings.Contains(rows, `"a2"`) {
		t.Errorf("the export has\n%s", rows)
	}
	p.kill()
	followed(t, data, id, "a1")
	if status, out, stderr := cli(t, "doctor", "--data", data); status != 0 {
		t.Errorf("doctor: %s%s", out, stderr)
	}
}
