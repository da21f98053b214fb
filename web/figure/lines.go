package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/base/words"
	"tiebreak/internal/learn/acquisition"
)

// z95 is the half-width of a 95 % interval of a normal distribution, in standard deviations.
const z95 = 1.96

// mostMultiples is how many histories a figure has.
const mostMultiples = 8

// share writes a share in per cent with up to three digits.
func share(v float64) string { return fmt.Sprintf("%.3g %%", 100*v) }

// drawHistory draws how the means and intervals of weights moved, one small plot a weight.
func drawHistory(c *canvas, r rows, _ Moment) (float64, string) {
	names := r.distinct("weight")
	all := len(names)
	latest := func(name string) float64 {
		of := r.where("weight", name)
		return math.Abs(of.number(len(of.cells)-1, "mean"))
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(latest(b), latest(a)) })
	names = names[:min(all, mostMultiples)]
	most, last := 0.1, 1.0
	for _, name := range names {
		of := r.where("weight", name)
		for i := range of.cells {
			most, last = max(most, math.Abs(of.number(i, "mean"))+z95*of.number(i, "std")), max(last, of.number(i, "answers"))
		}
	}
	height := multiples(c, names, span(0, last, 0, 0), span(-most, most, 0, 0), func(name string, f frame) {
		of := r.where("weight", name)
		var mean, band, lower [][2]float64
		for i := range of.cells {
			x, m, s := f.x.at(of.number(i, "answers")), of.number(i, "mean"), z95*of.number(i, "std")
			mean, band, lower = append(mean, [2]float64{x, f.y.at(m)}), append(band, [2]float64{x, f.y.at(m + s)}), append(lower, [2]float64{x, f.y.at(m - s)})
		}
		slices.Reverse(lower)
		c.path(append(band, lower...), bandLook)
		c.line(f.x.from, f.y.at(0), f.x.to, f.y.at(0), zeroLook)
		c.path(mean, lineLook)
	})
	return height, fmt.Sprintf("Posterior mean of the weights of the reward (line) with its 95 %% interval (band: mean ± 1.96 standard deviations), by the number of answers that count, in standard deviations of the prior%s. Dashed: 0.",
		ofAll(len(names), all, "weights"))
}

// drawNetworks draws how the reward of clips correlates with features, from network to network.
func drawNetworks(c *canvas, r rows, _ Moment) (float64, string) {
	names := r.distinct("feature")
	all := len(names)
	latest := func(name string) float64 {
		of := r.where("feature", name)
		if end := len(of.cells) - 1; of.known(end, "correlation") {
			return math.Abs(of.number(end, "correlation"))
		}
		return -1 // a feature that does not vary
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(latest(b), latest(a)) })
	names = names[:min(all, mostMultiples)]
	last := 1.0
	for i := range r.cells {
		last = max(last, r.number(i, "row"))
	}
	height := multiples(c, names, span(0, last, 0, 0), span(-1, 1, 0, 0), func(name string, f frame) {
		c.line(f.x.from, f.y.at(0), f.x.to, f.y.at(0), zeroLook)
		of := r.where("feature", name)
		var line [][2]float64
		for i := range of.cells {
			if of.known(i, "correlation") {
				line = append(line, [2]float64{f.x.at(of.number(i, "row")), f.y.at(of.number(i, "correlation"))})
			}
		}
		c.path(line, lineLook)
		for _, p := range line {
			c.circle(p[0], p[1], 3, dotLook, "")
		}
	})
	return height, fmt.Sprintf("Correlation of the reward of a clip with each hand-made feature, for each network at the row of the log up to which it had learnt%s. No intervals are known. Dashed: 0.", ofAll(len(names), all, "features"))
}

// ofAll says which of all are drawn; empty where all are.
func ofAll(drawn, all int, things string) string {
	if drawn == all {
		return ""
	}
	return fmt.Sprintf("; the %d largest of %d %s", drawn, all, things)
}

// multiples draws small plots side by side as far as there is room, which share their axes, and returns the height of all.
func multiples(c *canvas, names []string, x, y scale, draw func(name string, f frame)) float64 {
	const each, high, column = 122.0, 76.0, 236.0
	across := max(1, int(c.width/column))
	wide := min(column, c.width-margin) - 46
	for i, name := range names {
		left, top := 40+float64(i%across)*column, 24+float64(i/across)*each
		x.from, x.to, y.from, y.to = left, left+wide, top+high, top
		f := frame{x: x, y: y, size: smallSize, xTicks: 3, yTicks: 4}
		c.label(left, top-8, startAt, textSize, wide, name)
		f.draw(c)
		draw(name, f)
	}
	return 12 + each*float64((len(names)+across-1)/across)
}

// dashes tell the lines of conditions apart, also without colours.
var dashes = []string{"", "7 3", "2 2", "9 3 2 3", "4 4", "1 3", "12 4"}

// drawConditions draws how well the posterior of each condition predicts what is held out.
func drawConditions(c *canvas, r rows, _ Moment) (float64, string) {
	names := r.distinct("condition")
	last := 1.0
	for i := range r.cells {
		last = max(last, r.number(i, "answers"))
	}
	f := frame{x: span(0, last, 52, c.width-16), y: span(0, 1, 220, 24), percent: true, size: textSize, xTicks: 6, yTicks: 5, xTitle: "answers that the posterior knows", yTitle: "accuracy"}
	f.draw(c)
	c.line(f.x.from, f.y.at(0.5), f.x.to, f.y.at(0.5), zeroLook)
	held := 0.0
	for k, name := range names {
		of, look := r.where("condition", name), ""
		if d := dashes[k%len(dashes)]; d != "" {
			look = ` stroke-dasharray="` + d + `"`
		}
		var line [][2]float64
		for i := range of.cells {
			if of.number(i, "decisive") == 0 {
				continue
			}
			held = of.number(i, "decisive")
			x := f.x.at(of.number(i, "answers")) + 2*float64(k)
			line = append(line, [2]float64{x, f.y.at(of.number(i, "accuracy"))})
			c.line(x, f.y.at(of.number(i, "accuracy_low")), x, f.y.at(of.number(i, "accuracy_high")), `stroke="#7d9fc2" stroke-width="1.5"`)
		}
		c.path(line, lineLook+look)
		for _, p := range line {
			c.circle(p[0], p[1], 2.5, dotLook, "")
		}
		y := 270 + 16*float64(k)
		c.path([][2]float64{{52, y - 4}, {92, y - 4}}, lineLook+look)
		title := "All answers together"
		if name != allConditions {
			title = acquisition.Title(name)
		}
		c.label(100, y, startAt, textSize, c.width-100-margin, title)
	}
	return 262 + 16*float64(len(names)), fmt.Sprintf("Share of the %s that prefer a clip and that the posterior of each condition predicted, by the number of its own answers that it knows, with 95 %% intervals (Wilson). Curves are set apart by 2 px. Dashed: guessing.",
		words.Plural(int(held), "held-out answer"))
}
