package learning_test

import (
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
)

func line(first, last int) (out []idrl.Candidate) {
	for k := first; k <= last; k++ {
		out = append(out, idrl.Candidate{ID: idrl.PolicyID(fmt.Sprint("p", k)), Mu: []float64{float64(k), 0}, Params: []float64{float64(k)}, Theta: []float64{1}})
	}
	return out
}

func ids(list []idrl.Candidate) (out []string) {
	for _, c := range list {
		out = append(out, string(c.ID))
	}
	return out
}

// Pool and archive hold a policy once, the first of its name, behind those in use.
func TestPoliciesAreKnownOnce(t *testing.T) {
	k := learning.NewPolicies(learning.Exact())
	k.Adopt(append(line(1, 2), line(1, 2)...), line(3, 4))
	k.Adopt(line(90, 99), line(4, 6)) // another pool does not count
	k.Adopt(nil, append(line(6, 6), line(2, 2)...))
	if got, want := ids(k.Known()), []string{"p6", "p2", "p1", "p3", "p4", "p5"}; !slices.Equal(got, want) {
		t.Errorf("known: %v, want %v", got, want)
	}
	if n := k.Distinct(); n != 6 {
		t.Errorf("%d distinct policies, want 6", n)
	}
	k.Adopt(nil, append(line(6, 7), line(6, 7)...)) // two of six draws, twice
	if n := k.Distinct(); n != 7 || len(k.Known()) != 9 {
		t.Errorf("%d distinct policies of %d, want 7 of 9", n, len(k.Known()))
	}
	k.Adopt(nil, append(line(6, 6), line(2, 2)...))
	if len(k.Present()) != 2 || len(k.Pool()) != 2 || k.Dropped() != 0 {
		t.Errorf("%d in use, %d in the pool, %d dropped", len(k.Present()), len(k.Pool()), k.Dropped())
	}
	if c := k.Known()[len(k.Known())-1]; c.Params == nil || c.Theta != nil {
		t.Errorf("the archive holds %+v, want what starts a solve and what it is known by", c)
	}
}

// Candidates that are added to those in use are known from then on, and become part of the
// archive with them.
func TestExtend(t *testing.T) {
	play := func(split bool) (now, later []string) {
		k := learning.NewPolicies(learning.Exact())
		k.Adopt(line(1, 2), line(3, 4))
		if split {
			k.Adopt(nil, line(5, 6))
			k.Known()
			k.Extend(line(7, 8))
		} else {
			k.Adopt(nil, line(5, 8))
		}
		now = ids(k.Known())
		k.Adopt(nil, line(9, 10))
		return now, ids(k.Known())
	}
	now, later := play(true)
	wantNow, wantLater := play(false)
	if !slices.Equal(now, wantNow) || !slices.Equal(later, wantLater) || !slices.Contains(now, "p8") {
		t.Errorf("known: %v and then %v, want %v and %v", now, later, wantNow, wantLater)
	}
}

// Which policies count as one does not depend on whether the first candidates came in parts, or
// at once, as after a restart of a session. It does not change with later generations.
func TestExtendKeepsTheScale(t *testing.T) {
	at := func(mus ...float64) (out []idrl.Candidate) {
		for _, mu := range mus {
			out = append(out, idrl.Candidate{ID: idrl.PolicyID(fmt.Sprint("p", mu)), Mu: []float64{mu}})
		}
		return out
	}
	for _, test := range []struct {
		name               string
		pool, first, added []float64
		now, later         string // how many are different, and the known ones
	}{
		{"no pool", nil, []float64{0, 1, 1.5}, []float64{3000, 2}, "2 [p0 p1 p1.5 p3000 p2]", "4 [p5000 p0 p3000 p1e+06]"}, // up to 3 apart
		{"pool", []float64{0, 1, 1.5}, []float64{2}, []float64{1000}, "3 [p2 p1000 p0]", "5 [p5000 p0 p1.5 p1000 p1e+06]"}, // up to 1 apart
	} {
		for _, split := range []bool{false, true} {
			k := learning.NewPolicies(learning.Live())
			known := func() string { return fmt.Sprint(k.Distinct(), " ", ids(k.Known())) }
			if split {
				k.Adopt(at(test.pool...), at(test.first...))
				known()
				for _, mu := range test.added {
					k.Extend(at(mu))
				}
			} else {
				k.Adopt(at(test.pool...), at(append(test.first, test.added...)...))
			}
			now := known()
			k.Adopt(nil, at(5000))
			k.Extend(at(1e6))
			k.Adopt(nil, at(5000))
			if later := known(); now != test.now || later != test.later {
				t.Errorf("%s, in parts %v: %s and later %s; want %s and %s", test.name, split, now, later, test.now, test.later)
			}
		}
	}
}

// Two policies count as one up to a share of the greatest distance at the start, and
// always up to rounding.
func TestAlike(t *testing.T) {
	at := func(mu ...float64) idrl.Candidate { return idrl.Candidate{Mu: mu} }
	for _, test := range []struct {
		share float64
		a, b  idrl.Candidate
		want  bool
	}{
		{0, at(1, 2), at(1, 2), true},
		{0, at(1, 2), at(1+1e-10, 2), true},
		{0, at(1000, 2), at(1000+1e-7, 2), true}, // relative to the greatest number
		{0, at(1, 2), at(1+1e-7, 2), false},
		{1e-3, at(0, 0), at(0.0099, 0), true}, // of a distance of 10
		{1e-3, at(0, 0), at(0.0101, 0), false},
	} {
		k := learning.NewPolicies(learning.Schedule{Alike: test.share})
		k.Adopt(nil, []idrl.Candidate{at(0, 0), at(6, 8)})
		if got := k.Same(test.a, test.b); got != test.want {
			t.Errorf("share %v: %v and %v are the same: %v", test.share, test.a.Mu, test.b.Mu, got)
		}
	}
}

// A candidate that was not archived, because another policy counts as the same, is found under its name as that one.
func TestFindPolicy(t *testing.T) {
	named := func(id idrl.PolicyID, x float64) idrl.Candidate { return idrl.Candidate{ID: id, Mu: []float64{x, 0}} }
	k := learning.NewPolicies(learning.Schedule{Archive: 1})
	k.Adopt([]idrl.Candidate{named("pool.p0", 1)}, []idrl.Candidate{named("g0.p0", 1), named("g0.p1", 2)})
	k.Adopt(nil, []idrl.Candidate{named("g3.p0", 2)})
	k.Adopt(nil, []idrl.Candidate{named("g6.p0", 3)})
	for id, want := range map[idrl.PolicyID]idrl.PolicyID{"g0.p0": "pool.p0", "g0.p1": "g0.p1", "g3.p0": "g0.p1", "g6.p0": "g6.p0", "g9.p0": ""} {
		if got, ok := k.Find(id); got.ID != want || ok != (want != "") {
			t.Errorf("%s is %q, %v; want %q", id, got.ID, ok, want)
		}
	}
	k.Adopt(nil, []idrl.Candidate{named("g9.p0", 4)}) // the archive has room for g6.p0 alone
	if got, ok := k.Find("g3.p0"); ok {
		t.Errorf("g3.p0 is %q, which is not kept any more", got.ID)
	}
}

// An archive with a limit drops the oldest and says how many; one without keeps all.
func TestArchiveLimit(t *testing.T) {
	for limit, want := range map[int][]string{0: {"p9", "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"}, 4: {"p9", "p5", "p6", "p7", "p8"}} {
		k := learning.NewPolicies(learning.Schedule{Archive: limit})
		for n := range 10 {
			k.Adopt(nil, line(n, n))
		}
		if got := ids(k.Known()); !slices.Equal(got, want) || k.Dropped() != 10-len(want) {
			t.Errorf("limit %d: %v, %d dropped; want %v", limit, got, k.Dropped(), want)
		}
	}
}

func TestSchedules(t *testing.T) {
	live, dear := learning.Live(), learning.Dear()
	if live.Every != 1 || live.Latency != 1 || dear.Every != 3 || dear.Latency != 3 {
		t.Errorf("live %+v, dear %+v", live, dear)
	}
	got := learning.OfSession(idrl.SessionSpec{TrainEvery: 4, AdoptAfter: 2, Ahead: 5, Candidates: 7})
	want := live
	want.Every, want.Latency, want.Ahead, want.Samples = 4, 2, 5, 7
	if got != want {
		t.Errorf("the schedule of a session is %+v, want %+v", got, want)
	}
}
