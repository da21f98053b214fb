package training

import (
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Whether an answer changed the recommendation is told by the means, but where policies take the lead by duels.
func TestChanges(t *testing.T) {
	of := func(origin idrl.Origin) record.Course {
		c := func(id idrl.PolicyID, mu ...float64) idrl.Candidate {
			return idrl.Candidate{ID: id, Mu: mu, Origin: origin}
		}
		mean := func(seq int64, m ...float64) record.Snapshot { return record.Snapshot{Seq: seq, Mean: m} }
		return record.Course{
			Means:   []record.Snapshot{mean(1, 1, 0), mean(2, 0, 1), mean(3, 0, 2)},
			Adopted: []record.Adoption{{Row: 0, Candidates: []idrl.Candidate{c("a", 1, 0), c("b", 0, 1)}}},
		}
	}
	spec := idrl.SessionSpec{Kind: idrl.CompareClips, Leader: idrl.TestedLeader}
	if got := Changes(spec, of(idrl.FromSample)); len(got) != 2 || !got[2] || got[3] {
		t.Errorf("without a library: %v", got)
	}
	if got := Changes(spec, of(idrl.FromLibrary)); len(got) != 0 {
		t.Errorf("with duels: %v", got)
	}
	spec.Leader = idrl.ExpectedLeader
	if got := Changes(spec, of(idrl.FromLibrary)); len(got) != 2 || !got[2] || got[3] {
		t.Errorf("with a library and no duels: %v", got)
	}
}
