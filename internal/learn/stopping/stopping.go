package stopping

import (
	"math"
	"slices"
)

// InARow is how many statements in a row must hold.
const InARow = 3

// A Rule says when a session may stop.
type Rule struct {
	Doubt float64 // δ in (0, 1)
}

// A Point is the statement after an answer.
type Point struct {
	Answer int     // informative answers that count, this one included
	Within float64 // P
}

// Holds reports whether a statement of that probability meets the rule: P ≥ 1 − δ up to rounding, because
// 1 − 0.18 is above 0.82 in float64.
func (r Rule) Holds(within float64) bool { return within >= 1-r.Doubt-1e-12 }

// Pace is the position of a session between two statements.
type Pace struct {
	Answers int // informative answers that count now
	Every   int // answers from one statement to the next, 1 or more
}

// Judge applies the rule to statements, in the order of the answers. The caller leaves out
// those up to the last one that is no longer valid. While there is an objection there is
// neither a proposal nor a forecast: no number of answers is certain to remove it.
func (r Rule) Judge(points []Point, now Pace, against []Objection) Stopping {
	out := Stopping{Doubt: r.Doubt, Objections: against, Held: r.held(points)}
	if len(against) > 0 {
		return out
	}
	if out.Propose = out.Held == InARow; !out.Propose {
		out.Left = r.left(points, now)
	}
	return out
}

// held returns how many of the last statements hold, up to InARow.
func (r Rule) held(points []Point) (n int) {
	for n < InARow && n < len(points) && r.Holds(points[len(points)-1-n].Within) {
		n++
	}
	return n
}

// The forecast is made from the last statements, at most window and at least least of them. P
// is clipped to [floor, 1 − floor], the accuracy of a thousand draws. About is the median of
// the forecasts at the last calm statements, so that a single statement changes it little.
const (
	window = 24
	least  = 8
	floor  = 1e-3
	calm   = 3
)

// left forecasts the number of answers until the rule is met. There is no forecast of more
// answers than were given so far: the rise is then too slow to be significant.
func (r Rule) left(points []Point, now Pace) Forecast {
	f, ok := r.until(points, now.Every)
	if !ok {
		return Forecast{}
	}
	var at []int // answer at which the rule is met, by each of the last statements
	for n := max(1, len(points)-calm+1); n <= len(points); n++ {
		if g, ok := r.until(points[:n], now.Every); ok {
			at = append(at, points[n-1].Answer+g.About)
		}
	}
	slices.Sort(at)
	since := now.Answers - points[len(points)-1].Answer
	count := func(n int) int { return max(1, n-since) }
	f.Least, f.Most = count(f.Least), count(f.Most)
	f.About = min(f.Most, max(f.Least, at[len(at)/2]-now.Answers))
	return f
}

// until forecasts the number of answers from the last statement until the rule is met, in
// multiples of every; ok is false if there is no forecast.
//
// The log-odds of P are taken for a random walk with drift, whose steps are those
// between the last statements: its mean drift per answer is v, its variance per answer
// s², and the drift has the standard error s/√n over n answers. The walk has the distance D
// to log((1 − δ)/δ); the time to reach it has the mean D/v and the variance D s²/v³
// (inverse Gaussian). The ends of the range are D over the drift at the ends of its 80 %
// interval, less and plus 1.28 standard deviations of the time. If that interval contains 0
// there would be no upper end, and there is no forecast.
func (r Rule) until(points []Point, every int) (f Forecast, ok bool) {
	more := float64(InARow - r.held(points))
	points = points[max(0, len(points)-window):]
	n := len(points)
	if n < least {
		return f, false
	}
	answers := float64(points[n-1].Answer - points[0].Answer)
	here := odds(points[n-1].Within)
	v := (here - odds(points[0].Within)) / answers
	var s2 float64
	for i := range n - 1 {
		steps := float64(points[i+1].Answer - points[i].Answer)
		e := odds(points[i+1].Within) - odds(points[i].Within) - v*steps
		s2 += e * e / steps / float64(n-2)
	}
	const z = 1.28 // 80 %
	slow, fast := v-z*math.Sqrt(s2/answers), v+z*math.Sqrt(s2/answers)
	if !(slow > 0) {
		return f, false
	}
	d := max(0, odds(1-r.Doubt)-here)
	spread := func(v float64) float64 { return z * math.Sqrt(d*s2/(v*v*v)) }
	count := func(t float64) int {
		return int(float64(every) * (more + math.Ceil(min(t, 1e6)/float64(every))))
	}
	f = Forecast{Known: true, Least: count(max(0, d/fast-spread(fast))), About: count(d / v), Most: count(d/slow + spread(slow))}
	return f, f.About <= points[n-1].Answer
}

// odds returns the log-odds of p.
func odds(p float64) float64 {
	p = min(1-floor, max(floor, p))
	return math.Log(p / (1 - p))
}
