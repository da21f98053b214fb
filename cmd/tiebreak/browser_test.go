package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// candidateID matches the id of a candidate policy, which no annotator may see.
var candidateID = regexp.MustCompile(`\bg\d+\.p\d+\b`)

// An exported answer, as far as these tests look at it.
type exported struct {
	GroupID   string `json:"group_id"`
	PositionA int    `json:"position_a"`
	PositionB int    `json:"position_b"`
	Label     string `json:"label_id"`
	Seq       int    `json:"seq"`
	Choice    string `json:"choice"`
	Left      string `json:"left"`
	Reason    string `json:"reason"`
	Input     string `json:"input"`
	Rating    float64
	WrongMS   int64  `json:"wrong_ms"`
	Kind      string `json:"kind"`
	Withdrawn bool
	Much      *bool
	Remark    string

	Instructions int   `json:"instructions_version"`
	HiddenMS     int64 `json:"hidden_ms"`
}

// records returns the records of a session; id "" means the only one.
func records(t *testing.T, data, id string) []exported {
	t.Helper()
	if id == "" {
		_, list, _ := cli(t, "export", "--data", data)
		if strings.Count(list, "\n") != 1 {
			t.Fatalf("not one session:\n%s", list)
		}
		id = strings.Fields(list)[0]
	}
	status, out, stderr := cli(t, "export", "--data", data, "--session", id, "--format", "jsonl")
	if status != 0 {
		t.Fatalf("export: %s", stderr)
	}
	var rows []exported
	for line := range strings.Lines(out) {
		var r exported
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		rows = append(rows, r)
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.Label] {
			t.Errorf("answer %s is there twice", r.Label)
		}
		seen[r.Label] = true
	}
	return rows
}

// join opens an annotator's link and starts, by keyboard.
func (b *tab) join(link, name string) {
	b.t.Helper()
	b.open(link)
	b.tabTo("input[name=name]")
	b.press(name)
	b.enter("[data-start]")
	b.painted()
}

// secretive fails if the annotator's page or sockets name a candidate policy.
func (b *tab) secretive() {
	b.t.Helper()
	texts := append(b.overheard(), evaluate[string](b, "document.documentElement.outerHTML"))
	queries, _ := b.asked()
	for _, q := range queries {
		for _, url := range q.Clips {
			texts = append(texts, evaluate[string](b, fmt.Sprintf("fetch(%q).then((r) => r.text())", url)))
		}
	}
	for _, text := range texts {
		if id := candidateID.FindString(text); id != "" {
			b.t.Errorf("the annotator's page has the candidate %s in %.300s", id, text)
		}
	}
}

func TestBrowserAnnotator(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	b := newPerson(t, browser)
	program(t) // built before the clock starts
	data, began := t.TempDir(), time.Now()
	server := startServer(t, "demo", "--data", data, "--addr", freeAddr(t))
	b.join(server.find(t, `Annotator:\s+(\S+)`), "Ada")
	// The goal is 10 s; a loaded machine may take longer, so it is reported.
	t.Logf("the first pair of clips was on screen %v after the start of the server", time.Since(began).Round(time.Millisecond))
	b.moving("duo-player canvas", 2, 2)
	b.fits(1280, 800)
	b.shot("label-1280x800")

	var keys, assignments []string // of the answers that stand, in order
	answer := func(key string) {
		t.Helper()
		keys, assignments = append(keys, key), append(assignments, b.answer(key))
	}
	for _, key := range []string{kb.ArrowLeft, kb.ArrowRight, kb.ArrowUp, kb.ArrowDown, "a", "d"} {
		answer(key)
	}
	b.moving("duo-player canvas", 2, 2)
	b.undo(b.answer(kb.ArrowRight))
	b.shot("undo-1280x800")
	answer(kb.ArrowLeft)
	b.readInstructions()
	answer(kb.ArrowRight)
	skipped := b.skip("2")
	answer("w")
	b.secretive()

	rows := slices.DeleteFunc(records(t, data, ""), func(r exported) bool { return r.Withdrawn })
	if want := len(keys) + 1; len(rows) != want {
		t.Fatalf("%d answers stand in the export, want %d", len(rows), want)
	}
	for _, r := range rows {
		if r.Input != "keyboard" {
			t.Errorf("an answer came by %s", r.Input)
		}
	}
	asked, _ := b.asked()
	if i := len(rows) - 2; rows[i].Choice != "skip" || rows[i].Reason != "offensive" {
		t.Errorf("the skip of %s is exported as %+v", skipped, rows[i])
	}
	rows = slices.Delete(rows, len(rows)-2, len(rows)-1)
	for i, key := range keys {
		left := asked[assignments[i]].Left
		right := map[string]string{"a": "b", "b": "a"}[left]
		want := map[string]string{
			kb.ArrowLeft: left, "a": left, kb.ArrowRight: right, "d": right,
			kb.ArrowUp: "equal", "w": "equal", kb.ArrowDown: "cant_tell",
		}[key]
		if rows[i].Choice != want || rows[i].Left != left {
			t.Errorf("answer %d, key %q: choice %s, left %s; want %s, %s", i, key, rows[i].Choice, rows[i].Left, want, left)
		}
	}
}

// undo takes back the last answer, which was to the assignment.
func (b *tab) undo(assignment string) {
	b.t.Helper()
	before := b.painted()
	asked, _ := b.asked()
	first := asked[assignment]
	n, _ := strconv.Atoi(before["answered"])
	b.press("z")
	b.wait(fmt.Sprintf("document.body.dataset.answered === '%d' && document.body.dataset.unsent === '0' && document.body.dataset.assignment !== %q",
		n-1, before["assignment"]))
	now := b.painted()["assignment"]
	asked, _ = b.asked()
	again := asked[now]
	if !slices.Equal(again.Clips, first.Clips) || again.Left != first.Left {
		b.t.Errorf("after the undo %v is on screen, want %v", again, first)
	}
}

// readInstructions opens and closes them; what is pressed meanwhile must not
// reach the question.
func (b *tab) readInstructions() {
	b.t.Helper()
	before := b.painted()
	b.press("?")
	b.waitFor("dialog[data-help-dialog]")
	if !evaluate[bool](b, "document.querySelector('[data-help-dialog]').contains(document.activeElement)") {
		b.t.Error("the open instructions do not have the focus")
	}
	b.press(kb.ArrowLeft + "z")
	b.fits(1280, 800)
	b.shot("instructions-1280x800")
	b.press(kb.Escape)
	b.wait("!document.querySelector('dialog[open]') && document.activeElement === document.body")
	if after := b.painted(); after["assignment"] != before["assignment"] || after["answered"] != before["answered"] {
		b.t.Errorf("keys went through the instructions: %v became %v", before, after)
	}
}

// skip skips the question on screen and gives a reason.
func (b *tab) skip(reason string) string {
	b.t.Helper()
	was := b.painted()["assignment"]
	b.insist("document.querySelector('[data-skip-dialog]').open", func() { b.press("s") })
	b.shot("skip-1280x800")
	b.press(reason)
	b.wait(fmt.Sprintf("document.body.dataset.assignment !== %q", was))
	b.painted()
	return was
}

func TestBrowserTelephone(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	_, rating := newLink(t, data, addr, "--env", "driver", "--kind", "clip_rating")
	server := startServer(t, "demo", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.phone()
	b.join(server.find(t, `Annotator:\s+(\S+)`), "Bo")
	b.moving("duo-player canvas", 2, 2)
	b.fits(390, 844)
	b.shot("label-390x844")
	before := b.data()["assignment"]
	b.wait(playing)
	b.do(chromedp.Tap(chromedp.CSS("[data-side=right] canvas"))) // pauses, and answers nothing
	b.wait("!(" + playing + ")")
	if now := b.data()["assignment"]; now != before {
		t.Errorf("a tap on a clip answered %s", before)
	}
	b.insist(fmt.Sprintf("document.body.dataset.assignment !== %q", b.data()["assignment"]), func() {
		b.do(chromedp.Tap(chromedp.CSS("button[data-choice=left]")))
	})
	b.wait("document.body.dataset.answered === '1'")

	b.open(rating)
	b.enter("[data-start]")
	b.painted()
	b.fits(390, 844)
	b.shot("rating-390x844")
}

func TestBrowserAway(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	server := startServer(t, "demo", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.join(server.find(t, `Annotator:\s+(\S+)`), "Cyd")
	b.answer(kb.ArrowLeft)
	b.answer(kb.ArrowRight)

	b.ahead(3)
	b.expectAway(true)
	server.kill()
	b.wait("document.body.dataset.state === 'offline'")
	b.commit(kb.ArrowLeft)
	b.commit(kb.ArrowUp)
	if n := b.data()["unsent"]; n != "2" {
		t.Errorf("%s answers are unsent, want 2", n)
	}
	b.wait("/not reachable.*2 unsent/.test(document.querySelector('[data-banner]:not([hidden])')?.innerText)")
	b.fits(1280, 800)
	b.shot("away-1280x800")

	startServer(t, "demo", "--data", data, "--addr", addr)
	b.wait("document.body.dataset.unsent === '0' && document.body.dataset.answered === '4'")
	b.painted()
	b.expectAway(false)
	b.wait("document.querySelector('[data-banner]').hidden")
	b.answer(kb.ArrowRight)
	if rows := records(t, data, ""); len(rows) != 5 || rows[3].Choice != "equal" {
		t.Errorf("the export has %+v, want 5 answers, the fourth equal", rows)
	}
}

func TestBrowserTwoTabs(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data := t.TempDir()
	server := startServer(t, "demo", "--data", data, "--addr", freeAddr(t))
	b := newPerson(t, browser)
	b.join(server.find(t, `Annotator:\s+(\S+)`), "Dot")
	other := newTab(t, b.ctx)
	other.open(evaluate[string](b, "location.href"))
	if here, there := b.painted()["assignment"], other.painted()["assignment"]; here != there {
		t.Errorf("two tabs of one person show the questions %s and %s", here, there)
	}
	for i, tabs := range [][2]*tab{{b, other}, {other, b}, {b, other}} {
		tabs[0].answer(kb.ArrowLeft)
		tabs[1].wait(fmt.Sprintf("document.body.dataset.answered === '%d' && document.body.dataset.painted === 'true'", i+1))
		tabs[1].wait(fmt.Sprintf("document.body.dataset.assignment === %q", tabs[0].data()["assignment"]))
	}
	if rows := records(t, data, ""); len(rows) != 3 {
		t.Errorf("%d answers in the export, want 3", len(rows))
	}
}

// newLink makes a session and returns its id and the annotator's link.
func newLink(t *testing.T, data, addr string, flags ...string) (id, link string) {
	t.Helper()
	status, stdout, stderr := cli(t, append([]string{"session", "--data", data, "--addr", addr}, flags...)...)
	if status != 0 {
		t.Fatalf("session: %s", stderr)
	}
	m := regexp.MustCompile(`Session:\s+(\S+)\s+Annotator:\s+(\S+)`).FindStringSubmatch(stdout)
	if m == nil {
		t.Fatalf("no link in:\n%s", stdout)
	}
	return m[1], m[2]
}

func TestBrowserQueryTypes(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	rating, rateLink := newLink(t, data, addr, "--env", "driver", "--kind", "clip_rating", "--title", "Rate some drives")
	pair, pairLink := newLink(t, data, addr, "--env", "gridworld", "--kind", "state_comparison", "--title", "Which place is better?")
	clips, clipsLink := newLink(t, data, addr, "--env", "gridworld", "--kind", "clip_comparison", "--title", "Walk the grid")
	startServer(t, "serve", "--data", data, "--addr", addr)

	b := newPerson(t, browser)
	b.join(rateLink, "Eve")
	b.moving("duo-player canvas", 1, 1)
	b.fits(1280, 800)
	b.shot("rating-1280x800")
	b.answer("8")
	b.answer("=")
	if rows := records(t, data, rating); len(rows) != 2 || rows[0].Rating != 0.6 || rows[1].Rating != 1 {
		t.Errorf("8 and 10 of 10 are exported as %+v", rows)
	}

	b = newPerson(t, browser)
	b.join(pairLink, "Fay")
	b.fits(1280, 800)
	b.shot("gridworld-states-1280x800")
	b.answer(kb.ArrowRight)
	b.answer(kb.ArrowLeft)
	b.secretive()
	if rows := records(t, data, pair); len(rows) != 2 || rows[0].Choice == rows[0].Left || rows[1].Choice != rows[1].Left {
		t.Errorf("right and left are exported as %+v", rows)
	}

	b = newPerson(t, browser)
	b.join(clipsLink, "Gil")
	b.moving("duo-player canvas", 2, 1) // an agent may stay where it is
	b.fits(1280, 800)
	b.shot("gridworld-clips-1280x800")
	b.answer(kb.ArrowUp)
	if rows := records(t, data, clips); len(rows) != 1 || rows[0].Choice != "equal" {
		t.Errorf("equal is exported as %+v", rows)
	}
}

func TestBrowserResearcher(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data := t.TempDir()
	server := startServer(t, "demo", "--data", data, "--addr", freeAddr(t))
	link := server.find(t, `Annotator:\s+(\S+)`)
	simulate := func(answers int) {
		t.Helper()
		if status, _, stderr := cli(t, "simulate", "--url", link, "--answers", strconv.Itoa(answers)); status != 0 {
			t.Fatalf("simulate: %s", stderr)
		}
	}
	simulate(9)
	b := newPerson(t, browser)
	b.open(server.find(t, `Researcher\S*.*?(http\S+)`))
	b.enter("[data-signin]")
	b.waitFor("[data-new]")
	b.shot("sessions-1280x800")
	b.enter("[data-session] a")
	b.wait("(({connection, seq}) => connection === 'open' && seq === '9')(document.querySelector('main').dataset)")
	b.overview()
	b.showsBelief()
	b.page("asked")
	simulate(2) // the page follows
	b.wait("document.querySelector('main').dataset.seq === '11' && document.querySelector('[data-answers]').textContent === '11'")
	if !candidateID.MatchString(evaluate[string](b, "document.querySelector('[data-recent]').innerText")) {
		t.Error("the table does not say which candidates a question tells apart")
	}
	b.page("learning")
	b.noSideways(1280)
	b.shot("dashboard-1280x800")
	b.page("learnt")
	b.insist("document.activeElement.matches('[data-candidates] .interval-row:last-child[aria-pressed=true]')", func() {
		b.enter("[data-candidates] .interval-row:last-child") // another candidate; new ones may have taken its place
	})
	b.moving("[data-compared] canvas", 2, 1)
	b.shot("dashboard-candidates-1280x800")
	was := evaluate[string](b, "document.activeElement.dataset.id")
	simulate(3) // after three answers the candidates are others
	b.wait(fmt.Sprintf("document.querySelector('[data-candidates] .interval-row[data-id=%q]') === null", was))
	if !evaluate[bool](b, "document.activeElement.matches('[data-candidates] .interval-row')") {
		t.Error("the keyboard has lost its place among the candidates")
	}
	b.do(chromedp.Evaluate[chromedp.Void]("scrollTo(0, 0)"))
	b.phone()
	b.wait("innerWidth === 390")
	b.noSideways(390)
	b.shot("dashboard-390x844")
	b.resize(1280, 800)

	b.enter(".back-link")
	b.enter("[data-new]")
	b.fillForm()
	b.waitFor("[data-invite-link]") // of the new session; that of the button is another one
	first := evaluate[string](b, "document.querySelector('[data-invite-link]').value")
	b.enter("[data-invite]")
	b.wait(fmt.Sprintf("document.readyState !== 'loading' && (document.querySelector('[data-invite-link]')?.value ?? %q) !== %[1]q", first))
	invited := newPerson(t, browser)
	invited.join(evaluate[string](b, "document.querySelector('[data-invite-link]').value"), "Hal")
	invited.fits(1280, 800)
	invited.shot("gridworld-rating-1280x800")
	invited.answer("3")
	invited.answer("0")
	invited.secretive()
	b.wait("document.querySelector('main[data-page=people]').dataset.seq === '2'") // to which the link has led
	b.wait("document.querySelectorAll('[data-annotators] tbody tr').length === 1")
	if left := b.choseLeft(); left != "–" {
		t.Errorf("ratings, of one clip each, were won by the left one on a share of %q", left)
	}
	b.shot("gridworld-dashboard-1280x800")
	rows := records(t, data, evaluate[string](b, "document.querySelector('main').dataset.session"))
	if len(rows) != 2 || rows[0].Rating != -0.4 || rows[1].Rating != -1 {
		t.Errorf("3 and 0 of 10 are exported as %+v", rows)
	}
}

// showsBelief waits until everything that was learnt is on the pages of the session.
func (b *tab) showsBelief() {
	b.t.Helper()
	b.page("learning")
	// After nine answers of one sure mind all candidates may be one policy, and are then shown as one.
	b.wait("document.querySelectorAll('[data-place=candidates] circle').length >= 1")
	b.wait("document.querySelectorAll('[data-place=weights] circle').length >= 3")
	b.wait("document.querySelector('[data-place=regret] path[fill=none]')?.getTotalLength() > 10")
	b.wait("/% sure that the best policy found is within 5.% of the best one known/.test(document.querySelector('[data-headline]').innerText)")
	b.wait("document.querySelector('[data-relative]').innerText.includes('policies solved so far')")
	b.wait("[...document.querySelectorAll('.charted svg text')].every((e) => e.getBoundingClientRect().left >= e.closest('svg').getBoundingClientRect().left)")
	b.figures()
	b.page("asked")
	b.wait("document.querySelectorAll('[data-recent] tbody tr').length >= 9")
	b.page("people")
	b.wait("document.querySelectorAll('[data-annotators] tbody tr').length === 1")
	if left := b.choseLeft(); !strings.Contains(left, "%") {
		b.t.Errorf("nine comparisons were won by the left clip on a share of %q", left)
	}
}

// figures looks at the figures of the page of learning: another scale, on the page and in the file, the numbers as a table by the
// keyboard, which stays open and where it is when others come, other colours in the dark, and readable letters on a phone.
func (b *tab) figures() {
	b.t.Helper()
	const svg = "document.querySelector('[data-place=regret] svg')"
	b.wait(svg + ".innerHTML.match(/<title>after [0-9]+ answers?:/g).length >= 9")
	b.enter("[data-log]")
	b.wait("/logarithmic/.test(" + svg + "?.querySelector('desc').textContent)")
	if !evaluate[bool](b, "fetch(document.querySelector('.regret a[href*=svg]').href).then((r) => r.text()).then((file) => /logarithmic/.test(file))") {
		b.t.Error("the file has another scale than the page")
	}
	b.enter("[data-log]")
	b.wait("!/logarithmic/.test(" + svg + "?.querySelector('desc').textContent)")
	b.enter("[data-place=regret] summary")
	b.wait("document.querySelectorAll('[data-place=regret] details[open] tbody tr').length >= 9 && document.querySelector('[data-place=regret] table').checkVisibility()")
	light := evaluate[string](b, "getComputedStyle("+svg+".querySelector('path[fill=none]')).stroke")
	b.scheme("dark")
	b.wait(fmt.Sprintf("getComputedStyle(%s.querySelector('path[fill=none]')).stroke !== %q", svg, light))
	b.scheme("")
	b.do(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()")) // nothing is replaced under the keyboard
	b.phone()
	b.wait(svg + "?.viewBox.baseVal.width === 308")
	b.wait("[...document.querySelectorAll('.charted svg text')].every((e) => e.getBoundingClientRect().height >= 10)")
	b.resize(1280, 800)
	b.wait(svg + "?.viewBox.baseVal.width === 480")
}

// overview fails unless the first page of a session answers five questions without scrolling, after nine answers.
func (b *tab) overview() {
	b.t.Helper()
	b.wait("/^Expected loss if you stop: .* before the first answer, .* now/.test(document.querySelector('[data-learns]').innerText)")
	b.wait("/% sure that the best policy found is within 5.% of the best one known/.test(document.querySelector('[data-headline]').innerText)")
	b.wait("document.querySelector('[data-stop]').innerText.length > 10")
	b.waitFor(".leader [data-playing] canvas")
	b.moving(".leader canvas", 1, 1)
	b.wait("document.querySelector('[data-likes]').innerText.length > 10")
	b.wait("/^One person has joined; (nobody|one) has the page open now/.test(document.querySelector('[data-well]').innerText)")
	b.wait("document.querySelector('[data-latest]').innerText.startsWith('The last answer came ')")
	b.waitFor(".gives [data-export=bundle]")
	for _, low := range evaluate[[]string](b, "[...document.querySelectorAll('.five > *')].filter((e) => e.getBoundingClientRect().bottom > innerHeight).map((e) => `${e.className}: ${Math.round(e.getBoundingClientRect().bottom)}`)") {
		b.t.Errorf("below the first screen: %s of %d pixels", low, evaluate[int](b, "innerHeight"))
	}
	b.shot("overview-1280x800")
}

// page opens another page of the session that is shown, by its link.
func (b *tab) page(name string) {
	b.t.Helper()
	link := fmt.Sprintf(".tabs a[href$='/%s']", name)
	if name == "overview" {
		link = ".tabs a:first-child"
	}
	b.enter(link)
	b.waitFor(fmt.Sprintf("main[data-page=%s][data-connection=open]", name))
}

// choseLeft returns what the dashboard says of the first annotator's sides.
func (b *tab) choseLeft() string {
	b.t.Helper()
	const column = "[...document.querySelectorAll('[data-annotators] th')].findIndex((e) => e.textContent === 'Chose left')"
	return evaluate[string](b, "document.querySelectorAll('[data-annotators] tbody tr:first-child td')["+column+"].innerText")
}

// fillForm makes a session of gridworld's state ratings, by keyboard.
func (b *tab) fillForm() {
	b.t.Helper()
	b.tabTo("input[name=title]")
	b.press("Where is it good?")
	b.choose("env", "gridworld")
	b.choose("kind", "state_rating")
	b.tabTo("textarea[name=instructions]")
	b.press("Fruit is good." + kb.Enter + "Thorns are not." + kb.Enter)
	b.choose("who", "lab")
	b.shot("form-1280x800")
	b.enter("[data-create]")
	b.wait("document.querySelector('main[data-connection=open] h1')?.innerText === 'Where is it good?'")
}
