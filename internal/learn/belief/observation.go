package belief

import "tiebreak/internal/idrl"

// An observation is an answer about one functional of θ. query and answer are not changed.
type observation struct {
	query  *idrl.QueryVector
	answer *idrl.Answer
}

// observations appends the observations of answer a to q to dst: none if it is not informative;
// else the answer itself, and, if it has a remark, the answer to a second comparison, of the
// average of the two clips with a clip whose reward is zero (docs/methods.md, section 2.6).
// Given θ they are independent.
func observations(dst []observation, q *idrl.QueryVector, a *idrl.Answer) []observation {
	if !a.Informative() {
		return dst
	}
	dst = append(dst, observation{q, a})
	if a.Remark == "" {
		return dst
	}
	remark := &idrl.Answer{Seq: a.Seq, Query: a.Query, Annotator: a.Annotator, Choice: idrl.ChoseA}
	if a.Remark == idrl.BothBad {
		remark.Choice = idrl.ChoseB
	}
	average := &idrl.QueryVector{Query: idrl.Query{ID: q.ID, Kind: idrl.Average, Clips: q.Clips}, X: q.Mid}
	return append(dst, observation{average, remark})
}
