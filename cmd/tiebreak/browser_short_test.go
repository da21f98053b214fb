package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

// shortOnPhone are the pages that have at most three screens of a phone, too.
var shortOnPhone = map[string]bool{
	"/learning": true, "/learnt": true, "/asked": true, "/people": true, "/data": true, "/quality": true, "/questions": true, "/instructions": true,
	"/sessions": true, "/sessions/new": true, "/arenas/new": true, "/before": true,
}

// listGoesOn is a script: whether the form of an arena has a list that scrolls, with a frame and a shadow that what is in it does not cover.
const listGoesOn = `(() => {
	const list = document.querySelector(".entrants"), of = getComputedStyle(list);
	return list.scrollHeight > list.clientHeight && of.borderBottomStyle === "solid" && /^local, scroll/.test(of.backgroundAttachment) &&
		[...list.querySelectorAll(".entrant, .entrant > label, details")].every((e) => getComputedStyle(e).backgroundColor === "rgba(0, 0, 0, 0)");
})()`

// TestBrowserPagesAreShort: with 20 sessions, 20 people, 50 answers and conditions no page has more than three screens of a
// laptop, nor those of shortOnPhone of a phone, and none is wider than a phone.
func TestBrowserPagesAreShort(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "driver", "--title", "Twenty people", "--conditions", "uniform=0.3", "--held-out", "0.2")
	for i := range 19 {
		newLink(t, data, addr, "--env", "gridworld", "--title", fmt.Sprintf("Study %d of how people judge the walks", i+1))
	}
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	for i := range 20 {
		answers := "2"
		if i < 10 {
			answers = "3"
		}
		mustCLI(t, "simulate", "--url", link, "--answers", answers, "--seed", fmt.Sprint(i+1))
	}
	b := newPerson(t, browser)
	b.open(signInLink.FindString(server.out.String()))
	b.enter("[data-signin]")
	b.waitFor("[data-new]")
	ready := map[string]string{
		"": "[data-stop]", "/learning": "[data-fold=more]", "/learnt": "[data-taste] figure", "/asked": "[data-chart=leases]", "/people": "[data-chart=times]",
		"/training": "[data-chart=trainings]", "/data": ".files", "/settings": ".facts",
	}
	for page, there := range ready {
		b.open("http://" + addr + "/sessions/" + id + page)
		b.wait("(({connection, seq}) => connection === 'open' && seq === '50')(document.querySelector('main').dataset)")
		b.waitFor(there)
		b.laidOut()
		if h := evaluate[int](b, "document.documentElement.scrollHeight"); h > 3*800 {
			b.t.Errorf("the page %q has a height of %d pixels, more than three screens", page, h)
		}
		b.resize(390, 844)
		b.noSideways(390)
		if chart := map[string]string{"/learning": "calibration", "/people": "times"}[page]; chart != "" {
			b.wait("document.querySelector('[data-chart=" + chart + "] details svg') !== null") // drawn for a phone
		}
		b.shortOnPhone(page)
		b.resize(1280, 800)
	}
	b.open("http://" + addr + "/sessions/" + id)
	for page, there := range map[string]string{
		"/sessions/" + id + "/quality": "[data-quality]", "/sessions/" + id + "/questions": "[data-question] canvas", "/sessions/" + id + "/known": "[data-judge]",
		"/sessions/" + id + "/instructions": "textarea", "/sessions": "[data-session]", "/sessions/new": "[data-env] canvas", "/arenas/new": "form", "/before": "[data-before]", "/audit": "[data-audit]",
	} {
		b.open("http://" + addr + page)
		b.waitFor(there)
		b.laidOut()
		if h := evaluate[int](b, "document.documentElement.scrollHeight"); h > 3*800 {
			b.t.Errorf("%s has a height of %d pixels, more than three screens", page, h)
		}
		if page == "/arenas/new" && !evaluate[bool](b, listGoesOn) {
			b.t.Error("a list that goes on below its frame does not look so")
		}
		b.resize(390, 844)
		b.noSideways(390)
		b.shortOnPhone(strings.TrimPrefix(page, "/sessions/"+id))
		if covered := evaluate[string](b, coveredNames); covered != "" {
			b.t.Errorf("on a phone %s has buttons over the names %s", page, covered)
		}
		b.resize(1280, 800)
	}
}

// shortOnPhone reports a page, by its address or that below the session, that is to be short on a phone and is not, and what is too low
// there for a finger.
func (b *tab) shortOnPhone(page string) {
	b.t.Helper()
	b.phone()
	b.laidOut()
	if low := evaluate[[]string](b, lowTargets); len(low) > 0 {
		b.t.Errorf("on a phone the page %q has buttons of less than 44 pixels: %q", page, low)
	}
	if h := evaluate[int](b, "document.documentElement.scrollHeight"); shortOnPhone[page] && h > 3*844 {
		b.t.Errorf("on a phone the page %q has a height of %d pixels, more than three screens", page, h)
	}
}

// lowTargets lists what can be pressed and is less than 44 pixels high.
const lowTargets = `[...document.querySelectorAll('button, .button, summary, .back-link, [data-account]')]
	.filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML.slice(0, 80))`

// coveredNames lists the names of environments of which a part is under the radio button.
const coveredNames = `[...document.querySelectorAll('[data-env]')].filter((e) => {
	const [button, name] = [e.querySelector('input'), e.querySelector('strong')].map((n) => n.getBoundingClientRect());
	return button.right > name.left && button.left < name.right && button.bottom > name.top && button.top < name.bottom;
}).map((e) => e.dataset.env).join()`

// TestBrowserLongInstructions: where a researcher writes a lot, the pages with the text have at most three screens, and all of it can be read.
func TestBrowserLongInstructions(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	of := map[string][]string{} // pages, by where the text is
	file := filepath.Join(t.TempDir(), "long.md")
	must.Do(t, os.WriteFile(file, []byte(strings.Repeat("### A rule\n\nPrefer the drive that keeps a distance to the other car and brakes softly.\n\n- Say *Equal* where neither is better.\n\n", 30)), 0o600))
	for where, told := range map[string][]string{
		".prose":  {"--instructions-file", file},
		".points": {"--instructions", strings.Repeat("Prefer the drive that keeps a distance to the other car.\n", 60)},
	} {
		id, link := newLink(t, data, addr, append(told, "--env", "driver", "--title", "Long")...)
		of[where] = []string{link, "http://" + addr + "/sessions/" + id + "/instructions"}
	}
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.open(signInLink.FindString(server.out.String()))
	b.enter("[data-signin]")
	b.waitFor("[data-new]")
	for where, pages := range of {
		for _, page := range pages {
			b.open(page)
			b.waitFor(".guide " + where)
			for _, w := range []window{{width: 1280, height: 800}, {width: 390, height: 844}, {width: 844, height: 390}} {
				b.arranged(w)
				if h := evaluate[int](b, "document.documentElement.scrollHeight"); h > 3*800 {
					b.t.Errorf("%s has a height of %d pixels at %dx%d", page, h, w.width, w.height)
				}
				if !evaluate[bool](b, `((text) => {
					text.scrollTop = text.scrollHeight;
					return text.lastElementChild.getBoundingClientRect().bottom <= text.getBoundingClientRect().bottom + 1 && text.clientHeight < innerHeight;
				})(document.querySelector(".guide > `+where+`"))`) {
					b.t.Errorf("%s: the end of the text is not in view at %dx%d", page, w.width, w.height)
				}
			}
		}
	}
}
