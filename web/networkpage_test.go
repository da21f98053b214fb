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
	if page := b.get(c, "/sessions/s1/learning"); page.lacks(`data-place="weights"`) != nil || page.lacks("data-network") == nil {
		t.Error("a session with hand-made features needs its weights, and no network")
	}
	b.s1.spec.Model = idrl.NetworkModel
	page := b.get(c, "/sessions/s1/learning")
	if page.lacks("data-no-regret", "newest policies") != nil || page.lacks(`data-place="regret"`) == nil || page.lacks("data-headline") == nil || page.lacks("with 95 % interval") == nil {
		t.Error("the page of a network must say why it states no regret, and have no place for one, nor for intervals")
	}
	if lacks := page.lacks("data-network-predictions"); lacks != nil || page.lacks(`data-place="weights"`) == nil {
		t.Errorf("the page of a network lacks %q, or shows weights", lacks)
	}
	r := b.post(c, "/sessions/s1/training/cancel", url.Values{"sure": {"yes"}})
	if r.status != 303 || r.header.Get("Location") != "/sessions/s1/training#training" || b.s1.cancels != 1 {
		t.Errorf("status %d to %q after %d calls", r.status, r.header.Get("Location"), b.s1.cancels)
	}
}

// The training of a session with soft actor-critic under hand-made features is cancelled
// in the same way, and that of other sessions is not.
func TestCancelByThePage(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	if r := b.post(c, "/sessions/s1/training/cancel", url.Values{"sure": {"yes"}}); r.status != 409 {
		t.Errorf("with the solver of the environment: status %d, want 409", r.status)
	}
	b.s1.spec.Solver = idrl.ActorCritic
	if lacks := b.get(c, "/sessions/s1/training").lacks(`action="/sessions/s1/training/cancel"`); lacks != nil {
		t.Errorf("the page lacks %q", lacks)
	}
	if r := b.post(c, "/sessions/s1/training/cancel", url.Values{"sure": {"yes"}}); r.status != 303 || b.s1.cancels != 2 {
		t.Errorf("with agents: status %d after %d calls", r.status, b.s1.cancels)
	}
}

// The form refuses a rule to stop for a network, beside the field that asks for it.
func TestFormRefusesARuleForANetwork(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	form := func(with ...string) url.Values {
		v := url.Values{"title": {"T"}, "env": {"driver"}, "kind": {"clip_comparison"}, "model": {"network"}}
		for i := 0; i < len(with); i += 2 {
			v.Set(with[i], with[i+1])
		}
		return v
	}
	for _, with := range [][]string{{"tolerance", "0.1"}, {"doubt", "0.2"}, {"stop_by_itself", "true"}} {
		if r := b.post(c, "/sessions", form(with...)); r.status != 400 || r.lacks("sessions with a network state no regret") != nil {
			t.Errorf("%v: status %d", with, r.status)
		}
		if r := b.post(c, "/sessions", form(append(with, "model", "features")...)); r.status != 303 {
			t.Errorf("%v with features: status %d", with, r.status)
		}
	}
	if r := b.post(c, "/sessions", form()); r.status != 303 {
		t.Errorf("without a rule: status %d", r.status)
	}
}
