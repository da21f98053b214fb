package experiment

import (
	"math"
	"testing"

	"tiebreak/internal/idrl"

	"github.com/google/go-cmp/cmp"
)

// small returns s with less to solve.
func small(s Setting) Setting {
	s.pool, s.restarts = min(s.pool, 4), 1
	return s
}

func runSmall(t *testing.T, s Setting, c Config) Result {
	t.Helper()
	c.Setting = s.Name
	c, _, err := c.validated()
	if err != nil {
		t.Fatal(err)
	}
	r, err := small(s).run(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWorkersDoNotMatter(t *testing.T) {
	for _, s := range []Setting{driverSetting(), gridworldSetting(1)} {
		t.Run(s.Name, func(t *testing.T) {
			one := runSmall(t, s, Config{Seeds: 3, Answers: 2, Workers: 1})
			three := runSmall(t, s, Config{Seeds: 3, Answers: 2, Workers: 3})
			if d := cmp.Diff(one.Curves, three.Curves); d != "" {
				t.Errorf("three workers against one:\n%s", d)
			}
			alone := runSmall(t, s, Config{FirstSeed: 1, Seeds: 1, Answers: 2})
			if d := cmp.Diff(one.Curves[1:2], alone.Curves); d != "" {
				t.Errorf("seed 1 alone against seed 1 of three:\n%s", d)
			}
		})
	}
}

func TestCurves(t *testing.T) {
	for _, s := range Settings() {
		t.Run(s.Name, func(t *testing.T) {
			r := runSmall(t, s, Config{Seeds: 2, Answers: 3})
			if len(r.Curves) != 2 || len(r.Curves[0]) != 2 || len(r.Curves[0][0]) != 4 {
				t.Fatalf("shape of the curves: %v", r.Curves)
			}
			for i, curves := range r.Curves {
				if curves[0][0] != curves[1][0] {
					t.Errorf("seed %d: the methods start from different points, %v and %v", i, curves[0][0], curves[1][0])
				}
				for m, curve := range curves {
					for n, p := range curve {
						if p.Answers != n || !(p.Regret >= 0) || !(p.Expected >= 0) || !(math.Abs(p.Cosine) <= 1+1e-12) {
							t.Errorf("seed %d, method %s: %+v", i, r.Methods[m], p)
						}
					}
				}
			}
		})
	}
}

// The answer to a question does not depend on what was asked before it, nor on
// the order of its clips, but a second time it is another draw.
func TestTape(t *testing.T) {
	w, err := newWorld(t.Context(), small(driverSetting()), 1)
	if err != nil {
		t.Fatal(err)
	}
	differs := false
	for i := range 20 {
		x := []float64{1, 0.1 * float64(i), -1, 0.5, 0}
		minus := []float64{-1, -0.1 * float64(i), 1, -0.5, 0}
		q := idrl.Query{ID: idrl.QueryID(rune('a' + i)), Kind: idrl.CompareClips, Clips: []idrl.ClipID{"c", "d"}, X: x}
		other := idrl.Query{ID: q.ID, Kind: q.Kind, Clips: []idrl.ClipID{"d", "c"}, X: minus}
		one, two := tape{w, map[idrl.QueryID]uint64{}}, tape{w, map[idrl.QueryID]uint64{}}
		two.answer(idrl.Query{ID: "before", Kind: idrl.CompareClips, Clips: []idrl.ClipID{"e", "f"}, X: x})
		first, mirrored := one.answer(q).Choice, two.answer(other).Choice
		if first == mirrored || !(idrl.Answer{Choice: first}).Informative() {
			t.Errorf("question %d: %s, and %s with the clips swapped", i, first, mirrored)
		}
		differs = differs || one.answer(q).Choice != first
	}
	if !differs {
		t.Error("asking again never changed an answer of a random expert")
	}
}
