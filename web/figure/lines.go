package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tiebreak/internal/base/words"
	"tiebreak/internal/learn/acquisition"
)

// z95 is the half-width of a 95 % interval of a normal distribution, in standard deviations.
const z95 = 1.96

// Multiples is how many histories a figure has at most.
const Multiples = 8

// share writes a share in per cent with up to three digits.
func share(v float64) string { return fmt.Sprintf("%.3g %%", 100*v) }

// count writes a whole number.
func count(v float64) string { return words.Signed(v, 0) }

// A multiple is one of several small plots.
type multiple struct {
	name, latest string
	size         float64 // the plots with the largest ones are drawn
	of           rows
}

// multiplesOf returns a plot for each text of a column, the largest first, and how many there are in all. Their values along another
// column become the table.
func multiplesOf(c *canvas, r rows, by, along, title string, size func(of rows, i int) float64, text func(of rows, i int) string) (list []multiple, all int) {
	for _, name := range r.distinct(by) {
		of := r.where(by, name)
		end := len(of.cells) - 1
		list = append(list, multiple{name, text(of, end), size(of, end), of})
	}
	slices.SortStableFunc(list, func(a, b multiple) int { return cmp.Compare(b.size, a.size) })
	all = len(list)
	list = list[:min(all, Multiples)]
	c.head = []string{title}
	for _, m := range list {
		c.head = append(c.head, m.name)
	}
	for _, i := range thinned(len(list[0].of.cells), mostReadouts) {
		row := []string{count(list[0].of.number(i, along))}
		for _, m := range list {
			row = append(row, text(m.of, i))
		}
		c.value(row...)
	}
	return list, all
}

// drawHistory draws how the means and intervals of weights moved, one small plot a weight.
func drawHistory(c *canvas, r rows, _ Moment) (float64, string) {
	text := func(of rows, i int) string { return plusMinus(of.number(i, "mean"), of.number(i, "std"), 2) }
	list, all := multiplesOf(c, r, "weight", "answers", "Answers", func(of rows, i int) float64 { return math.Abs(of.number(i, "mean")) }, text)
	most, last := 0.1, 1.0
	for _, m := range list {
		for i := range m.of.cells {
			most, last = max(most, math.Abs(m.of.number(i, "mean"))+z95*m.of.number(i, "std")), max(last, m.of.number(i, "answers"))
		}
	}
	height := multiples(c, list, last, most, func(of rows, f frame) {
		var mean, band, lower [][2]float64
		for i := range of.cells {
			x, m, s := f.x.at(of.number(i, "answers")), of.number(i, "mean"), z95*of.number(i, "std")
			mean, band, lower = append(mean, [2]float64{x, f.y.at(m)}), append(band, [2]float64{x, f.y.at(m + s)}), append(lower, [2]float64{x, f.y.at(m - s)})
		}
		slices.Reverse(lower)
		c.path(append(band, lower...), bandLook)
		c.line(f.x.from, f.y.at(0), f.x.to, f.y.at(0), zeroLook)
		c.path(mean, lineLook)
		readouts(c, f, thinned(len(of.cells), mostReadouts/2), func(i int) float64 { return of.number(i, "answers") },
			func(i int) string {
				return text(of, i) + " after " + words.Plural(int(of.number(i, "answers")), "answer")
			})
	})
	return height, fmt.Sprintf("Posterior mean of the weights of the reward (line, and the latest as a number) with its 95 %% interval (band: mean ± 1.96 standard deviations), by the number of answers that count, in standard deviations of the prior%s. It is the posterior by which questions are chosen. Dashed: 0.",
		ofAll(len(list), all, "weights"))
}

// drawNetworks draws how the reward of clips correlates with features, from network to network.
func drawNetworks(c *canvas, r rows, _ Moment) (float64, string) {
	list, all := multiplesOf(c, r, "feature", "row", "Row", func(of rows, i int) float64 {
		if of.known(i, "correlation") {
			return math.Abs(of.number(i, "correlation"))
		}
		return -1 // a feature that does not vary
	}, correlation)
	last := 1.0
	for i := range r.cells {
		last = max(last, r.number(i, "row"))
	}
	height := multiples(c, list, last, 1, func(of rows, f frame) {
		c.line(f.x.from, f.y.at(0), f.x.to, f.y.at(0), zeroLook)
		var line [][2]float64
		for i := range of.cells {
			if of.known(i, "correlation") {
				x, y := f.x.at(of.number(i, "row")), f.y.at(of.number(i, "correlation"))
				line = append(line, [2]float64{x, y})
				c.circle(x, y, 3, dotLook, fmt.Sprintf("%s at row %s", correlation(of, i), count(of.number(i, "row"))))
			}
		}
		c.path(line, lineLook)
	})
	return height, fmt.Sprintf("Correlation of the reward of a clip with each hand-made feature, for each network at the row of the log up to which it had learnt (the latest also as a number)%s. No intervals are known. Dashed: 0.", ofAll(len(list), all, "features"))
}

// correlation writes the correlation of a row.
func correlation(of rows, i int) string {
	switch v := of.number(i, "correlation"); {
	case !of.known(i, "correlation"):
		return "does not vary"
	case v > 0:
		return "+" + words.Signed(v, 2)
	default:
		return words.Signed(v, 2)
	}
}

// ofAll says which of all are drawn; empty where all are.
func ofAll(drawn, all int, things string) string {
	if drawn == all {
		return ""
	}
	return fmt.Sprintf("; the %d largest of %d %s", drawn, all, things)
}

// multiples draws small plots side by side as far as there is room, two at least, each under its name and its latest number. They
// share their axes, from 0 to last and from −most to most. It returns the height of all.
func multiples(c *canvas, list []multiple, last, most float64, draw func(of rows, f frame)) float64 {
	const high, line, widest = 76.0, 14.0, 236.0
	beside := max(2, int(c.width/widest))
	wide := min(widest, c.width/float64(beside))
	room, lines := wide-48, 1
	letters := int(room / (letter * textSize))
	for _, m := range list {
		lines = max(lines, min(2, len(wrapped(m.name, letters))))
	}
	head := line*float64(lines+1) + 6
	each := head + high + 28
	for i, m := range list {
		left, top := 40+wide*float64(i%beside), head+each*float64(i/beside)
		name := wrapped(m.name, letters)
		if len(name) > 1 {
			c.label(left, top-8-2*line, startAt, textSize, room, name[0])
		}
		c.label(left, top-8-line, startAt, textSize, room, strings.Join(name[min(1, len(name)-1):], " "))
		c.text(left, top-8, startAt, smallSize, m.latest)
		f := frame{x: span(0, last, left, left+room), y: span(-most, most, top+high, top), size: smallSize, xTicks: 3, yTicks: 5}
		f.draw(c)
		draw(m.of, f)
	}
	return each * float64((len(list)+beside-1)/beside)
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
	f := frame{x: span(0, last, 52, c.width-16), y: span(0, 1, 190, 24), percent: true, size: textSize, xTicks: 6, yTicks: 5, xTitle: "answers that the posterior knows", yTitle: "accuracy"}
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
		y := 240 + 16*float64(k)
		c.path([][2]float64{{52, y - 4}, {92, y - 4}}, lineLook+look)
		title := "All answers together"
		if name != allConditions {
			title = acquisition.Title(name)
		}
		c.label(100, y, startAt, textSize, c.width-100-margin, title)
	}
	return 232 + 16*float64(len(names)), fmt.Sprintf("Share of the %s that prefer a clip and that the posterior of each condition predicted, by the number of its own answers that it knows, with 95 %% intervals (Wilson). Curves are set apart by 2 px. Dashed: guessing.",
		words.Plural(int(held), "held-out answer"))
}
