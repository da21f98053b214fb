package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/chromedp/chromedp/kb"
)

// TestBrowserCrowd takes part as somebody from a crowd platform, from the platform's address
// to its return address: consent, their own part of the questions, completion code, and then
// the withdrawal of what they said. The session goes on with others.
func TestBrowserCrowd(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	consent := filepath.Join(t.TempDir(), "consent.md")
	must.Do(t, os.WriteFile(consent, []byte("Answers are kept for **ten** years.\n\n- You can stop at any time.\n- You are paid for what you did."), 0o600))
	id, _ := newLink(t, data, addr, "--env", "driver", "--title", "Drives", "--answers-each", "3", "--budget", "50",
		"--completion-code", "C0DE", "--consent-file", consent, "--withdraw-days", "30")
	invite := func(platform, back string) string {
		out := mustCLI(t, "invite", "new", "--data", data, "--addr", addr, "--session", id, "--crowd", platform, "--return", back)
		_, link, _ := strings.Cut(out, "Annotator:")
		link, _, _ = strings.Cut(strings.TrimSpace(link), "?")
		return link
	}
	turk := invite("mturk", "https://platform.example/hits")
	server := startServer(t, "serve", "--data", data, "--addr", addr)

	r := newPerson(t, browser) // the researcher makes the other link on the session's page
	r.open(signInLink.FindString(server.out.String()))
	r.enter("[data-signin]")
	r.waitFor("[data-new]")
	r.enter("[data-session] a")
	r.waitFor("main[data-connection=open]")
	r.page("people")
	r.enter(".crowd-link summary")
	r.tabTo(".crowd-link [name=return]")
	r.press("https://platform.example/done?cc={code}")
	if evaluate[bool](r, "document.querySelector('.own-names').checkVisibility()") {
		t.Error("names of parameters are asked for a platform that is known")
	}
	for _, size := range [][2]int64{{1280, 800}, {390, 844}, {844, 390}} {
		r.resize(size[0], size[1])
		r.noSideways(int(size[0]))
		r.shot(fmt.Sprintf("crowd-form-%dx%d", size[0], size[1]))
	}
	r.resize(1280, 800)
	r.accessible("crowd form")
	r.enter("[data-crowd-link]")
	r.waitFor("[data-invite-link]")
	r.shot("crowd-link-1280x800")
	prolific, parameters, _ := strings.Cut(evaluate[string](r, "document.querySelector('[data-invite-link]').value"), "?")
	if parameters != "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}" {
		t.Errorf("the link's parameters are %q", parameters)
	}

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

	r.pardon(regexp.MustCompile(`\b503\b`)) // its page asks again while the session starts again without their data
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
