package bundle

import "testing"

// A policy is known by its name if it was added, or a later one of its generation was.
func TestPolicyNames(t *testing.T) {
	p := policyNames{trained: map[int64]int{}, others: map[string]bool{}}
	for _, id := range []string{"g0.p0", "g0.p1", "g12.p2", "pool.p3", "walk", "g01.p1"} {
		p.add(id)
	}
	for id, want := range map[string]bool{
		"g0.p0": true, "g0.p1": true, "g0.p2": false, "g12.p2": true, "g13.p0": false, "pool.p3": true, "pool.p4": false, "walk": true, "g01.p1": true, "g1.p1": false, "g.p": false, "": false,
	} {
		if got := p.have(id); got != want {
			t.Errorf("%q is known: %v", id, got)
		}
	}
}
