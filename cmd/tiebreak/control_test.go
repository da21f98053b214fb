package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/lab/loadtest"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// TestControlBesideAServer: a running server does at once what commands do to a session, and
// it stays so when the server is killed.
func TestControlBesideAServer(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "gridworld", "--kind", "clip_comparison", "--budget", "6", "--completion-code", "C0DE")
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	good := join(t, link, 1)
	must.Do(t, good.Label(2))
	status := func(what string, is func(*wire.Status) bool) {
		t.Helper()
		for limit := time.Now().Add(loadtest.Wait); ; {
			m, err := good.Conn.RecvBy(limit)
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
	must.Do(t, good.Conn.Reconnect(t.Context()))
	must.Do(t, good.Conn.Send(&wire.ClientHello{}))
	status("paused after a restart", paused)
	mustCLI(t, "session", "resume", "--data", data, "--session", id)
	if err := good.Label(4); err != nil {
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
	must.Do(t, good.Conn.Reconnect(t.Context()))
	if err := good.Label(8); err != nil {
		t.Fatalf("reopened: %v\n%s", err, p.out)
	}
	clone := strings.Fields(copied)[1]
	for what, args := range map[string][]string{
		"give a budget above":      {"extend", id, "--by", "0", "--budget", "8"},
		"--title is missing":       {"rename", id},
		"resume it before":         {"pause", clone},
		"there is no session":      {"close", "nobody"},
		"--session is given twice": {"close", id, "--session", clone},
		"holds 2 sessions":         {"close"},
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
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	startServer(t, "serve", "--data", data, "--addr", addr)
	_, link := newLink(t, data, addr, "--env", "gridworld", "--title", "Made beside", "--budget", "2")
	if err := join(t, link, 1).Label(2); err != nil {
		t.Error(err)
	}
	if _, out, stderr := cli(t, "session", "create", "--data", data, "--env", "gridworld"); !strings.Contains(out, "http://"+addr+"/join/") {
		t.Errorf("without --addr the link is not one to the server that is running:\n%s%s", out, stderr)
	}
}

// Rollouts that are imported beside a running server, whose workers are at work already, are
// asked about at once: the form has them, and so have sessions.
func TestRolloutsBesideAServer(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	startServer(t, "serve", "--data", data, "--addr", addr)
	_, link := newLink(t, data, addr, "--env", "gridworld", "--budget", "2")
	must.Do(t, join(t, link, 1).Label(2))
	if status, _, stderr := cli(t, "session", "create", "--data", data, "--env", "rollouts-late"); status == 0 || !strings.Contains(stderr, "import them") {
		t.Fatalf("a session about rollouts that are not here: status %d, %s", status, stderr)
	}
	if status, _, stderr := cli(t, "import", "--rollouts", walks(t), "--name", "late", "--data", data); status != 0 {
		t.Fatal(stderr)
	}
	id, link := newLink(t, data, addr, "--env", "rollouts-late", "--budget", "2")
	if err := join(t, link, 2).Label(2); err != nil {
		t.Error(err)
	}
	learnt := filepath.Join(t.TempDir(), "learnt")
	if status, _, stderr := cli(t, "export", "--data", data, "--session", id, "--format", "networks", "--out", learnt); status != 0 {
		t.Error(stderr)
	}
	policies, err := filepath.Glob(filepath.Join(learnt, "policy-*.json"))
	if err != nil || len(policies) == 0 {
		t.Fatalf("%q, %v", policies, err)
	}
	for _, path := range policies {
		b, err := os.ReadFile(path)
		if m := regexp.MustCompile(`"name":"speed-(\d)","rollouts":\["walk-(\d)"\]`).FindStringSubmatch(string(b)); err != nil || m == nil || m[1] != m[2] {
			t.Errorf("%s: %s, %v", path, b, err)
		}
	}
	_, out, _ := cli(t, "user", "link", "--data", data, "--addr", addr)
	v := newVisitor(t)
	if path, status := v.signIn(regexp.MustCompile(`http\S+`).FindString(out)); status != http.StatusOK {
		t.Fatalf("signing in: %s, status %d", path, status)
	}
	if _, _, page := v.page(v.c.Get("http://" + addr + "/sessions/" + id + "/questions")); !regexp.MustCompile(`speed-\d \(`).MatchString(page) {
		t.Error("questions do not say by which name their policies were imported")
	}
	if _, _, page := v.page(v.c.Get("http://" + addr + "/sessions/new")); !strings.Contains(page, `value="rollouts-late"`) {
		t.Error("the form of new sessions lacks them")
	}
}

// walks writes a folder with a rollout of each of four policies, ten steps long, in which a
// square moves at the policy's speed.
func walks(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, b []byte) {
		path := filepath.Join(dir, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b, 0o600)))
	}
	var list []string
	for k := range 4 {
		for i := range 11 {
			img := image.NewGray(image.Rect(0, 0, 64, 32))
			draw.Draw(img, image.Rect(i*(k+1), 8, i*(k+1)+16, 24), image.White, image.Point{}, draw.Src)
			var b bytes.Buffer
			must.Do(t, png.Encode(&b, img))
			write(fmt.Sprintf("walk-%d/frames/%d.png", k, i), b.Bytes())
		}
		list = append(list, fmt.Sprintf(`{"name": "walk-%d", "policy": "speed-%d"}`, k, k))
	}
	write("rollouts.json", []byte(`{"format": "tiebreak.rollouts", "version": 1, "step_seconds": 0.1, "clip_steps": 10, "rollouts": [`+strings.Join(list, ",")+"]}"))
	return dir
}
