package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A person who sees answers a session over its socket; the page of its questions is written while
// the server runs, and again with the same bytes.
func TestQuestionsOfAPersonWhoSees(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	link := startServer(t, "demo", "--data", data, "--addr", freeAddr(t)).find(t, `Annotator:\s+(\S+)`)
	said := mustCLI(t, "simulate", "--url", link, "--data", data, "--expert", "seeing", "--answers", "6", "--every", "3", "--seed", "4")
	for _, want := range []string{"Worth to the seeing expert: ", `no true reward: this one answered by the taste "far"`} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	id := strings.Fields(mustCLI(t, "questions", "--data", data))[0]
	out := filepath.Join(dir, "asked")
	said = mustCLI(t, "questions", "--data", data, "--session", id, "--out", out)
	page, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil || !strings.HasPrefix(said, "6 questions in ") || strings.Count(string(page), "<article ") != 6 {
		t.Fatalf("%s, %v:\n%s", said, err, page)
	}
	status, _, errs := cli(t, "questions", "--data", data, "--session", id, "--out", out)
	if status != 1 || !strings.Contains(errs, "--force") {
		t.Errorf("into the same folder: status %d, %s", status, errs)
	}
	mustCLI(t, "questions", "--data", data, "--session", id, "--out", out, "--force")
	if again, err := os.ReadFile(filepath.Join(out, "index.html")); err != nil || string(again) != string(page) {
		t.Errorf("the same questions give another page, %v", err)
	}
	part := filepath.Join(dir, "part")
	mustCLI(t, "questions", "--data", data, "--session", id, "--out", part, "--from", "2", "--to", "3")
	if page, err = os.ReadFile(filepath.Join(part, "index.html")); err != nil || strings.Count(string(page), "<article ") != 2 || !strings.Contains(string(page), `id="q3"`) {
		t.Errorf("questions 2 and 3, %v:\n%s", err, page)
	}
	for _, bad := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--session", id, "--from", "7"}, 1, "after the last question"},
		{[]string{"--session", id, "--from", "3", "--to", "2"}, 2, "is before"},
		{[]string{"--session", "none"}, 1, "lists the sessions"},
	} {
		args := append([]string{"questions", "--data", data, "--out", filepath.Join(dir, "bad")}, bad.args...)
		if status, _, errs := cli(t, args...); status != bad.status || !strings.Contains(errs, bad.says) {
			t.Errorf("%v: status %d, %s", bad.args, status, errs)
		}
	}
	status, _, errs = cli(t, "simulate", "--url", link, "--expert", "seeing", "--taste", "fast")
	if status != 2 && status != 1 || !strings.Contains(errs, "choose one of far") {
		t.Errorf("an unknown taste: status %d, %s", status, errs)
	}
}

// TestBrowserQuestions: the page of questions can be read on a wide screen and on a phone, light and
// dark, under a policy that allows nothing inline, and shows its strips.
func TestBrowserQuestions(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, dir := t.TempDir(), filepath.Join(t.TempDir(), "asked")
	runProgram(t, "simulate", "--runs", "1", "--env", "gridworld", "--expert", "seeing", "--answers", "3", "--data", data)
	mustCLI(t, "questions", "--data", data, "--session", strings.Fields(mustCLI(t, "questions", "--data", data))[0], "--out", dir)
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'")
		if r.URL.Path == "/favicon.ico" { // which browsers ask for
			w.WriteHeader(http.StatusNoContent)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	b := newPerson(t, browser)
	b.open(server.URL)
	b.accessible("page of questions")
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(scheme)
		for _, width := range []int64{1280, 390} {
			b.resize(width, 900)
			b.open(server.URL)
			b.wait(`document.querySelectorAll("article").length === 3`)
			b.do(chromedp.Evaluate[chromedp.Void](`for (const i of document.images) i.loading = "eager"`))
			b.wait(`[...document.images].length === 6 && [...document.images].every((i) => i.complete && i.naturalWidth > 500)`)
			b.noSideways(int(width))
			b.wait(fmt.Sprintf(`matchMedia("(prefers-color-scheme: %s)").matches`, scheme))
			b.wait(`getComputedStyle(document.body).color !== getComputedStyle(document.body).backgroundColor`)
			b.wait(`getComputedStyle(document.querySelector(".strips")).display === "grid"`) // the style was loaded
		}
	}
}

// runProgram runs the real program, whose workers are processes of its own, and returns what it
// prints.
func runProgram(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tiebreak %v: %v\n%s", args, err, &errs)
	}
	return string(out)
}
