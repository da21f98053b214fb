package sequential

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"

	"tiebreak/internal/idrl"
)

const (
	// Level is the most probability of calling a false winner.
	Level = 0.05
	// Power is about the probability with which a preference of the planned size is found by answers about one pair.
	Power = 0.95
	// Low and High are the least and the greatest preference that can be planned for.
	Low, High = idrl.MinDetect, idrl.MaxDetect

	longer = 1.1 // as many answers as a test with one look has, at most
	spend  = 2.  // exponent of the spending function
)

// A Test is that of one of several entrants being preferred to another one.
type Test struct {
	Most  int // decisive answers about a pair after which it is not tested further, nor is it after twice as many of which some say 'equal'
	Once  int // decisive answers that a test with one look needs, for the same power
	level float64
}

// NewTest returns the test for n ≥ 2 entrants that is planned to find a preference of share detect, in [Low, High], of the
// decisive answers. It panics if they are outside.
func NewTest(n int, detect float64) *Test {
	if n < 2 || !(detect >= Low && detect <= High) {
		panic("sequential: no such test")
	}
	t := &Test{level: Level / float64(n)}
	t.Once = once(t.level, detect)
	t.Most = int(longer * float64(t.Once))
	return t
}

// spent returns the share of a pair's test that is over after so many answers. With 1 it ends.
func (t *Test) spent(decisive, answers float64) float64 {
	return min(1, max(decisive, answers/2)/float64(t.Most))
}

// once returns how many answers a test at that level with one look needs to find a preference of share p.
func once(level, p float64) int {
	for n := 1; ; n++ {
		if least := needed(n, level); least <= n && tail(n, least, p) >= Power {
			return n
		}
	}
}

// needed returns how many wins among n answers decide a test at that level with one look; n+1 if none do.
func needed(n int, level float64) int {
	return sort.Search(n+1, func(w int) bool { return tail(n, w, 0.5) <= level })
}

// tail returns the probability of at least w wins among n answers of which each is one with probability p.
func tail(n, w int, p float64) float64 {
	switch {
	case w <= 0:
		return 1
	case w > n:
		return 0
	}
	return mathext.RegIncBeta(float64(w), float64(n-w+1), p)
}

// A boundary says how many wins decide one of the tests of a pair, at each look. The zero boundary is before the first answer.
type boundary struct {
	wins   int       // of the decisive answers so far decide; more than these where none do
	chance []float64 // of each number of wins so far without a decision, if none of the two is preferred
	spent  float64   // of the level
}

// next returns the boundary after a further decisive answer, when that share of the test is over: the fewest wins for which the
// probability of having decided by then, if none of the two is preferred, is at most level·share^spend. That is so whatever
// answers say 'equal', which tell nothing of who is preferred.
func (b boundary) next(share, level float64) boundary {
	d := max(1, len(b.chance))
	out := boundary{d + 1, make([]float64, d+1), b.spent}
	if b.chance == nil {
		b.chance = []float64{1}
	}
	for w, p := range b.chance {
		out.chance[w] += p / 2
		out.chance[w+1] += p / 2
	}
	for allowed := level * math.Pow(share, spend); out.wins > 0 && out.spent+out.chance[out.wins-1] <= allowed; {
		out.wins--
		out.spent += out.chance[out.wins]
		out.chance[out.wins] = 0
	}
	return out
}

// Interval returns an interval for the share of decisive answers that prefer the first of a pair, which at all numbers of answers
// together contains the truth with a probability of at least 1 − Level: the values that a mixture of likelihoods, by Jeffreys' prior, is
// not 1/Level times as probable as. It is [0, 1] without answers. It holds too for the mean of numbers from 0 to 1 that add up to w, of
// which l is what they lack of 1: the likelihood ratio pˣ(1−p)¹⁻ˣ is convex in x, so that its mean is no larger than that of
// answers with the same share.
func Interval(w, l float64) (low, high float64) {
	mixture := mathext.Lbeta(w+0.5, l+0.5) - mathext.Lbeta(0.5, 0.5)
	inside := func(p float64) bool {
		return xlogy(w, p)+xlogy(l, 1-p) > mixture+math.Log(Level)
	}
	top := 0.5
	if w+l > 0 {
		top = w / (w + l)
	}
	return edge(top, 0, inside), edge(top, 1, inside)
}

// xlogy returns x·log(y), which is 0 for x = 0.
func xlogy(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(y)
}

// edge returns the end of an interval around in, on the side of out.
func edge(in, out float64, inside func(float64) bool) float64 {
	if inside(out) {
		return out
	}
	for range 50 {
		if mid := (in + out) / 2; inside(mid) {
			in = mid
		} else {
			out = mid
		}
	}
	return out
}
