package web_test

import (
	"net/url"
	"testing"

	"tiebreak/internal/idrl"
)

// The page of a session on a network says how the network does, in place of weights, and
// cancels its training.
func TestPageOfANetwork(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	if page := b.get(c, "/sessions/s1"); page.lacks("data-weights") != nil || page.lacks("data-network") == nil {
		t.Error("a session with hand-made features needs its weights, and no network")
	}
	b.s1.spec.Model = idrl.NetworkModel
	page := b.get(c, "/sessions/s1")
	if lacks := page.lacks("data-network-predictions", `action="/sessions/s1/training/cancel"`); lacks != nil || page.lacks("data-weights") == nil {
		t.Errorf("the page of a network lacks %q, or shows weights", lacks)
	}
	r := b.post(c, "/sessions/s1/training/cancel", url.Values{})
	if r.status != 303 || r.header.Get("Location") != "/sessions/s1#answers" || b.s1.cancels != 1 {
		t.Errorf("status %d to %q after %d calls", r.status, r.header.Get("Location"), b.s1.cancels)
	}
}
