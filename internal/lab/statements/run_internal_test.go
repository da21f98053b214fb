package statements

import (
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

// A run whose session has nothing to ask any more ends with an error; it has no moment of an answer that was not given.
func TestNothingToAsk(t *testing.T) {
	w := must.Get(FindWorld(t.Context(), "junction", t.TempDir()))(t)
	s := must.Get(Kinds()[0].stage(w, 3))(t)
	s.spec.Budget = 2
	session := must.Get(s.start(t.Context()))(t)
	defer session.Close()
	for n := range 2 {
		must.Do(t, s.answer(t.Context(), session, n))
	}
	if err := s.answer(t.Context(), session, 2); err == nil || !strings.Contains(err.Error(), "nothing to ask") {
		t.Errorf("error %v of the answer after the last", err)
	}
}
