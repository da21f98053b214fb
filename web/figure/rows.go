package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
)

// mostRows is how many rows a figure of intervals has.
const mostRows = 30

// The least and the greatest width of the names of a figure of intervals, and the least one of what is drawn beside them.
const leastNames, mostNames, leastPlot = 116.0, 345.0, 126.0

// leastSpan is the least range of a figure of intervals: the numbers beside it have no digits for what is smaller.
const leastSpan = 0.05

// An estimate is a row of a figure of intervals.
type estimate struct {
	name            string
	mean, low, high float64
	text            string                  // its numbers
	wider           *bradley.ReportInterval // drawn behind the other one; nil: none
	widerText       string                  // its numbers
}

// intervals draws estimates below one another on one axis that includes 0, whose numbers mark writes, and returns the height. The names have as much room as they need.
func intervals(c *canvas, list []estimate, unit string, mark func(v float64, decimals int) string) float64 {
	const top, gap = 14.0, 4.0
	each := 21.0
	names, numbers := leastNames, 92.0
	low, high := 0.0, 0.0
	for _, e := range list {
		names = max(names, min(mostNames, margin+room(e.name, textSize)))
		low, high = min(low, e.low), max(high, e.high)
		if e.wider != nil { // whose numbers are a line of their own
			each, numbers, low, high = 32, max(numbers, margin+gap+room(e.widerText, smallSize)), min(low, e.wider.Low), max(high, e.wider.High)
		}
		if len([]rune(e.text)) > 14 { // longer than "−100.0 ± 100.0"
			numbers = max(numbers, margin+gap+room(e.text, smallSize))
		}
	}
	if !(high-low > leastSpan) {
		low, high = -1, 1
	}
	names = max(leastNames, min(names, c.width-numbers-12-leastPlot))
	if slices.ContainsFunc(list, func(e estimate) bool { return room(e.name, textSize) > names-margin }) { // in two lines
		each = max(each, 30)
	}
	x := span(low, high, names+12, c.width-numbers)
	bottom := top + each*float64(len(list))
	marks, decimals := Ticks(low, high, 4)
	for _, v := range marks {
		c.line(x.at(v), top-4, x.at(v), bottom, gridLook)
		c.text(x.at(v), bottom+16, middleAt, textSize, mark(v, decimals))
	}
	c.line(x.at(0), top-4, x.at(0), bottom, zeroLook)
	for i, e := range list {
		y := top + each*(float64(i)+0.5)
		c.name(names, y+4, endAt, textSize, names-margin, e.name)
		if e.wider != nil {
			c.line(x.at(e.wider.Low), y, x.at(e.wider.High), y, widerLook)
			c.text(c.width-margin, y+16, endAt, smallSize, e.widerText)
		}
		if e.high > e.low {
			c.line(x.at(e.low), y, x.at(e.high), y, rangeLook)
		}
		c.circle(x.at(e.mean), y, 4, dotLook, e.name+": "+e.text)
		c.text(c.width-margin, y+4, endAt, smallSize, e.text)
	}
	c.text((x.from+x.to)/2, bottom+33, middleAt, textSize, unit)
	return bottom + 40
}

// plusMinus writes a mean with its 95 % interval; a standard deviation of 0 stands for none.
func plusMinus(mean, std float64, decimals int) string {
	if std > 0 {
		return words.Signed(mean, decimals) + " ± " + words.Signed(z95*std, decimals)
	}
	return words.Signed(mean, decimals)
}

func drawCandidates(c *canvas, r rows, m Moment) (float64, string) {
	factor, unit, decimals := 100.0, "% of the range", 1
	caption := "Expected return of the recommended policy (first) and of the candidates, against the average candidate, in per cent of the range from the worst to the best known policy, with 95 % intervals of the posterior (mean ± 1.96 standard deviations). Range and intervals allow, like the statement of regret, for more or less noise in the answers than the session assumes."
	if !m.Spec.StatesRegret() {
		factor, unit, decimals = 1, "predicted return, without unit", 2
		caption = "Predicted return of the recommended policy (first) and of the candidates, against the average candidate, on the scale of the reward model in use, which has no unit. No intervals are known."
	}
	c.head = []string{"Policy", "Origin", "Candidates", cmp.Or(map[bool]string{true: "Return, in % of the range"}[m.Spec.StatesRegret()], "Predicted return")}
	var list []estimate
	for i := range min(len(r.cells), mostRows) {
		mean, std := factor*r.number(i, "mean"), factor*r.number(i, "std")
		c.value(r.text(i, "policy"), cmp.Or(r.text(i, "title"), r.text(i, "origin")), agree(int(r.number(i, "candidates"))), plusMinus(mean, std, decimals))
		list = append(list, estimate{name: cmp.Or(r.text(i, "title"), r.text(i, "policy")), mean: mean, low: mean - z95*std, high: mean + z95*std, text: plusMinus(mean, std, decimals)})
	}
	return intervals(c, list, unit, words.Signed), caption
}

// agree says how many of the candidates are this policy; a policy that is none has none.
func agree(draws int) string {
	if draws == 0 {
		return "–"
	}
	return fmt.Sprint(draws)
}

func drawWeights(c *canvas, r rows, _ Moment) (float64, string) {
	var list []estimate
	for i := range r.cells {
		mean, std := r.number(i, "mean"), r.number(i, "std")
		list = append(list, estimate{name: r.text(i, "weight"), mean: mean, low: mean - z95*std, high: mean + z95*std, text: plusMinus(mean, std, 2)})
	}
	all := len(list)
	if all > mostRows {
		slices.SortStableFunc(list, func(a, b estimate) int { return cmp.Compare(math.Abs(b.mean), math.Abs(a.mean)) })
		list = list[:mostRows]
	}
	c.head = []string{"Weight", "Mean, with 95 % interval"}
	for _, e := range list {
		c.value(e.name, e.text)
	}
	return intervals(c, list, "standard deviations of the prior", words.Signed), "Weights of the reward under the posterior, in standard deviations of the prior, with 95 % intervals (mean ± 1.96 standard deviations)" +
		ofAll(len(list), all, "weights") + ". They allow, like the statement of regret, for more or less noise in the answers than the session assumes. A weight of 0 ± 1.96 is one that the answers say nothing about."
}

func drawStrengths(c *canvas, r rows, m Moment) (float64, string) {
	var list []estimate
	for i := range r.cells {
		low, high := r.number(i, "low"), r.number(i, "high")
		e := estimate{name: r.text(i, "title"), mean: r.number(i, "strength"), low: low, high: high, text: fmt.Sprintf("%s (%s to %s)", words.Signed(r.number(i, "strength"), 2), words.Signed(low, 2), words.Signed(high, 2))}
		if r.known(i, "population_low") {
			e.wider = &bradley.ReportInterval{Low: r.number(i, "population_low"), High: r.number(i, "population_high")}
			e.widerText = fmt.Sprintf("wider: %s to %s", words.Signed(e.wider.Low, 2), words.Signed(e.wider.High, 2))
		}
		list = append(list, e)
	}
	caption := fmt.Sprintf("Strength of each policy, in log-odds of being preferred to the mean of all, by a Bradley–Terry model with ties, with 95 %% intervals of the posterior (dark). Of %s that prefer one policy or call both equal.", words.Plural(m.Arena.Answers, "answer"))
	if cut := m.Arena.Cut(); cut != "" {
		caption += " " + cut
	}
	if accounts := m.Arena.Accounts(); accounts != "" {
		caption += " " + accounts + " They are drawn behind the others (light)."
	}
	return intervals(c, list, "log-odds against the mean of all", words.Signed), caption
}

// drawVerdicts draws how often the episodes of each policy succeed.
func drawVerdicts(c *canvas, r rows, m Moment) (float64, string) {
	var list []estimate
	episodes := 0
	c.head = []string{"Policy", "Task", "Episodes", "Failures", "Partial", "Successes", "Share", "95 % interval"}
	for i := range r.cells {
		name, n := r.text(i, "policy"), int(r.number(i, "episodes"))
		if task := r.text(i, "task"); task != "" {
			name = "· " + task
		} else {
			episodes += n
		}
		low, share, high := 100*r.number(i, "share_low"), 100*r.number(i, "share"), 100*r.number(i, "share_high")
		c.value(r.text(i, "policy"), r.text(i, "task"), words.Count(n), count(r.number(i, "failures")), count(r.number(i, "partial")), count(r.number(i, "successes")), fmt.Sprintf("%.0f %%", share), fmt.Sprintf("%.0f to %.0f %%", low, high))
		if len(list) < mostRows {
			list = append(list, estimate{name: name, mean: share, low: low, high: high, text: fmt.Sprintf("%.0f %% (%.0f to %.0f)", share, low, high)})
		}
	}
	caption := fmt.Sprintf("Share of episodes that succeed, a partial success counted as half of one, by the first verdict of each of %s. The 95 %% intervals hold at all numbers of verdicts together, so that they may be looked at again and again.", words.Plural(episodes, "episode"))
	if m.Spec.Acquisition != idrl.UniformAcquisition {
		caption += " The episodes were not chosen at random, but for what they tell of the reward: the shares may differ from those of all episodes."
	}
	if len(r.cells) > len(list) {
		caption += fmt.Sprintf(" The first %d of %d rows.", len(list), len(r.cells))
	}
	percent := func(v float64, decimals int) string { return fmt.Sprintf("%.*f %%", decimals, v) }
	return intervals(c, list, "share of episodes that succeed", percent), caption
}

// replies are the names of replies.
var replies = map[string]string{
	string(idrl.ChoseA): "Clip a", string(idrl.ChoseB): "Clip b", string(idrl.Equal): "Equal", string(idrl.CantTell): "Can’t tell", string(idrl.Skip): "Skipped",
	string(idrl.TechnicalFailure): "Clip failed", string(idrl.Rated): "Rated", string(idrl.BestWorst): "Best and worst",
}

// drawMix draws how often each reply was given.
func drawMix(c *canvas, r rows, _ Moment) (float64, string) {
	const each, top, names = 26.0, 10.0, 96.0
	c.head = []string{"Answer", "Number", "Share", "95 % interval"}
	x := span(0, 1, names+8, c.width-142)
	bottom := top + each*float64(len(r.cells))
	for _, v := range []float64{0, 0.5, 1} {
		c.line(x.at(v), top-4, x.at(v), bottom, gridLook)
		if v != 0.5 || c.width > phone { // on which there is no room for three numbers
			c.text(x.at(v), bottom+16, middleAt, textSize, fmt.Sprintf("%.0f %%", 100*v))
		}
	}
	for i := range r.cells {
		y := top + each*float64(i)
		name := cmp.Or(replies[r.text(i, "answer")], r.text(i, "answer"))
		c.text(names, y+16, endAt, textSize, name)
		of, low, high := r.number(i, "share"), r.number(i, "share_low"), r.number(i, "share_high")
		number, part, between := count(r.number(i, "number")), fmt.Sprintf("%.0f %%", 100*of), fmt.Sprintf("%.0f to %.0f %%", 100*low, 100*high)
		text := fmt.Sprintf("%s: %s (%s)", number, part, between)
		c.value(name, number, part, between)
		c.rect(x.from, y+4, x.at(of)-x.from, each-10, barLook, text)
		c.line(x.at(low), y+4+(each-10)/2, x.at(high), y+4+(each-10)/2, `stroke="#1b1b1b" stroke-width="1.5"`)
		c.text(c.width-margin, y+16, endAt, smallSize, text)
	}
	return bottom + 22, "How often each reply was given, of all that are neither withdrawn nor left out; lines are 95 % intervals of the shares (Wilson)."
}

// drawTimes draws how long people took.
func drawTimes(c *canvas, r rows, _ Moment) (float64, string) {
	const top = 44.0
	each, names, above := 24.0, max(110, c.names(140)), 0.0
	narrow := c.width <= phone
	if narrow { // names have a line of their own above what is drawn
		each, names, above = 44, margin+8, 18
	}
	n := min(len(r.cells), mostRows)
	said := func(i int) string {
		return fmt.Sprintf("%.1f s, n = %s", r.number(i, "p50_s"), count(r.number(i, "answers")))
	}
	most, right := 0.1, 96.0
	for i := range n {
		most, right = max(most, r.number(i, "p95_s")), max(right, 2*margin+room(said(i), smallSize))
	}
	x := span(0, most, names, c.width-right)
	bottom := top + each*float64(n)
	marks, decimals := Ticks(0, most, 4)
	for _, v := range marks { // above, where it is seen first in a list of many people
		c.line(x.at(v), top-4, x.at(v), bottom, gridLook)
		c.text(x.at(v), top-10, middleAt, textSize, words.Signed(v, decimals))
	}
	c.text((x.from+x.to)/2, top-28, middleAt, textSize, "seconds")
	c.head = []string{"Annotator", "Answers", "Median", "Middle half", "5 to 95 %"}
	for i := range r.cells {
		name, n := person(c, r.text(i, "annotator")), r.number(i, "answers")
		took := func(q string) string { return words.Took(time.Duration(r.number(i, q) * float64(time.Second))) }
		middle, all := took("p25_s")+" to "+took("p75_s"), took("p5_s")+" to "+took("p95_s")
		c.value(name, count(n), took("p50_s"), middle, all)
		if i >= mostRows {
			continue
		}
		y := top + each*float64(i) + above + (each-above)/2
		at := func(q string) float64 { return x.at(r.number(i, q)) }
		if narrow {
			c.label(margin, y-above, startAt, textSize, c.width-2*margin, name)
		} else {
			c.label(names-8, y+4, endAt, textSize, names-8-margin, name)
		}
		c.line(at("p5_s"), y, at("p95_s"), y, rangeLook)
		c.rect(at("p25_s"), y-7, at("p75_s")-at("p25_s"), 14, boxLook, "")
		c.line(at("p50_s"), y-9, at("p50_s"), y+9, `stroke="#1b1b1b" stroke-width="2.5"`)
		c.text(c.width-margin, y+4, endAt, smallSize, said(i))
		c.hover(x.from, y-(each-above)/2, x.to-x.from, each-above, fmt.Sprintf("%s: %s; median %s, middle half %s, 5 to 95 %% %s", name, words.Plural(int(n), "answer"), took("p50_s"), middle, all))
	}
	return bottom + 6, "Response times by pseudonym: median (mark, and its number with the number of answers), middle half (box) and 5 to 95 % (line) of the answers, without the time in which the page was hidden" +
		ofAll(n, len(r.cells), "rows") + "."
}

// person names whom a row is about.
func person(c *canvas, pseudonym string) string {
	if pseudonym != "" && c.person != nil {
		return c.person(pseudonym)
	}
	return cmp.Or(pseudonym, "Everybody")
}
