package mujoco

import (
	"encoding/json"
	"os"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"
)

// hierarchy is vector "hierarchical_mix" of the authors' code.
type hierarchy struct {
	Inputs struct {
		U       []float64     `json:"high_level_action"`
		W       [][][]float64 `json:"policies_w"`
		Obs     []float64     `json:"obs"`
		ObsMean []float64     `json:"obs_mean"`
		ObsStd  []float64     `json:"obs_std"`
		Low     float64       `json:"low"`
		High    float64       `json:"high"`
	} `json:"inputs"`
	Outputs struct {
		Action []float64 `json:"low_level_action"`
	} `json:"outputs"`
}

// parts returns the actions of the low-level policies.
func (v *hierarchy) parts() (out [][]float64) {
	z := make([]float64, len(v.Inputs.Obs))
	for i := range z {
		z[i] = (v.Inputs.Obs[i] - v.Inputs.ObsMean[i]) / v.Inputs.ObsStd[i]
	}
	for _, w := range v.Inputs.W {
		var a []float64
		for _, row := range w {
			a = append(a, max(v.Inputs.Low, min(v.Inputs.High, floats.Dot(row, z))))
		}
		out = append(out, a)
	}
	return out
}

func readHierarchy(t *testing.T) *hierarchy {
	t.Helper()
	b := must.Get(os.ReadFile("testdata/hierarchical_mix.json"))(t)
	var v hierarchy
	must.Do(t, json.Unmarshal(b, &v))
	return &v
}

func TestMixMatchesAuthorsCode(t *testing.T) {
	v := readHierarchy(t)
	dst := make([]float64, len(v.Outputs.Action))
	mix(dst, v.Inputs.U, v.parts())
	if !floats.EqualApprox(dst, v.Outputs.Action, 1e-9) {
		t.Errorf("action = %v, want %v", dst, v.Outputs.Action)
	}
}

func TestMix(t *testing.T) {
	v := readHierarchy(t)
	dst, parts := []float64{7, 7}, v.parts()
	if mix(dst, []float64{0, 0, 0, 0, 1e6}, parts); dst[0] != 0 || dst[1] != 0 {
		t.Errorf("doing nothing gives %v", dst)
	}
	shifted := append([]float64(nil), v.Inputs.U...)
	floats.AddConst(900, shifted) // softmax does not see it, and it must not overflow
	if mix(dst, shifted, parts); !floats.EqualApprox(dst, v.Outputs.Action, 1e-9) {
		t.Errorf("after a shift: action = %v, want %v", dst, v.Outputs.Action)
	}
	defer func() {
		if recover() == nil {
			t.Error("too few weights: no panic")
		}
	}()
	mix(dst, v.Inputs.U[1:], parts)
}
