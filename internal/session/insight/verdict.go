package insight

import (
	"cmp"
	"maps"
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/sequential"
)

// An Episode is what a clip shows a part of.
type Episode struct {
	ID     idrl.TrajectoryID
	Policy string // that acted, as researchers call it
	Task   string // what it was to do; empty if that is not known
}

// A SuccessRate says how often the episodes of a policy succeed, by the first verdict of each that counts. A partial
// success is half of one.
type SuccessRate struct {
	Policy                     string
	Task                       string // empty: all tasks together
	Failures, Partial, Success int
	Share                      float64

	// Low and High contain the mean over all episodes of the policy with a probability of 95 % at all numbers of
	// verdicts together, if the episodes were chosen at random (package sequential).
	Low, High float64
}

// Episodes returns the number of episodes with a verdict.
func (r SuccessRate) Episodes() int { return r.Failures + r.Partial + r.Success }

// Verdicts are what people say in a session of kind idrl.JudgeClip.
type Verdicts struct {
	Rates []SuccessRate // by policy, the most successful first: all its tasks together, then each, if there are several

	Moments int     // verdicts below success that say when it went wrong
	Shared  int     // clips of which two people or more say that
	Apart   float64 // seconds: half of the time two people name moments of such a clip that are no further apart; 0 if there is none
}

// verdictsOf reads the verdicts of a log. episode returns what the clip of an assignment belongs to.
func verdictsOf(log []idrl.Answer, episode func(idrl.AssignmentID) (Episode, bool)) (v Verdicts) {
	type place struct{ policy, task string }
	counts, judged := map[place]*SuccessRate{}, map[idrl.TrajectoryID]bool{}
	moments := map[idrl.QueryID]map[idrl.AnnotatorID]float64{}
	for a := range record.EachEffective(log) {
		e, known := episode(a.Assignment)
		if a.Choice != idrl.Rated || !known {
			continue
		}
		if a.WrongMS > 0 {
			v.Moments++
			if moments[a.Query] == nil {
				moments[a.Query] = map[idrl.AnnotatorID]float64{}
			}
			moments[a.Query][a.Annotator] = float64(a.WrongMS) / 1000
		}
		if judged[e.ID] {
			continue
		}
		judged[e.ID] = true
		for _, p := range slices.Compact([]place{{e.Policy, ""}, {e.Policy, e.Task}}) {
			if counts[p] == nil {
				counts[p] = &SuccessRate{Policy: p.policy, Task: p.task}
			}
			counts[p].count(a.Rating)
		}
	}
	for _, r := range counts {
		v.Rates = append(v.Rates, r.rate())
	}
	v.sort()
	v.Shared, v.Apart = apart(moments)
	return v
}

func (r *SuccessRate) count(rating float64) {
	switch idrl.Verdict(rating) {
	case idrl.Failure:
		r.Failures++
	case idrl.Partial:
		r.Partial++
	default:
		r.Success++
	}
}

func (r SuccessRate) rate() SuccessRate {
	won := float64(r.Success) + float64(r.Partial)/2
	r.Share = won / float64(r.Episodes())
	r.Low, r.High = sequential.Interval(won, float64(r.Episodes())-won)
	return r
}

// sort puts policies with higher shares first. A policy with a single task has one row.
func (v *Verdicts) sort() {
	all, tasks := map[string]float64{}, map[string]int{}
	for _, r := range v.Rates {
		if r.Task == "" {
			all[r.Policy] = r.Share
		} else {
			tasks[r.Policy]++
		}
	}
	v.Rates = slices.DeleteFunc(v.Rates, func(r SuccessRate) bool { return r.Task != "" && tasks[r.Policy] == 1 })
	slices.SortFunc(v.Rates, func(a, b SuccessRate) int {
		return cmp.Or(cmp.Compare(all[b.Policy], all[a.Policy]), cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Task, b.Task))
	})
}

// apart returns how many clips two people or more name a moment of, and the median distance of the moments of two people: of a clip that is drawn at
// random among these, and of two people drawn among those who name one. So it does not depend on how many people there are.
func apart(moments map[idrl.QueryID]map[idrl.AnnotatorID]float64) (clips int, median float64) {
	type pair struct{ distance, weight float64 }
	var pairs []pair
	for _, of := range moments { // in any order: pairs are sorted
		all := slices.Sorted(maps.Values(of))
		if len(all) > 1 {
			clips++
		}
		for i, a := range all {
			for _, b := range all[i+1:] {
				pairs = append(pairs, pair{b - a, 2 / float64(len(all)*(len(all)-1))})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.weight, b.weight)) })
	before, half := 0., float64(clips)/2
	for k, p := range pairs {
		switch before += p.weight; {
		case before > half+1e-9:
			return clips, p.distance
		case before > half-1e-9:
			return clips, (p.distance + pairs[k+1].distance) / 2
		}
	}
	return clips, 0
}
