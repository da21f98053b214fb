package idrl_test

import (
	"testing"
	"time"

	"tiebreak/internal/idrl"
)

func TestDoubts(t *testing.T) {
	issued := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	now := issued.Add(10 * time.Second)
	as := idrl.Assignment{Left: idrl.SideB, IssuedAt: issued}
	for _, test := range []struct {
		name   string
		change func(*idrl.Answer)
		want   idrl.Doubts
	}{
		{"as it should be", func(*idrl.Answer) {}, 0},
		{"sides exchanged", func(a *idrl.Answer) { a.Left = idrl.SideA }, idrl.DoubtSide},
		{"other instructions", func(a *idrl.Answer) { a.Instructions = 99 }, idrl.DoubtInstructions},
		{"instructions of before", func(a *idrl.Answer) { a.Instructions = 2 }, 0},
		{"a clock that is a little slow", func(a *idrl.Answer) { a.ShownAt = issued.Add(-2 * time.Minute) }, 0},
		{"shown before it was asked", func(a *idrl.Answer) { a.ShownAt = issued.Add(-2*time.Minute - 1) }, idrl.DoubtClock},
		{"a clock that is a little fast", func(a *idrl.Answer) { a.ShownAt = now.Add(2 * time.Minute) }, 0},
		{"shown in 2190", func(a *idrl.Answer) { a.ShownAt = a.ShownAt.AddDate(164, 0, 0) }, idrl.DoubtClock},
		{"as long as the question is old", func(a *idrl.Answer) { a.ResponseMS, a.HiddenMS = 5000, 6000 }, 0},
		{"longer than the question is old", func(a *idrl.Answer) { a.ResponseMS, a.HiddenMS = 5000, 6001 }, idrl.DoubtDuration},
		{"a year", func(a *idrl.Answer) { a.ResponseMS = 366 * 24 * 3600 * 1000 }, idrl.DoubtDuration},
		{"no time at all", func(a *idrl.Answer) { a.ResponseMS = 0 }, idrl.DoubtHaste},
		{"too fast for a person", func(a *idrl.Answer) { a.ResponseMS = 199 }, idrl.DoubtHaste},
		{"just possible", func(a *idrl.Answer) { a.ResponseMS = 200 }, 0},
		{"a program is fast", func(a *idrl.Answer) { a.ResponseMS, a.Input = 1, "api" }, 0},
		{"a program needs time too", func(a *idrl.Answer) { a.ResponseMS, a.Input = 0, "api" }, idrl.DoubtHaste},
		{"a clip that does not play is reported at once", func(a *idrl.Answer) { a.ResponseMS, a.Choice = 5, idrl.TechnicalFailure }, 0},
		{"nothing is right", func(a *idrl.Answer) {
			*a = idrl.Answer{Choice: idrl.ChoseB, Left: idrl.SideA, HiddenMS: 1 << 40}
		}, idrl.DoubtSide | idrl.DoubtInstructions | idrl.DoubtClock | idrl.DoubtDuration | idrl.DoubtHaste},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := idrl.Answer{
				Choice: idrl.ChoseA, Left: idrl.SideB, Instructions: 3, Input: "mouse",
				ShownAt: issued.Add(time.Second), ResponseMS: 4000, HiddenMS: 100,
			}
			test.change(&a)
			got := idrl.FindDoubts(a, as, 3, now)
			if got != test.want || idrl.ParseDoubts(got.String()) != got {
				t.Errorf("doubts = %q, want %q", got, test.want)
			}
		})
	}
}

func TestDoubtsHaveNames(t *testing.T) {
	all := idrl.DoubtSide | idrl.DoubtInstructions | idrl.DoubtClock | idrl.DoubtDuration | idrl.DoubtHaste
	if got := all.String(); got != "side,instructions,clock,duration,haste" {
		t.Errorf("all doubts are %q", got)
	}
	if got := idrl.ParseDoubts("haste,of a later version,side"); got != idrl.DoubtHaste|idrl.DoubtSide {
		t.Errorf("parsed %q", got)
	}
}
