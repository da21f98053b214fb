package idrl_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/idrl"
)

// A tumbler is an environment that has fallen and turned as it is told.
type tumbler struct {
	fallen bool
	angle  float64
}

func (u *tumbler) Fallen() bool    { return u.fallen }
func (u *tumbler) Turned() float64 { return u.angle }

// States 0.25 s apart: within a second there are four more.
func TestLying(t *testing.T) {
	for _, test := range []struct {
		name   string
		fallen []bool
		turned []float64 // three quarters of a turn
		want   []bool
	}{
		{"falls", []bool{false, true, true, true}, []float64{0, 0.2, 0.6, 0.6}, []bool{false, true, true, true}},
		{"turns over, then lies", []bool{false, true, true, true, true, true, true}, []float64{0, 0.4, 0.8, 1.2, 1.4, 1.4, 1.4}, []bool{false, false, false, false, false, true, true}},
		{"backwards", []bool{true, true, true}, []float64{0, -0.6, -1.1}, []bool{false, false, false}},
		{"turns over slowly", slices.Repeat([]bool{true}, 6), []float64{0, 0.2, 0.4, 0.6, 0.8, 1}, slices.Repeat([]bool{true}, 6)},
		{"turns to and fro", []bool{true, true, true}, []float64{0, 0.7, 0}, []bool{true, true, true}},
	} {
		u := &tumbler{}
		l := idrl.NewLying(u)
		for i := range test.fallen {
			u.fallen, u.angle = test.fallen[i], test.turned[i]*1.5*math.Pi*1.0001
			l.Note()
		}
		if got := l.States(0.25); !slices.Equal(got, test.want) {
			t.Errorf("%s: lies %v, want %v", test.name, got, test.want)
		}
	}
	l := idrl.NewLying(3) // no Faller
	l.Note()
	if got := l.States(0.25); got != nil {
		t.Errorf("of what cannot tell it is known: %v", got)
	}
}
