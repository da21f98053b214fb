package main

import (
	"strings"
	"testing"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/study/settings"

	"github.com/chromedp/chromedp/kb"
)

// TestSessionHelpListsMethods: of all methods those that sessions offer are
// there, each with a line of its own, and no others.
func TestSessionHelpListsMethods(t *testing.T) {
	t.Parallel()
	_, help, _ := cli(t, "session", "--help")
	for _, m := range acquisition.Methods() {
		line := "  " + m.Name + " "
		if got := strings.Contains(help, "\n"+line); got != m.Live {
			t.Errorf("session --help lists %s: %v, want %v", m.Name, got, m.Live)
		}
		if m.Live && !strings.Contains(help, m.About) {
			t.Errorf("session --help does not say that %s %s", m.Name, m.About)
		}
	}
	for _, name := range idrl.Likelihoods() {
		if !strings.Contains(help, name) {
			t.Errorf("session --help does not name the likelihood %s", name)
		}
	}
}

// TestSessionsOfEveryKind: every environment of the catalogue takes every kind
// of question, and every method and likelihood that fits.
func TestSessionsOfEveryKind(t *testing.T) {
	t.Parallel()
	for _, env := range envs.Catalogue() {
		if env.Unavailable != nil {
			continue // TestUnavailableEnvironment
		}
		for _, kind := range idrl.QueryKinds() {
			for _, method := range acquisition.Names(acquisition.LiveFor(kind)) {
				for _, likelihood := range idrl.Likelihoods() {
					if kind.Group() && likelihood != idrl.Likelihoods()[0] {
						continue // groups have a likelihood of their own, TestGroupLikelihood
					}
					spec := idrl.SessionSpec{Title: "t", Env: env.ID, Kind: kind, Acquisition: method, Likelihood: likelihood}
					if err := checkSpec(envs.Catalogue(), settings.Complete(spec)); err != nil {
						t.Errorf("%s, %s, %s, %s: %v", env.ID, kind, method, likelihood, err)
					}
				}
			}
		}
	}
}

// A session about groups takes the likelihood whose noise that of groups is, and no other.
func TestGroupLikelihood(t *testing.T) {
	t.Parallel()
	for i, likelihood := range idrl.Likelihoods() {
		spec := idrl.SessionSpec{Title: "t", Env: "driver", Kind: idrl.GroupClips, Likelihood: likelihood}
		if err := checkSpec(envs.Catalogue(), settings.Complete(spec)); (err == nil) != (i == 0) {
			t.Errorf("%s: error %v", likelihood, err)
		}
	}
}

// TestBrowserMethods labels by keyboard on boards of fields, with methods that
// look at all policies so far, and looks at the pages at both sizes.
func TestBrowserMethods(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	_, chain := newLink(t, data, addr, "--env", "chain", "--kind", "state_comparison", "--title", "Which field?",
		"--acquisition", "err", "--likelihood", "bradley-terry", "--prior", "kernel")
	_, junction := newLink(t, data, addr, "--env", "junction", "--kind", "state_rating", "--title", "Which way?",
		"--acquisition", "err", "--prior", "kernel")
	_, clips := newLink(t, data, addr, "--env", "junction", "--kind", "clip_comparison", "--title", "Which walk?", "--acquisition", "tt")
	server := startServer(t, "demo", "--data", data, "--addr", addr)
	for _, test := range []struct {
		link, name string
		keys       []string
	}{
		{chain, "chain", []string{kb.ArrowLeft, kb.ArrowUp, kb.ArrowRight, kb.ArrowLeft}},
		{junction, "junction", []string{"8", "0", "=", "5"}},
		{clips, "junction-clips", []string{kb.ArrowRight, kb.ArrowUp, kb.ArrowLeft, kb.ArrowLeft}},
	} {
		b := newPerson(t, browser)
		b.join(test.link, "Ida")
		b.fits(1280, 800)
		b.shot(test.name + "-1280x800")
		for _, key := range test.keys {
			b.answer(key)
		}
		b.secretive()
		b.phone()
		b.wait("innerWidth === 390")
		b.fits(390, 844)
		b.shot(test.name + "-390x844")
	}

	b := newPerson(t, browser)
	b.open(server.find(t, `Researcher\S*.*?(http\S+)`))
	b.enter("[data-signin]")
	b.waitFor("[data-new]")
	b.open(evaluate[string](b, "[...document.querySelectorAll('[data-session] a')].find((a) => a.innerText.includes('Which field?')).href"))
	b.waitFor("main[data-connection=open]")
	b.page("asked")
	b.wait("[...document.querySelectorAll('[data-recent] tbody tr')].filter((r) => r.cells[3].innerText === 'leader – all others').length >= 4")
	b.noSideways(1280)
	b.open("http://" + addr + "/sessions/new")
	b.waitFor("[data-create]")
	b.noSideways(1280)
	b.enter("[data-everything] summary")
	b.waitFor("input[name=acquisition][value=vids]")
	b.choose("acquisition", "lvar")
	b.shot("form-methods-1280x800")
	b.phone()
	b.wait("innerWidth === 390")
	b.noSideways(390)
	b.shot("form-methods-390x844")
}
