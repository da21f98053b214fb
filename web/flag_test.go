package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

// What an annotator tells of a question reaches the researcher, escaped, and nobody else.
func TestFlagOverHTTP(t *testing.T) {
	b := newBench(t, nil)
	c, other := b.annotator("s1"), b.annotator("s1")
	b.record()
	rec := must.Get(b.db.Load(t.Context(), "s1"))(t)
	as := rec.Assignments[0]
	if as.Annotator != "a1" {
		t.Fatalf("the question is of %s", as.Annotator)
	}
	send := func(c *http.Client, body string) int {
		return b.send(c, http.MethodPost, "/sessions/s1/flags", strings.NewReader(body), http.Header{"Content-Type": {"application/json"}}).status
	}
	body := fmt.Sprintf(`{"id":"f1","assignment":%q,"note":"<script>alert(1)</script>"}`, as.ID)
	for _, test := range []struct {
		name string
		c    *http.Client
		body string
		want int
	}{
		{"a note", c, body, 204},
		{"sent again", c, body, 204},
		{"another's question", other, strings.Replace(body, "f1", "f2", 1), 404},
		{"a stranger", http.DefaultClient, body, 403},
		{"a megabyte", c, strings.Replace(body, "alert", strings.Repeat("a", 1<<20), 1), 400},
		{"no JSON", c, "hello", 400},
		{"no note", c, `{"id":"f3","assignment":"s1.1","note":""}`, 400},
	} {
		if got := send(test.c, test.body); got != test.want {
			t.Errorf("%s: status %d, want %d", test.name, got, test.want)
		}
	}
	r := b.get(b.researcher(), "/sessions/s1/quality")
	if lacks := r.lacks("Flagged questions", "&lt;script&gt;alert(1)&lt;/script&gt;", string(as.Query.ID)); lacks != nil || strings.Contains(r.body, "<script>alert") {
		t.Errorf("the page lacks %q, or shows the note raw", lacks)
	}
	if r := b.get(b.researcher(), "/sessions/s1/data"); r.lacks(`data-export="flags"`) != nil {
		t.Error("the page Data does not offer it")
	}
	r = b.get(b.researcher(), "/sessions/s1/export?format=flags")
	if lacks := r.lacks(`"flag_id":"f1"`, `"annotator_id":"a1"`, `"query_id":"`+string(as.Query.ID)); r.status != 200 || lacks != nil || strings.Count(r.body, "\n") != 1 {
		t.Errorf("export: status %d, lacks %q: %s", r.status, lacks, r.body)
	}
	if r := b.get(other, "/sessions/s1/export?format=flags"); r.status == 200 {
		t.Error("an annotator reads what others told")
	}
}
