package web_test

import (
	"net/url"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// The data card is changed by a form on the page of data, by those who may change the session; the page lists who did.
func TestDataCardForm(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	b.s1.spec.Authors, b.s1.spec.Payment = "Mary", "12 €"
	if lacks := b.get(c, "/sessions/s1/data").lacks(`name="authors" value="Mary"`, `name="licence" value=""`, `>12 €</textarea>`, `action="/sessions/s1/card"`); lacks != nil {
		t.Errorf("the form lacks %q", lacks)
	}
	r := b.post(c, "/sessions/s1/card", url.Values{"authors": {" Mary; Bob "}, "licence": {"CC-BY-4.0"}, "recruitment": {"A notice.\r\nIn the lab."}})
	if r.status != 303 || r.header.Get("Location") != "/sessions/s1/data#card" {
		t.Errorf("status %d, to %q: %s", r.status, r.header.Get("Location"), r.body)
	}
	spec, err := b.db.Spec(t.Context(), "s1")
	if want := (idrl.DataCard{Authors: "Mary; Bob", Licence: "CC-BY-4.0", Recruitment: "A notice.\nIn the lab.", Payment: "12 €"}); err != nil || spec.Card() != want {
		t.Errorf("the card is %+v, %v; want %+v", spec.Card(), err, want)
	}
	if lacks := b.get(c, "/sessions/s1/settings").lacks("data card changed by Ada"); lacks != nil {
		t.Errorf("what was done lacks %q", lacks)
	}
	if r := b.post(c, "/sessions/s1/card", url.Values{"authors": {"\u202e"}}); r.status != 400 || r.lacks("authors") != nil {
		t.Errorf("hidden characters: status %d: %s", r.status, r.body)
	}
	m := &matrix{bench: b}
	for right, status := range map[identity.Right]int{identity.RightExport: 200, identity.RightChange: 200} {
		name := "with " + string(right)
		other := m.account(name, identity.Researcher)
		b.give(name, right)
		page := b.get(other, "/sessions/s1/data")
		if change := right == identity.RightChange; page.status != status || strings.Contains(page.body, "data-save-card") != change || strings.Contains(page.body, "not stated") == change {
			t.Errorf("%s: status %d, %s", name, page.status, page.body)
		}
	}
}

// Tags are changed on the page of settings, found in the list of sessions by a search and by a filter, and told to programs.
func TestTagsOfSessions(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	if r := b.post(c, "/sessions/s1/tags", url.Values{"tags": {"pilot, two words,Pilot"}}); r.status != 303 || r.header.Get("Location") != "/sessions/s1/settings#control" {
		t.Errorf("status %d, to %q: %s", r.status, r.header.Get("Location"), r.body)
	}
	spec, err := b.db.Spec(t.Context(), "s1")
	if err != nil || spec.Tags != "pilot, two words" {
		t.Fatalf("the tags are %q, %v", spec.Tags, err)
	}
	if r := b.post(c, "/sessions/s1/tags", url.Values{"tags": {strings.Repeat("x", idrl.MaxTag+1)}}); r.status != 400 || r.lacks("at most 30 characters") != nil {
		t.Errorf("a tag that is too long: status %d: %s", r.status, r.body)
	}
	b.s1.spec.Tags = spec.Tags
	if lacks := b.get(c, "/sessions/s1/settings").lacks(`name="tags" value="pilot, two words"`, "tags set to pilot, two words by Ada"); lacks != nil {
		t.Errorf("the page of settings lacks %q", lacks)
	}
	for path, both := range map[string][2]bool{
		"/sessions": {true, true}, "/sessions?tag=pilot": {true, false}, "/sessions?tag=PILOT": {true, false}, "/sessions?tag=two": {},
		"/sessions?q=two+words": {true, false}, "/sessions?tag=pilot&q=rating": {},
	} {
		page := b.get(c, path).body
		if one, two := strings.Contains(page, `data-session="s1"`), strings.Contains(page, `data-session="s2"`); one != both[0] || two != both[1] {
			t.Errorf("%s: s1 %v, s2 %v, want %v", path, one, two, both)
		}
	}
	if lacks := b.get(c, "/sessions?tag=pilot").lacks(`<option value="pilot" selected>`, `<option value="two words">`, `data-tag="two words"`); lacks != nil {
		t.Errorf("the list lacks %q", lacks)
	}
}
