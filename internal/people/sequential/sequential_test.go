package sequential

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// TestBoundary: over all sequences of answers between equals, one of the two is decided no oftener than the level that was spent by
// then; and a preference of the planned size is found as promised, after far fewer answers than a test with one look has.
func TestBoundary(t *testing.T) {
	for _, most := range []int{12, 16, 20} {
		const level = 0.025
		need, decided, b := make([]int, most+1), make([]int, most+1), boundary{}
		for d := 1; d <= most; d++ {
			b = b.next(float64(d)/float64(most), level)
			need[d] = b.wins
		}
		for answers := range 1 << most { // bit d: the answer d+1 is a win
			wins := 0
			for d := 1; d <= most; d++ {
				if wins += answers >> (d - 1) & 1; wins >= need[d] {
					decided[d]++
					break
				}
			}
		}
		by := 0
		for d := 1; d <= most; d++ {
			by += decided[d]
			if got, allowed := float64(by)/float64(int(1)<<most), level*math.Pow(float64(d)/float64(most), 2); got > allowed {
				t.Errorf("of %d answers: after %d one of equals is called preferred with probability %.4f, allowed %.4f", most, d, got, allowed)
			}
		}
		if got := float64(by) / float64(int(1)<<most); got < level/3 {
			t.Errorf("of %d answers: only %.4f of the level %.4f is used", most, got, level)
		}
	}
	stream := rng.New(9, "boundary", 0)
	for _, n := range []int{2, 4, 8, 20} {
		for _, detect := range []float64{0.6, 0.7, 0.85} {
			test := NewTest(n, detect)
			const runs = 1000
			found, answers := 0, 0
			for range runs {
				s, w := test.New(2), world{prefer: func(int, int, *rand.Rand) float64 { return detect }}
				for range test.Most {
					answers++
					s.Add(0, 1, w.answer(0, 1, stream))
					if s.Beats(0, 1) {
						found++
						break
					}
					if s.Beats(1, 0) {
						break
					}
				}
			}
			power, mean := float64(found)/runs, float64(answers)/runs
			t.Logf("%2d entrants, %.2f: %d answers at most, %d once; power %.3f, %.0f answers on average (%.2f of those)", n, detect, test.Most, test.Once, power, mean, mean/float64(test.Once))
			if noise := 3 * math.Sqrt(Power*(1-Power)/runs); power < Power-0.015-noise || mean > 0.7*float64(test.Once) || float64(test.Most) > 1.1*float64(test.Once) {
				t.Errorf("%d entrants, %.2f: power %.3f, %.0f of %d answers on average, at most %d", n, detect, power, mean, test.Once, test.Most)
			}
		}
	}
}

// A world is how people compare entrants.
type world struct {
	name   string
	n      int
	prefer func(i, j int, stream *rand.Rand) float64 // probability that i is preferred when one is, for the next answer
	ties   float64
	winner int // -1: there is none
}

// ladder returns preferences by the logistic of differences of strengths.
func ladder(strengths ...float64) func(i, j int, _ *rand.Rand) float64 {
	return func(i, j int, _ *rand.Rand) float64 { return 1 / (1 + math.Exp(strengths[j]-strengths[i])) }
}

// lapsing has a share of answers given at random.
func lapsing(share float64, of func(i, j int, stream *rand.Rand) float64) func(i, j int, stream *rand.Rand) float64 {
	return func(i, j int, stream *rand.Rand) float64 { return share/2 + (1-share)*of(i, j, stream) }
}

// worlds are those in which the guarantee is tested; a difference of strengths of 0.85 is a preference of 0.7, as planned for.
func worlds() []world {
	circle := func(i, j int, _ *rand.Rand) float64 { return []float64{0.5, 0.75, 0.25}[(j-i+3)%3] }
	tasks := func(i, j int, stream *rand.Rand) float64 { // in one task of four the other is preferred
		if stream.IntN(4) == 0 {
			i, j = j, i
		}
		return ladder(1.9, 0)(i, j, nil)
	}
	above := func(i, j int, stream *rand.Rand) float64 { // the first three in a circle, below the last
		switch {
		case i == 3:
			return 0.75
		case j == 3:
			return 0.25
		}
		return circle(i, j, stream)
	}
	return []world{
		{"two, as planned", 2, ladder(0.85, 0), 0, 0},
		{"two, clear", 2, ladder(2, 0), 0, 0},
		{"two, many ties", 2, ladder(1, 0), 0.4, 0},
		{"two, lapses", 2, lapsing(0.2, ladder(1.4, 0)), 0.1, 0},
		{"two, tasks differ", 2, tasks, 0, 0},
		{"two, equal", 2, ladder(0, 0), 0, -1},
		{"two, equal, many ties", 2, ladder(0, 0), 0.6, -1},
		{"three, as planned", 3, ladder(0, 0.85, -0.5), 0.1, 1},
		{"three, the first two equal", 3, ladder(0.5, 0.5, -1), 0.1, -1},
		{"three, in a circle", 3, circle, 0.1, -1},
		{"four, one above a circle", 4, above, 0.1, 3},
		{"five, a ladder", 5, ladder(-2, -1, 0, 1, 2), 0.1, 4},
		{"five, all equal", 5, ladder(0, 0, 0, 0, 0), 0.1, -1},
		{"eight, one ahead", 8, ladder(0, 0, 0, 0, 0, 0.85, 0, 0), 0.1, 5},
		{"eight, lapses", 8, lapsing(0.1, ladder(0, 0.2, 0.4, 0.6, 1.8, -1, -2, 0)), 0.2, 4},
	}
}

// answer draws one to a comparison.
func (w world) answer(i, j int, stream *rand.Rand) idrl.Choice {
	switch u := stream.Float64(); {
	case u < w.ties:
		return idrl.Equal
	case stream.Float64() < w.prefer(i, j, stream):
		return idrl.ChoseA
	}
	return idrl.ChoseB
}

// TestNoFalseWinners: whatever people prefer, a false winner is called in at most 5 of 100 arenas by somebody who looks after every answer. Where
// there is a winner it is found after at most 0.6 times as many answers as a design needs that finds it as often by asking about all pairs
// equally often and looks once; and no arena takes more than 1.1 times as many decisive answers as the planned one of these.
func TestNoFalseWinners(t *testing.T) {
	const detect, runs = 0.7, 2000
	for k, w := range worlds() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			test, stream := NewTest(w.n, detect), rng.New(74001, "guarantee", uint64(k)) // #nosec G115 -- a place
			right, wrong, answers, longest, decisive := 0, 0, 0, 0, 0
			for range runs {
				s, n, ties := test.New(w.n), 0, 0
				for next := s.Next(nil); len(next) > 0 && !s.Verdict().Done; next = s.Next(nil) {
					choice := w.answer(next[0][0], next[0][1], stream)
					s.Add(next[0][0], next[0][1], choice)
					if n++; choice == idrl.Equal {
						ties++
					}
				}
				switch v := s.Verdict(); {
				case !v.Done:
					t.Fatal("there is nothing to ask, and it is not done")
				case v.Winner >= 0 && v.Winner == w.winner:
					right++
				case v.Winner >= 0:
					wrong++
				}
				answers, longest, decisive = answers+n, max(longest, n), max(decisive, n-ties)
			}
			pairs := w.n * (w.n - 1) / 2
			mean, share := float64(answers)/runs, float64(right)/runs
			planned := pairs * test.Once
			said := fmt.Sprintf("right %.3f, wrong %.4f, %.0f answers on average, %d at most, %d decisive (planned with one look: %d decisive)", share, float64(wrong)/runs, mean, longest, decisive, planned)
			if noise := 3 * math.Sqrt(Level*(1-Level)/runs); float64(wrong)/runs > Level+noise {
				t.Errorf("false winners: %s", said)
			}
			if float64(decisive) > longer*float64(planned) || longest > 2*pairs*test.Most {
				t.Errorf("too many answers: %s", said)
			}
			if w.winner >= 0 {
				once := pairs * w.fixed(t, test.level, min(share, 1-1./runs))
				said += fmt.Sprintf("; a fixed design as often right: %d, %.2f", once, mean/float64(once))
				if mean > 0.6*float64(once) {
					t.Errorf("too many answers: %s", said)
				}
			}
			t.Log(said)
		})
	}
}

// TestTasksInTurn: where tasks take turns in a random order, as in arenas of recorded policies, and the policies are equal over all tasks
// but not in any one, a false winner is called in at most 5 of 100 arenas.
func TestTasksInTurn(t *testing.T) {
	const runs = 2000
	test, stream := NewTest(2, 0.7), rng.New(74002, "tasks", 0)
	for _, prefer := range [][]float64{{0.95, 0.85, 0.15, 0.05}, {0.9, 0.1}, {0.8, 0.8, 0.8, 0.8, 0.2, 0.2, 0.2, 0.2}} {
		wrong := 0
		for range runs {
			s := test.New(2)
			for n := 0; !s.Verdict().Done; n++ {
				if n%len(prefer) == 0 {
					stream.Shuffle(len(prefer), func(i, j int) { prefer[i], prefer[j] = prefer[j], prefer[i] })
				}
				choice := idrl.ChoseB
				if stream.Float64() < prefer[n%len(prefer)] {
					choice = idrl.ChoseA
				}
				s.Add(0, 1, choice)
			}
			if s.Verdict().Winner >= 0 {
				wrong++
			}
		}
		share := float64(wrong) / runs
		t.Logf("%v: false winners in %.4f", prefer, share)
		if share > Level+3*math.Sqrt(Level*(1-Level)/runs) {
			t.Errorf("%v: false winners in %.4f", prefer, share)
		}
	}
}

// fixed returns how many answers about each pair a design with one look needs to find the winner with a probability of at least share.
func (w world) fixed(t *testing.T, level, share float64) int {
	t.Helper()
	stream := rng.New(1, "mean preference", 0)
	mean := make([]float64, w.n) // over what differs between answers
	for j := range w.n {
		const draws = 20000
		for range draws {
			if j != w.winner {
				mean[j] += w.prefer(w.winner, j, stream) / draws
			}
		}
	}
	for n := 1; n < 10000; n++ {
		all := 1.
		for j := range w.n {
			if j == w.winner {
				continue
			}
			pass := 0.
			for d := 0; d <= n; d++ { // decisive answers
				if least := needed(d, level); least <= d {
					pass += (tail(n, d, 1-w.ties) - tail(n, d+1, 1-w.ties)) * tail(d, least, mean[j])
				}
			}
			all *= pass
		}
		if all >= share {
			return n
		}
	}
	t.Fatal("no fixed design is right as often")
	return 0
}

// TestIntervalHoldsAtAllLooks: somebody who looks after each of 300 answers sees the truth outside of the interval in at most 5 of 100 cases.
func TestIntervalHoldsAtAllLooks(t *testing.T) {
	if low, high := Interval(0, 0); low != 0 || high != 1 {
		t.Errorf("without answers: %g to %g", low, high)
	}
	stream := rng.New(74002, "interval", 0)
	for _, p := range []float64{0.5, 0.7, 0.95} {
		const runs = 1000
		missed, width := 0, 0.
		for range runs {
			wins, out := 0, false
			for n := 1; n <= 300; n++ {
				if stream.Float64() < p {
					wins++
				}
				low, high := Interval(float64(wins), float64(n-wins))
				if out = out || p < low || p > high; n == 100 {
					width += (high - low) / runs
				}
			}
			if out {
				missed++
			}
		}
		t.Logf("share %g: missed at some look in %.3f; after 100 answers %.2f wide", p, float64(missed)/runs, width)
		if noise := 3 * math.Sqrt(Level*(1-Level)/runs); float64(missed)/runs > Level+noise || width > 0.35 {
			t.Errorf("share %g: missed in %d of %d, %.2f wide after 100 answers", p, missed, runs, width)
		}
	}
}

// TestIntervalOfMeans: the same of numbers that may lie between 0 and 1, as where a partial success is half of one.
func TestIntervalOfMeans(t *testing.T) {
	const runs, answers = 2000, 200
	for k, chance := range [][2]float64{{0.2, 0.6}, {0.05, 0.1}, {0.6, 0.35}} { // of 1, and of one half
		stream, missed := rng.New(74004, "means", uint64(k)), 0 // #nosec G115 -- a place
		truth := chance[0] + chance[1]/2
		for range runs {
			w, out := 0.0, false
			for n := range answers {
				switch u := stream.Float64(); {
				case u < chance[0]:
					w++
				case u < chance[0]+chance[1]:
					w += 0.5
				}
				low, high := Interval(w, float64(n+1)-w)
				out = out || truth < low || truth > high
			}
			if out {
				missed++
			}
		}
		if noise := 3 * math.Sqrt(Level*(1-Level)/runs); float64(missed)/runs > Level+noise {
			t.Errorf("%v: missed in %d of %d runs", chance, missed, runs)
		}
	}
}

// TestLeftIsTrue: the number of answers that are said to be left, and what it took, where strengths are drawn at random.
func TestLeftIsTrue(t *testing.T) {
	const runs = 300
	for _, n := range []int{2, 4} {
		test, stream := NewTest(n, 0.7), rng.New(74003, "left", uint64(n)) // #nosec G115 -- 2 or 4
		said, took := map[int]float64{}, map[int]float64{}
		for range runs {
			strengths := make([]float64, n)
			for i := range strengths {
				strengths[i] = 1.5 * stream.NormFloat64()
			}
			w := world{n: n, prefer: ladder(strengths...), ties: 0.15}
			s, asked, about := test.New(n), 0, map[int]int{}
			for ; !s.Verdict().Done; asked++ {
				if asked == 10 || asked == 30 {
					about[asked] = s.Left()
				}
				next := s.Next(nil)[0]
				s.Add(next[0], next[1], w.answer(next[0], next[1], stream))
			}
			for at := range about {
				said[at] += float64(about[at])
				took[at] += float64(asked - at)
			}
		}
		for _, at := range []int{10, 30} {
			ratio := said[at] / took[at]
			t.Logf("%d entrants, after %d answers: said %.2f of what it took", n, at, ratio)
			if ratio < 0.7 || ratio > 1.4 {
				t.Errorf("%d entrants, after %d answers: said %.2f of what it took", n, at, ratio)
			}
		}
	}
}

// TestState: the winner has to beat each other one itself, and what comes after a decision does not change it.
func TestState(t *testing.T) {
	test := NewTest(3, 0.9)
	s := test.New(3)
	beat := func(i, j int) {
		for range test.Most {
			s.Add(j, i, idrl.ChoseB)
		}
	}
	if v := s.Verdict(); v.Winner != -1 || v.Done || len(v.Best) != 3 {
		t.Errorf("without answers: %+v", v)
	}
	beat(1, 0)
	s.Add(0, 1, idrl.Skip)
	for range 10 * test.Most { // too late
		s.Add(0, 1, idrl.ChoseA)
	}
	if v := s.Verdict(); !s.Beats(1, 0) || s.Beats(0, 1) || v.Winner != -1 || len(v.Best) != 2 {
		t.Errorf("one pair decided: %+v", v)
	}
	if next := s.Next(nil); len(next) != 2 || next[0] != [2]int{1, 2} {
		t.Errorf("then %v is asked", next)
	}
	if next := s.Next(func(i, j int) int { return test.Most }); len(next) != 0 {
		t.Errorf("with all answers awaited %v is asked", next)
	}
	beat(2, 1)
	if v := s.Verdict(); v.Winner != -1 || v.Done {
		t.Errorf("an entrant that was not compared with all: %+v", v)
	}
	beat(0, 2)
	if v := s.Verdict(); v.Winner != -1 || !v.Done || len(v.Best) != 0 {
		t.Errorf("a circle: %+v", v)
	}
	if left := s.Left(); left != 0 {
		t.Errorf("a circle: %d answers are left", left)
	}
}
