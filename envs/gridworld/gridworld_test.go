package gridworld

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"tiebreak/envs/envtest"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

func TestContract(t *testing.T) {
	for _, tosses := range []int{1, 2} {
		envtest.Run(t, func() idrl.Environment {
			return New(Config{WallTosses: tosses}, rng.New(1, "layout", 0))
		})
	}
}

func TestLayout(t *testing.T) {
	for n := range uint64(50) {
		l := newLayout(1, rng.New(2, "layout", n))
		var count [numTypes]int
		for _, tile := range l.tiles {
			count[tile]++
		}
		for k := 1; k < numTypes; k++ {
			if count[k] != instances {
				t.Fatalf("layout %d has %d objects of type %d, want %d", n, count[k], k, instances)
			}
		}
		if l.tiles[l.start] != floor {
			t.Fatalf("layout %d starts on an object", n)
		}
		for s := range cells {
			for a := range stay {
				to, ok := neighbour(s, a)
				if !ok && l.walls[s][a] {
					t.Fatalf("layout %d has a wall at the edge", n)
				}
				if ok && l.walls[s][a] != l.walls[to][opposite(a)] {
					t.Fatalf("layout %d: the wall between %d and %d has one side", n, s, to)
				}
			}
		}
	}
}

// TestWallFrequency counts walls over 200 layouts of 180 inner edges; six
// standard errors are 0.016.
func TestWallFrequency(t *testing.T) {
	for _, test := range []struct {
		tosses int
		want   float64
	}{
		{1, 0.3},
		{2, 1 - 0.7*0.7},
	} {
		walls, edges := 0.0, 0.0
		for n := range uint64(200) {
			l := newLayout(test.tosses, rng.New(3, "layout", n))
			for s := range cells {
				for _, a := range []int{right, down} {
					if _, ok := neighbour(s, a); ok {
						edges++
						if l.walls[s][a] {
							walls++
						}
					}
				}
			}
		}
		if got := walls / edges; math.Abs(got-test.want) > 0.016 {
			t.Errorf("with %d tosses a share of %v of the edges are walls, want %v", test.tosses, got, test.want)
		}
	}
}

func TestMoves(t *testing.T) {
	var l layout
	l.walls[11][right], l.walls[12][left] = true, true
	for _, test := range []struct {
		name           string
		from, a, wants int
	}{
		{"left", 11, left, 10},
		{"right", 15, right, 16},
		{"up is to a smaller row", 11, up, 1},
		{"down is to a larger row", 11, down, 21},
		{"stay", 11, stay, 11},
		{"against a wall", 11, right, 11},
		{"against the same wall from the other side", 12, left, 12},
		{"off the left edge", 20, left, 20},
		{"off the right edge", 29, right, 29},
		{"off the top", 5, up, 5},
		{"off the bottom", 95, down, 95},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := l.next(test.from, test.a); got != test.wants {
				t.Errorf("next(%d, %d) = %d, want %d", test.from, test.a, got, test.wants)
			}
		})
	}
}

// TestKernelOfTypes has the values of the authors' kernel divided by its
// variance, 4: 1 for equal types and 1.4715/4 for different ones.
func TestKernelOfTypes(t *testing.T) {
	env := New(Config{}, rng.New(1, "layout", 0))
	k := mat.NewSymDense(numTypes, nil)
	env.Kernel(k)
	if math.Abs(k.At(3, 3)-1) > 1e-12 || math.Abs(k.At(0, 7)-1.4715/4) > 1e-4 {
		t.Errorf("kernel has %v on and %v off the diagonal", k.At(3, 3), k.At(0, 7))
	}
}

// TestWallsAreDrawn looks up every inner edge among the strokes: a wall is on
// one, an edge without a wall on none.
func TestWallsAreDrawn(t *testing.T) {
	env := New(Config{}, rng.New(4, "layout", 0))
	strokes := env.layout.drawWalls()[1:]
	covered := func(x, y float64) bool {
		for _, s := range strokes {
			if between(x, s.Pts[0], s.Pts[2]) && between(y, s.Pts[1], s.Pts[3]) {
				return true
			}
		}
		return false
	}
	for s := range cells {
		x, y := centre(s)
		if got := covered(x+0.5, y); got != env.layout.walls[s][right] {
			t.Errorf("cell %d: wall to the right is %v, drawn %v", s, env.layout.walls[s][right], got)
		}
		if got := covered(x, y-0.5); got != env.layout.walls[s][down] {
			t.Errorf("cell %d: wall below is %v, drawn %v", s, env.layout.walls[s][down], got)
		}
	}
}

func between(v, a, b float64) bool { return v >= min(a, b) && v <= max(a, b) }

// TestFigureStandsInItsCell checks that the trail, which follows the mean of
// the points, runs through the middles of cells.
func TestFigureStandsInItsCell(t *testing.T) {
	env := New(Config{}, rng.New(5, "layout", 0))
	var scene drawing.Scene
	for s := range cells {
		env.Restore([]float64{float64(s), 0})
		env.Draw(&scene)
		wantX, wantY := centre(s)
		trails := 0
		for _, shape := range scene.Moving {
			if !shape.Trail {
				continue
			}
			trails++
			x, y := 0.0, 0.0
			for i := 0; i < len(shape.Pts); i += 2 {
				x, y = x+shape.Pts[i], y+shape.Pts[i+1]
			}
			n := float64(len(shape.Pts) / 2)
			if math.Abs(x/n-wantX) > 1e-9 || math.Abs(y/n-wantY) > 1e-9 {
				t.Fatalf("in cell %d the agent's middle is (%v, %v), want (%v, %v)", s, x/n, y/n, wantX, wantY)
			}
		}
		if trails != 1 {
			t.Fatalf("%d shapes leave a trail, want 1", trails)
		}
	}
}

func TestNewRefusesOtherTosses(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New accepts three tosses")
		}
	}()
	New(Config{WallTosses: 3}, rng.New(1, "layout", 0))
}

func TestMinReachable(t *testing.T) {
	fewest := cells
	for seed := range uint64(200) {
		e := New(Config{MinReachable: 50}, rng.New(seed, "layout", 0))
		fewest = min(fewest, e.layout.reachable())
	}
	if fewest < 50 {
		t.Errorf("a layout has %d reachable cells, want at least 50", fewest)
	}
	var l layout // without walls
	if n := l.reachable(); n != cells {
		t.Errorf("%d cells are reachable without walls, want all %d", n, cells)
	}
	for _, a := range []int{left, right, up, down} {
		l.walls[0][a] = true
	}
	if n := l.reachable(); n != 1 {
		t.Errorf("%d cells are reachable from a walled-in start, want 1", n)
	}
}
