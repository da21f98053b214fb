package episodes

import "testing"

// TestShareWithoutRounding: 58 % of 50 episodes are 29, although 0.58 times 50 is a little less in floating point.
func TestShareWithoutRounding(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		share   float64
		n, want int
	}{{0.58, 50, 29}, {0.29, 100, 29}, {0.57, 100, 57}, {0.585, 50, 29}, {0.5, 7, 3}, {1, 50, 50}} {
		list, scores := make([]episodeRow, test.n), make([]float64, test.n)
		for i := range list {
			scores[i] = float64(i)
			list[i] = episodeRow{Index: int64(i), Score: &scores[i]}
		}
		if got := len(markGood(list, test.share)); got != test.want {
			t.Errorf("%v of %d episodes: %d are good, want %d", test.share, test.n, got, test.want)
		}
	}
}
