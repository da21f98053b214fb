package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/internal/session/insight"
)

const comparedBoth = "session=s1&session=s2"

// Sessions are compared at an address that can be shared: a chart, which is a file too, and a table of what each says of itself.
func TestCompareSessions(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	b.seen()
	b.s1.report.Labour.Time = 90 * time.Minute
	b.sessions.byID["s2"].report = &insight.Report{Labour: insight.Labour{Time: 36 * time.Second}}
	r := b.get(c, "/compare?"+comparedBoth+"&wage=12,5")
	if r.status != 200 {
		t.Fatalf("status %d: %s", r.status, r.body)
	}
	if lacks := r.lacks("<svg ", "Session s1", "Session s2", "data-loss>1.3\u00a0%<", "93\u00a0% sure that the best policy found is within 5\u00a0% of the best one known.", "not known",
		"data-time>1 h 30 min<", "data-time>36.0 s<", "data-cost>18.75<", "data-cost>0.12<", // 1.5 h and 0.01 h at 12.50
		`href="/compare/regret.svg?session=s1&amp;session=s2"`, `href="/compare/regret.csv?session=s1&amp;session=s2"`, "“Session s1”: n = "); lacks != nil {
		t.Errorf("the page lacks %q:\n%s", lacks, r.body)
	}
	if r := b.get(c, "/compare?"+comparedBoth); strings.Contains(r.body, "data-cost") {
		t.Error("there is a cost without a wage")
	}
	if r := b.get(c, "/compare/regret.svg?"+comparedBoth); r.status != 200 || r.header.Get("Content-Type") != "image/svg+xml" || r.lacks("<svg ", "Session s2") != nil || !strings.Contains(r.header.Get("Content-Disposition"), "tiebreak-compared.svg") {
		t.Errorf("the figure: status %d, %v, %s", r.status, r.header, r.body)
	}
	want := "session,title,row,answers,mean,bound,p_within,tolerance,policies\ns1,Session s1,0,0,0.013,0.065,0.937,0.05,43\ns2,Session s2,0,0,0.013,0.065,0.937,0.05,43\n"
	if r := b.get(c, "/compare/regret.csv?"+comparedBoth); r.status != 200 || r.body != want {
		t.Errorf("its data: status %d, %q", r.status, r.body)
	}
	if lacks := b.get(c, "/sessions").lacks(`<input type="checkbox" name="session" value="s1" form="compare">`, `<form id="compare" method="get" action="/compare"`); lacks != nil {
		t.Errorf("the list lacks %q", lacks)
	}
	for query, status := range map[string]int{
		"": 400, "session=s1": 400, "session=s1&session=s1": 400, "session=s1&session=gone": 404, comparedBoth + "&wage=-1": 400,
		"session=1&session=2&session=3&session=4&session=5&session=6&session=7": 400,
	} {
		if r := b.get(c, "/compare?"+query); r.status != status {
			t.Errorf("%q: status %d, want %d: %s", query, r.status, status, r.body)
		}
	}
	if r := b.get(c, "/compare/none.pdf?"+comparedBoth); r.status != 404 {
		t.Errorf("another file: status %d", r.status)
	}
}

// Losses in different units are not drawn in one chart, and the page says why.
func TestCompareOtherUnits(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	other := b.sessions.byID["s2"]
	other.spec.Env = "gridworld"
	r := b.get(c, "/compare?"+comparedBoth)
	if r.status != 200 || r.lacks("data-incomparable", "different environments: Driver, Gridworld.", "different units", "data-loss>1.3\u00a0%<") != nil || strings.Contains(r.body, "<desc") || strings.Contains(r.body, "regret.svg") {
		t.Errorf("of two environments: status %d: %s", r.status, r.body)
	}
	if r := b.get(c, "/compare/regret.svg?"+comparedBoth); r.status != 409 || r.lacks("different environments") != nil {
		t.Errorf("the figure: status %d: %s", r.status, r.body)
	}
	other.spec.Env, other.spec.Return = "driver", idrl.MeanReturn
	if r := b.get(c, "/compare?"+comparedBoth); r.lacks("by different returns") != nil {
		t.Errorf("of two returns: %s", r.body)
	}
	other.spec.Return, other.spec.Model = idrl.SumReturn, idrl.NetworkModel
	if r := b.get(c, "/compare?"+comparedBoth); r.status != 200 || r.lacks("For a reward network no loss is stated.", "Session s2 (states no loss)") != nil {
		t.Errorf("with a network: status %d: %s", r.status, r.body)
	}
	other.spec.Arena = idrl.Arena{Entrants: make([]idrl.Entrant, 2)}
	if r := b.get(c, "/compare?"+comparedBoth); r.status != 400 || r.lacks("is an arena") != nil {
		t.Errorf("with an arena: status %d: %s", r.status, r.body)
	}
}

// Only sessions that the reader may watch can be compared: one of another owner is as one that does not exist.
func TestCompareOthersSessions(t *testing.T) {
	b := newBench(t, nil)
	b.researcher()
	m := &matrix{bench: b}
	for _, role := range []identity.Role{identity.Researcher, identity.Viewer} {
		name := fmt.Sprintf("%s of one", role)
		c := m.account(name, role)
		b.give(name, identity.RightView)
		for _, path := range []string{"/compare?", "/compare/regret.svg?", "/compare/regret.csv?"} {
			hidden, gone := b.get(c, path+comparedBoth), b.get(c, path+"session=s1&session=gone")
			if hidden.status != 404 || gone.status != 404 || strings.Contains(hidden.body, "Session s2") || hidden.body != gone.body {
				t.Errorf("%s by a %s: status %d, where there is none %d:\n%s", path, role, hidden.status, gone.status, hidden.body)
			}
		}
		must.Do(t, b.db.Share(t.Context(), identity.Share{Session: "s2", User: name, Right: identity.RightView}, "test", time.Now()))
		if r := b.get(c, "/compare?"+comparedBoth); r.status != 200 || r.lacks("Session s2") != nil {
			t.Errorf("a %s who may see both: status %d", role, r.status)
		}
	}
	if r := b.get(b.annotator("s1"), "/compare?"+comparedBoth); r.status != 403 {
		t.Errorf("an annotator: status %d", r.status)
	}
}
