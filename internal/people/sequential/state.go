package sequential

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"tiebreak/internal/idrl"
)

// A State holds the answers so far and what they have decided. It is not safe for use by several goroutines.
type State struct {
	test  *Test
	n     int
	pairs []pair // [i*n+j], i < j
}

// A pair of entrants.
type pair struct {
	wins     [2]int // of the lower one, of the other
	ties     int
	alike    bool // no question can be asked about them
	decided  bool
	prefers  int // which of the two is preferred, 0 or 1, once it is decided
	answered int // with ties
	need     boundary
	ahead    float64 // posterior probability that the lower one is preferred, under a uniform prior of the share of decisive answers
}

// New returns the state of n entrants without answers.
func (t *Test) New(n int) *State {
	s := &State{test: t, n: n, pairs: make([]pair, n*n)}
	for k := range s.pairs {
		s.pairs[k].ahead = 0.5
	}
	return s
}

// at returns the pair of two entrants, and the place of i in it.
func (s *State) at(i, j int) (p *pair, place int) {
	if i > j {
		p, place = s.at(j, i)
		return p, 1 - place
	}
	return &s.pairs[i*s.n+j], 0
}

// Add takes in the next answer to a comparison of entrants a and b. Answers have to come in their order. What says nothing of
// the two is left out.
func (s *State) Add(a, b int, choice idrl.Choice) {
	p, place := s.at(a, b)
	over := p.decided || s.spent(p, 0) == 1
	switch choice {
	case idrl.ChoseA:
		p.wins[place]++
	case idrl.ChoseB:
		p.wins[1-place]++
	case idrl.Equal:
		p.ties++
	default:
		return
	}
	p.ahead = mathext.RegIncBeta(float64(p.wins[1]+1), float64(p.wins[0]+1), 0.5)
	if p.answered++; over || choice == idrl.Equal {
		return
	}
	p.need = p.need.next(s.spent(p, 0), s.test.level)
	for k := range 2 {
		if p.wins[k] >= p.need.wins {
			p.decided, p.prefers = true, k
		}
	}
}

// Alike notes that two entrants look the same, so that no question can be asked about them. Neither then has to be preferred to the other.
func (s *State) Alike(i, j int) {
	p, _ := s.at(i, j)
	p.alike = true
}

// alike reports whether two entrants look the same.
func (s *State) alike(i, j int) bool {
	p, _ := s.at(i, j)
	return p.alike
}

// Beats reports whether it is decided that entrant i is preferred to j.
func (s *State) Beats(i, j int) bool {
	p, place := s.at(i, j)
	return p.decided && p.prefers == place
}

// Open reports whether further answers about two entrants may decide between them.
func (s *State) Open(i, j int) bool { return s.open(i, j, 0) }

// open is Open beside pending answers.
func (s *State) open(i, j, pending int) bool {
	p, _ := s.at(i, j)
	return !p.alike && !p.decided && s.spent(p, pending) < 1
}

// spent returns the share of a pair's test that is over once pending answers have come, which may be decisive.
func (s *State) spent(p *pair, pending int) float64 {
	return s.test.spent(float64(p.wins[0]+p.wins[1]+pending), float64(p.answered+pending))
}

// A Verdict says which entrant has won, or may still win.
type Verdict struct {
	Winner int   // entrant that is preferred to each other one, but to those that look like it; -1 while none is known
	Alike  []int // entrants that look like the winner
	Best   []int // entrants to which none was found to be preferred
	Done   bool  // further answers find no winner that is not known
}

// Verdict returns what the answers so far have decided.
func (s *State) Verdict() Verdict {
	v := Verdict{Winner: -1, Done: true}
	for i := range s.n {
		beaten, all, may, asked := false, true, true, false
		var alike []int
		for j := range s.n {
			if j == i {
				continue
			}
			if s.alike(i, j) {
				alike = append(alike, j)
				continue
			}
			asked = true
			wins := s.Beats(i, j)
			beaten, all, may = beaten || s.Beats(j, i), all && wins, may && (wins || s.Open(i, j))
		}
		if !beaten {
			v.Best = append(v.Best, i)
		}
		if all && asked && v.Winner < 0 {
			v.Winner, v.Alike = i, alike
		}
		v.Done = v.Done && !(may && asked)
	}
	v.Done = v.Done || v.Winner >= 0
	return v
}

// Next returns the pairs whose answers may decide, the one to be asked about first: those of the entrant that seems the
// likeliest winner, the strongest challenger first, and then those of the others. pending says how many answers
// about two entrants are awaited; nil for none.
func (s *State) Next(pending func(i, j int) int) (out [][2]int) {
	if pending == nil {
		pending = func(int, int) int { return 0 }
	}
	has := map[[2]int]bool{}
	for _, i := range s.leaders() {
		var of [][2]int
		for j := range s.n {
			if j != i && s.open(i, j, pending(i, j)) && !has[[2]int{min(i, j), max(i, j)}] {
				of = append(of, [2]int{i, j})
				has[[2]int{min(i, j), max(i, j)}] = true
			}
		}
		slices.SortStableFunc(of, func(a, b [2]int) int { return cmp.Compare(s.ahead(a[0], a[1]), s.ahead(b[0], b[1])) })
		out = append(out, of...)
	}
	return out
}

// leaders returns the entrants that may still be found to be the winner, the likeliest first.
func (s *State) leaders() (out []int) {
	score := make([]float64, s.n)
	for i := range s.n {
		may, asked := true, false
		for j := range s.n {
			if j == i || s.alike(i, j) {
				continue
			}
			if asked = true; s.Beats(i, j) {
				continue
			}
			may = may && s.Open(i, j)
			score[i] -= 1 - s.ahead(i, j)
		}
		if may && asked {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(i, j int) int { return cmp.Compare(score[j], score[i]) })
	return out
}

// ahead returns the posterior probability that i is preferred to j.
func (s *State) ahead(i, j int) float64 {
	p, place := s.at(i, j)
	if place == 1 {
		return 1 - p.ahead
	}
	return p.ahead
}

// Left returns about how many further answers decide, if those to come are as those so far; 0 where nothing can be decided any more.
func (s *State) Left() int {
	leaders := s.leaders()
	if len(leaders) == 0 || s.Verdict().Done {
		return 0
	}
	sum := 0.
	for j := range s.n {
		if j != leaders[0] && s.Open(leaders[0], j) {
			sum += s.expected(leaders[0], j)
		}
	}
	return max(1, int(sum+0.5))
}

// expected returns the expected number of further answers about two entrants until they are decided or no longer tested,
// where the next decisive answer prefers i with the posterior mean of its share under a uniform prior.
func (s *State) expected(i, j int) (answers float64) {
	p, place := s.at(i, j)
	w0, l0 := p.wins[place], p.wins[1-place]
	decisive := float64(w0+l0+1) / float64(p.answered+1) // share of answers
	after := func(m int) float64 { return s.test.spent(float64(w0+l0+m), float64(p.answered)+float64(m)/decisive) }
	chance, need := []float64{1}, p.need // of k further wins without a decision
	for m := 0; after(m) < 1; m++ {
		next := make([]float64, m+2)
		need = need.next(after(m+1), s.test.level)
		for k, c := range chance {
			answers += c / decisive
			w, l := w0+k, l0+m-k
			up := float64(w+1) / float64(w+l+2)
			if w+1 < need.wins {
				next[k+1] += c * up
			}
			if l+1 < need.wins {
				next[k] += c * (1 - up)
			}
		}
		chance = next
	}
	return answers
}
