package session_test

import (
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
	"tiebreak/internal/session/view"
)

// A paused session hands out nothing and takes in what is under way; resumed it goes on with
// the same questions. A closed one is like a complete one. All of it also after a restart.
func TestStates(t *testing.T) {
	for _, adoptAfter := range []int64{0, 1} {
		b := newBench(func(s *idrl.SessionSpec) {
			s.CompletionCode, s.AdoptAfter, s.TrainEvery = "code", adoptAfter, adoptAfter
		})
		s, stop := b.start(t)
		open := claim(t, s, "ann").Open
		want := func(state record.SessionState) {
			b.want(0, record.Settings{State: state})
			follow(t, s)
		}
		restart := func() {
			stop()
			s, stop = b.start(t)
		}
		want(record.StatePaused)
		for i, again := range []func(){func() {}, restart} {
			again()
			o := offer(t, s, "ann")
			if !o.Paused || o.Done || len(o.Open) != 0 || o.Code != "" || !strings.Contains(o.Waiting, "paused") {
				t.Errorf("adopt after %d: a paused session offers %+v", adoptAfter, o)
			}
			mustAnswer(t, s, "ann", reply(open[i], i))
			st, err := s.Status(t.Context())
			if st.State != record.StatePaused || st.Answers != i+1 || err != nil {
				t.Errorf("status: %s with %d answers, %v", st.State, st.Answers, err)
			}
			if o := offer(t, s, "new"); len(o.Open) != 0 {
				t.Errorf("a paused session asks a newcomer %d questions", len(o.Open))
			}
		}
		want(record.StateRunning)
		o := claim(t, s, "ann")
		if o.Paused || len(o.Open) != 3 || o.Open[0].ID != open[2].ID {
			t.Errorf("a resumed session offers %+v, want question %s and two more", o, open[2].ID)
		}
		want(record.StateClosed)
		restart()
		if o := offer(t, s, "ann"); !o.Done || o.Code != "code" || len(o.Open) != 0 || !strings.Contains(o.Waiting, "ended") {
			t.Errorf("a closed session offers %+v", o)
		}
		if o := offer(t, s, "new"); !o.Done || o.Code != "" {
			t.Errorf("a closed session offers one who gave no answer %+v", o)
		}
		want(record.StateRunning)
		if o := claim(t, s, "ann"); o.Done || len(o.Open) != 3 {
			t.Errorf("reopened: %+v", o)
		}
		stop()
	}
}

// A paused session starts no training; resumed it does.
func TestPausedSessionDoesNotTrain(t *testing.T) {
	b := newBench(nil)
	b.want(0, record.Settings{State: record.StatePaused})
	s, _ := b.start(t)
	for range 3 {
		if st, err := s.Status(t.Context()); st.Training.Running || st.BasedOn != -1 || err != nil {
			t.Fatalf("trains: %+v, %v", st.Training, err)
		}
	}
	b.want(0, record.Settings{})
	follow(t, s)
	if o := claim(t, s, "ann"); len(o.Open) == 0 {
		t.Error("resumed, it asks nothing")
	}
}

func offer(t *testing.T, s *session.Session, who idrl.AnnotatorID) view.Offer {
	t.Helper()
	o := must.Get(s.Claim(t.Context(), who))(t)
	return o
}
