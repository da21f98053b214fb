package quality_test

import (
	"math"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/people/quality"
)

func TestCalibration(t *testing.T) {
	var c quality.Calibration
	if c.Len() != 0 || c.LogLoss() != 0 || c.Brier() != 0 || c.ECE() != 0 || c.Right() != 0 {
		t.Error("what has seen no answer states something")
	}
	c.Add([]float64{0.8, 0.2}, 0)
	c.Add([]float64{0.84, 0.16}, 1)
	c.Add([]float64{0.1, 0.3, 0.6}, 2)
	for name, v := range map[string][2]float64{
		"log loss": {c.LogLoss(), -(math.Log(0.8) + math.Log(0.16) + math.Log(0.6)) / 3},
		"Brier":    {c.Brier(), (2*0.2*0.2 + 2*0.84*0.84 + 0.1*0.1 + 0.3*0.3 + 0.4*0.4) / 3},
		"ECE":      {c.ECE(), (math.Abs(1.64-1) + 0.4) / 3},
		"right":    {c.Right(), 2. / 3},
	} {
		if math.Abs(v[0]-v[1]) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, v[0], v[1])
		}
	}
	var sure quality.Calibration
	sure.Add([]float64{1, 0}, 1)
	if l := sure.LogLoss(); math.IsInf(l, 0) || l < 20 {
		t.Errorf("the loss of what was held impossible is %v", l)
	}
}

// Predictions by the truth are calibrated, those that double the log-odds are not.
func TestCalibrationTellsTruth(t *testing.T) {
	stream := rng.New(1, "calibration", 0)
	var truth, bold quality.Calibration
	entropy := 0.0
	const n = 20000
	for range n {
		u := 2 * stream.NormFloat64()
		p, q := 1/(1+math.Exp(-u)), 1/(1+math.Exp(-2*u))
		actual := 1
		if stream.Float64() < p {
			actual = 0
		}
		truth.Add([]float64{p, 1 - p}, actual)
		bold.Add([]float64{q, 1 - q}, actual)
		entropy -= (p*math.Log(p) + (1-p)*math.Log(1-p)) / n
	}
	if truth.ECE() > 0.015 || math.Abs(truth.LogLoss()-entropy) > 0.01 { // five standard errors: 0.0035·√10 bins, 0.002
		t.Errorf("predictions by the truth: ECE %v, log loss %v, want 0 and %v", truth.ECE(), truth.LogLoss(), entropy)
	}
	if bold.ECE() < 0.05 || bold.LogLoss() < truth.LogLoss()+0.05 || bold.Brier() <= truth.Brier() {
		t.Errorf("predictions that are too sure: ECE %v, log loss %v, Brier %v", bold.ECE(), bold.LogLoss(), bold.Brier())
	}
}
