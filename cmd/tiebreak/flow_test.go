package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A surface shows a page in some browser. Its methods fail the test where they cannot do what
// they say.
type surface interface {
	open(url string)
	// ask returns the value of a JavaScript expression, awaited, as JSON.
	ask(expression string) (json.RawMessage, error)
	// find returns the first node of the accessibility tree with a role and a name, "" for none. What is
	// hidden, or lies behind a dialog, is not in that tree.
	find(role, name string) string
	// askOf returns what a JavaScript function returns for a node that was found, awaited, as JSON.
	askOf(node, function string) json.RawMessage
	// strike presses a key and lets go of it. The key is named as in KeyboardEvent.key.
	strike(key string)
	// touch puts a finger on a point, moves it to another and lifts it. Coordinates are of the view.
	touch(x, y, toX, toY float64)
}

// A control is something on a page that people operate.
type control struct {
	role, name string
	key        string // that operates it from anywhere on the page; "" if it must have the focus
}

func button(name, key string) control { return control{"button", name, key} }

// A hand operates the controls of a page in one way only.
type hand interface {
	input() string // what answers are recorded to have come by
	use(p *passage, c control)
	write(p *passage, c control, text string)
}

// A passage is a person's way through all that annotators do.
type passage struct {
	t *testing.T
	w surface
	hand
	narrow bool // a small screen
}

// value returns the value of an expression on the page.
func value[T any](p *passage, expression string) T {
	p.t.Helper()
	raw, err := p.w.ask(expression)
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return decoded[T](p, raw)
}

func decoded[T any](p *passage, raw json.RawMessage) T {
	p.t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		p.t.Fatalf("%v in %s", err, raw)
	}
	return v
}

// wait waits until an expression is true, also across pages.
func (p *passage) wait(expression string) {
	p.t.Helper()
	p.until(expression, func() bool {
		raw, err := p.w.ask(expression)
		return err == nil && string(raw) == "true" // it may fail on the way to another page
	})
}

// until waits until done returns true.
func (p *passage) until(what string, done func() bool) {
	p.t.Helper()
	retry := time.NewTicker(15 * time.Millisecond)
	defer retry.Stop()
	for end := time.Now().Add(patience); !done(); <-retry.C {
		if time.Now().After(end) {
			where, err := p.w.ask("location.href + ' ' + JSON.stringify({...document.body.dataset}) + document.body.innerText.slice(0, 800)")
			p.t.Fatalf("after %v it is not true that %s\nat %s %v", patience, what, where, err)
		}
	}
}

// node waits for a control and returns its node.
func (p *passage) node(c control) string {
	p.t.Helper()
	var found string
	p.until(fmt.Sprintf("the tree has a %s named %q", c.role, c.name), func() bool {
		found = p.w.find(c.role, c.name)
		return found != ""
	})
	return found
}

// listens begins to note what the page tells screen readers: the next words may take their
// place before they are asked for.
func (p *passage) listens() {
	p.t.Helper()
	p.w.askOf(p.node(control{role: "status"}), `(e) => {
		if (!window.testHeard) new MutationObserver(() => window.testHeard.push(e.textContent)).observe(e, { childList: true, characterData: true, subtree: true });
		window.testHeard = [];
		return true;
	}`)
}

// hears waits until the page has told screen readers all the words, since it was ready last.
func (p *passage) hears(words ...string) {
	p.t.Helper()
	var said string
	p.until(fmt.Sprintf("the live region says %q", words), func() bool {
		said = decoded[string](p, p.w.askOf(p.node(control{role: "status"}), "(e) => [...(window.testHeard ?? []), e.textContent].join(' ')"))
		for _, w := range words {
			if !strings.Contains(said, w) {
				return false
			}
		}
		return true
	})
}

// ready waits until a question takes answers and everything is saved. It returns how many
// answers are.
func (p *passage) ready() int {
	p.t.Helper()
	p.wait("(({gate, unsent, answered}) => gate === 'open' && unsent === '0' && answered !== undefined)(document.body.dataset)")
	p.listens()
	return value[int](p, "Number(document.body.dataset.answered)")
}

// answer operates a control that answers the question on screen.
func (p *passage) answer(c choice) {
	p.t.Helper()
	n := p.ready()
	was := value[string](p, "document.body.dataset.assignment")
	p.use(p, c.control)
	p.wait(fmt.Sprintf("(({unsent, answered, assignment}) => unsent === '0' && answered === '%d' && assignment !== %q)(document.body.dataset)", n+1, was))
	p.hears(c.said, "Next question.")
}

// A choice is an answer as it stands on the page.
type choice struct {
	control
	said string // to screen readers
}

// answers returns the answers to comparisons, and can't tell, as they are called on this screen.
func (p *passage) answers() (left, right, equal, cantTell choice) {
	if p.narrow { // one clip above the other, short names
		return choice{button("Upper", ""), "Upper."}, choice{button("Lower", ""), "Lower."},
			choice{button("Equal", ""), "Equal."}, choice{button("Can’t tell", ""), "Can’t tell."}
	}
	return choice{button("Left", "ArrowLeft"), "Left."}, choice{button("Right", "ArrowRight"), "Right."},
		choice{button("Equal both clear, neither better", "ArrowUp"), "Equal."},
		choice{button("Can’t tell cannot see or understand it", "ArrowDown"), "Can’t tell."}
}

// compares answers comparisons from the link to the last page, and does everything else that
// annotators do on the way.
func (p *passage) compares(link string) {
	p.reads(link)
	left, right, equal, cantTell := p.answers()
	p.answer(left)
	p.answer(equal)
	p.answer(cantTell)
	p.answer(right)
	p.takesBack()
	p.answer(left)
	p.readsAgain(left)
	p.skips()
	p.rests()
	p.changesMind(right)
	p.answer(right)
	p.ready()
	p.use(p, equal.control)
	p.finishes()
}

// reads opens a link, reads what to look for, and starts.
func (p *passage) reads(link string) {
	p.w.open(link)
	p.node(control{role: "heading", name: "What to look for"})
	p.node(control{role: "heading", name: "What you see"})
	p.write(p, control{role: "textbox", name: "Your name optional; only the researcher sees it"}, "Ann")
	p.starts()
	p.ready()
	p.node(control{role: "heading", name: "Which clip do you prefer?"})
	p.hears("Next question.")
}

// starts begins, and leaves out the practice questions that the program chose, if there are any.
func (p *passage) starts() {
	p.use(p, button("Start", ""))
	p.ready()
	if value[bool](p, "document.body.dataset.practice !== ''") {
		p.use(p, button("Skip practice", ""))
		p.wait("document.body.dataset.practice === ''")
	}
}

func (p *passage) takesBack() {
	n := p.ready()
	p.use(p, button("Undo", "z"))
	p.wait(fmt.Sprintf("document.body.dataset.answered === '%d'", n-1))
	p.hears("Answer withdrawn. You can answer again.")
}

// opens operates a control that opens a dialog.
func (p *passage) opens(c control, title string) {
	p.t.Helper()
	p.ready()
	p.use(p, c)
	p.node(control{role: "dialog", name: title})
}

func (p *passage) closes(c control) {
	p.t.Helper()
	p.use(p, c)
	p.wait("!document.querySelector('dialog[open]')")
}

// readsAgain opens and closes the instructions. The answer must be out of reach meanwhile.
func (p *passage) readsAgain(answer choice) {
	p.opens(button("Instructions", "?"), "What to look for")
	if p.w.find(answer.role, answer.name) != "" {
		p.t.Error("the buttons behind the dialog are in the tree")
	}
	p.closes(button("Close", "Escape"))
}

func (p *passage) skips() {
	n := p.ready()
	p.opens(button("Skip …", "s"), "Why skip this question?")
	p.closes(button("It is offensive", "2"))
	p.wait(fmt.Sprintf("document.body.dataset.answered === '%d'", n+1))
	p.hears("Skipped.")
}

// rests closes the line that proposes a break after twenty minutes.
func (p *passage) rests() {
	p.ready()
	value[bool](p, `((d) => { sessionStorage.setItem("tiebreak.sitting." + d.session + "." + d.annotator,
		JSON.stringify({ last: Date.now(), active: 1.3e6, answers: 150 })); return true; })(document.querySelector("main").dataset)`)
	p.w.open(value[string](p, "location.href"))
	p.ready()
	// It is said before anything can listen to a page that was just opened.
	p.wait(`document.querySelector("[data-rest]:not([hidden])")?.innerText.includes("This is a good moment for a short break.")`)
	p.use(p, button("Close", ""))
	p.wait("document.querySelector('[data-rest]').hidden")
}

// changesMind changes the second answer from equal to right.
func (p *passage) changesMind(right choice) {
	p.opens(button("Last answers", "l"), "Your last answers")
	was := value[string](p, "document.body.dataset.assignment")
	p.closes(button("Change this answer: Equal", ""))
	p.wait(fmt.Sprintf("document.body.dataset.assignment !== %q", was))
	p.answer(right)
	if now := value[string](p, "document.body.dataset.assignment"); now != was {
		p.t.Errorf("after the change question %s is shown, want %s, which was on screen before", now, was)
	}
}

func (p *passage) finishes() {
	p.wait("document.body.dataset.state === 'done'")
	p.hears("You are done. Thank you!")
	p.node(control{role: "heading", name: "You are done. Thank you!"})
	if text := value[string](p, "document.querySelector('[data-code]').innerText"); !strings.Contains(text, "TB-42") {
		p.t.Errorf("the code is shown as %q", text)
	}
	p.use(p, button("Copy", ""))
	p.wait("/Copied|Selected/.test(document.querySelector('[data-code-copy]').innerText)")
}

// rates answers questions of a session of ratings.
func (p *passage) rates(link string) {
	p.w.open(link)
	p.starts()
	p.answer(choice{button("8", "8"), "8."})
	p.answer(choice{button("3", "3"), "3."})
	p.takesBack()
	p.answer(choice{button("10, very good", "="), "10."})
	_, _, _, cantTell := p.answers()
	p.answer(cantTell)
}

// saysMore says by how much a clip is better, what both are like, and what the researcher should
// know of a question.
func (p *passage) saysMore(link string) {
	p.w.open(link)
	p.starts()
	much := choice{button("Left much better", ""), "Left, much better."}
	if p.narrow {
		much = choice{button("Upper much better", ""), "Upper, much better."}
	}
	p.answer(much)
	_, right, _, _ := p.answers()
	p.ready()
	p.use(p, button("Both bad", "b"))
	p.wait("document.querySelector('[data-remark=both_bad]').ariaPressed === 'true'")
	p.answer(right)

	p.opens(button("Skip …", "s"), "Why skip this question?")
	p.use(p, button("Do not skip; tell the researcher …", "4"))
	p.node(control{role: "dialog", name: "Tell the researcher about this question"})
	p.write(p, control{role: "textbox", name: "What is wrong, or worth knowing?"}, "odd")
	if p.narrow { // nothing is written
		p.closes(button("Cancel", "Escape"))
		return
	}
	p.closes(button("Send", ""))
	p.hears("Sent to the researcher.")
}

// picks names the best and the worst of six clips, and thinks again meanwhile.
func (p *passage) picks(link string) {
	p.w.open(link)
	p.starts()
	n := p.ready()
	pick := func(place int, then string) {
		p.use(p, button(fmt.Sprintf("Clip %d", place), fmt.Sprint(place)))
		p.wait(fmt.Sprintf("document.body.dataset.picking === %q", then))
	}
	pick(2, "worst")
	p.hears("Clip 2 is the best. And which is the worst?")
	p.use(p, button("Another best", "Escape"))
	p.wait("document.body.dataset.picking === 'best'")
	pick(4, "worst")
	pick(6, "best")
	p.wait(fmt.Sprintf("document.body.dataset.answered === '%d' && document.body.dataset.unsent === '0'", n+1))
}

// recorded returns the answers of a session in words, in order, with * at those that were
// withdrawn, and fails if one did not come by the input.
func recorded(t *testing.T, data, session, input string) []string {
	t.Helper()
	var out []string
	for _, r := range records(t, data, session) {
		said := r.Choice
		switch {
		case r.Choice == "rated":
			said = fmt.Sprint(r.Rating*5 + 5)
		case r.Choice == r.Left:
			said = "left"
		case r.Choice == "a" || r.Choice == "b":
			said = "right"
		}
		if r.Much != nil && *r.Much {
			said += " much"
		}
		if r.Remark != "" {
			said += " " + r.Remark
		}
		if r.GroupID != "" {
			said = fmt.Sprintf("%d over %d", r.PositionA, r.PositionB)
		}
		if r.Reason != "" {
			said += " " + r.Reason
		}
		if r.Withdrawn {
			said += "*"
		}
		out = append(out, said)
		if r.Input != input {
			t.Errorf("answer %d, %s, came by %s, want %s", r.Seq, said, r.Input, input)
		}
	}
	return out
}

// goesThrough has a person of one hand do everything that annotators do, and compares what is recorded.
func goesThrough(t *testing.T, w surface, h hand) {
	t.Helper()
	data, addr := t.TempDir(), freeAddr(t)
	pairs, pairLink := newLink(t, data, addr, "--env", "driver", "--title", "Drive", "--budget", "5", "--completion-code", "TB-42")
	ratings, rateLink := newLink(t, data, addr, "--env", "gridworld", "--kind", "state_rating", "--title", "Walk")
	more, moreLink := newLink(t, data, addr, "--env", "driver", "--title", "Say more", "--strength", "--remarks")
	groups, groupLink := newLink(t, data, addr, "--env", "driver", "--kind", "clip_group", "--title", "Six at once")
	startServer(t, "serve", "--data", data, "--addr", addr)
	p := &passage{t: t, w: w, hand: h}
	_, p.narrow = h.(finger)
	p.compares(pairLink)
	p.rates(rateLink)
	p.saysMore(moreLink)
	p.picks(groupLink)
	w.open("about:blank") // else the page would miss its server in the end, and say so
	want := "left, equal*, cant_tell, right*, left, skip offensive, right, right, equal"
	if got := strings.Join(recorded(t, data, pairs, h.input()), ", "); got != want {
		t.Errorf("recorded are %s; want %s", got, want)
	}
	want = "8, 3*, 10, cant_tell"
	if got := strings.Join(recorded(t, data, ratings, h.input()), ", "); got != want {
		t.Errorf("recorded are the ratings %s; want %s", got, want)
	}
	want = "left much, right both_bad"
	if got := strings.Join(recorded(t, data, more, h.input()), ", "); got != want {
		t.Errorf("recorded is, with more to say, %s; want %s", got, want)
	}
	if notes := mustCLI(t, "export", "--data", data, "--session", more, "--format", "flags"); !p.narrow && !strings.Contains(notes, `odd"`) {
		t.Errorf("the researcher reads %q", notes)
	}
	want = "1 over 6, 2 over 6, 3 over 6, 4 over 1, 4 over 2, 4 over 3, 4 over 5, 4 over 6, 5 over 6"
	of := recorded(t, data, groups, h.input())
	slices.Sort(of)
	if got := strings.Join(of, ", "); got != want {
		t.Errorf("recorded of six clips are %s; want %s", got, want)
	}
}
