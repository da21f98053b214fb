package journaltest

import (
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/representation"
)

// Vectors returns the questions of a record by assignment, under the features of its
// environment.
func Vectors(t testing.TB, r record.Record) map[idrl.AssignmentID]idrl.QueryVector {
	t.Helper()
	out := map[idrl.AssignmentID]idrl.QueryVector{}
	for _, as := range r.Assignments {
		out[as.ID] = Vector(t, r, as.Query)
	}
	return out
}

// Vector returns a question about clips of a record, under the features of its
// environment.
func Vector(t testing.TB, r record.Record, q idrl.Query) idrl.QueryVector {
	t.Helper()
	view := representation.New(nil, representation.Source{Remarks: true, Clip: func(id idrl.ClipID) (idrl.Clip, error) {
		c, ok := r.Clips[id]
		if !ok {
			return c, idrl.Errorf(idrl.NotFound, "the record has no clip %s", id)
		}
		return c, nil
	}})
	out, err := view.Query(q)
	if err != nil {
		t.Fatal(err)
	}
	return *out
}
