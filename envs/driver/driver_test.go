package driver

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"

	"tiebreak/envs/envtest"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

func TestContract(t *testing.T) {
	envtest.Run(t, func() idrl.Environment { return New() })
}

// reference is testdata/driver_features.json: drives recorded from the authors'
// code.
type reference struct {
	Inputs struct {
		Policies [][]float64 `json:"policies_5x2_each_held_10_steps"`
		Theta    []float64   `json:"reward_w"`
	} `json:"inputs"`
	Outputs struct {
		Rollouts []struct {
			States     [][]float64 `json:"states_t1_t10_t25_t50"`
			Features   [][]float64 `json:"features_t1_t10_t25_t50"`
			FeatureSum []float64   `json:"feature_sum"`
			Return     float64     `json:"ret"`
		} `json:"rollouts"`
		Other [][]float64 `json:"other_car_states_every_10"`
	} `json:"outputs"`
}

func TestMatchesAuthorsCode(t *testing.T) {
	b := must.Get(os.ReadFile("testdata/driver_features.json"))(t)
	var ref reference
	must.Do(t, json.Unmarshal(b, &ref))
	const tol = 1e-9 // stated by the file
	env := New()
	for n, actions := range ref.Inputs.Policies {
		want := ref.Outputs.Rollouts[n]
		sum := make([]float64, dim)
		env.Reset(nil)
		seen := 0
		for step := 1; step <= horizon; step++ {
			k := 2 * ((step - 1) / hold)
			got := env.Step(actions[k : k+2])
			floats.Add(sum, got.Phi)
			if step == 1 || step == 10 || step == 25 || step == 50 {
				if !floats.EqualApprox(got.Obs[:4], want.States[seen], tol) {
					t.Errorf("drive %d step %d: state %v, want %v", n, step, got.Obs[:4], want.States[seen])
				}
				if !floats.EqualApprox(got.Phi, want.Features[seen], tol) {
					t.Errorf("drive %d step %d: features %v, want %v", n, step, got.Phi, want.Features[seen])
				}
				seen++
			}
			// The first row of the other car is its state after one step, the
			// later ones its states after 10, 20, …, 50.
			if row := step / 10; step == 1 || step%10 == 0 {
				if other := ref.Outputs.Other[row]; !floats.EqualApprox(got.Obs[4:8], other, tol) {
					t.Errorf("other car after %d steps: %v, want %v", step, got.Obs[4:8], other)
				}
			}
		}
		if !floats.EqualApprox(sum, want.FeatureSum, tol) {
			t.Errorf("drive %d: feature sum %v, want %v", n, sum, want.FeatureSum)
		}
		if got := env.Return(nil, actions, ref.Inputs.Theta); !scalar.EqualWithinAbs(got, want.Return, tol) {
			t.Errorf("drive %d: return %v, want %v", n, got, want.Return)
		}
	}
}

// TestReturnBesideLaneSwitch checks the gradient one-sidedly next to the kink
// between two lanes, which no drive of the contract is sure to meet.
func TestReturnBesideLaneSwitch(t *testing.T) {
	theta := []float64{1, 0, 0, 0, 0}
	const h = 1e-7
	for _, x := range []float64{laneWidth/2 - 1e-3, laneWidth/2 + 1e-3, -laneWidth/2 - 1e-3, -laneWidth/2 + 1e-3} {
		var lam car
		addFeatureGradient(&lam, car{x: x}, otherStart, theta)
		want := (features(car{x: x + h}, otherStart)[0] - features(car{x: x - h}, otherStart)[0]) / (2 * h)
		if !scalar.EqualWithinAbsOrRel(lam.x, want, 1e-6, 1e-5) {
			t.Errorf("at x = %v: derivative %v, central difference %v", x, lam.x, want)
		}
	}
}

// TestReturnWhereSpeedIsClipped drives faster than the bounds allow, so that
// the clip binds: with any positive extra throttle nothing changes.
func TestReturnWhereSpeedIsClipped(t *testing.T) {
	actions := []float64{0, 9, 0, 9, 0, 9, 0, 9, 0, 9}
	grad := make([]float64, len(actions))
	New().Return(grad, actions, []float64{0, 1, 0, 0, 0})
	for i := 3; i < len(grad); i += 2 {
		if grad[i] != 0 {
			t.Errorf("gradient[%d] = %v at full speed, want 0", i, grad[i])
		}
	}
}

func TestReturnDoesNotAllocate(t *testing.T) {
	env := New()
	actions, grad, theta := make([]float64, 10), make([]float64, 10), []float64{1, 1, 1, 1, 1}
	if n := testing.AllocsPerRun(100, func() { env.Return(grad, actions, theta) }); n != 0 {
		t.Errorf("Return allocates %v times", n)
	}
}

// TestSceneryReachesFarEnough drives every constant action of a grid: wherever
// the agent gets, the view lies on the part of the road that is drawn.
func TestSceneryReachesFarEnough(t *testing.T) {
	env := New()
	var scene drawing.Scene
	for turn := -1.0; turn <= 1; turn += 0.25 {
		for throttle := -1.0; throttle <= 1; throttle += 0.5 {
			step := env.Reset(nil)
			for !step.Kind.Last() {
				step = env.Step(idrl.Action{turn, throttle})
				env.Draw(&scene)
				c := scene.Camera
				if c.Y-c.H/2 < southEnd || c.Y+c.H/2 > northEnd {
					t.Fatalf("actions %v, %v: the view from %v to %v passes the end of the road", turn, throttle, c.Y-c.H/2, c.Y+c.H/2)
				}
				if dx, dy := step.Obs[0]-c.X, step.Obs[1]-c.Y; math.Abs(dx) > c.W/2-carLength || math.Abs(dy) > c.H/2-carLength {
					t.Fatalf("the agent is out of view: %v, %v from the middle", dx, dy)
				}
			}
		}
	}
}

// TestPointer says where the other car is while it cannot be seen.
func TestPointer(t *testing.T) {
	camera := drawing.Camera{W: view, H: view}
	for _, test := range []struct {
		name   string
		x, y   float64
		hidden bool
		dx, dy float64 // direction in which the triangle points
	}{
		{"in view", 0.1, 0.2, true, 0, 0},
		{"behind", 0.1, -2, false, 0, -1},
		{"ahead", -0.1, 2, false, 0, 1},
		{"to the left", -3, 0.1, false, -1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := pointer(camera, car{x: test.x, y: test.y})
			tipX, tipY := s.Pts[2], s.Pts[3]
			midX, midY := (s.Pts[0]+s.Pts[4])/2, (s.Pts[1]+s.Pts[5])/2
			if test.hidden {
				if d := math.Hypot(tipX-test.x, tipY-test.y); d > carWidth/2 {
					t.Errorf("the tip sticks out: %v from the middle of the car", d)
				}
				return
			}
			length := math.Hypot(tipX-midX, tipY-midY)
			if dot := ((tipX-midX)*test.dx + (tipY-midY)*test.dy) / length; dot < 0.99 {
				t.Errorf("it points to (%v, %v)", tipX-midX, tipY-midY)
			}
			if math.Abs(tipX) > view/2 || math.Abs(tipY) > view/2 {
				t.Errorf("its tip (%v, %v) is out of view", tipX, tipY)
			}
		})
	}
}

// TestContact: two cars touch where their outlines do, which along the road is at the
// length of a car, and beside each other at its width.
func TestContact(t *testing.T) {
	const up = math.Pi / 2
	for _, test := range []struct {
		name string
		a, b car
		want bool
	}{
		{"one behind the other", car{0, 0, up, 1}, car{0, carLength + 0.001, up, 1}, false},
		{"one into the other", car{0, 0, up, 1}, car{0, carLength - 0.001, up, 1}, true},
		{"side by side", car{0, 0, up, 1}, car{carWidth + 0.001, 0, up, 1}, false},
		{"scraping", car{0, 0, up, 1}, car{carWidth - 0.001, 0.1, up, 1}, true},
		{"across", car{0, 0, up, 1}, car{0, (carLength+carWidth)/2 + 0.001, 0, 1}, false},
		{"into the side", car{0, 0, up, 1}, car{0, (carLength+carWidth)/2 - 0.001, math.Pi, 1}, true},
		{"corners of turned cars pass", car{0, 0, up / 2, 1}, car{0.15, -0.15, up / 2, 1}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, pair := range [][2]car{{test.a, test.b}, {test.b, test.a}} {
				star := contact(pair[0], pair[1])
				if touch(pair[0], pair[1]) != test.want || test.want != (extent(star.Pts) > 0.1) {
					t.Errorf("touch = %v with a star %v wide, want %v", touch(pair[0], pair[1]), extent(star.Pts), test.want)
				}
			}
		})
	}
}

// extent is how wide a shape is.
func extent(pts []float64) float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for i := 0; i < len(pts); i += 2 {
		least, most = min(least, pts[i]), max(most, pts[i])
	}
	return most - least
}

func BenchmarkReturn(b *testing.B) {
	env := New()
	stream := rng.New(1, "bench", 0)
	actions, grad, theta := make([]float64, 10), make([]float64, 10), make([]float64, dim)
	for i := range actions {
		actions[i] = 2*stream.Float64() - 1
	}
	for i := range theta {
		theta[i] = stream.NormFloat64()
	}
	for b.Loop() {
		env.Return(grad, actions, theta)
	}
}
