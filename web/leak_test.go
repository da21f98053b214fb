package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/web/wire"
)

// TestNothingLeaks scans every byte that an annotator gets for words that only
// researchers may see.
func TestNothingLeaks(t *testing.T) {
	b := newBench(t, nil)
	b.annotator("s1") // a1, called secretOther
	c := b.browser()
	link := b.link("s1")
	var all strings.Builder
	keep := func(r reply) { fmt.Fprintln(&all, r.status, r.header, r.body) }
	keep(b.get(c, link))
	keep(b.post(c, link, url.Values{"name": {"Cy"}}))
	keep(b.post(c, "/sessions/s1/key", nil))
	b.record()
	b.know([]idrl.ClipID{"c1", "c2"}, record.Known{Use: record.AsGold, Choice: idrl.ChoseB, Note: secretNote})
	b.know([]idrl.ClipID{"c2", "c3"}, record.Known{Use: record.ForPractice, Choice: idrl.ChoseA, Note: "It runs."})
	for _, path := range []string{
		"/", link, "/sessions/s1/label", "/sessions/s1", "/sessions/s1/export", "/sessions/s1/clips/c1", "/sessions",
		"/sessions/s1/practice", "/sessions/s1/answers", "/sessions/s1/known", "/sessions/s1/gold", "/sessions/s1/export?format=practice",
	} {
		keep(b.get(c, path))
	}
	tab := b.open(c, "/sessions/s1/ws")
	tab.send(&wire.ClientHello{Outbox: []idrl.AnswerID{"id1"}})
	for n := range 3 {
		a := answerTo(n, fmt.Sprint("mine", n))
		a.Assignment = idrl.AssignmentID(fmt.Sprintf("s1.a2.%d", n))
		tab.send(a)
	}
	for acks := 0; acks < 3; {
		m := tab.hear()
		all.Write(m)
		if strings.HasPrefix(string(m), `{"t":"ack"`) {
			acks++
		}
	}
	text := all.String()
	if !strings.Contains(text, "It runs.") {
		t.Error("the practice question is not there")
	}
	for _, secret := range []string{
		secretPolicy, secretOther, "0.111222333", "0.444555666", "0.1234567", "7.654321", // the pair, its worth, X
		"policy", "candidate", // the names of headers have a capital
		"gold", "Gold", secretNote, fmt.Sprint(secretVersion), // what is known of questions
		"held_out", secretStrategy, "condition",
		"regret", "posterior", "theta", `"a1"`, "s1.a1.",
	} {
		if strings.Contains(text, secret) {
			t.Errorf("an annotator gets %q", secret)
		}
	}
}
