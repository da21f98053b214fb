package training

import (
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
)

// MostChanges is the number of rows that Changes covers: more would take long, and sessions seldom have as many.
const MostChanges = 5000

// Changes reports of rows of a session's log whether another policy was recommended after the row than before, by the
// policies that were known at the row: what trainings change is not counted. Rows whose weights are those of learnt
// features are left out, and so is the first one. It has no rows where another policy takes the lead by a duel
// (docs/adr/0056-tested-recommendations.md): means do not tell who leads then.
func Changes(spec idrl.SessionSpec, c record.Course) map[int64]bool {
	out := map[int64]bool{}
	if spec.Leader == idrl.TestedLeader && spec.Kind == idrl.CompareClips && len(c.Adopted) > 0 && slices.ContainsFunc(c.Adopted[0].Candidates, ofLibrary) {
		return out
	}
	policies, next := learning.NewPolicies(learning.OfSession(spec)), 0
	for i := 1; i < len(c.Means); i++ {
		was, is := c.Means[i-1], c.Means[i]
		for ; next < len(c.Adopted) && c.Adopted[next].Row < is.Seq; next++ {
			policies.Adopt(c.Pool, c.Adopted[next].Candidates)
		}
		known := policies.Known()
		if was.Seq != is.Seq-1 || was.Representation != 0 || is.Representation != 0 || len(known) == 0 || len(was.Mean) != len(known[0].Mu) || len(is.Mean) != len(known[0].Mu) {
			continue
		}
		out[is.Seq] = !policies.Same(policies.Leader(was.Mean), policies.Leader(is.Mean))
	}
	return out
}

func ofLibrary(c idrl.Candidate) bool { return c.Origin == idrl.FromLibrary }
