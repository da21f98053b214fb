package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestBrowserPeople: on a session's page a researcher asks for more answers, makes
// and revokes a link, and removes a person; the person's page says so at once.
func TestBrowserPeople(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "gridworld", "--kind", "state_rating", "--budget", "2", "--title", "Where is it good?")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	person := newPerson(t, browser)
	person.join(link, "Bo")
	person.answer("3")
	person.commit("8") // the last of those that are wanted
	person.wait("document.body.dataset.state === 'done'")

	b := newPerson(t, browser)
	b.open(signInLink.FindString(server.out.String()))
	b.enter("[data-signin]")
	b.waitFor("[data-new]")
	b.enter("[data-session] a")
	b.wait("document.querySelector('[data-of]').textContent === 'of 2 answers'")
	b.page("settings")
	b.tabTo("[data-budget]")
	b.press(kb.Backspace + "8" + kb.Enter)
	b.wait("location.hash === '#budget' && document.querySelector('[data-of]').textContent === 'of 8 answers'")
	person.painted() // new questions, without a reload
	person.answer("5")
	b.wait("document.querySelector('[data-answers]').textContent === '3'")

	b.page("people")
	b.enter("[data-new-link]")
	b.waitFor("[data-invite-link]")
	made := evaluate[string](b, "document.querySelector('[data-invite-link]').value")
	if token := made[strings.LastIndex(made, "/")+1:]; strings.Contains(evaluate[string](b, "location.href"), token) {
		t.Error("the address has the link's token, so that the browser's history keeps it")
	}
	b.shot("people-1280x800")
	b.open("http://" + addr + "/sessions/" + id + "/invitations") // as a browser does that restores its tabs
	b.wait("location.pathname === '/sessions/" + id + "'")
	if evaluate[bool](b, "document.querySelector('[data-invite-link]') !== null") {
		t.Error("the link is shown a second time")
	}
	b.page("people")
	second := newPerson(t, browser)
	second.join(made, "Cy")
	second.answer("1")
	b.waitFor("[data-person=a2]") // without a reload
	b.enter("[data-link='3'] [data-revoke]")
	b.wait("location.hash === '#links' && document.querySelector('[data-link=\"3\"] [data-state]').innerText === 'revoked'")

	b.enter("[data-person=a1] summary")
	b.tabTo("[data-person=a1] input[value=count]")
	b.press(kb.ArrowDown)
	b.shot("people-remove-1280x800")
	person.pardon(regexp.MustCompile(`\b410\b`))
	b.enter("[data-person=a1] [data-remove]")
	b.wait("document.querySelector('[data-person=a1] [data-state]').innerText === 'removed; answers left out'")
	b.wait("document.querySelector('[data-answers]').textContent === '1'")
	person.wait("document.body.dataset.state === 'removed' && document.querySelector('[data-note-text]').innerText.includes('ended your part')")
	person.shot("removed-1280x800")
	person.accessible("removed annotator")
	person.open(link)
	person.waitFor("main[data-status='410']")
	person.shot("removed-page-1280x800")
	second.answer("2") // the others go on
	b.wait("document.querySelector('[data-answers]').textContent === '2'")
	b.noSideways(1280)
	b.phone()
	b.wait("innerWidth === 390")
	b.noSideways(390)
	b.tabTo("[data-person=a2] summary")
	b.shot("people-390x844")
	b.shot("people-answers-390x844")
	b.enter("[data-person=a1] [data-count]")
	b.wait("document.querySelector('[data-answers]').textContent === '5'")
}
