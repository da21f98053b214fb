package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/web/wire"
)

// know records the right answer to a question of session s1.
func (b *bench) know(clips []idrl.ClipID, k record.Known) int64 {
	b.t.Helper()
	v, err := b.db.SetKnown(b.t.Context(), "s1", clips, k, "ada", time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// A researcher judges a question, changes their mind, and stops using it.
func TestKnownPage(t *testing.T) {
	b := newBench(t, nil)
	b.annotator("s1")
	b.record()
	c := b.researcher()
	r := b.get(c, "/sessions/s1/known")
	if lacks := r.lacks("1 of 1", "/sessions/s1/clips/c1", "Asked before (1)", "Not asked yet (0)", "0 practice questions, 0 gold questions", "You have not given the right answer to any question yet"); r.status != 200 || lacks != nil {
		t.Errorf("status %d, lacks %q", r.status, lacks)
	}
	say := func(clips, answer, use string) reply {
		t.Helper()
		return b.post(c, "/sessions/s1/known", url.Values{"clips": {clips}, "answer": {answer}, "use": {use}, "note": {" Look at <b>the left</b>. "}, "from": {"asked"}, "at": {"3"}})
	}
	if r := say("c1,c2", "a", "practice"); r.status != 303 || r.header.Get("Location") != "/sessions/s1/known?at=3&from=asked" {
		t.Errorf("status %d to %q: %s", r.status, r.header.Get("Location"), r.body)
	}
	r = b.get(c, "/sessions/s1/known")
	if lacks := r.lacks("1 practice question, 0 gold questions", "The left one is better.", "Look at &lt;b&gt;the left&lt;/b&gt;.", "version 1, Ada, ", "Asked before (0)", "format=practice"); lacks != nil {
		t.Errorf("after an answer the page lacks %q", lacks)
	}
	if say("c1,c2", "b", "gold"); b.get(c, "/sessions/s1/known").lacks("0 practice questions, 1 gold question", "The right one is better.", "version 2, ") != nil {
		t.Error("a change of mind is not on the page")
	}
	r = b.get(c, "/sessions/s1/known?clips=c1,c2")
	if lacks := r.lacks("Change the known answer", `value="b" checked`); lacks != nil {
		t.Errorf("to be judged again, it lacks %q", lacks)
	}
	if say("c1,c2", "b", "none"); b.get(c, "/sessions/s1/known").lacks("You have not given the right answer to any question yet", "Asked before (1)") != nil {
		t.Error("what is no longer used is still on the page")
	}
	if b.s1.follows < 3 {
		t.Errorf("the session heard of %d changes, want 3", b.s1.follows)
	}
}

func TestKnownPageRefuses(t *testing.T) {
	b := newBench(t, nil)
	annotator := b.annotator("s1")
	b.record()
	c := b.researcher()
	for _, test := range []struct {
		name   string
		form   url.Values
		status int
		says   string
	}{
		{"no answer", url.Values{"clips": {"c1,c2"}, "use": {"gold"}}, 400, "say which clip is better"},
		{"an unknown use", url.Values{"clips": {"c1,c2"}, "answer": {"a"}, "use": {"fun"}}, 400, "unknown use"},
		{"one clip", url.Values{"clips": {"c1"}, "answer": {"a"}, "use": {"gold"}}, 400, "do not belong to this session"},
		{"no such clip", url.Values{"clips": {"c1,../../x"}, "answer": {"a"}, "use": {"gold"}}, 404, ""},
		{"a long explanation", url.Values{"clips": {"c1,c2"}, "answer": {"a"}, "use": {"gold"}, "note": {strings.Repeat("x", record.MaxNote+1)}}, 400, "explanation must be"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := b.post(c, "/sessions/s1/known", test.form)
			if r.status != test.status || !strings.Contains(strings.ToLower(r.body), test.says) {
				t.Errorf("status %d, want %d and %q: %s", r.status, test.status, test.says, r.body)
			}
		})
	}
	if r := b.post(c, "/sessions/s1/gold", url.Values{"every": {"1"}}); r.status != 400 || r.lacks("2 to") != nil {
		t.Errorf("gold every question: status %d", r.status)
	}
	if r := b.post(c, "/sessions/s1/gold", url.Values{"every": {"12"}}); r.status != 303 {
		t.Errorf("gold every twelfth: status %d", r.status)
	}
	if spec, err := b.db.Spec(t.Context(), "s1"); err != nil || spec.GoldEvery != 12 {
		t.Errorf("gold comes every %d, %v", spec.GoldEvery, err)
	}
	for _, who := range []*http.Client{annotator, b.browser()} {
		for _, r := range []reply{b.get(who, "/sessions/s1/known"), b.post(who, "/sessions/s1/known", url.Values{"clips": {"c1,c2"}, "answer": {"a"}, "use": {"gold"}}), b.post(who, "/sessions/s1/gold", url.Values{"every": {"5"}})} {
			if r.status != 401 && r.status != 403 {
				t.Errorf("somebody who is no researcher gets status %d", r.status)
			}
		}
	}
	if known, err := b.db.Known(t.Context(), "s1"); len(known) != 0 || err != nil {
		t.Errorf("known: %v, %v", known, err)
	}
}

// practiceOf is what the page practises with.
type practiceOf struct {
	Due       []int64
	Questions []struct {
		Version            int64
		Clips              []string
		Left, Choice, Note string
	}
}

// A person practises before their first answer, and whenever they like; the answers are kept
// apart from the log.
func TestPracticeOverHTTP(t *testing.T) {
	b := newBench(t, nil)
	c := b.annotator("s1")
	newcomer := b.annotator("s1")
	b.record() // a1 has answered
	version := b.know([]idrl.ClipID{"c1", "c3"}, record.Known{Use: record.ForPractice, Choice: idrl.ChoseA, Note: "It runs."})
	b.know([]idrl.ClipID{"c1", "c2"}, record.Known{Use: record.AsGold, Choice: idrl.ChoseA})
	if r := b.get(newcomer, "/sessions/s1/label"); r.lacks(`data-practice-url="/sessions/s1/practice"`, "data-practice-due") != nil {
		t.Error("the page of a newcomer does not say that practice is due")
	}
	if r := b.get(c, "/sessions/s1/label"); r.lacks(`data-practice-url="/sessions/s1/practice"`) != nil || strings.Contains(r.body, "data-practice-due") {
		t.Error("the page of somebody who has answered says that practice is due, or not that there is any")
	}
	list := func(c *http.Client) (out practiceOf) {
		t.Helper()
		r := b.get(c, "/sessions/s1/practice")
		if err := json.Unmarshal([]byte(r.body), &out); err != nil || r.status != 200 {
			t.Fatalf("status %d, %v: %s", r.status, err, r.body)
		}
		return out
	}
	got := list(newcomer)
	if len(got.Questions) != 1 || got.Questions[0].Note != "It runs." || got.Questions[0].Choice != "a" || !cmp.Equal(got.Due, []int64{version}) ||
		!cmp.Equal(got.Questions[0].Clips, []string{"/sessions/s1/clips/c1", "/sessions/s1/clips/c3"}) || got.Questions[0].Left == "" {
		t.Errorf("practice: %+v", got)
	}
	if again := list(newcomer); !cmp.Equal(got, again) {
		t.Error("after a reload it is another practice")
	}
	if r := b.get(newcomer, "/sessions/s1/clips/c3"); r.status != 200 {
		t.Errorf("its clip: status %d", r.status)
	}
	answer := answerTo(0, "p1")
	answer.Assignment = idrl.AssignmentID(fmt.Sprintf("practice.%d", version))
	send := func(c *http.Client, body string) int {
		return b.send(c, http.MethodPost, "/sessions/s1/practice", strings.NewReader(body), http.Header{"Content-Type": {"application/json"}}).status
	}
	for range 2 {
		if status := send(newcomer, string(wire.Encode(answer))); status != 204 {
			t.Errorf("an answer: status %d", status)
		}
	}
	if got := list(newcomer); len(got.Due) != 0 || len(got.Questions) != 1 {
		t.Errorf("after the answer %v are due, of %d", got.Due, len(got.Questions))
	}
	if r := b.get(b.researcher(), "/sessions/s1/data"); r.lacks(`data-export="practice"`) != nil {
		t.Error("the page Data does not offer it")
	}
	r := b.get(b.researcher(), "/sessions/s1/export?format=practice")
	if lacks := r.lacks(`"practice_id":"p1"`, `"annotator_id":"a2"`, `"right":true`, `"note":"It runs."`); r.status != 200 || lacks != nil || strings.Count(r.body, "\n") != 1 {
		t.Errorf("export: status %d, lacks %q: %s", r.status, lacks, r.body)
	}
	if r := b.get(b.researcher(), "/sessions/s1/export?format=jsonl"); strings.Contains(r.body, "p1") {
		t.Error("the export of labels holds a practice answer")
	}
	other := func(change func(*wire.Answer)) string {
		m := *answer
		m.ID = "p2"
		change(&m)
		return string(wire.Encode(&m))
	}
	for _, test := range []struct {
		name, body string
		want       int
	}{
		{"a gold question", other(func(a *wire.Answer) { a.Assignment = "practice.2" }), 404},
		{"a real question", other(func(a *wire.Answer) { a.Assignment = "s1.1" }), 400},
		{"no number", other(func(a *wire.Answer) { a.Assignment = "practice.x" }), 400},
		{"another choice", other(func(a *wire.Answer) { a.Choice = "best" }), 400},
		{"no answer", `{"t":"renew","assignment":"practice.1"}`, 400},
		{"no JSON", `practice`, 400},
		{"too much", `{"t":"answer","reason":"` + strings.Repeat("x", 20_000) + `"}`, 400},
	} {
		if status := send(newcomer, test.body); status != test.want {
			t.Errorf("%s: status %d, want %d", test.name, status, test.want)
		}
	}
	if status := send(b.browser(), string(wire.Encode(answer))); status != 401 && status != 403 {
		t.Errorf("a stranger: status %d", status)
	}
}

// Without a researcher's questions a newcomer practises with what the program chose: no right
// answers, and no answers that are kept. The page of the link shows one of these clips.
func TestPracticeWithExamples(t *testing.T) {
	b := newBench(t, nil)
	b.annotator("s1")
	c := b.annotator("s1")
	b.record() // a1 has answered
	type chosen struct {
		practiceOf
		Examples bool
	}
	list := func() (out chosen) {
		t.Helper()
		r := b.get(c, "/sessions/s1/practice")
		if err := json.Unmarshal([]byte(r.body), &out); err != nil || r.status != 200 {
			t.Fatalf("status %d, %v: %s", r.status, err, r.body)
		}
		return out
	}
	if got := list(); !got.Examples || got.Due == nil || len(got.Questions) > 0 {
		t.Errorf("before there are clips: %+v", got)
	}
	link := b.link("s1")
	if r := b.get(b.browser(), link+"/example"); r.status != 404 {
		t.Errorf("the example before there are clips: status %d", r.status)
	}
	if r := b.get(c, "/sessions/s1/clips/c3"); r.status != 404 {
		t.Errorf("a clip of nobody's question: status %d", r.status)
	}
	b.s1.mu.Lock()
	b.s1.examples = []idrl.Query{{ID: "c1,c3", Kind: idrl.CompareClips, Clips: []idrl.ClipID{"c1", "c3"}}}
	b.s1.mu.Unlock()
	got := list()
	if !got.Examples || !cmp.Equal(got.Due, []int64{1}) || len(got.Questions) != 1 || got.Questions[0].Choice != "" || got.Questions[0].Left == "" ||
		!cmp.Equal(got.Questions[0].Clips, []string{"/sessions/s1/clips/c1", "/sessions/s1/clips/c3"}) {
		t.Errorf("practice: %+v", got)
	}
	if r := b.get(c, "/sessions/s1/label"); r.lacks("data-practice-due") != nil {
		t.Error("the page of a newcomer does not say that practice is due")
	}
	if r := b.get(c, "/sessions/s1/clips/c3"); r.status != 200 {
		t.Errorf("a clip to practise with: status %d", r.status)
	}
	if r := b.get(b.browser(), link+"/example"); r.status != 200 || r.body == "" {
		t.Errorf("the example: status %d", r.status)
	}
	if r := b.get(b.browser(), "/join/none/example"); r.status != 404 {
		t.Errorf("the example of no link: status %d", r.status)
	}
	answer := answerTo(0, "p1")
	answer.Assignment = "practice.1"
	body := must.Get(json.Marshal(answer))(t)
	if r := b.send(c, http.MethodPost, "/sessions/s1/practice", bytes.NewReader(body), http.Header{"Content-Type": {"application/json"}}); r.status != 404 && r.status != 400 {
		t.Errorf("an answer to it is taken: status %d", r.status)
	}
}
