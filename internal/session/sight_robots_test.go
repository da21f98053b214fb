//go:build mujoco

package session_test

import (
	"testing"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/trainer"
	"tiebreak/internal/train/training"
)

// A person who has rated a robot that stays where it is rates every one that goes somewhere
// before another that stays.
func TestRatingsOfRobotsThatStay(t *testing.T) {
	b := sighted(t, "swimmer-corridor", idrl.RateClip, func(s *idrl.SessionSpec) { s.TrainEvery = 1000 })
	b.trainer = onLibrary(t, b)
	s, stop := b.start(t)
	defer stop()
	going, stayed := 0, 0
	for n := range 12 {
		as := claim(t, s, "ann").Open[0]
		if b.views(t, as.Query)[0].Stays() {
			stayed++
		} else {
			going++
		}
		if n < 6 && stayed > 1 {
			t.Errorf("question %d is the second of a robot that stays, after %d of robots that go", n+1, going)
		}
		a := reply(as, n)
		a.Choice, a.Rating, a.Left = idrl.Rated, float64(n%5)/2-1, ""
		mustAnswer(t, s, "ann", a)
	}
	if stayed == 0 || going < 3 {
		t.Errorf("%d stay and %d go: this test tells nothing apart", stayed, going)
	}
}

// onLibrary returns a trainer of a session that begins with the library of its robot.
func onLibrary(tb testing.TB, b *bench) *trainer.Thompson {
	tb.Helper()
	list := envs.Catalogue()
	t, err := training.New(list, b.journal.rec.Spec)
	if err != nil {
		tb.Fatal(err)
	}
	if t.Stock, err = training.NewStock(list, b.journal.rec.Spec, b.log); err != nil {
		tb.Fatal(err)
	}
	return t
}

// BenchmarkLibrary takes an answer and selects the next question while a session asks about the
// library of its robot. first-s is how long the first question took, with all behaviours played.
func BenchmarkLibrary(b *testing.B) {
	for _, env := range []string{"half-cheetah", "hopper", "walker2d", "ant-corridor"} {
		b.Run(env, func(b *testing.B) {
			w := sighted(b, env, idrl.CompareClips, func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter, s.Ahead = 1e6, 1e6, 1 })
			w.trainer = onLibrary(b, w)
			began := time.Now()
			s, _ := w.start(b)
			n := 0
			answer := func() {
				mustAnswer(b, s, "ann", variously(claim(b, s, "ann").Open[0], n))
				n++
			}
			claim(b, s, "ann")
			first := time.Since(began)
			for range 20 {
				answer()
			}
			for b.Loop() {
				answer()
			}
			b.ReportMetric(first.Seconds(), "first-s")
			b.ReportMetric(float64(len(w.journal.rec.Generation.Candidates)), "policies")
			b.ReportMetric(float64(len(w.journal.rec.Generation.Queries)), "questions")
		})
	}
}
