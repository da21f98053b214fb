package belief

import "tiebreak/internal/idrl"

// An observation is what an answer says of one functional of θ.
type observation struct {
	query  idrl.QueryVector
	answer idrl.Answer
}

// observations returns what answer a to q says: nothing where it is not informative; else
// itself, and, where it has a remark, the answer to another comparison: that of the average
// of the two clips with a clip whose reward is zero (docs/methods.md, section 2.6). Given θ
// they are independent.
func observations(q idrl.QueryVector, a idrl.Answer) []observation {
	if !a.Informative() {
		return nil
	}
	out := []observation{{q, a}}
	if a.Remark == "" {
		return out
	}
	remark := idrl.Answer{Seq: a.Seq, Query: a.Query, Annotator: a.Annotator, Choice: idrl.ChoseA}
	if a.Remark == idrl.BothBad {
		remark.Choice = idrl.ChoseB
	}
	average := idrl.QueryVector{Query: idrl.Query{ID: q.ID, Kind: idrl.Average, Clips: q.Clips}, X: q.Mid}
	return append(out, observation{average, remark})
}
