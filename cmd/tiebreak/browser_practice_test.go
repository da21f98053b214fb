package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// judge gives the right answer to the question on the researcher's page.
func (b *tab) judge(answer, note, use string) {
	b.t.Helper()
	b.wait("document.querySelectorAll('[data-judge] clip-loop:not([data-empty])').length === 2")
	before := evaluate[string](b, "document.querySelector('[data-sum]').textContent")
	b.tabTo("[data-judge] input[value=a]")
	for range map[string]int{"a": 1, "equal": 2, "b": 3}[answer] { // Space takes the first, arrows the next
		if evaluate[bool](b, "document.querySelector('[data-judge] input:checked') === null") {
			b.press(" ")
		} else {
			b.press(kb.ArrowRight)
		}
	}
	b.tabTo("[data-judge] input[name=note]")
	b.press(note)
	b.enter("[data-judge] button[value=" + use + "]")
	b.wait(fmt.Sprintf("(document.querySelector('[data-sum]')?.textContent ?? %q) !== %[1]q", before))
}

// exercised is what an export tells of a practice answer.
type exercised struct {
	Annotator string `json:"annotator_id"`
	Version   int    `json:"known_version"`
	Choice    string
	Right     *bool
	Input     string
}

func practised(t *testing.T, data string) (out []exercised) {
	t.Helper()
	status, lines, stderr := cli(t, "export", "--data", data, "--session", sessionIn(t, data), "--format", "practice")
	if status != 0 {
		t.Fatalf("export: %s", stderr)
	}
	for line := range strings.Lines(lines) {
		var e exercised
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		out = append(out, e)
	}
	return out
}

// sessionIn returns the id of the only session of a data folder.
func sessionIn(t *testing.T, data string) string {
	t.Helper()
	_, list, _ := cli(t, "export", "--data", data)
	return strings.Fields(list)[0]
}

// TestBrowserPractice: a researcher gives the right answers; a person practises before their
// first question, through a reload and while the server is away, hears what the researcher
// says, and may practise again.
func TestBrowserPractice(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "driver", "--title", "Drive")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	r := newPerson(t, browser)
	r.open(server.find(t, `Researcher\S*.*?(http\S+)`))
	r.enter("[data-signin]")
	r.waitFor("[data-new]")
	r.open("http://" + addr + "/sessions/" + id + "/known")
	r.insist("document.querySelector('[data-judge] clip-loop') !== null", func() { r.open("http://" + addr + "/sessions/" + id + "/known") })
	r.judge("a", "It goes further.", "practice")
	r.judge("equal", "", "practice")
	r.judge("b", "Hidden.", "gold")
	r.noSideways(1280)
	r.shot("known-1280x800")
	r.phone()
	r.noSideways(390)
	r.shot("known-390x844")
	r.accessible("practice and gold questions")

	b := newPerson(t, browser)
	said := func(what string) {
		t.Helper()
		b.waitFor("[data-practice-dialog][open]")
		if got := evaluate[string](b, "document.querySelector('[data-practice-dialog]').innerText"); !strings.Contains(got, what) {
			t.Errorf("after the answer the page says %q, want %q in it", got, what)
		}
	}
	on := func(place string) {
		t.Helper()
		b.wait(fmt.Sprintf("(({practice, painted, gate}) => practice === %q && painted === 'true' && gate === 'open')(document.body.dataset)", place))
	}
	b.join(link, "Ada")
	on("1/2")
	b.wait("document.querySelector('[data-announce]').textContent.includes('Practice 1 of 2')")
	if got := evaluate[string](b, "document.querySelector('h1').innerText"); !strings.Contains(got, "Practice 1 of 2") || !strings.Contains(got, "Which clip do you prefer?") {
		t.Errorf("the heading is %q", got)
	}
	b.part("keyboard", func() {
		b.press(kb.ArrowUp)
		said("Not quite")
		said("It goes further.")
		b.accessible("practice answer")
		b.press(kb.Enter)
		on("2/2")
	})
	b.part("reload", func() {
		b.open(evaluate[string](b, "location.href"))
		on("2/2")
		b.accessible("practice question")
	})
	b.part("server away", func() {
		b.ahead(3)
		b.expectAway(true)
		server.kill()
		b.wait("document.body.dataset.state === 'offline'")
		b.press(kb.ArrowUp)
		said("That is right")
		said("The researcher says: Equal.")
		b.press(kb.Enter)
		b.wait("document.body.dataset.practice === '' && document.body.dataset.painted === 'true'")
		b.commit(kb.ArrowLeft)
		if n := len(practised(t, data)); n != 1 {
			t.Errorf("%d practice answers are stored while the server is away, want 1", n)
		}
	})
	startServer(t, "serve", "--data", data, "--addr", addr)
	b.wait("document.body.dataset.answered === '1' && document.body.dataset.unsent === '0'")
	b.expectAway(false)
	b.part("practise again", func() {
		b.press("?")
		b.waitFor("[data-help-dialog][open]")
		b.enter("[data-practise]")
		on("1/2")
		b.press("s")
		b.waitFor("[data-skip-dialog][open]")
		b.press("3")
		said("The researcher’s answer")
		b.press(kb.Escape)
		on("2/2")
		b.press(kb.ArrowDown)
		said("The researcher’s answer")
		b.press(kb.Enter)
		b.wait("document.body.dataset.practice === '' && document.body.dataset.assignment.startsWith('" + id + "')")
	})
	b.secretive()
	b.until("all practice answers are stored", func(context.Context) bool { return len(practised(t, data)) == 4 })
	got := ""
	for _, e := range practised(t, data) {
		right := "-"
		if e.Right != nil {
			right = fmt.Sprint(*e.Right)
		}
		got += fmt.Sprintf("%s %d %s %s %s; ", e.Annotator, e.Version, e.Choice, right, e.Input)
	}
	if want := "a1 1 equal false keyboard; a1 2 equal true keyboard; a1 1 skip - keyboard; a1 2 cant_tell - keyboard; "; got != want {
		t.Errorf("practice answers %q, want %q", got, want)
	}
	if rows := records(t, data, ""); len(rows) != 1 {
		t.Errorf("%d answers in the log, want 1: practice is none", len(rows))
	}
}

// TestBrowserFirstMinute: a newcomer sees an example clip with what it shows, and practises twice
// with clips that the program chose. What they did is said, and never that it was right; nothing of
// it is recorded.
func TestBrowserFirstMinute(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "driver", "--title", "Drive")
	startServer(t, "serve", "--data", data, "--addr", addr)
	first := newPerson(t, browser)
	first.join(link, "Ada") // so that there are clips
	for _, w := range []window{usual[0], usual[1]} {
		b := newPerson(t, browser)
		b.open(link)
		b.arranged(w)
		b.wait("document.querySelector('clip-loop:not([data-empty])') !== null")
		b.shot(fmt.Sprintf("example-%dx%d", w.width, w.height))
		b.accessible("an example clip")
		b.enter("[data-example-play]")
		b.wait("!document.querySelector('clip-loop').hasAttribute('data-playing')")
		b.enter("[data-legend] summary")
		b.enter("[data-start]")
		for k := range 2 {
			b.wait(fmt.Sprintf("(({practice, painted, gate}) => practice === '%d/2' && painted === 'true' && gate === 'open')(document.body.dataset)", k+1))
			b.arranged(w) // another page has its own
			b.shot(fmt.Sprintf("practice-%d-%dx%d", k+1, w.width, w.height))
			b.noSideways(int(w.width))
			if k == 0 {
				b.press("?")
				b.wait("document.querySelector('[data-help-dialog] [data-legend]').open") // as on the page before
				b.shot(fmt.Sprintf("practice-help-%dx%d", w.width, w.height))
				b.press(kb.Escape)
				b.wait("document.body.dataset.gate === 'open'")
			}
			b.insist("document.querySelector('[data-practice-dialog]').open", func() { b.press("e") })
			text := evaluate[string](b, "document.querySelector('[data-practice-dialog]').innerText")
			if !strings.Contains(text, "You answered: Equal.") || strings.Contains(text, "That is right") || strings.Contains(text, "Not quite") || strings.Contains(text, "researcher") {
				t.Errorf("after the answer the page says %q", text)
			}
			b.shot(fmt.Sprintf("practice-said-%d-%dx%d", k+1, w.width, w.height))
			b.accessible("after practice")
			b.press(kb.Enter)
		}
		b.wait("document.body.dataset.practice === '' && document.body.dataset.assignment.startsWith('" + id + "')")
		b.painted()
		b.secretive()
		b.open(evaluate[string](b, "location.href"))
		b.wait("document.body.dataset.painted === 'true'")
		if got := evaluate[string](b, "document.body.dataset.practice"); got != "" {
			t.Errorf("after a reload practice %q comes again", got)
		}
	}
	if rows := records(t, data, ""); len(rows) != 0 || len(practised(t, data)) != 0 {
		t.Errorf("%d answers in the log and %d of practice, want none", len(rows), len(practised(t, data)))
	}
}
