package record_test

import (
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

func TestDoubts(t *testing.T) {
	issued := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	now := issued.Add(10 * time.Second)
	as := record.Assignment{Left: idrl.SideB, IssuedAt: issued}
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
			got := record.FindDoubts(a, as, 3, now)
			if got != test.want || idrl.ParseDoubts(got.String()) != got {
				t.Errorf("doubts = %q, want %q", got, test.want)
			}
		})
	}
}

func TestDoubtsHaveNames(t *testing.T) {
	all := idrl.DoubtSide | idrl.DoubtInstructions | idrl.DoubtClock | idrl.DoubtDuration | idrl.DoubtHaste | idrl.DoubtDwell | idrl.DoubtRate
	if got := all.String(); got != "side,instructions,clock,duration,haste,dwell,rate" {
		t.Errorf("all doubts are %q", got)
	}
	if got := idrl.ParseDoubts("haste,of a later version,side"); got != idrl.DoubtHaste|idrl.DoubtSide {
		t.Errorf("parsed %q", got)
	}
}

func TestHurry(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	spec := idrl.SessionSpec{MinDwell: 0.25, MaxRate: 60}
	every := func(n int, d time.Duration) (out []time.Time) { // the moments of n replies before now, d apart
		for i := range n {
			out = append(out, now.Add(-time.Duration(i+1)*d))
		}
		return out
	}
	for _, test := range []struct {
		name    string
		change  func(*idrl.Answer, *idrl.SessionSpec)
		seconds float64
		before  []time.Time
		want    idrl.Doubts
	}{
		{"a quarter of four seconds", nil, 4, nil, 0},
		{"less", func(a *idrl.Answer, _ *idrl.SessionSpec) { a.ResponseMS = 999 }, 4, nil, idrl.DoubtDwell},
		{"of a still", func(a *idrl.Answer, _ *idrl.SessionSpec) { a.ResponseMS = 0 }, 0, nil, 0},
		{"a skip", func(a *idrl.Answer, _ *idrl.SessionSpec) { a.ResponseMS, a.Choice = 0, idrl.Skip }, 4, nil, 0},
		{"a program", func(a *idrl.Answer, _ *idrl.SessionSpec) { a.ResponseMS, a.Input = 0, "api" }, 4, every(30, time.Millisecond), 0},
		{"switched off", func(a *idrl.Answer, s *idrl.SessionSpec) { a.ResponseMS, s.MinDwell, s.MaxRate = 0, 0, 0 }, 4, every(30, 0), 0},
		{"one a second", nil, 0, every(30, time.Second), 0},
		{"a little more", nil, 0, every(30, 999*time.Millisecond), idrl.DoubtRate},
		{"a short burst", nil, 0, every(18, time.Millisecond), 0}, // nineteen answers with this one
		{"skips in a row", func(a *idrl.Answer, _ *idrl.SessionSpec) { a.Choice = idrl.Skip }, 0, every(19, time.Millisecond), idrl.DoubtRate},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, s := idrl.Answer{Choice: idrl.ChoseA, Input: "mouse", ResponseMS: 1000}, spec
			if test.change != nil {
				test.change(&a, &s)
			}
			if got := record.FindHurry(a, s, test.seconds, now, test.before); got != test.want {
				t.Errorf("doubts = %q, want %q", got, test.want)
			}
		})
	}
}

func TestMoment(t *testing.T) {
	issued := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	received := issued.Add(time.Hour)
	for _, test := range []struct{ answered, want time.Duration }{ // after the issue
		{10 * time.Minute, 10 * time.Minute}, // kept without network
		{-time.Minute, 0},                    // the device's clock is slow
		{2 * time.Hour, time.Hour},           // or fast
	} {
		got := record.Moment(idrl.Answer{AnsweredAt: issued.Add(test.answered)}, record.Assignment{IssuedAt: issued}, received)
		if got != issued.Add(test.want) {
			t.Errorf("answered after %v by its clock: %v, want %v", test.answered, got.Sub(issued), test.want)
		}
	}
}
