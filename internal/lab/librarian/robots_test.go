//go:build mujoco

package librarian_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"

	"tiebreak/envs"
	"tiebreak/envs/envtest"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/librarian"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/plan/behaviour"
)

// spread is how many behaviours, the first of a library, are to look most different (librarian.Builder).
const spread = 16

// libraries returns the robots that come with a library.
func libraries() (out []envs.Entry) {
	for _, e := range envs.Catalogue() {
		if e.Library != nil {
			out = append(out, e)
		}
	}
	return out
}

// TestLibrariesOfRobots plays what every robot comes with as sessions do: what is shown
// moves, the behaviours differ, and of the pairs of clips that a session may ask about
// people can answer nine in ten. Under the prior of a session two clips differ by one to
// five times the noise of an answer, in the median.
func TestLibrariesOfRobots(t *testing.T) {
	for _, e := range libraries() {
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			behaviours := must.Get(e.Library())(t)
			if len(behaviours) < 24 {
				t.Fatalf("%d behaviours, want 24 or more", len(behaviours))
			}
			s := librarian.Stock(func() idrl.Environment { return e.New(rng.New(1, "layout", 0)) })
			var first, all []*measure.View
			var phis [][][]float64 // of clips by behaviours
			moving := 0
			for k, b := range behaviours {
				clips := must.Get(s.Clips(t.Context(), b))(t)
				phis = append(phis, nil)
				for _, c := range clips {
					phis[k] = append(phis[k], c.Phi)
				}
				views := must.Get(measure.Of(clips))(t)
				if slices.ContainsFunc(views, (*measure.View).Lively) {
					moving++
				}
				if all = append(all, views...); k < spread {
					first = append(first, views...)
				}
			}
			if moving < 24 {
				t.Errorf("%d of %d behaviours are lively, want 24", moving, len(behaviours))
			}
			left, easy := shares(t, first)
			whole, _ := shares(t, all)
			t.Logf("%d behaviours, %d lively; of the pairs of the first %d clips %.0f%% can be answered, %.0f%% easily; of all pairs %.0f%%",
				len(behaviours), moving, len(first), 100*left, 100*easy, 100*whole)
			scale := e.New(rng.New(1, "layout", 0)).Spec().PriorScale
			if m := medianDifference(phis, scale); !(m >= 1 && m <= 5) {
				t.Errorf("the median difference of two clips is %.2f times the noise of an answer, want 1 to 5", m)
			} else {
				t.Logf("the median difference of two clips is %.2f times the noise of an answer", m)
			}
			if left < 0.9 || whole < 0.8 {
				t.Errorf("%.2f of the pairs of the first behaviours can be answered, and %.2f of all, want 0.9 and 0.8", left, whole)
			}
		})
	}
}

// medianDifference returns the median of envtest.Differences.
func medianDifference(phis [][][]float64, scale []float64) float64 {
	all := envtest.Differences(phis, scale)
	slices.Sort(all)
	return all[len(all)/2]
}

// shares returns the share of the pairs of clips that can be answered, and easily, without those of
// two robots that stay in places that are not far apart: they are not asked about.
func shares(t *testing.T, views []*measure.View) (left, easy float64) {
	t.Helper()
	n := 0.0
	for j, b := range views {
		for _, a := range views[:j] {
			p := must.Get(measure.Compare(a, b))(t)
			if p.StayTogether() {
				continue
			}
			n++
			if p.Answerable() {
				left++
				if p.Easy() {
					easy++
				}
			}
		}
	}
	return left / n, easy / n
}

// A deed states what a behaviour must do in a whole episode: a bound on the sum of a feature.
type deed struct {
	env, name string
	starts    int
	misses    int  // of the starts may fail, at most
	stands    bool // it must not fall
	feature   string
	least     float64 // of the sum of the feature, times sign
	sign      float64
}

// TestDeeds: behaviours do what their names say, from several starts that no training has
// seen. Episodes of the legged robots last 8 s (Hopper, Walker2d) and 50 s (Ant).
func TestDeeds(t *testing.T) {
	for _, d := range deeds {
		t.Run(d.env+"/"+d.name, func(t *testing.T) {
			t.Parallel()
			entry := must.Get(envs.Catalogue().Find(d.env))(t)
			behaviours := must.Get(entry.Library())(t)
			k := slices.IndexFunc(behaviours, func(b library.Behaviour) bool { return b.Name == d.name })
			if k < 0 {
				t.Fatalf("there is no such behaviour")
			}
			env := entry.New(rng.New(1, "layout", 0))
			p := must.Get(behaviour.New(env.Spec(), behaviours[k].Params))(t)
			missed := 0
			for n := range d.starts {
				sum, fell := d.play(t, env, p, n)
				t.Logf("start %d: %s %.2f, fell: %t", n, d.feature, sum, fell)
				if !(d.sign*sum >= d.least) || d.stands && fell {
					missed++
				}
			}
			if missed > d.misses {
				t.Errorf("from %d of %d starts it does not: %s of %v times %v or more", missed, d.starts, d.feature, d.least, d.sign)
			}
		})
	}
}

// play returns the sum of the feature over an episode, and whether the robot fell.
func (d deed) play(t *testing.T, env idrl.Environment, p idrl.Policy, n int) (sum float64, fell bool) {
	t.Helper()
	i := slices.Index(env.Spec().FeatureNames, d.feature)
	if i < 0 {
		t.Fatalf("%s has no feature %q", d.env, d.feature)
	}
	phi := make([]float64, env.Spec().FeatureDim())
	faller, falls := env.(idrl.Faller)
	for _, step := range idrl.EpisodeOf(env, p, rng.New(77, "deed", uint64(n))) {
		if step.Kind != idrl.First {
			floats.Add(phi, step.Phi)
		}
		fell = fell || falls && faller.Fallen()
	}
	return phi[i], fell
}

// TestReaches: the arm's fingertip is within 2 cm of the target for half of the time or
// more from five of 8 starts.
func TestReaches(t *testing.T) {
	entry := must.Get(envs.Catalogue().Find("reacher"))(t)
	behaviours := must.Get(entry.Library())(t)
	k := slices.IndexFunc(behaviours, func(b library.Behaviour) bool { return b.Name == "reaching" })
	env := entry.New(rng.New(1, "layout", 0))
	spec := env.Spec()
	p := must.Get(behaviour.New(spec, behaviours[k].Params))(t)
	at := slices.Index(spec.FeatureNames, "At the target") // 5·exp(−(d/5 cm)²) a second
	reached := 0
	for n := range 8 {
		near := 0
		for _, step := range idrl.EpisodeOf(env, p, rng.New(77, "deed", uint64(n))) {
			if step.Kind != idrl.First && step.Phi[at] >= 5*spec.StepSeconds*math.Exp(-0.16) {
				near++
			}
		}
		t.Logf("start %d: %d of %d steps within 2 cm", n, near, spec.Horizon)
		if 2*near >= spec.Horizon {
			reached++
		}
	}
	if reached < 5 {
		t.Errorf("from %d of 8 starts it is within 2 cm of the target for half of the time, want 5", reached)
	}
}
