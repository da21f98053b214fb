package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestBrowserArena makes an arena of two sessions by the page, has two people answer by its link,
// and reads the result.
func TestBrowserArena(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	var links []string
	for _, title := range []string{"Alpha study", "Beta study"} {
		method := map[string]string{"Alpha study": "idrl", "Beta study": "uniform"}[title]
		_, link := newLink(t, data, addr, "--env", "chain", "--title", title, "--seed", "3", "--acquisition", method, "--train-every", "2", "--adopt-after", "1")
		links = append(links, link)
	}
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	for k, link := range links {
		if err := join(t, link, uint64(k)).Label(4); err != nil {
			t.Fatal(err)
		}
	}

	r := newPerson(t, browser)
	r.pardon(regexp.MustCompile("status of 400")) // of a form without policies
	r.open(server.find(t, `Researcher:\s+(\S+)`))
	r.enter("form button")
	r.waitFor("[data-new-arena]")
	r.do(chromedp.Click(chromedp.CSS("[data-new-arena]")))
	r.waitFor("form[data-form=arena]")
	r.enter("[data-create]")
	r.waitFor(".alert")
	if said := evaluate[string](r, "document.querySelector('.alert').innerText"); !strings.Contains(said, "2 to 20 policies; got 0") {
		t.Errorf("without policies it says %q", said)
	}
	r.do(chromedp.Click(chromedp.CSS("[data-choice]:nth-of-type(1) input[type=checkbox]")))
	r.do(chromedp.Click(chromedp.CSS("[data-choice]:nth-of-type(2) input[type=checkbox]")))
	r.do(chromedp.Click(chromedp.CSS("[data-choice]:nth-of-type(1) summary")))
	for _, size := range [][2]int64{{1280, 800}, {390, 844}, {844, 390}} {
		r.resize(size[0], size[1])
		r.noSideways(int(size[0]))
		r.inCells()
		r.shot(fmt.Sprintf("arena-form-%dx%d", size[0], size[1]))
	}
	r.accessible("the form of an arena")
	r.enter("[data-create]")
	r.waitFor("[data-result]")
	r.wait("document.querySelector('[data-headline]').innerText === 'There are no answers yet.'")
	id := regexp.MustCompile(`/sessions/(\w+)`).FindStringSubmatch(evaluate[string](r, "location.pathname"))[1]
	r.waitFor("[data-invite-link]")
	link := evaluate[string](r, "document.querySelector('[data-invite-link]').value")

	for k, keys := range [][]string{{kb.ArrowLeft, kb.ArrowRight, kb.ArrowUp, kb.ArrowLeft, kb.ArrowLeft}, {kb.ArrowRight, kb.ArrowRight, kb.ArrowDown, kb.ArrowLeft}} {
		b := newPerson(t, browser)
		b.join(link, fmt.Sprintf("Person %d", k+1))
		for _, key := range keys {
			b.answer(key)
		}
		b.undo(b.answer(kb.ArrowLeft))
		texts := strings.Join(append(b.overheard(), evaluate[string](b, "document.documentElement.outerHTML")), "\n")
		for _, secret := range []string{"Alpha", "Beta", "e1.", "e2.", "g0.p"} {
			if strings.Contains(texts, secret) {
				t.Errorf("an annotator's page or socket names %q", secret)
			}
		}
		b.secretive()
	}
	r.wait("document.querySelector('[data-sum]').innerText.startsWith('8 answers of 2 people; 1 equal')") // it follows by itself
	r.wait("document.querySelectorAll('[data-strengths] tbody tr').length === 2 && document.querySelectorAll('[data-pairs] tbody tr').length === 2")
	r.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('[data-fold=agreement] > summary').click()"))
	r.wait("document.querySelectorAll('[data-agreement] tbody tr').length === 2 && document.querySelector('[data-agreement]').innerText.includes('Person 1')")
	page := evaluate[string](r, "document.querySelector('[data-result]').innerText")
	report := arenaReport(t, data, id)
	if report.Answers != 8 || report.Ties != 1 || len(report.People) != 2 || !strings.Contains(page, chance(report.Entrants[0].Best)) {
		t.Errorf("the page says\n%s\nand the command %+v", page, report)
	}
	for _, size := range [][2]int64{{1280, 800}, {390, 844}, {844, 390}} {
		r.resize(size[0], size[1])
		r.noSideways(int(size[0]))
		r.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('[data-result]').scrollIntoView()"))
		r.shot(fmt.Sprintf("arena-%dx%d", size[0], size[1]))
	}
	r.accessible("the page of an arena")
	for _, format := range []string{"json", "csv", "answers"} {
		text := evaluate[string](r, fmt.Sprintf("fetch('/sessions/%s/arena?format=%s').then((r) => r.text())", id, format))
		if !strings.Contains(text, "Alpha study") {
			t.Errorf("the download %s is\n%s", format, text)
		}
	}
	r.open(strings.Split(link, "/join/")[0] + "/sessions")
	r.waitFor("[data-session='" + id + "']")
	if tags := evaluate[string](r, "document.querySelector(\"[data-session='"+id+"']\").innerText"); !strings.Contains(tags, "Blind arena") || !strings.Contains(tags, "2 policies") {
		t.Errorf("the list of sessions says %q", tags)
	}
}

// inCells reports parts of the form of an arena that are too narrow, or stand outside the cell of their session.
func (b *tab) inCells() {
	b.t.Helper()
	for _, fault := range evaluate[[]string](b, `[...document.querySelectorAll("[data-choice]")].flatMap((cell) => {
		const c = cell.getBoundingClientRect(), drawn = getComputedStyle(cell).borderLeftWidth;
		return [...cell.querySelectorAll("label, summary, details[open] input")].filter((e) => e.checkVisibility()).map((e) => [e, e.getBoundingClientRect()])
			.filter(([e, r]) => drawn !== "1px" || r.left < c.left || r.right > c.right || r.bottom > c.bottom || e.matches("label") && getComputedStyle(e).borderLeftWidth !== "0px" || e.matches("details input") && r.width < 160)
			.map(([e]) => e.outerHTML.slice(0, 90));
	})`) {
		b.t.Errorf("not in its cell, or too narrow: %s", fault)
	}
}

// chance writes a probability as the page does.
func chance(p float64) string { return fmt.Sprintf("%.0f %%", 100*p) }

// TestBrowserArenaOfRecordings makes an arena of recorded policies by the page, and reads the result in each task and group.
func TestBrowserArenaOfRecordings(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	importReachers(t, data, "reach")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	r := newPerson(t, browser)
	r.open(server.find(t, `Researcher:\s+(\S+)`))
	r.enter("form button")
	r.waitFor("[data-new-arena]")
	r.do(chromedp.Click(chromedp.CSS("[data-new-arena]")))
	r.waitFor("form[data-form=arena]")
	r.do(chromedp.Click(chromedp.CSS("[data-set=rollouts-reach] summary")))
	for n := 1; n <= 3; n++ {
		r.do(chromedp.Click(chromedp.CSS(fmt.Sprintf("[data-set=rollouts-reach] label:nth-of-type(%d) input", n))))
	}
	r.do(chromedp.Click(chromedp.CSS("details:has([name=task_groups]) summary")), chromedp.Click(chromedp.CSS("[name=task_groups]")))
	r.press("open the drawer,doors\rclose the door,doors")
	for _, size := range [][2]int64{{1280, 800}, {390, 844}, {844, 390}} {
		r.resize(size[0], size[1])
		r.noSideways(int(size[0]))
		r.shot(fmt.Sprintf("arena-of-recordings-form-%dx%d", size[0], size[1]))
	}
	r.accessible("the form of an arena of recordings")
	r.enter("[data-create]")
	r.waitFor("[data-result]")
	r.waitFor("[data-invite-link]")
	link := evaluate[string](r, "document.querySelector('[data-invite-link]').value")
	for k := range 2 {
		if err := join(t, link, uint64(k)).Label(12); err != nil {
			t.Fatal(err)
		}
	}
	r.wait("document.querySelector('[data-sum]').innerText.startsWith('24 answers of 2 people')")
	const rows = "[...document.querySelectorAll('[data-tasks] %s tr')].map((row) => row.dataset.task).join()"
	if groups := evaluate[string](r, fmt.Sprintf(rows, "[data-groups]")); groups != "doors" {
		t.Errorf("the groups of tasks are %q", groups)
	}
	if tasks := strings.Split(evaluate[string](r, fmt.Sprintf(rows, "tbody:not([data-groups])")), ","); len(tasks) != 4 {
		t.Errorf("the tasks are %q", tasks)
	}
	for _, size := range [][2]int64{{1280, 800}, {390, 844}, {844, 390}} {
		r.resize(size[0], size[1])
		r.noSideways(int(size[0]))
		r.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('[data-tasks]').scrollIntoView()"))
		r.shot(fmt.Sprintf("arena-of-recordings-%dx%d", size[0], size[1]))
	}
	r.accessible("the page of an arena of recordings")
}

// TestBrowserArenaOfUploads makes an arena of policies that acted in uploads by the page. A session without them says what to upload; an annotator's page and socket name neither policies nor starts.
func TestBrowserArenaOfUploads(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	mustCLI(t, "session", "create", "--data", data, "--env", "gridworld", "--title", "Other")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	bare, u := newUploader(t, data, "http://"+addr), newUploader(t, data, "http://"+addr)
	bare.upload(2, "", "")
	u.upload(3, "secret-slow", "secret-fast")
	r := newPerson(t, browser)
	r.open(server.find(t, `Researcher:\s+(\S+)`))
	r.enter("form button")
	r.waitFor("[data-new-arena]")
	r.do(chromedp.Click(chromedp.CSS("[data-new-arena]")))
	r.waitFor("form[data-form=arena]")
	r.do(chromedp.Click(chromedp.CSS("[data-set='" + bare.session + "'] summary")))
	r.wait("document.querySelector('[data-wrong]').innerText.includes('upload trajectories that name the policy')")
	r.do(chromedp.Click(chromedp.CSS("[data-set='" + u.session + "'] summary")))
	for n := 1; n <= 2; n++ {
		r.do(chromedp.Click(chromedp.CSS(fmt.Sprintf("[data-set='%s'] label:nth-of-type(%d) input", u.session, n))))
	}
	for _, size := range [][2]int64{{1280, 800}, {390, 844}} {
		r.resize(size[0], size[1])
		r.noSideways(int(size[0]))
		r.shot(fmt.Sprintf("arena-of-uploads-form-%dx%d", size[0], size[1]))
	}
	r.accessible("the form of an arena of uploads")
	r.enter("[data-create]")
	r.waitFor("[data-result]")
	r.wait("document.querySelector('main').innerText.includes('matched by start')") // the clips are made
	page := evaluate[string](r, "document.querySelector('main').innerText")
	for _, want := range []string{keptSentence, "in 1 task, matched by start", "in 1 task, drawn at random", "secret-fast"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
	r.accessible("the page of an arena of uploads")
	r.waitFor("[data-invite-link]")
	b := newPerson(t, browser)
	b.join(evaluate[string](r, "document.querySelector('[data-invite-link]').value"), "Person")
	b.answer(kb.ArrowLeft)
	b.commit(kb.ArrowRight) // for some seeds all other questions look like one of these two
	b.wait("document.body.dataset.answered === '2' && document.body.dataset.unsent === '0'")
	texts := strings.Join(append(b.overheard(), evaluate[string](b, "document.documentElement.outerHTML")), "\n")
	for _, secret := range []string{"secret", "seed-", "e1.", u.session} {
		if strings.Contains(texts, secret) {
			t.Errorf("an annotator's page or socket names %q", secret)
		}
	}
	if !strings.Contains(texts, "the dot") {
		t.Error("an annotator is not told the task")
	}
	b.secretive()
	r.wait("document.querySelector('[data-sum]').innerText.startsWith('2 answers of one person')")
}
