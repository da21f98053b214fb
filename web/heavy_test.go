package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"tiebreak/web"
)

// While other heavy work is done, a further one waits for its turn and is then refused, with
// when to try again; pages for annotators and small pages are not. When there is a place again
// it is served, and the place is given back.
func TestHeavyPagesTakeTurns(t *testing.T) {
	b := newBench(t, nil)
	ada, ann := b.researcher(), b.annotator("s1")
	leave := web.BusyWithPages(b.web, time.Millisecond)
	for _, path := range []string{"", "/s1", "/s1/learning", "/s1/charts?page=learning", "/s1/charts/rate", "/s1/quality", "/s1/questions", "/s1/export"} {
		r := b.get(ada, "/sessions"+path)
		if r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") != "10" || !strings.Contains(r.body, "Try again in 10 seconds") {
			t.Errorf("%s beside others: status %d, Retry-After %q", path, r.status, r.header.Get("Retry-After"))
		}
	}
	if r := b.get(ann, "/sessions/s1/label"); r.status != http.StatusOK {
		t.Errorf("an annotator's page: status %d", r.status)
	}
	if r := b.get(b.browser(), "/sessions/s1/quality"); r.status != http.StatusForbidden {
		t.Errorf("quality without a login: status %d", r.status)
	}
	leave()
	for range 3 {
		if r := b.get(ada, "/sessions/s1/quality"); r.status != http.StatusOK {
			t.Errorf("quality: status %d", r.status)
		}
	}
}
