//go:build mujoco

package session_test

import (
	"testing"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/training"
)

// A person who has rated a robot that stays where it is rates every one that goes somewhere
// before another that stays.
func TestRatingsOfRobotsThatStay(t *testing.T) {
	b := sighted(t, "swimmer-corridor", idrl.RateClip, func(s *idrl.SessionSpec) { s.TrainEvery = 1000 })
	list := envs.Catalogue()
	trainer, err := training.New(list, b.journal.rec.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if trainer.Stock, err = training.NewStock(list, b.journal.rec.Spec, b.log); err != nil {
		t.Fatal(err)
	}
	b.trainer = trainer
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
