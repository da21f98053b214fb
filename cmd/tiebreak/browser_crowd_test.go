package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestBrowserCrowd takes part as somebody from a crowd platform, from the platform's address
// to its return address: consent, their own part of the questions, completion code, and then
// the withdrawal of what they said. The session goes on with others.
func TestBrowserCrowd(t *testing.T) {
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	consent := filepath.Join(t.TempDir(), "consent.md")
	if err := os.WriteFile(consent, []byte("Answers are kept for **ten** years.\n\n- You can stop at any time.\n- You are paid for what you did."), 0o600); err != nil {
		t.Fatal(err)
	}
	id, _ := newLink(t, data, addr, "--env", "driver", "--title", "Drives", "--answers-each", "3", "--budget", "50",
		"--completion-code", "C0DE", "--consent-file", consent, "--withdraw-days", "30")
	invite := func(platform, back string) string {
		out := mustCLI(t, "invite", "new", "--data", data, "--addr", addr, "--session", id, "--crowd", platform, "--return", back)
		_, link, _ := strings.Cut(out, "Annotator:")
		link, _, _ = strings.Cut(strings.TrimSpace(link), "?")
		return link
	}
	prolific := invite("prolific", "https://platform.example/done?cc={code}")
	turk := invite("mturk", "https://platform.example/hits")
	startServer(t, "serve", "--data", data, "--addr", addr)

	b := newPerson(t, browser)
	b.open(turk + "?workerId=W1&hitId=H1&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
	b.waitFor("[data-preview]")
	if evaluate[bool](b, "document.querySelector('[data-start]') !== null") {
		t.Error("a preview can be started")
	}
	b.shot("crowd-preview")

	b.open(prolific + "?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=x1")
	b.waitFor("[data-agree]")
	if text := evaluate[string](b, "document.querySelector('main').innerText"); !strings.Contains(text, "You are asked for 3 answers.") || strings.Contains(text, "Your name") {
		t.Errorf("the first page says %q", text)
	}
	b.resize(390, 844)
	b.noSideways(390)
	b.shot("crowd-join-390x844")
	b.resize(1280, 800)
	b.tabTo("[data-agree]")
	b.press(" ")
	b.enter("[data-start]")
	b.painted()
	b.answer(kb.ArrowLeft)
	if text := evaluate[string](b, "document.querySelector('[data-progress-text]').innerText"); text != "1 / 3" {
		t.Errorf("progress after one of three answers of 50: %q", text)
	}
	b.answer(kb.ArrowRight)
	b.commit(kb.ArrowDown)
	b.wait("document.body.dataset.state === 'done'")
	b.wait("document.querySelector('[data-return]:not([hidden]) a')?.href === 'https://platform.example/done?cc=C0DE'")
	b.wait("document.querySelector('[data-code]:not([hidden])').innerText.includes('C0DE')")
	b.shot("crowd-end-1280x800")
	b.resize(390, 844)
	b.noSideways(390)
	b.shot("crowd-end-390x844")
	b.resize(1280, 800)
	b.secretive()
	if rows := records(t, data, id); len(rows) != 3 {
		t.Errorf("%d answers are recorded, want 3", len(rows))
	}

	other := newPerson(t, browser)
	other.open(prolific + "?PROLIFIC_PID=p2&STUDY_ID=s1&SESSION_ID=x2")
	other.tabTo("[data-agree]")
	other.press(" ")
	other.enter("[data-start]")
	other.painted()
	other.answer(kb.ArrowLeft)

	b.enter("[data-end] a[href$=withdraw]")
	b.tabTo("input[name=sure]")
	b.shot("crowd-withdraw")
	b.press(" ")
	b.enter("[data-withdraw]")
	b.waitFor("[data-notice]")
	b.shot("crowd-withdrawn")
	if rows := records(t, data, id); len(rows) != 1 {
		t.Errorf("%d answers are recorded after a withdrawal, want the one of somebody else", len(rows))
	}
}
