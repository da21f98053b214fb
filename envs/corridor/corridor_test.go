package corridor_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/corridor"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
)

// run is what the authors' code recorded of one robot.
type run struct {
	Scaling float64   `json:"scaling"`
	Weights []float64 `json:"reward_w"`
	Steps   []struct {
		Displacement []float64 `json:"displacement"`
		After        []float64 `json:"position_after"`
		Cell         int       `json:"cell"`
		NonZero      []int     `json:"nonzero_feature_index"`
		Features     []float64 `json:"features"`
		Reward       float64   `json:"reward"`
	} `json:"steps"`
	Goal int `json:"goal_cell"`
	Dim  int `json:"ndim"`
}

const tol = 1e-12 // stated by the vector

func TestMatchesAuthorsCode(t *testing.T) {
	b := must.Get(os.ReadFile("testdata/corridor_features.json"))(t)
	var v struct{ Outputs map[string]run }
	must.Do(t, json.Unmarshal(b, &v))
	for _, robot := range []string{"swimmer", "ant"} {
		t.Run(robot, func(t *testing.T) { replay(t, v.Outputs[robot]) })
	}
}

func replay(t *testing.T, want run) {
	if want.Dim != corridor.FeatureDim || want.Goal != corridor.Goal {
		t.Errorf("%d features and goal %d, want %d and %d", corridor.FeatureDim, corridor.Goal, want.Dim, want.Goal)
	}
	m := corridor.Maze{CellSize: want.Scaling}
	phi := make([]float64, corridor.FeatureDim)
	x0, y0 := 0.0, 0.0
	for i, step := range want.Steps {
		x, y := m.Enter(x0, y0, x0+step.Displacement[0], y0+step.Displacement[1])
		if !floats.EqualApprox([]float64{x, y}, step.After, tol) {
			t.Errorf("step %d ends at (%v, %v), want %v", i, x, y, step.After)
		}
		if cell, ok := m.Cell(x, y); !ok || cell != step.Cell {
			t.Errorf("step %d ends in cell %d, %v; want %d", i, cell, ok, step.Cell)
		}
		features := make([]float64, corridor.FeatureDim)
		for k, index := range step.NonZero {
			features[index] = step.Features[k]
		}
		m.Features(phi, x0, y0, x, y)
		if !floats.EqualApprox(phi, features, tol) {
			t.Errorf("step %d has features %v, want %v", i, phi, features)
		}
		if r := floats.Dot(want.Weights, phi); !scalar.EqualWithinAbs(r, step.Reward, tol) {
			t.Errorf("step %d pays %v, want %v", i, r, step.Reward)
		}
		x0, y0 = x, y
	}
}

func TestCell(t *testing.T) {
	m := corridor.Maze{CellSize: 4}
	for _, test := range []struct {
		x, y float64
		cell int
		ok   bool
	}{
		{0, 0, 0, true},
		{-2, -2, 0, true}, // edges belong to the cell on the right and above
		{-2.0001, 0, 0, false},
		{1.9999, 0, 0, true},
		{2, 0, 1, true},
		{24, 1.9, 6, true},
		{24, 2, 0, false},
		{24, -2.1, 0, false},
		{48, 0, 12, true},
		{49.9999, 0, 12, true},
		{50, 0, 0, false},
		{54, 0, 0, false},   // beyond the wall
		{-1e3, 0, 0, false}, // far beyond
		{24, 1e3, 0, false},
		{math.NaN(), 0, 0, false},
		{0, math.NaN(), 0, false},
		{math.Inf(1), 0, 0, false},
	} {
		if cell, ok := m.Cell(test.x, test.y); cell != test.cell || ok != test.ok {
			t.Errorf("cell at (%v, %v) = %d, %v; want %d, %v", test.x, test.y, cell, ok, test.cell, test.ok)
		}
	}
}

func TestFeatures(t *testing.T) {
	m := corridor.Maze{CellSize: 3}
	phi := m.Features(nil, 1, 0, 3, 0.5) // into cell 1
	want := make([]float64, corridor.FeatureDim)
	want[3], want[4], want[5] = 2, 0.5, 1
	if !floats.Equal(phi, want) {
		t.Errorf("features = %v, want %v", phi, want)
	}
	want[3], want[4], want[5] = 0, 0, 0
	want[0], want[2] = -3, 1
	if m.Features(phi, 3, 0, 0, 0); !floats.Equal(phi, want) { // what was there is gone
		t.Errorf("features = %v, want %v", phi, want)
	}
	for name, call := range map[string]func(){
		"into a wall": func() { m.Features(phi, 0, 0, 0, 2) },
		"short":       func() { m.Features(phi[:38], 0, 0, 0, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
