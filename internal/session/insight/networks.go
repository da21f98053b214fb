package insight

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// A Network is one of the reward networks that a session has learnt, as it was learnt: what the
// reward that it gives a clip goes together with. The weights of a network have no meaning of
// their own, and two networks that say the same have others.
type Network struct {
	Version int64
	BasedOn int64 // log row: it was learnt from the answers up to there that counted then
	Clips   int   // that it was looked at with

	// Correlation is Pearson's, over the clips, of the reward of a clip and the sum of each feature
	// of the environment over it; NaN for a feature that is the same in all clips, and for a
	// network that gives all the same reward.
	Correlation []float64
}

// Correlations returns the correlation of rewards with each column of features, a row for each
// reward; NaN where one of the two does not vary.
func Correlations(rewards []float64, features [][]float64) []float64 {
	if len(features) == 0 {
		return nil
	}
	out, column := make([]float64, len(features[0])), make([]float64, len(features))
	for k := range out {
		for i, row := range features {
			column[i] = row[k]
		}
		out[k] = math.NaN()
		if varies(column) && varies(rewards) {
			out[k] = max(-1, min(1, stat.Correlation(column, rewards, nil)))
		}
	}
	return out
}

// varies reports whether numbers differ by more than rounding.
func varies(x []float64) bool {
	mean, std := stat.MeanStdDev(x, nil)
	return std > 1e-12*math.Abs(mean)
}
