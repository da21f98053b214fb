package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tiebreak/internal/base/record"
)

// TestBrowserTurn: on a session's page a researcher reads what turning does, turns a person's answers, sees
// that they are, also on the page of quality, and turns them back. The person's page gets nothing of it.
func TestBrowserTurn(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "gridworld", "--kind", "state_rating", "--budget", "20", "--title", "Where is it good?")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	person := newPerson(t, browser)
	person.join(link, "Bo")
	person.answer("2")
	person.answer("2")
	person.painted()

	b := newPerson(t, browser)
	b.open(signInLink.FindString(server.out.String()))
	b.enter("[data-signin]")
	b.waitFor("[data-new]")
	b.enter("[data-session] a")
	b.waitFor("main[data-connection=open]")
	b.page("people")
	state := func(want string) {
		t.Helper()
		b.wait("document.querySelector('[data-person=a1] [data-state]')?.innerText === '" + want + "'")
	}
	state("may answer")
	b.wait("document.querySelector('[data-answers]').textContent === '2'")
	heard := len(person.overheard())
	b.enter("[data-person=a1] [data-turning] summary")
	for _, words := range []string{"until now then count with the sides exchanged", "Later answers count as they are given", "The recorded answers stay as they are", "does not see it"} {
		if text := evaluate[string](b, "document.querySelector('[data-person=a1] [data-turning]').innerText"); !strings.Contains(text, words) {
			t.Errorf("before turning the page does not say %q: %s", words, text)
		}
	}
	b.laidOut()
	b.shot("turn-1280x800")
	b.accessible("turning")
	b.enter("[data-person=a1] [data-turn]")
	state("may answer; answers turned up to row 3")
	b.wait("document.querySelector('[data-annotators] tbody').innerText.includes('Bo, 2 turned')")
	b.page("asked")
	b.wait("document.querySelector('[data-recent] tbody').innerText.includes('rated 2 of 10, turned')")
	person.answer("7") // counts as it is given
	b.wait("document.querySelector('[data-recent] tbody').innerText.includes('rated 7 of 10')")
	if text := evaluate[string](b, "document.querySelector('[data-recent] tbody').innerText"); strings.Contains(text, "rated 7 of 10, turned") {
		t.Errorf("a later answer is turned: %s", text)
	}
	countedRatings(t, data, id, 0.6, 0.6, 0.4)
	b.page("people")
	b.noSideways(1280)
	b.phone()
	b.wait("innerWidth === 390")
	b.noSideways(390)
	b.wait("document.querySelector('[data-person=a1] [data-turning] summary').innerText.includes('Turn later answers, too')")
	b.tabTo("[data-person=a1] [data-count]")
	b.shot("turned-390x844")
	b.open("http://" + addr + "/sessions/" + id + "/quality")
	b.wait("document.querySelector('[data-person=a1] [data-turned]')?.innerText === '2 answers turned'")
	b.noSideways(390)
	b.shot("turned-quality-390x844")
	b.enter("[data-person=a1] [data-count]")
	b.wait("document.querySelector('[data-person=a1]') !== null && document.querySelector('[data-turned]') === null")
	countedRatings(t, data, id, -0.6, -0.6, 0.4)
	for _, frame := range person.overheard()[heard:] {
		if strings.Contains(frame, "turn") {
			t.Errorf("the person's page hears of turning: %s", frame)
		}
	}
}

// countedRatings fails unless the ratings count as want.
func countedRatings(t *testing.T, data, id string, want ...float64) {
	t.Helper()
	var got []float64
	for _, a := range record.Effective(recordOf(t, data, id).Log) {
		got = append(got, a.Rating)
	}
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Errorf("ratings that count (-want +got):\n%s", d)
	}
}
