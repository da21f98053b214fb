package main

import (
	"strings"
	"testing"

	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// TestControlBesideAServer: a running server does at once what commands do to a session, and
// it stays so when the server is killed.
func TestControlBesideAServer(t *testing.T) {
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "gridworld", "--kind", "clip_comparison", "--budget", "6", "--completion-code", "C0DE")
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	good := join(t, link, 1)
	if err := good.label(2); err != nil {
		t.Fatal(err)
	}
	status := func(what string, is func(*wire.Status) bool) {
		t.Helper()
		for {
			m, err := good.conn.Recv()
			if err != nil {
				t.Fatalf("until %s: %v\n%s", what, err, p.out)
			}
			if s, ok := m.(*wire.Status); ok && is(s) {
				return
			}
		}
	}
	paused := func(s *wire.Status) bool {
		return strings.Contains(s.Waiting, "paused this session") && len(s.Open) == 0
	}
	if out := mustCLI(t, "session", "pause", id, "--data", data); !strings.Contains(out, "is paused; before it was running") {
		t.Errorf("pause says %q", out)
	}
	status("paused", paused)
	p.kill()
	p = startServer(t, "serve", "--data", data, "--addr", addr)
	if err := good.conn.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := good.conn.Send(&wire.ClientHello{}); err != nil {
		t.Fatal(err)
	}
	status("paused after a restart", paused)
	mustCLI(t, "session", "resume", "--data", data, "--session", id)
	if err := good.label(4); err != nil {
		t.Fatalf("resumed: %v\n%s", err, p.out)
	}
	mustCLI(t, "session", "close", "--data", data, id)
	status("closed", func(s *wire.Status) bool { return s.Done && s.Code == "C0DE" })
	if _, err := client.Dial(t.Context(), link); err == nil || !strings.Contains(err.Error(), "This session has ended") {
		t.Errorf("joins a closed session: %v", err)
	}
	mustCLI(t, "session", "extend", id, "--data", data, "--by", "2")
	mustCLI(t, "session", "rename", id, "--data", data, "--title", "Pilot")
	copied := mustCLI(t, "session", "clone", id, "--data", data, "--seed", "new")
	mustCLI(t, "session", "archive", id, "--data", data)
	if list := mustCLI(t, "session", "list", "--data", data); strings.Contains(list, id) || !strings.Contains(list, "Copy of Pilot") || !strings.Contains(list, "1 archived") {
		t.Errorf("the list says:\n%s", list)
	}
	if list := mustCLI(t, "session", "list", "--data", data, "--all"); !strings.Contains(list, "archived  4 of 8") {
		t.Errorf("the whole list says:\n%s", list)
	}
	p.kill()
	p = startServer(t, "serve", "--data", data, "--addr", addr)
	mustCLI(t, "session", "resume", id, "--data", data)
	if err := good.conn.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := good.label(8); err != nil {
		t.Fatalf("reopened: %v\n%s", err, p.out)
	}
	clone := strings.Fields(copied)[1]
	for what, args := range map[string][]string{
		"is not more":            {"extend", id, "--by", "0", "--budget", "8"},
		"--title is missing":     {"rename", id},
		"resume it before":       {"pause", clone},
		"there is no session":    {"close", "nobody"},
		"two sessions are named": {"close", id, "--session", clone},
		"holds 2 sessions":       {"close"},
	} {
		if args[0] == "pause" {
			mustCLI(t, "session", "close", clone, "--data", data)
		}
		if status, _, stderr := cli(t, append([]string{"session"}, append(args, "--data", data)...)...); status == 0 || !strings.Contains(stderr, what) {
			t.Errorf("%v: status %d, %s; want %q", args, status, stderr, what)
		}
	}
}

// Sessions can be made beside a running server.
func TestSessionBesideAServer(t *testing.T) {
	data, addr := t.TempDir(), freeAddr(t)
	startServer(t, "serve", "--data", data, "--addr", addr)
	_, link := newLink(t, data, addr, "--env", "gridworld", "--title", "Made beside", "--budget", "2")
	if err := join(t, link, 1).label(2); err != nil {
		t.Error(err)
	}
}
