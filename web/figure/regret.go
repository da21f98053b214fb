package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
)

const (
	mostPoints   = 400 // of a curve of regret: about one a pixel
	mostReadouts = 40  // of a curve of regret: places with a text under the pointer, and rows of its table
	decades      = 6   // of a logarithmic axis, at most
)

// drawRegret draws the expected loss with the band up to the bound, over the answers that the posterior had learnt from.
func drawRegret(c *canvas, r rows, m Moment) (float64, string) {
	r, earlier := ofToday(r)
	r = still(r)
	drawn := thinned(len(r.cells), mostPoints)
	f := regretFrame(c, r, drawn)
	var mean, upper [][2]float64
	for _, i := range drawn {
		x := f.x.at(r.number(i, "answers"))
		mean, upper = append(mean, [2]float64{x, f.y.at(r.number(i, "mean"))}), append(upper, [2]float64{x, f.y.at(r.number(i, "bound"))})
	}
	f.draw(c)
	back := slices.Clone(mean)
	slices.Reverse(back)
	c.path(append(slices.Clone(upper), back...), bandLook)
	c.path(mean, lineLook)
	end := len(r.cells) - 1
	c.circle(mean[len(mean)-1][0], mean[len(mean)-1][1], 3.5, dotLook, readout(r, end))
	regretValues(c, r, f, cmp.Or(m.Spec.Tolerance, idrl.DefaultTolerance))
	caption := "Expected loss of the recommended policy if questioning had ended after so many answers that the posterior had learnt from (line), in per cent of the range of returns from the worst to the best known policy" + map[bool]string{true: ", on a logarithmic scale"}[c.log] + ". " +
		"The band ends at the loss that is not exceeded with a probability of 95 % under the posterior." + belowMean(r) + " After answers were taken back or left out, the line is about the answers that were left."
	if earlier > 0 {
		caption += fmt.Sprintf(" The curve begins after row %s of the log: an earlier version of the program recorded another number up to there.", count(earlier))
	}
	return 262, caption
}

// belowMean says why a bound is below an expected loss, where one is; it begins with a space.
func belowMean(r rows) string {
	for i := range r.cells {
		if r.number(i, "bound") < r.number(i, "mean") {
			return " Where that is less than the expected loss, larger losses in the other 5 % raise the expected loss."
		}
	}
	return ""
}

// ofToday returns the rows after those of an earlier definition, and the last row of those.
func ofToday(r rows) (rows, float64) {
	earlier := 0.0
	for i := len(r.cells) - 2; i >= 0; i-- { // the last one is always drawn
		if r.at(i, "definition") != idrl.RegretDefinition {
			earlier = r.number(i, "row")
			r.cells = r.cells[i+1:]
			break
		}
	}
	return r, earlier
}

// regretFrame returns the axes that hold the curve.
func regretFrame(c *canvas, r rows, drawn []int) frame {
	last, most, least := 1.0, 1e-3, math.Inf(1)
	for _, i := range drawn {
		last, most = max(last, r.number(i, "answers")), max(most, r.number(i, "bound"), r.number(i, "mean"))
		if v := r.number(i, "mean"); v > 0 {
			least = min(least, v)
		}
	}
	f := frame{
		x: scale{low: 0, high: last, from: 52, to: c.width - 16}, y: scale{low: 0, high: most, from: 220, to: 24},
		percent: true, size: textSize, xTicks: int(c.width / 80), yTicks: 5, xTitle: "answers", yTitle: "loss",
	}
	if c.log {
		f.y.high = math.Pow(10, math.Ceil(math.Log10(most)-1e-9))
		f.y.low, f.y.log = max(f.y.high*math.Pow(10, -decades), min(f.y.high/10, least)), true
	}
	return f
}

// regretValues notes the numbers of some places of the curve, the last among them, for the pointer and for the table.
func regretValues(c *canvas, r rows, f frame, tolerance float64) {
	c.head = []string{"Answers", "Expected loss", "Not exceeded with 95 %", "Probability of at most " + share(tolerance)}
	list := thinned(len(r.cells), mostReadouts)
	readouts(c, f, list, func(i int) float64 { return r.number(i, "answers") }, func(i int) string { return readout(r, i) })
	for _, i := range list {
		c.value(count(r.number(i, "answers")), share(r.number(i, "mean")), share(r.number(i, "bound")), words.Signed(math.Floor(100*r.number(i, "p_within")+1e-9), 0)+" %")
	}
}

// readouts have the pointer show what is said of the nearest of some places of a curve.
func readouts(c *canvas, f frame, list []int, at func(i int) float64, says func(i int) string) {
	from := f.x.from
	for k, i := range list {
		to := f.x.to
		if k+1 < len(list) {
			to = (f.x.at(at(i)) + f.x.at(at(list[k+1]))) / 2
		}
		c.hover(from, f.y.to, to-from, f.y.from-f.y.to, says(i))
		from = to
	}
}

func readout(r rows, i int) string {
	return fmt.Sprintf("after %s: expected loss %s, at most %s with a probability of 95 %%", words.Plural(int(r.number(i, "answers")), "answer"), share(r.number(i, "mean")), share(r.number(i, "bound")))
}

// thinned returns at most most of n places in equal steps, the last among them.
func thinned(n, most int) (out []int) {
	step := max(1, (n+most-1)/most)
	for i := (n - 1) % step; i < n; i += step {
		out = append(out, i)
	}
	return out
}
