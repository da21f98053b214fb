package web_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
)

// Researchers read what was done, chosen and page by page, and take it with them as files.
func TestAuditPage(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	b.annotator("s1")
	if r := b.get(c, "/audit?actor=nobody"); r.status != 200 || r.lacks("data-empty", "No row is like that.") != nil {
		t.Errorf("nothing to show: status %d, lacks %v", r.status, r.lacks("data-empty", "No row is like that."))
	}
	if got := b.get(c, "/sessions"); got.lacks(`href="/audit"`) != nil {
		t.Error("the list of sessions does not lead to the page")
	}
	before := len(positions(b.get(c, "/audit").body))
	for k := range 230 {
		what := fmt.Sprintf("<b>thing %d</b>", k)
		must.Do(t, b.db.Audit(t.Context(), "s1", "Ada", []string{"cancel training", "answer"}[min(k/210, 1)], what, time.Now()))
	}
	r := b.get(c, "/audit")
	if strings.Contains(r.body, "<b>thing") || r.lacks("&lt;b&gt;thing 209&lt;/b&gt;", `href="/sessions/s1"`, "tiebreak audit verify") != nil {
		t.Errorf("the page lacks %v", r.lacks("&lt;b&gt;thing 209&lt;/b&gt;", `href="/sessions/s1"`))
	}
	var all []string
	for page, n := "/audit", 0; page != ""; n++ {
		if n == 5 {
			t.Fatal("the pages do not end")
		}
		r := b.get(c, page)
		all = append(all, positions(r.body)...)
		if page = ""; strings.Contains(r.body, "data-older") {
			page = strings.ReplaceAll(regexp.MustCompile(`href="([^"]*)" data-older`).FindStringSubmatch(r.body)[1], "&amp;", "&")
		}
	}
	if len(all) != 210+before {
		t.Errorf("the pages have %d rows, want %d", len(all), 210+before)
	}
	for query, want := range map[string]int{"?answers=1&session=s1&actor=Ada": 100, "?action=answer": 20, "?session=s2&action=answer": 0} {
		if got := len(positions(b.get(c, "/audit"+query).body)); got != want {
			t.Errorf("/audit%s has %d rows, want %d", query, got, want)
		}
	}

	r = b.get(c, "/audit/csv?actor=Ada&answers=1")
	rows, err := csv.NewReader(strings.NewReader(r.body)).ReadAll()
	if err != nil || len(rows) != 231+count(t, b, "Ada", "cancel training", "answer") || rows[0][0] != "position" || len(rows[1][7]) != 64 {
		t.Errorf("the CSV has %d lines (%v), the first %v", len(rows), err, rows[0])
	}
	var e record.AuditEntry
	lines := strings.Split(strings.TrimSpace(b.get(c, "/audit/jsonl?action=cancel+training").body), "\n")
	if err := json.Unmarshal([]byte(lines[0]), &e); err != nil || len(lines) != 210 || e.Object != "<b>thing 209</b>" || e.Actor != "Ada" || e.Session != "s1" {
		t.Errorf("%d lines, the first %+v (%v)", len(lines), e, err)
	}
}

// positions returns the rows of the page.
func positions(body string) (out []string) {
	for _, m := range regexp.MustCompile(`data-position="(\d+)"`).FindAllStringSubmatch(body, -1) {
		out = append(out, m[1])
	}
	return out
}

// count returns how many rows of an actor have other acts than these.
func count(t *testing.T, b *bench, actor string, but ...string) (n int) {
	t.Helper()
	must.Do(t, b.db.AuditTrail(t.Context(), record.AuditFilter{Actor: actor, Answers: true}, func(e record.AuditEntry) error {
		if !strings.Contains(strings.Join(but, ","), e.Action) {
			n++
		}
		return nil
	}))
	return n
}
