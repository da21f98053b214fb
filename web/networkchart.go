package web

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"
	"tiebreak/templates"
	"tiebreak/web/figure"
)

// networkChart shows what the networks of a session reward: for each feature the correlation with
// the reward of a clip, from network to network.
func networkChart(spec idrl.SessionSpec, r *insight.Report) templates.PosteriorChart {
	c := templates.PosteriorChart{
		Title: "Features that the networks reward", Hint: "correlation of the reward of a clip with each hand-made feature, by network", History: chartURL(spec.ID, "networks"),
	}
	if len(r.Networks) == 0 {
		c.None = "Shown from the first network on, which is learnt from 10 answers. A network has no weights with names."
		if r.Recorded {
			c.None = "The networks, or the clips of the questions, cannot be read any more. \"tiebreak doctor\" says what is damaged."
		}
		return c
	}
	last := r.Networks[len(r.Networks)-1]
	drawn := largest(last.Correlation)
	c.Sum = fmt.Sprintf("Computed over %s that people were asked about. Each point is a network, at the log row up to which it has learnt. "+
		"+1: the reward of a clip rises with the feature; 0: the two are not correlated. "+
		"A correlation is not a weight: features that are correlated in the clips have similar values, whichever of them the network rewards. "+
		"Each network starts from other random weights, so a line that jumps is uncertain. No intervals are known.", plural(last.Clips, "clip"))
	if n := len(last.Correlation); n > weightsDrawn {
		c.Sum += fmt.Sprintf(" The %d largest of %d features now; all are in the CSV.", weightsDrawn, n)
	}
	rows := float64(last.BasedOn)
	x, y := axis{low: 0, high: rows, from: 14, to: 96}, axis{low: -1, high: 1, from: 82, to: 6}
	c.Zero = y.place(0)
	for _, v := range []float64{-1, 0, 1} {
		c.Y = append(c.Y, templates.Tick{Place: y.place(v), Text: signed(v, 0)})
	}
	c.X = []templates.Tick{{Place: x.place(0), Text: "0"}, {Place: percentage(x.at(rows) - 2), Text: fmt.Sprint(last.BasedOn)}}
	box := struct{ x, y axis }{axis{0, rows, 0, 976}, axis{-1, 1, 1000, 0}} // of the drawing from 14 to 98 %
	for _, k := range drawn {
		w := templates.WeightChart{ID: fmt.Sprintf("network-%d", k), Name: figure.FeatureName(spec, k), Value: correlationText(last.Correlation[k])}
		var line, words []string
		for _, n := range r.Networks {
			v := n.Correlation[k]
			if math.IsNaN(v) {
				continue
			}
			at := float64(n.BasedOn)
			line = append(line, fmt.Sprintf("%.1f %.1f", box.x.at(at), box.y.at(v)))
			w.Dots = append(w.Dots, templates.Dot{X: x.place(at), Y: y.place(v)})
			words = append(words, fmt.Sprintf("%s at row %d", correlationText(v), n.BasedOn))
		}
		if len(line) > 0 {
			w.Line = "M" + strings.Join(line, "L")
		}
		w.Desc = "Correlation with the reward of a clip: " + strings.Join(words, ", ") + "."
		c.Weights = append(c.Weights, w)
	}
	return c
}

// largest returns the places of at most weightsDrawn correlations, the largest first; unknown ones
// are last.
func largest(of []float64) []int {
	out := make([]int, len(of))
	for k := range out {
		out[k] = k
	}
	size := func(k int) float64 {
		if math.IsNaN(of[k]) {
			return -1
		}
		return math.Abs(of[k])
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(size(b), size(a)) })
	return out[:min(len(out), weightsDrawn)]
}

func correlationText(v float64) string {
	if math.IsNaN(v) {
		return "does not vary"
	}
	if v > 0 {
		return "+" + signed(v, 2)
	}
	return signed(v, 2)
}
