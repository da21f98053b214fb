//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/data/lerobot/lerobottest"
)

// A slowFFmpeg is an ffmpeg that a program finds first, in which the runs that cut clips wait from one on.
type slowFFmpeg struct {
	dir string // for PATH
}

// newSlowFFmpeg returns one in which free clips are cut before others wait.
func newSlowFFmpeg(t *testing.T, free int) slowFFmpeg {
	t.Helper()
	needFFmpeg(t)
	ffmpeg, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal(err)
	}
	f := slowFFmpeg{t.TempDir()}
	script := fmt.Sprintf(`#!/bin/sh
case "$*" in *libvpx-vp9*)
	echo >>'%[1]s/cut'
	while [ -e '%[1]s/waits' ] && [ "$(wc -l <'%[1]s/cut')" -gt %[2]d ]; do sleep 0.05; done;;
esac
exec '%[3]s' "$@"
`, f.dir, free, ffmpeg)
	if err := os.WriteFile(filepath.Join(f.dir, "ffmpeg"), []byte(script), 0o700); err != nil { // #nosec G306 -- a program
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, "waits"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

// goOn lets all runs go on.
func (f slowFFmpeg) goOn(t *testing.T) {
	t.Helper()
	if err := os.Remove(filepath.Join(f.dir, "waits")); err != nil {
		t.Fatal(err)
	}
}

// cuts returns how many clips were begun.
func (f slowFFmpeg) cuts() int {
	b, _ := os.ReadFile(filepath.Join(f.dir, "cut"))
	return strings.Count(string(b), "\n")
}

// TestBrowserArenaIsCut: a person answers an arena of filmed recordings while most of its clips are not cut yet, waits, and goes on when they are. Meanwhile the page and the
// results say so. Each clip is cut once.
func TestBrowserArenaIsCut(t *testing.T) {
	t.Parallel()
	const first, clips = 4, 16 // of two policies in two tasks
	ffmpeg := newSlowFFmpeg(t, first)
	data, addr, folder := t.TempDir(), freeAddr(t), t.TempDir()
	d := lerobottest.Dataset{Policies: []string{"steady", "steady", "shaky", "shaky"}} // two tasks in turn
	for i := range clips {
		d.Lengths = append(d.Lengths, 8+i)
	}
	if err := d.Write(folder); err != nil {
		t.Fatal(err)
	}
	mustCLI(t, "import", "--lerobot", folder, "--name", "pens", "--data", data, "--policy-column", "policy", "--clip-seconds", "1")
	browser := startBrowser(t)
	serve := exec.Command(program(t), "serve", "--data", data, "--addr", addr)
	serve.Env = append(os.Environ(), "PATH="+ffmpeg.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	server := startCommand(t, serve)
	id, link := newArenaLink(t, data, "--title", "Pens", "--entrants", "rollouts-pens")
	b, r := newPerson(t, browser), newPerson(t, browser)
	b.join(link, "Ada")
	shown := func(want bool) {
		t.Helper()
		const sentence = "Not all clips of this arena"
		if out := mustCLI(t, "arena", "show", id, "--data", data); strings.Contains(out, sentence) != want {
			t.Errorf("the result says:\n%s", out)
		}
		if out := mustCLI(t, "arena", "show", id, "--data", data, "--json"); strings.Contains(out, `"clips_being_cut": true`) != want {
			t.Errorf("its file says:\n%s", out)
		}
		report := filepath.Join(t.TempDir(), "report.html")
		mustCLI(t, "report", "--session", id, "--data", data, "-o", report)
		if html, err := os.ReadFile(report); err != nil || strings.Contains(string(html), sentence) != want { // #nosec G304 -- of the test
			t.Errorf("the report does not say whether clips are being cut, as it should: %v, %v", want, err)
		}
		for _, format := range []string{"lerobot", "bundle"} {
			out := filepath.Join(t.TempDir(), format)
			mustCLI(t, "export", "--session", id, "--data", data, "--format", format, "--out", out)
			if card, err := os.ReadFile(filepath.Join(out, "README.md")); err != nil || strings.Contains(string(card), sentence) != want { // #nosec G304 -- of the test
				t.Errorf("the export as %s does not say whether clips are being cut, as it should: %v, %v", format, want, err)
			}
		}
	}
	b.answer(kb.ArrowLeft)
	b.commit(kb.ArrowRight)
	b.wait("document.body.dataset.state === 'waiting' && document.body.dataset.unsent === '0' && document.body.innerText.includes('More clips are being made')")
	b.shot("arena-is-cut-waiting")
	r.open(server.find(t, `Researcher:\s+(\S+)`))
	r.enter("form button")
	r.waitFor("[data-new-arena]")
	r.open("http://" + addr + "/sessions/" + id)
	const words = "document.querySelector('[data-training]')?.innerText.includes('the others follow by themselves, all tasks alike (cutting clips: %d of %d')"
	r.wait(fmt.Sprintf(words, first+1, clips))
	r.shot("arena-is-cut")
	shown(true)
	ffmpeg.goOn(t)
	for n := 3; n < clips/2; n++ {
		b.answer(kb.ArrowLeft)
	}
	b.commit(kb.ArrowLeft)
	b.wait("document.body.dataset.state === 'done' && document.body.innerText.includes('You have compared all clips')")
	r.wait("document.querySelector('[data-sum]')?.innerText.startsWith('8 answers') && !document.querySelector('[data-training]')")
	waittest.Until(t, "the result is of all clips", func() bool {
		return !strings.Contains(mustCLI(t, "arena", "show", id, "--data", data), "Not all clips of this arena")
	})
	shown(false)
	if n := ffmpeg.cuts(); n != clips {
		t.Errorf("%d clips were cut of %d", n, clips)
	}
}
