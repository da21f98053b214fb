package training

import (
	"sync"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/train/trainer"
)

// A viewer finds the questions that people can answer by what they see. It keeps the views
// of the clips that it was given last, most of which come again with the next generation.
type viewer struct {
	lock  sync.Mutex
	views map[idrl.ClipID]*measure.View // guarded by lock; nil of clips that cannot be measured
}

// look returns the views of drawn clips; nil of those that cannot be measured, of which
// nothing is known.
func (v *viewer) look(clips []idrl.Clip) []*measure.View {
	v.lock.Lock()
	defer v.lock.Unlock()
	kept, out := make(map[idrl.ClipID]*measure.View, len(clips)), make([]*measure.View, len(clips))
	for i, c := range clips {
		view, known := v.views[c.ID]
		if !known {
			view = viewOf(c)
		}
		kept[c.ID], out[i] = view, view
	}
	v.views = kept
	return out
}

// AskAnswerable has t ask only what people can answer, in an environment that draws itself.
func AskAnswerable(t *trainer.Thompson, env idrl.Environment, kind idrl.QueryKind) {
	v := &viewer{}
	t.Pairs, t.Rated = v.pairs, v.rated
	if _, cheap := env.(idrl.Differentiable); cheap {
		t.Useless = useless
	}
	if _, tabular := env.(idrl.Tabular); tabular { // their clips cost little, and few of them look different
		t.Rollouts = tabularRollouts
		if !kind.Comparison() { // one clip is a question
			t.Rollouts *= 2
		}
	}
}

func viewOf(c idrl.Clip) *measure.View {
	drawn, err := clip.Decode(c.Media)
	if err != nil {
		return nil
	}
	out, err := measure.New(drawn)
	if err != nil {
		return nil
	}
	return out
}

// pairs returns the pairs of clips that a person can compare, by their places.
func (v *viewer) pairs(clips []idrl.Clip) (out [][2]int, err error) {
	views := v.look(clips)
	for j, b := range views {
		for i, a := range views[:j] {
			ok := true
			if a != nil && b != nil {
				if ok, err = measure.Answerable(a, b); err != nil {
					return nil, err
				}
				ok = ok && !measure.SameUseless(a, b)
			}
			if ok {
				out = append(out, [2]int{i, j})
			}
		}
	}
	return out, nil
}

// useless returns what a drawn clip shows if that is useless, else nothing.
func useless(c idrl.Clip) string {
	if v := viewOf(c); v != nil && v.Happens().Useless {
		return v.Happens().Name
	}
	return ""
}

// rated returns the places of the clips that a person can rate.
func (v *viewer) rated(clips []idrl.Clip) (out []int, err error) {
	for i, view := range v.look(clips) {
		if view == nil || view.Ratable() {
			out = append(out, i)
		}
	}
	return out, nil
}
