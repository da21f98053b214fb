package session

import (
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
)

// families are the different policies that a session has had. One policy may have several names: a
// search may find it again, and it is then rolled out again.
type families struct {
	library bool             // people are shown behaviours of a library first
	all     []idrl.Candidate // in the order in which they came

	known   bool                  // what follows is of all
	of      map[idrl.PolicyID]int // family of a policy
	first   []idrl.Candidate      // by family: the member that came first
	trained []bool                // by family: no member was there before policies were trained
	acted   map[idrl.StepsID]int  // family that acted in a rollout
}

// add notes policies of the pool, and candidates. Of sessions that do not begin with a library it keeps none.
func (f *families) add(pool, candidates []idrl.Candidate) {
	ofLibrary := func(c idrl.Candidate) bool { return c.Origin == idrl.FromLibrary }
	f.library = f.library || slices.ContainsFunc(candidates, ofLibrary) || slices.ContainsFunc(pool, ofLibrary)
	if f.library {
		f.all, f.known = slices.Concat(f.all, pool, candidates), false
	}
}

// isTrained reports whether a policy was solved for.
func isTrained(c idrl.Candidate) bool {
	return c.Origin == idrl.FromSample || c.Origin == idrl.FromMean
}

// sort finds out which policies are one, if there are new ones: those that count as one, and those with the
// same parameters, of which the returns were estimated from other episodes. All are sorted again, since
// what counts as one depends on all of the first candidates.
func (f *families) sort(policies *learning.Policies) {
	if f.known {
		return
	}
	f.known = true
	f.of, f.first, f.trained, f.acted = map[idrl.PolicyID]int{}, nil, nil, map[idrl.StepsID]int{}
	for _, c := range f.all {
		k := slices.IndexFunc(f.first, func(o idrl.Candidate) bool {
			return o.ID == c.ID || c.Params != nil && slices.Equal(o.Params, c.Params) || policies.Same(o, c)
		})
		if k < 0 {
			k = len(f.first)
			f.first, f.trained = append(f.first, c), append(f.trained, true)
		}
		f.of[c.ID] = k
		f.trained[k] = f.trained[k] && isTrained(c)
		for _, name := range c.Rollouts {
			if _, has := f.acted[name]; !has {
				f.acted[name] = k
			}
		}
	}
}

// rollouts returns the names of the rollouts of a family that are kept.
func (f *families) rollouts(family int) (out []idrl.StepsID) {
	for _, c := range f.all {
		if f.of[c.ID] != family {
			continue
		}
		for _, name := range c.Rollouts {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
