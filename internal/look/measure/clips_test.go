package measure_test

import (
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/measure"
)

// environment returns one of the catalogue.
func environment(t testing.TB, id string) idrl.Environment {
	entry := must.Get(envs.Catalogue().Find(id))(t)
	return entry.New(rng.New(1, "layout", 0))
}

// record plays an episode.
func record(env idrl.Environment, p idrl.Policy, seed uint64) *idrl.Trajectory {
	tr := &idrl.Trajectory{Env: env.Spec().ID}
	for a, step := range idrl.EpisodeOf(env, p, rng.New(seed, "episode", 0)) {
		if step.Kind != idrl.First {
			tr.Actions, tr.Phi = append(tr.Actions, slices.Clone(a)), append(tr.Phi, slices.Clone(step.Phi))
		}
		tr.Snapshots = append(tr.Snapshots, env.(idrl.Snapshotter).Snapshot(nil))
	}
	return tr
}

// cut returns the views of the opening of tr and of three clips from random places.
func cut(t testing.TB, env idrl.Environment, tr *idrl.Trajectory, places interface{ IntN(int) int }) (out []*measure.View) {
	n := min(env.Spec().ClipSteps, tr.Len())
	at := []int{0}
	if tr.Len() >= 2*n {
		at = append(at, places.IntN(tr.Len()-n+1), places.IntN(tr.Len()-n+1), places.IntN(tr.Len()-n+1))
	}
	for _, start := range at {
		out = append(out, measured(t, env, idrl.Segment(tr, start, n)))
	}
	return out
}

// measured returns the view of a clip as a page gets it.
func measured(t testing.TB, env idrl.Environment, shown idrl.Clip) *measure.View {
	b := must.Get(clip.Encode(env, shown))(t)
	c := must.Get(clip.Decode(b))(t)
	v := must.Get(measure.New(c))(t)
	return v
}

// shares says how many of all pairs of clips fail which rule, the first that does.
type shares struct{ still, stay, alike, fallen, left float64 }

func sharesOf(t testing.TB, views []*measure.View) (s shares) {
	n := float64(len(views)*(len(views)-1)) / 2
	for i, a := range views {
		for _, b := range views[:i] {
			p := must.Get(measure.Compare(a, b))(t)
			switch {
			case p.Answerable():
				s.left += 1 / n
			case a.Still() && b.Still():
				s.still += 1 / n
			case p.Alike():
				s.alike += 1 / n
			case p.StayTogether():
				s.stay += 1 / n
			default:
				s.fallen += 1 / n
			}
		}
	}
	return s
}

func quantile(x []float64, q float64) float64 {
	slices.Sort(x)
	return x[int(q*float64(len(x)-1)+0.5)]
}
