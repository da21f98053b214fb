package bradley_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var flat = bradley.Prior{Std: math.Inf(1), TieStd: math.Inf(1)}

// Of two entrants the model is saturated: the odds are those of the counts.
func TestTwoEntrants(t *testing.T) {
	for _, test := range []struct{ wins, losses, ties int }{{30, 10, 8}, {5, 5, 1}, {1, 40, 12}} {
		table := bradley.NewTable(2)
		for range test.wins {
			table.Win(0, 1)
		}
		for range test.losses {
			table.Win(1, 0)
		}
		for range test.ties {
			table.Tie(1, 0)
		}
		f, err := table.Fit(flat)
		if err != nil {
			t.Fatal(err)
		}
		w, l, d := float64(test.wins), float64(test.losses), float64(test.ties)
		if got, want := f.Strengths[0]-f.Strengths[1], math.Log(w/l); math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v: the strengths differ by %v, want %v", test, got, want)
		}
		if want := math.Log(d / math.Sqrt(w*l)); math.Abs(f.Eta-want) > 1e-9 {
			t.Errorf("%+v: η = %v, want %v", test, f.Eta, want)
		}
		if got, want := f.Tied(0, 1), d/(w+l+d); math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v: ties have probability %v, want %v", test, got, want)
		}
	}
}

// mm maximises the likelihood by the algorithm of Hunter (2004) for the model of Davidson: the
// root of γ_i γ_j and the logarithm of the denominator are bounded by what is linear in γ.
func mm(t *bradley.Table, rounds int) (gamma []float64, nu float64) {
	n := t.Len()
	gamma, nu = slices.Repeat([]float64{1}, n), 1
	each := func(yield func(i, j int, m, root, denominator float64)) {
		for i := range n {
			for j := range n {
				m := float64(t.Wins(i, j) + t.Wins(j, i) + t.Ties(i, j))
				if i == j || m == 0 {
					continue
				}
				root := math.Sqrt(gamma[i] * gamma[j])
				yield(i, j, m, root, gamma[i]+gamma[j]+nu*root)
			}
		}
	}
	for range rounds {
		won, bound, ties, spread := make([]float64, n), make([]float64, n), 0.0, 0.0
		each(func(i, j int, m, root, denominator float64) {
			won[i] += float64(t.Wins(i, j)) + float64(t.Ties(i, j))/2
			bound[i] += m * (1 + nu/2*root/gamma[i]) / denominator
		})
		for i := range n {
			gamma[i] = won[i] / bound[i]
		}
		each(func(i, j int, m, root, denominator float64) {
			ties += float64(t.Ties(i, j)) / 2
			spread += m * root / denominator / 2
		})
		nu = ties / spread
	}
	return gamma, nu
}

// answers draws outcomes of comparisons of all pairs, each so often.
func answers(strengths []float64, eta float64, each int, who idrl.AnnotatorID, stream *rand.Rand) (out []bradley.Outcome) {
	for i := range strengths {
		for j := range i {
			for range each {
				out = append(out, answer(strengths, i, j, eta, who, stream))
			}
		}
	}
	return out
}

func TestNewtonAgreesWithMM(t *testing.T) {
	for seed := range uint64(5) {
		stream := rng.New(seed, "strengths", 0)
		truth := make([]float64, 3+int(seed))
		for i := range truth {
			truth[i] = stream.NormFloat64()
		}
		table := bradley.Of(len(truth), answers(truth, -0.5, 20, "a1", stream))
		f, err := table.Fit(flat)
		if err != nil {
			t.Fatal(err)
		}
		gamma, nu := mm(table, 3000)
		if math.Abs(f.Eta-math.Log(nu)) > 1e-6 {
			t.Errorf("seed %d: η = %v, by MM %v", seed, f.Eta, math.Log(nu))
		}
		for i := range truth {
			if got, want := f.Strengths[i]-f.Strengths[0], math.Log(gamma[i]/gamma[0]); math.Abs(got-want) > 1e-6 {
				t.Errorf("seed %d: strength %d is %v above the first, by MM %v", seed, i, got, want)
			}
		}
	}
}

// Where an entrant has always won there is no maximum likelihood, but one under a prior.
func TestSeparable(t *testing.T) {
	table := bradley.NewTable(3)
	for range 20 {
		table.Win(0, 1)
		table.Win(0, 2)
		table.Win(1, 2)
	}
	if _, err := table.Fit(flat); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("error %v, want one of kind Invalid", err)
	}
	f, err := table.Fit(bradley.Weak)
	if err != nil || !(f.Strengths[0] > f.Strengths[1] && f.Strengths[1] > f.Strengths[2] && f.Strengths[0] < 6) {
		t.Errorf("strengths %v, %v", f.Strengths, err)
	}
}

// grid integrates the posterior of three entrants over the differences from the third, and η.
func grid(table *bradley.Table) (best [3]float64, low, high float64) {
	const step, wide = 0.08, 4.0
	type cell struct{ d, p float64 }
	var cells []cell
	sum := 0.0
	for d0 := -wide; d0 <= wide; d0 += step {
		mass := 0.0
		for d1 := -wide + step/2; d1 <= wide; d1 += step { // never equal to d0
			for eta := -wide; eta <= 2; eta += 0.2 {
				x := []float64{d0, d1, 0}
				mean := (d0 + d1) / 3
				log := -eta * eta / 8
				for i := range 3 {
					log -= (x[i] - mean) * (x[i] - mean) / 8
					for j := range i {
						all := math.Log(math.Exp(x[i]) + math.Exp(x[j]) + math.Exp(eta+(x[i]+x[j])/2))
						log += float64(table.Wins(i, j))*(x[i]-all) + float64(table.Wins(j, i))*(x[j]-all) +
							float64(table.Ties(i, j))*(eta+(x[i]+x[j])/2-all)
					}
				}
				p := math.Exp(log + 40)
				mass += p
				switch {
				case d0 >= d1 && d0 >= 0:
					best[0] += p
				case d1 >= 0:
					best[1] += p
				default:
					best[2] += p
				}
			}
		}
		sum += mass
		cells = append(cells, cell{d0, mass})
	}
	low, high = math.NaN(), math.NaN()
	below := 0.0
	for _, c := range cells {
		below += c.p / sum
		if math.IsNaN(low) && below >= 0.025 {
			low = c.d
		}
		if math.IsNaN(high) && below >= 0.975 {
			high = c.d
		}
	}
	for i := range best {
		best[i] /= sum
	}
	return best, low, high
}

func TestPosteriorAgreesWithQuadrature(t *testing.T) {
	outcomes := answers([]float64{0.5, 0.2, -0.4}, -0.5, 12, "a1", rng.New(3, "answers", 0))
	table := bradley.Of(3, outcomes)
	best, low, high := grid(table)
	f, err := table.Fit(bradley.Weak)
	if err != nil {
		t.Fatal(err)
	}
	s := f.Sample(20000, rng.New(1, "sample", 0))
	for i, p := range s.Best(3) {
		if math.Abs(p-best[i]) > 0.02 { // 5 standard errors, and ties of the grid
			t.Errorf("entrant %d is the best with probability %v, by quadrature %v", i, p, best[i])
		}
	}
	in, std := s.Difference(0, 2)
	if math.Abs(in.Low-low) > 0.1 || math.Abs(in.High-high) > 0.1 { // the step of the grid
		t.Errorf("the difference lies in %+v, by quadrature %v to %v", in, low, high)
	}
	if width := (in.High - in.Low) / (2 * 1.96); math.Abs(std/width-1) > 0.1 {
		t.Errorf("standard deviation %v, interval %+v", std, in)
	}
}

// The 95 % intervals hold known strengths, differences and probabilities in 95 % of studies,
// with ties, also where an entrant is far ahead.
func TestCoverage(t *testing.T) {
	const studies = 400
	for _, truth := range [][]float64{{0.8, 0, -0.8}, {0.1, 0, -0.1, 0}, {2, 0.2, -2.2}} {
		held, asked, seen := 0, 0, 0
		for seed := range uint64(studies) {
			table := bradley.Of(len(truth), answers(truth, -0.7, 25, "a1", rng.New(seed, "coverage", uint64(len(truth)))))
			f, err := table.Fit(bradley.Weak)
			if err != nil {
				t.Fatal(err)
			}
			s := f.Sample(1000, rng.New(seed, "sample", 0))
			for i := range truth {
				j := (i + 1) % len(truth)
				d, _ := s.Difference(i, j)
				if want := truth[i] - truth[j]; d.Low <= want && want <= d.High {
					held++
				}
				if in := s.Strength(i); in.Low <= truth[i] && truth[i] <= in.High {
					seen++
				}
				asked++
			}
		}
		for what, k := range map[string]int{"differences": held, "strengths": seen} {
			share := float64(k) / float64(asked)
			t.Logf("%v: %.1f %% of %s are held", truth, 100*share, what)
			if sd := math.Sqrt(0.95 * 0.05 / studies); math.Abs(share-0.95) > 3*sd {
				t.Errorf("%v: %.1f %% of %s are held by their 95 %% intervals", truth, 100*share, what)
			}
		}
	}
}

func TestResult(t *testing.T) {
	truth := []float64{-1, 1.2, 0}
	outcomes := slices.Concat(
		answers(truth, -0.5, 20, "a1", rng.New(1, "a", 0)),
		answers(truth, -0.5, 20, "a2", rng.New(2, "a", 0)),
	)
	outcomes = append(outcomes, bradley.Outcome{A: 0, B: 1, Choice: idrl.CantTell, Person: "a1"})
	r, err := bradley.Analyse(3, outcomes)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Order, []int{1, 2, 0}) || r.Answers != 120 || r.More != 0 {
		t.Errorf("order %v, %d answers, %d more", r.Order, r.Answers, r.More)
	}
	p, best := 0.0, 0.0
	for k, e := range r.Entrants {
		p += e.Strength
		best += e.Best
		if e.Answers != 80 || !(e.Low < e.Strength && e.Strength < e.High) {
			t.Errorf("entrant %d: %+v", k, e)
		}
	}
	if math.Abs(p) > 1e-9 || math.Abs(best-1) > 1e-9 {
		t.Errorf("the strengths add up to %v, the probabilities to %v", p, best)
	}
	for i := range 3 {
		for j := range 3 {
			if i == j {
				continue
			}
			p, in := r.Of(i, j)
			q, _ := r.Of(j, i)
			if math.Abs(p+q-1) > 1e-12 || !(in.Low < p && p < in.High) || (p > 0.5) != (truth[i] > truth[j]) {
				t.Errorf("%d is preferred to %d with probability %v %+v, the other way %v", i, j, p, in, q)
			}
		}
	}
	// The order of answers is of no effect, and an answer that is taken away is as if never given.
	again := slices.Clone(outcomes)
	rng.New(5, "shuffle", 0).Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
	other, err := bradley.Analyse(3, again)
	if diff := cmp.Diff(r, other, cmpopts.IgnoreUnexported(bradley.Pair{})); err != nil || diff != "" {
		t.Errorf("another order of answers, %v:\n%s", err, diff)
	}
}

// Without an answer nothing is known, and that is said.
func TestNoAnswers(t *testing.T) {
	for _, n := range []int{2, 20} {
		r, err := bradley.Analyse(n, nil)
		if err != nil || r.More != bradley.Unknown || len(r.People) != 0 || len(r.Pairs) != n*(n-1)/2 {
			t.Fatalf("%d entrants: %+v, %v", n, r, err)
		}
		for i, e := range r.Entrants {
			if e.Strength != 0 || math.Abs(e.Best-1/float64(n)) > 0.05 || !(e.Low < -2 && e.High > 2) {
				t.Errorf("%d entrants: entrant %d is %+v", n, i, e)
			}
		}
	}
}

// As many further answers as Result.More says separate the first two, if they go as those
// before.
func TestMore(t *testing.T) {
	var outcomes []bradley.Outcome
	add := func(times int) {
		for range times {
			for k, c := range []idrl.Choice{idrl.ChoseA, idrl.ChoseA, idrl.ChoseA, idrl.ChoseB, idrl.ChoseB, idrl.Equal} {
				outcomes = append(outcomes, bradley.Outcome{A: 0, B: 1, Choice: c, Person: idrl.AnnotatorID(fmt.Sprint(k))})
			}
		}
	}
	add(4)
	r, err := bradley.Analyse(2, outcomes)
	if err != nil || r.More < 50 {
		t.Fatalf("%d more after %d answers, %v", r.More, r.Answers, err)
	}
	before := len(outcomes)
	for r.More > 0 {
		add(1)
		if next, err := bradley.Analyse(2, outcomes); err != nil {
			t.Fatal(err)
		} else if next.More == 0 {
			break
		}
	}
	if got := len(outcomes) - before; math.Abs(float64(got)/float64(r.More)-1) > 0.2 {
		t.Errorf("it took %d further answers, %d were expected", got, r.More)
	}
}

// Result marks annotators who answer at random, and marks few of the others.
func TestRandomPerson(t *testing.T) {
	truth := []float64{1.2, 0, -1.2}
	const studies = 40
	seen, wrong := 0, 0
	for seed := range uint64(studies) {
		var outcomes []bradley.Outcome
		for k := range 4 {
			outcomes = append(outcomes, answers(truth, -1, 20, idrl.AnnotatorID(fmt.Sprintf("a%d", k+1)), rng.New(seed, "people", uint64(k)))...)
		}
		outcomes = append(outcomes, answers([]float64{0, 0, 0}, -1, 20, "random", rng.New(seed, "random", 0))...)
		r, err := bradley.Analyse(3, outcomes)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.People {
			if p.Chance && p.ID == "random" {
				seen++
			} else if p.Chance {
				wrong++
			}
			if p.Answers != 60 || p.Compared != p.Answers-p.Ties {
				t.Fatalf("%+v", p)
			}
		}
	}
	t.Logf("seen in %d of %d studies; %d of %d others too", seen, studies, wrong, 4*studies)
	if seen < studies*9/10 || wrong > 4*studies*5/100 {
		t.Errorf("seen in %d of %d studies; %d of %d others too", seen, studies, wrong, 4*studies)
	}
}

// A few answers that differ from those of others do not make a person random.
func TestFewAnswersAreNotCalledRandom(t *testing.T) {
	outcomes := answers([]float64{2, -2}, -1, 20, "a1", rng.New(1, "people", 0))
	for n := range 19 {
		outcomes = append(outcomes, bradley.Outcome{A: n % 2, B: 1 - n%2, Choice: idrl.ChoseA, Person: "few"})
	}
	for _, p := range must.Get(bradley.Analyse(2, outcomes))(t).People {
		if p.ID == "few" && (p.Chance || p.Compared != 19 || p.High >= p.Expected) {
			t.Errorf("%+v", p)
		}
	}
}

// People who answer the other way round are called so, and neither those who answer at random
// nor others are.
func TestReversedPeople(t *testing.T) {
	truth, opposite := []float64{1.2, 0, -1.2}, []float64{-1.2, 0, 1.2}
	const studies = 40
	seen, random, others, asChance := 0, 0, 0, 0
	for seed := range uint64(studies) {
		var outcomes []bradley.Outcome
		for k := range 3 {
			outcomes = append(outcomes, answers(truth, -1, 20, idrl.AnnotatorID(fmt.Sprintf("a%d", k+1)), rng.New(seed, "people", uint64(k)))...)
		}
		outcomes = append(outcomes, answers([]float64{0, 0, 0}, -1, 20, "random", rng.New(seed, "random", 0))...)
		outcomes = append(outcomes, answers(opposite, -1, 20, "reversed", rng.New(seed, "reversed", 0))...)
		r, err := bradley.Analyse(3, outcomes)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.People {
			switch {
			case p.ID == "reversed" && p.Chance:
				asChance++
			case !p.Reversed:
			case p.ID == "reversed":
				seen++
			case p.ID == "random":
				random++
			default:
				others++
			}
		}
	}
	t.Logf("of %d studies: seen in %d, and called random in %d; random people %d, others %d of %d", studies, seen, asChance, random, others, 3*studies)
	if seen < studies*8/10 || random > 1 || others > 0 {
		t.Errorf("seen in %d of %d studies; %d random people and %d of %d others too", seen, studies, random, others, 3*studies)
	}
}
