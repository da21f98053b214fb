package store_test

import (
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session/journaltest"
)

// The policies of a course have what is read from them: where they come from, and their feature expectations.
func TestCourse(t *testing.T) {
	db := seeded(t, t.TempDir())
	g := journaltest.Generation(0)
	must.Do(t, db.Adopt(t.Context(), "s", g, 0))
	c, err := db.Course(t.Context(), "s", 10)
	if err != nil || len(c.Adopted) != 1 || len(c.Pool) != len(g.Pool) {
		t.Fatalf("%+v, %v", c, err)
	}
	same := func(a, b idrl.Candidate) bool {
		return a.ID == b.ID && a.Origin == b.Origin && slices.Equal(a.Mu, b.Mu)
	}
	if !slices.EqualFunc(c.Adopted[0].Candidates, g.Candidates, same) {
		t.Errorf("policies %+v, want %+v", c.Adopted[0].Candidates, g.Candidates)
	}
}
