package figure

import (
	"fmt"
	"math"
	"slices"
	"time"

	"tiebreak/internal/base/words"
)

// hours returns at most four of n places of hours, the first and the last among them.
func hours(n int) (out []int) {
	parts := min(3, n-1)
	if parts < 1 {
		return []int{0}
	}
	for k := range parts + 1 {
		out = append(out, k*(n-1)/parts)
	}
	return out
}

// beside returns the width of an axis of counts up to most.
func beside(most float64) float64 { return max(42, margin+room(count(most), textSize)) }

// drawRate draws answers by hour.
func drawRate(c *canvas, r rows, _ Moment) (float64, string) {
	n, most := len(r.cells), 1.0
	for i := range r.cells {
		most = max(most, r.number(i, "answers"))
	}
	f := frame{x: span(0, float64(n), beside(most), c.width-16), y: span(0, most, 170, 24), whole: true, size: textSize, yTicks: 3, xTitle: "hour (UTC)", yTitle: "answers"}
	begin := func(i int) time.Time {
		t, _ := r.at(i, "hour").(time.Time)
		return t.UTC()
	}
	f.sides(c)
	c.head = []string{"Hour (UTC)", "Answers"}
	each := min(24, 0.8*(f.x.to-f.x.from)/float64(n))
	for i := range r.cells {
		v, hour := r.number(i, "answers"), begin(i).Format("2 Jan 15:04")
		c.rect(f.x.at(float64(i)+0.5)-each/2, f.y.at(v), each, f.y.from-f.y.at(v), barLook, fmt.Sprintf("%s: %s", hour, words.Plural(int(v), "answer")))
		c.value(hour, count(v))
	}
	for _, i := range hours(n) {
		f.xMark(c, float64(i)+0.5, begin(i).Format("15:04"))
	}
	return 212, fmt.Sprintf("Answers by hour, with skipped questions, without those that are withdrawn or left out, from %s to %s UTC. They are counts of all answers, so that there is no interval.",
		begin(0).Format("2 January 2006, 15:04"), begin(n-1).Add(time.Hour).Format("2 January, 15:04"))
}

// drawTransforms draws how many ratings lie in each part of their predicted distributions.
func drawTransforms(c *canvas, r rows, _ Moment) (float64, string) {
	most, n := 1.0, 0.0
	for i := range r.cells {
		most, n = max(most, r.number(i, "ratings"), r.number(i, "chance_high")), n+r.number(i, "ratings")
	}
	f := frame{x: span(0, 1, beside(most), c.width-16), y: span(0, most, 200, 24), whole: true, size: textSize, yTicks: 4, xTitle: "predicted probability of a lower rating", yTitle: "ratings"}
	f.sides(c)
	c.head = []string{"Probability of a lower rating", "Ratings", "By chance"}
	for i := range r.cells {
		from, to, v := f.x.at(r.number(i, "from")), f.x.at(r.number(i, "to")), r.number(i, "ratings")
		look, bin := barLook, part(r, i)
		if v < r.number(i, "chance_low") || v > r.number(i, "chance_high") {
			look += outLook
		}
		c.rect(from+3, f.y.at(v), to-from-6, f.y.from-f.y.at(v), look, bin+": "+words.Plural(int(v), "rating"))
		c.value(bin, count(v), count(r.number(i, "chance_low"))+" to "+count(r.number(i, "chance_high")))
	}
	low, high, expected := f.y.at(r.number(0, "chance_low")), f.y.at(r.number(0, "chance_high")), f.y.at(r.number(0, "expected"))
	c.rect(f.x.from, high, f.x.to-f.x.from, low-high, chanceLook, "")
	c.line(f.x.from, expected, f.x.to, expected, zeroLook)
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		f.xMark(c, v, fmt.Sprintf("%.0f %%", 100*v))
	}
	return 242, fmt.Sprintf("How many of %s lie in each part of their predicted distributions, each predicted from the ratings before it. If the predictions are right, all bars are equally high on average (dashed line), and each lies in the dotted band with a probability of 95 %%; those that do not have a thick frame.",
		words.Plural(int(n), "rating"))
}

// part names the bin of a row.
func part(r rows, i int) string {
	return fmt.Sprintf("%.0f to %.0f %%", 100*r.number(i, "from"), 100*r.number(i, "to"))
}

// drawCalibration draws how often what was predicted came true, one plot for each kind of prediction.
func drawCalibration(c *canvas, r rows, _ Moment) (float64, string) {
	kinds, n := r.distinct("of"), 0.0
	least := 1.0
	for i := range r.cells {
		if r.number(i, "answers") > 0 {
			least, n = min(least, r.number(i, "from")), n+r.number(i, "answers")
		}
	}
	const high, each = 160.0, 246.0
	c.head = []string{"Probability", "Answers", "Predicted", "Came true", "95 % interval"}
	for k, kind := range kinds {
		top := 30 + each*float64(k)
		of := r.where("of", kind)
		f := frame{x: span(least, 1, 56, c.width-24), y: span(0, 1, top+high, top), percent: true, size: textSize, yTicks: 5, xTitle: "probability of the most probable " + map[string]string{"answer": "answer", "best": "best clip", "worst": "worst clip"}[kind], yTitle: "share"}
		f.sides(c)
		for _, v := range []float64{0.2, 0.4, 0.6, 0.8, 1} {
			if v >= least {
				f.xMark(c, v, fmt.Sprintf("%.0f %%", 100*v))
			}
		}
		c.line(f.x.from, f.y.at(least), f.x.to, f.y.at(1), zeroLook)
		for i := range of.cells {
			answers := of.number(i, "answers")
			if answers == 0 {
				continue
			}
			x, y := f.x.at(of.number(i, "predicted")), f.y.at(of.number(i, "share"))
			c.line(x, f.y.at(of.number(i, "share_low")), x, f.y.at(of.number(i, "share_high")), rangeLook)
			look := dotLook
			if answers < 5 {
				look = hollowLook
			}
			percent := func(column string) string { return fmt.Sprintf("%.0f %%", 100*of.number(i, column)) }
			between := fmt.Sprintf("%.0f to %s", 100*of.number(i, "share_low"), percent("share_high"))
			c.circle(x, y, 4.5, look, fmt.Sprintf("%s of %s predicted, %s came true (%s)", words.Plural(int(answers), "answer"), percent("predicted"), percent("share"), between))
			c.text(f.x.at((of.number(i, "from")+of.number(i, "to"))/2), top-9, middleAt, smallSize, count(answers))
			c.value(part(of, i), count(answers), percent("predicted"), percent("share"), between)
		}
	}
	if len(kinds) > 1 {
		n /= float64(len(kinds))
	}
	return high + 72 + each*float64(len(kinds)-1), fmt.Sprintf("Share of the most probable answers that came true, by their predicted probability, in ten bins of equal width, with 95 %% intervals (Wilson); above: numbers of answers; hollow: fewer than five. Each of %s was predicted from the answers before it. Dashed: as predicted.",
		words.Plural(int(n), "answer"))
}

// mostCorrelated is how many weights the figure of correlations has in a file, the largest first, and widestCell and leastCell the widths of their cells.
const mostCorrelated, widestCell, leastCell = 10, 60.0, 31.0

// drawCorrelations draws the correlations of the largest weights as a matrix; negative fields have a frame of dashes.
func drawCorrelations(c *canvas, r rows, m Moment) (float64, string) {
	const least, top, row = 140.0, 22.0, 26.0
	names := r.distinct("weight_1")
	all := max(len(names), len(m.Insight.Posterior.Weights))
	names = names[:min(len(names), int((c.width-margin-least)/leastCell))]
	cell := min(widestCell, (c.width-margin-least)/float64(len(names)))
	left := c.width - margin - cell*float64(len(names)) // the names have all that the cells leave
	c.head = append([]string{"Weight"}, names...)
	for i, name := range names {
		y := top + row*float64(i)
		c.name(left-8, y+17, endAt, textSize, left-margin-8, fmt.Sprintf("%d %s", i+1, name))
		c.text(left+cell*(float64(i)+0.5), top-6, middleAt, textSize, fmt.Sprint(i+1))
		of, values := r.where("weight_1", name), make([]string, 1+len(names))
		values[0] = name
		for k := range of.cells {
			other := of.text(k, "weight_2")
			j := slices.Index(names, other)
			if j < 0 {
				continue
			}
			v := of.number(k, "correlation")
			look := `stroke="none"`
			if v < 0 {
				look = `stroke="#555555" stroke-width="1" stroke-dasharray="2 2"`
			}
			look = fmt.Sprintf(`fill="#1f4e79" fill-opacity="%.2f" `, 0.45*min(1, math.Abs(v))) + look
			x := left + cell*float64(j)
			values[1+j] = words.Signed(v, 2)
			c.rect(x+1, y+1, cell-2, row-2, look, name+", "+other+": "+values[1+j])
			c.text(x+cell/2, y+17, middleAt, smallSize, values[1+j])
		}
		c.value(values...)
	}
	return top + row*float64(len(names)) + 6, "Correlations of the weights under the posterior by which questions are chosen" + ofAll(len(names), all, "weights") + ". The darker, the farther from 0; negative ones have a dashed frame. There is no interval: they are properties of the posterior."
}
