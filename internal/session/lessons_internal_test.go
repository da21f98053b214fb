package session

import "testing"

// After which row what is learnt from.
func TestLessonsUpTo(t *testing.T) {
	for seq, want := range map[int64]int64{0: 0, 4: 0, 5: 5, 99: 95, 100: 100, 109: 100, 199: 190, 219: 200, 799: 760, 1599: 1520, 100_000: 100_000, 100_079: 100_000} {
		if got := lessonsUpTo(seq); got != want {
			t.Errorf("after row %d it learns up to row %d, want %d", seq, got, want)
		}
	}
}
