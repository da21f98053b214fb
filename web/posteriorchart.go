package web

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tiebreak/internal/session/insight"
	"tiebreak/templates"
	"tiebreak/web/figure"
)

const z95 = 1.96 // half-width of a 95 % interval, in standard deviations

// drawHistories sets the histories of some weights, all on the same axes.
func drawHistories(c *templates.PosteriorChart, p insight.Posterior, of []int, answers int) {
	most := 0.0
	for _, point := range p.Trace {
		for _, k := range of {
			most = max(most, math.Abs(point.Mean[k])+z95*point.Std[k])
		}
	}
	x, y := axis{low: 0, high: float64(answers), from: 14, to: 98}, axis{low: -most, high: most, from: 82, to: 6}
	c.Zero = y.place(0)
	marks, decimals := figure.Ticks(-most, most, 3)
	for _, v := range marks {
		c.Y = append(c.Y, templates.Tick{Place: y.place(v), Text: signed(v, decimals)})
	}
	c.X = []templates.Tick{{Place: x.place(0), Text: "0"}, {Place: percentage(x.at(float64(answers)) - 2), Text: fmt.Sprint(answers)}}
	box := struct{ x, y axis }{axis{0, float64(answers), 0, 1000}, axis{-most, most, 1000, 0}}
	for _, k := range of {
		w := p.Weights[k]
		var line, upper, lower []string
		for _, point := range p.Trace {
			at := func(v float64) string {
				return fmt.Sprintf("%.1f %.1f", box.x.at(float64(point.Answers)), box.y.at(v))
			}
			line = append(line, at(point.Mean[k]))
			upper = append(upper, at(point.Mean[k]+z95*point.Std[k]))
			lower = append(lower, at(point.Mean[k]-z95*point.Std[k]))
		}
		slices.Reverse(lower)
		first := p.Trace[0]
		c.Weights = append(c.Weights, templates.WeightChart{
			ID: fmt.Sprintf("weight-%d", k), Name: w.Name, Value: interval(w.Mean, w.Std),
			Band: "M" + strings.Join(upper, "L") + "L" + strings.Join(lower, "L") + "Z", Line: "M" + strings.Join(line, "L"),
			Desc: fmt.Sprintf("From %s before the first answer to %s after %s.", interval(first.Mean[k], first.Std[k]), interval(w.Mean, w.Std), plural(answers, "answer")),
		})
	}
}

// interval shows a mean with the half-width of its 95 % interval.
func interval(mean, std float64) string { return signed(mean, 2) + " ± " + signed(z95*std, 2) }
