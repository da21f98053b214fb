package session_test

import (
	"log/slog"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/session"

	"github.com/google/go-cmp/cmp"
)

// What a record says of itself is what the running session's page shows.
func TestReviewOfARecord(t *testing.T) {
	b := newBench(nil)
	review := func() session.Review {
		rec := must.Get(b.journal.Load(t.Context(), "s1"))(t)
		r := must.Get(session.ReviewRecord(session.Config{
			Record: rec, Model: b.model, Acquisition: b.method, Log: slog.New(slog.DiscardHandler),
		}))(t)
		return r
	}
	if r := review(); r.Best.ID != "" || r.Seq != 0 || len(r.Known) != 0 {
		t.Errorf("before the first generation: %+v", r)
	}
	s, _ := b.start(t)
	for i := range 5 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	st := must.Get(s.Status(t.Context()))(t)
	r := review()
	if r.Seq != st.Seq || r.Best.ID != st.Best || len(r.Known) < 6 {
		t.Errorf("review %d, %s of %d policies; the session is at %d and says %s", r.Seq, r.Best.ID, len(r.Known), st.Seq, st.Best)
	}
	if diff := cmp.Diff(st.Regret[len(st.Regret)-1], r.Regret); diff != "" {
		t.Errorf("regret (-page +record):\n%s", diff)
	}
}
