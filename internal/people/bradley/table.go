package bradley

import (
	"math"

	"tiebreak/internal/idrl"
)

// A Table counts the outcomes of comparisons of n entrants.
type Table struct {
	n    int
	wins []float64 // [i*n+j]: i was preferred to j
	ties []float64 // [i*n+j], i < j
}

// NewTable returns the empty table of n entrants. It panics if n < 2.
func NewTable(n int) *Table {
	if n < 2 {
		panic("bradley: fewer than two entrants")
	}
	return &Table{n: n, wins: make([]float64, n*n), ties: make([]float64, n*n)}
}

// Len returns the number of entrants.
func (t *Table) Len() int { return t.n }

// Win counts an answer that prefers entrant i to entrant j.
func (t *Table) Win(i, j int) {
	t.check(i, j)
	t.wins[i*t.n+j]++
}

// Tie counts an answer that says that entrants i and j are equal.
func (t *Table) Tie(i, j int) {
	t.check(i, j)
	t.ties[min(i, j)*t.n+max(i, j)]++
}

func (t *Table) check(i, j int) {
	if i == j || min(i, j) < 0 || max(i, j) >= t.n {
		panic("bradley: no such pair of entrants")
	}
}

// Wins returns how often i was preferred to j.
func (t *Table) Wins(i, j int) int { return int(t.wins[i*t.n+j]) }

// Ties returns how often i and j were called equal.
func (t *Table) Ties(i, j int) int { return int(t.ties[min(i, j)*t.n+max(i, j)]) }

// Answers returns the number of answers.
func (t *Table) Answers() int {
	sum := 0.0
	for k := range t.wins {
		sum += t.wins[k] + t.ties[k]
	}
	return int(sum)
}

// add adds the counts of other, times weight.
func (t *Table) add(other *Table, weight float64) {
	for k := range t.wins {
		t.wins[k] += weight * other.wins[k]
		t.ties[k] += weight * other.ties[k]
	}
}

// chances returns the probabilities of the answers to a comparison of entrants of strengths a and b:
// that a is preferred, that b is, and 'equal'.
func chances(a, b, eta float64) (first, second, equal float64) {
	equal = eta + (a+b)/2
	top := max(a, b, equal)
	first, second, equal = math.Exp(a-top), math.Exp(b-top), math.Exp(equal-top)
	sum := first + second + equal
	return first / sum, second / sum, equal / sum
}

// logLikelihood returns that of the parameters x: n strengths, and η.
func (t *Table) logLikelihood(x []float64) (sum float64) {
	eta := x[t.n]
	for i := range t.n {
		for j := i + 1; j < t.n; j++ {
			w, l, d := t.wins[i*t.n+j], t.wins[j*t.n+i], t.ties[i*t.n+j]
			if w+l+d == 0 {
				continue
			}
			equal := eta + (x[i]+x[j])/2
			top := max(x[i], x[j], equal)
			sum += w*x[i] + l*x[j] + d*equal -
				(w+l+d)*(top+math.Log(math.Exp(x[i]-top)+math.Exp(x[j]-top)+math.Exp(equal-top)))
		}
	}
	return sum
}

// An Outcome is one comparison: which entrants, and what was answered of them.
type Outcome struct {
	Seq    int64       // of the answer in its log; 0 where there is none
	A, B   int         // entrants
	Choice idrl.Choice // ChoseA, ChoseB or Equal; others do not count
	Person idrl.AnnotatorID
	Task   int // place in idrl.Arena.Tasks; 0 where there are none
}

// Of returns the table of outcomes between n entrants.
func Of(n int, outcomes []Outcome) *Table {
	t := NewTable(n)
	for _, o := range outcomes {
		t.count(o)
	}
	return t
}

// counts reports whether an outcome says something of its entrants.
func (o Outcome) counts() bool {
	return o.Choice == idrl.ChoseA || o.Choice == idrl.ChoseB || o.Choice == idrl.Equal
}

func (t *Table) count(o Outcome) {
	switch o.Choice {
	case idrl.ChoseA:
		t.Win(o.A, o.B)
	case idrl.ChoseB:
		t.Win(o.B, o.A)
	case idrl.Equal:
		t.Tie(o.A, o.B)
	default: // says nothing of them
	}
}
