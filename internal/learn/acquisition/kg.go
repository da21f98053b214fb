package acquisition

import (
	"cmp"
	"math"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// KG is the knowledge gradient: the expected gain of the mean return of the best policy of
// the table by the answer. If the answer is a number with Gaussian noise that is
//
//	E_Z max_j (a_j + g_jq √w_q Z) − a_L,  Z ~ N(0, 1),
//
// computed exactly from the upper envelope of the lines (Frazier et al. 2009), and
// if it is a choice among outcomes
//
//	Σ_y Z(y) max_j (a_j + g_jq α_y) − a_L.
//
// If no answer can make another policy the leader, so that the largest value is
// below 1e-9 times the largest s_j, the values are those of LVAR. Source:
// docs/methods.md, section 1.3.
type KG struct {
	// Star makes it KG* (Frazier & Powell 2010): the largest of KG(r)/r over r ∈
	// {1, 4, 16, 64}, where KG(r) is the value of r answers to the same query.
	// They have as much information as one answer whose noise, 1/w_q − v_q, is divided by
	// r. For r > 1 their sum is taken to be Gaussian.
	Star bool
}

var _ Function = KG{}

// Score implements Function. It draws from in.Rand if it falls back on LVAR.
func (f KG) Score(dst []float64, in *Input) (Pair, error) {
	t := in.Table
	t.clear(dst)
	r := t.rivals()
	if len(r.policy) == 0 || len(dst) == 0 {
		return noPair(), nil
	}
	repeats := []float64{1}
	if f.Star {
		repeats = []float64{1, 4, 16, 64}
	}
	choice := t.outcomes()
	var lines policyLines
	t.eachCov(r.delta, func(first int, cov blas64.General) {
		for i := range cov.Cols {
			q := first + i
			lines.set(r.lag, cov, i)
			dst[q] = lines.worth(t.model.Likelihood(t.queries[q].Query), t.mean[q], t.vari[q], repeats, choice[t.queries[q].Kind])
		}
	})
	if floats.Max(dst) < 1e-9*math.Sqrt(floats.Max(r.vari)) {
		return LVAR{}.Score(dst, in)
	}
	return noPair(), nil
}

// A line is the mean return of a policy against the leader's as it depends on an
// answer: level + slope·z.
type line struct{ level, slope float64 }

// policyLines are the lines of all policies that matter for one query.
type policyLines struct {
	lines []line // the leader's, {0, 0}, first
	wide  []line // those that number uses, ordered by slope and then by level
	top   []piece
}

// A piece is a line of an upper envelope, which begins at z = from.
type piece struct {
	line
	from float64
}

// set makes the lines those of column q of cov, whose numbers are the slopes g_jq − g_Lq.
func (f *policyLines) set(lags []float64, cov blas64.General, q int) {
	f.lines = append(f.lines[:0], line{})
	for k, lag := range lags {
		f.lines = append(f.lines, line{lag, cov.Data[k*cov.Stride+q]})
	}
}

// worth returns the largest of KG(r)/r over repeats, for u ~ N(m, v). choice holds
// the outcomes if the answer is a choice.
func (f *policyLines) worth(l idrl.Likelihood, m, v float64, repeats []float64, choice []idrl.Answer) float64 {
	w := l.Info(m, v)
	if !(v > 0 && w > 0) { // the answer has no information
		return 0
	}
	noise := max(0, 1/w-v)
	scale := func(r float64) float64 { return 1 / math.Sqrt(v+noise/r) }
	f.widen(scale(repeats[len(repeats)-1]))
	var best float64
	for _, r := range repeats {
		if r == 1 && choice != nil {
			best = max(best, f.choice(l, m, v, choice))
		} else {
			best = max(best, f.number(scale(r))/r)
		}
	}
	return best
}

// widen gathers the lines that matter to number where slopes are stretched by
// scale or less: those that meet the leader's within eight standard deviations of
// Z. The others would add less than 1e-17 of the spread of their returns.
func (f *policyLines) widen(scale float64) {
	f.wide = f.wide[:0]
	for _, l := range f.lines {
		if -l.level <= 8*math.Abs(l.slope)*scale {
			f.wide = append(f.wide, l)
		}
	}
	slices.SortFunc(f.wide, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.slope, b.slope), cmp.Compare(a.level, b.level))
	})
}

// choice returns Σ_y Z(y) max_j (level_j + slope_j α_y).
func (f *policyLines) choice(l idrl.Likelihood, m, v float64, outcomes []idrl.Answer) float64 {
	var sum float64
	for _, y := range outcomes {
		logZ, alpha, _ := l.LogZ(y, m, v)
		var most float64
		for _, line := range f.lines {
			most = max(most, line.level+line.slope*alpha)
		}
		sum += math.Exp(logZ) * most
	}
	return sum
}

// number returns E max_j (level_j + slope_j·scale·Z) for Z ~ N(0, 1), where the
// highest level is 0. Over the lines of the upper envelope, line i of which takes
// over from the one before it at z_i, it is
//
//	Σ_i (slope_i − slope_{i−1})·scale·h(−|z_i|, 1).
//
// Source: Frazier, Powell & Dayanik 2009, section 3.
func (f *policyLines) number(scale float64) float64 {
	f.envelope(scale)
	var sum float64
	for i := 1; i < len(f.top); i++ {
		sum += (f.top[i].slope - f.top[i-1].slope) * scale * gain(-math.Abs(f.top[i].from), 1)
	}
	return sum
}

// envelope stores the lines that are the highest somewhere in f.top, from left to
// right, where their slopes are stretched by scale > 0.
func (f *policyLines) envelope(scale float64) {
	f.top = f.top[:0]
	for _, l := range f.wide {
		from := math.Inf(-1)
		for len(f.top) > 0 {
			last := f.top[len(f.top)-1]
			if from = (last.level - l.level) / ((l.slope - last.slope) * scale); from > last.from {
				break
			}
			f.top = f.top[:len(f.top)-1] // l is above it wherever it was the highest
			from = math.Inf(-1)
		}
		if !math.IsInf(from, 1) {
			f.top = append(f.top, piece{l, from})
		}
	}
}
