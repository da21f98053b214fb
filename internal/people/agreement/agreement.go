package agreement

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
)

// A Value is the judgement of one rater about a unit: a category (0, 1, …) or a number.
type Value struct {
	Rater  int
	V      float64
	Turned bool // it belongs to an answer that counts turned (record.Counting)
}

// Units are the judged things, each with one value of each of its raters. Units with fewer than two
// values give no information about agreement and are skipped.
type Units [][]Value

// A Metric is the difference of two values that Alpha counts.
type Metric int

// Metrics.
const (
	Nominal  Metric = iota // 0 if equal, else 1
	Interval               // squared difference
)

func (m Metric) difference(a, b float64) float64 {
	if m == Interval {
		return (a - b) * (a - b)
	}
	if a == b {
		return 0
	}
	return 1
}

// A count is how often a value occurs.
type count struct{ v, n float64 }

// counted adds one to the count of v. The values are few.
func counted(counts []count, v float64) []count {
	for i := range counts {
		if counts[i].v == v {
			counts[i].n++
			return counts
		}
	}
	return append(counts, count{v, 1})
}

// differences returns the sum of difference over all ordered pairs of the n values of units.
func (m Metric) differences(units iter.Seq[[]Value], n int) float64 {
	if m == Interval {
		all := make([]float64, 0, n)
		for one := range units {
			for _, v := range one {
				all = append(all, v.V)
			}
		}
		return 2 * float64(n) * float64(n-1) * variance(all)
	}
	var counts []count
	for one := range units {
		for _, v := range one {
			counts = counted(counts, v.V)
		}
	}
	same := 0.0
	for _, c := range counts {
		same += c.n * c.n // whole numbers: exact in any order
	}
	return float64(n)*float64(n) - same
}

func variance(all []float64) float64 {
	if len(all) < 2 {
		return 0
	}
	return stat.Variance(all, nil)
}

// pairable yields the units with two values or more, without copies, because a bootstrap draws many
// sets of units.
func (u Units) pairable() iter.Seq[[]Value] {
	return func(yield func([]Value) bool) {
		for _, one := range u {
			if len(one) >= 2 && !yield(one) {
				return
			}
		}
	}
}

// size returns the number of units with two values or more, and of their values.
func (u Units) size() (units, values int) {
	for one := range u.pairable() {
		units, values = units+1, values+len(one)
	}
	return units, values
}

// Raw returns the share of pairs of values of one unit that are equal, each unit counting
// once; ok is false if no unit has two values.
func Raw(u Units) (share float64, ok bool) {
	units, _ := u.size()
	for one := range u.pairable() {
		equal, pairs := 0, 0
		for j, b := range one {
			for _, a := range one[:j] {
				if pairs++; a.V == b.V {
					equal++
				}
			}
		}
		share += float64(equal) / float64(pairs)
	}
	return share / float64(max(units, 1)), units > 0
}

// Alpha returns Krippendorff's α, 1 − D_o/D_e: 1 for full agreement, 0 for agreement by chance.
// Values may be missing. ok is false if it is not defined: no unit has two values, or all values
// are the same. Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability", 2011.
func Alpha(u Units, m Metric) (alpha float64, ok bool) {
	observed := 0.0
	for one := range u.pairable() {
		sum := 0.0
		for j, b := range one {
			for _, a := range one[:j] {
				sum += 2 * m.difference(a.V, b.V)
			}
		}
		observed += sum / float64(len(one)-1)
	}
	_, values := u.size()
	n, expected := float64(values), m.differences(u.pairable(), values)
	if !(expected > 0) {
		return 0, false
	}
	return 1 - (observed/n)/(expected/(n*(n-1))), true
}

// Cohen returns Cohen's κ of two raters over the units that both judged, and how many these
// are; ok is false if there are none or chance alone gives full agreement. Source: J. Cohen,
// "A coefficient of agreement for nominal scales", 1960.
func Cohen(u Units, a, b int) (kappa float64, units int, ok bool) {
	equal := 0.0
	first, second := map[float64]float64{}, map[float64]float64{}
	for _, one := range u {
		va, hasA := valueOf(one, a)
		vb, hasB := valueOf(one, b)
		if !hasA || !hasB {
			continue
		}
		units++
		first[va]++
		second[vb]++
		if va == vb {
			equal++
		}
	}
	n := float64(units)
	chance := 0.0
	for v, k := range first {
		chance += k * second[v] // whole numbers, whose sum is exact whatever the order of the map
	}
	chance /= n * n
	if units == 0 || !(chance < 1) {
		return 0, units, false
	}
	return (equal/n - chance) / (1 - chance), units, true
}

func valueOf(one []Value, rater int) (float64, bool) {
	i := slices.IndexFunc(one, func(v Value) bool { return v.Rater == rater })
	if i < 0 {
		return 0, false
	}
	return one[i].V, true
}

// Fleiss returns Fleiss' κ. Every unit must have the same number of values, two or more;
// else, and where chance alone gives full agreement, ok is false. Source: J. L. Fleiss,
// "Measuring nominal scale agreement among many raters", 1971.
func Fleiss(u Units) (kappa float64, ok bool) {
	if len(u) == 0 || len(u[0]) < 2 {
		return 0, false
	}
	n := len(u[0])
	var counts []count
	for _, one := range u {
		if len(one) != n {
			return 0, false
		}
		for _, v := range one {
			counts = counted(counts, v.V)
		}
	}
	observed, _ := Raw(u)
	var shares []float64
	for _, c := range counts {
		shares = append(shares, c.n/float64(n*len(u)))
	}
	slices.Sort(shares) // the same bits whatever the order of the units
	chance := 0.0
	for _, p := range shares {
		chance += p * p
	}
	if !(chance < 1) {
		return 0, false
	}
	return (observed - chance) / (1 - chance), true
}

// Limits of a bootstrap: the largest and the smallest number of draws, the units of all draws
// together, and the least share of the draws for which a coefficient must be defined.
const (
	mostDraws  = 2000
	leastDraws = 200
	drawnUnits = 4_000_000
	defined    = 0.9
)

// LeastUnits is the least number of units with two values or more of which Bootstrap gives an
// interval. Of fewer the truth lies in it too rarely: measured, in 60 to 80 of 100 samples of 8
// units, in 85 to 93 of 20, and in 91 to 94 of 40.
const LeastUnits = 40

// drawsOf returns how often n units are drawn with replacement: 2,000 times, and less often for many
// units. The interval is then narrow, and its ends are accurate to a tenth of its width.
func drawsOf(n int) int { return min(mostDraws, max(leastDraws, drawnUnits/n)) }

// Bootstrap returns the 95 % percentile interval of a coefficient over units drawn with
// replacement. ok is false if fewer than 40 units have two values, all draws give the same
// number, as where all agree, or the coefficient is often not defined.
func Bootstrap(u Units, stream *rand.Rand, of func(Units) (float64, bool)) (low, high float64, ok bool) {
	if u = slices.Collect(u.pairable()); len(u) < LeastUnits {
		return 0, 0, false
	}
	low, high, ok = bootstrap(u, drawsOf(len(u)), stream, of)
	return low, high, ok && low < high
}

// RawInterval returns the 95 % interval of Raw: that of Bootstrap, and where it gives none Wilson's,
// to which each unit is one trial. For more than two raters that one is wider than need be.
func RawInterval(u Units, stream *rand.Rand) (low, high float64, wilson bool) {
	if low, high, ok := Bootstrap(u, stream, Raw); ok {
		return low, high, false
	}
	n, _ := u.size()
	share, _ := Raw(u)
	low, high = stats.Wilson(share*float64(n), n, stats.Z95)
	return low, high, true
}

// bootstrap is Bootstrap with a given number of draws, for at least two units with two values or
// more.
func bootstrap(u Units, draws int, stream *rand.Rand, of func(Units) (float64, bool)) (low, high float64, ok bool) {
	drawn := make(Units, len(u))
	values := stats.Resample(len(u), draws, stream, func(indexes []int) float64 {
		for k, i := range indexes {
			drawn[k] = u[i]
		}
		if v, ok := of(drawn); ok {
			return v
		}
		return math.NaN()
	})
	if float64(len(values)) < defined*float64(draws) {
		return 0, 0, false
	}
	low, high = stats.Middle95(values)
	return low, high, true
}

// Answers are the effective answers of a session, arranged for this package.
type Answers struct {
	Raters []idrl.AnnotatorID // by their numbers
	Rated  bool               // values are ratings in [-1, 1]; else they are categories: 0 for one of the clips, 1 for the other, 2 for equal
	Units  Units              // by the first answer to each question; of each rater their first answer
	Again  []Units            // by rater: each later answer to a question that they had answered, as a pair with their first answer
}

// Arrange returns the effective answers of a log, as they count. Answers without a preference, such
// as can't tell, are missing values. turned has the assignments whose clips are exchanged
// (idrl.Query.Turned).
func Arrange(log []idrl.Answer, turned map[idrl.AssignmentID]bool) Answers {
	var out Answers
	number, place := map[idrl.AnnotatorID]int{}, map[idrl.QueryID]int{}
	hows := record.Countings(log)
	for given := range record.EachStanding(log) {
		how := hows[given.Annotator]
		a := how.Of(*given)
		v, ok := value(&a, turned[a.Assignment])
		if !ok || how.Out {
			continue
		}
		out.Rated = a.Choice == idrl.Rated
		r, known := number[a.Annotator]
		if !known {
			r = len(out.Raters)
			number[a.Annotator], out.Raters, out.Again = r, append(out.Raters, a.Annotator), append(out.Again, nil)
		}
		at, known := place[a.Query]
		if !known {
			at = len(out.Units)
			place[a.Query], out.Units = at, append(out.Units, nil)
		}
		if first, again := valueOf(out.Units[at], r); again {
			out.Again[r] = append(out.Again[r], []Value{{0, first, false}, {1, v, false}})
			continue
		}
		out.Units[at] = append(out.Units[at], Value{r, v, how.Turns(a.Seq)})
	}
	return out
}

func value(a *idrl.Answer, turned bool) (float64, bool) {
	switch a.Choice {
	case idrl.ChoseA, idrl.ChoseB:
		if (a.Choice == idrl.ChoseA) != turned {
			return 0, true
		}
		return 1, true
	case idrl.Equal:
		return 2, true
	case idrl.Rated:
		return a.Rating, !math.IsNaN(a.Rating)
	default:
		return 0, false
	}
}
