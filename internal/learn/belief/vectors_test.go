package belief

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The files in testdata are vectors of the authors' own code
// (docs/paper-code.md).
func vector(t *testing.T, name string, into any) {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join("testdata", name+".json")))(t)
	must.Do(t, json.Unmarshal(data, into))
}

// line returns the process 4·exp(−½((i−j)/3)²) on n states on a line.
func line(t *testing.T, n int) *Gaussian {
	t.Helper()
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			z := float64(i-j) / 3
			cov.SetSym(i, j, 4*math.Exp(-0.5*z*z))
		}
	}
	g := must.Get(NewGaussian(make([]float64, n), cov))(t)
	return g
}

// A Gaussian process on a line of states is one-hot features with the kernel as
// prior covariance. The code's covariance is predictive: from the first answer
// on, the observation variance stands on its diagonal; ours is latent.
func TestVectorGPPoints(t *testing.T) {
	var file struct {
		Inputs struct {
			ObsVar       float64 `json:"obs_var"`
			Observations []struct {
				State int
				Y     float64
			}
			States []int `json:"predict_states"`
		}
		Outputs struct {
			Stages []struct {
				N    int `json:"n_obs"`
				Mean []float64
				Diag []float64 `json:"cov_diag"`
				Row4 []float64 `json:"cov_row_4"`
			}
		}
	}
	vector(t, "gp_rbf_points", &file)
	const tol = 1e-7 // stated; the code rounds y to float32
	d := len(file.Inputs.States)
	start := line(t, d)
	for _, stage := range file.Outputs.Stages {
		g := start
		for _, o := range file.Inputs.Observations[:stage.N] {
			x := make([]float64, d)
			x[o.State] = 1
			g = g.ConditionOnValue(x, o.Y, file.Inputs.ObsVar)
		}
		cov := covariance(g)
		for i := range d {
			if stage.N > 0 {
				stage.Diag[i] -= file.Inputs.ObsVar
			}
			within(t, "mean", g.mean[i], stage.Mean[i], tol)
			within(t, "variance", cov.At(i, i), stage.Diag[i], tol)
		}
		if stage.N > 0 {
			stage.Row4[4] -= file.Inputs.ObsVar
		}
		for i := range d {
			within(t, "covariance with state 4", cov.At(4, i), stage.Row4[i], tol)
		}
	}
	if len(file.Outputs.Stages) < 4 {
		t.Errorf("%d stages, want 4", len(file.Outputs.Stages))
	}
}

// The linear kernel, in both of the code's ways of computing it: a grounding
// observation with noise 0.001 and the observation variance on the diagonal of
// the predictions; and in weight space, where the grounding has the variance of
// the answers.
func TestVectorLinearKernel(t *testing.T) {
	var file struct {
		Inputs struct {
			ObsVar    float64 `json:"obs_var"`
			Grounding struct {
				Phi      []float64
				Y        float64
				NoiseVar float64 `json:"noise_var"`
			}
			Comparisons []struct {
				Phi1, Phi2 []float64
				Y          float64
			}
			Predict [][]float64 `json:"predict_phi"`
		}
		Outputs struct {
			Mean       []float64
			Cov        [][]float64
			WeightMean []float64   `json:"weight_mean"`
			WeightCov  [][]float64 `json:"weight_cov"`
		}
	}
	vector(t, "gp_linear_kernel", &file)
	const tol = 1e-7 // stated
	in, out := file.Inputs, file.Outputs
	fit := func(groundingVar float64) *Gaussian {
		g := Isotropic(5, 3)
		g = g.ConditionOnValue(in.Grounding.Phi, in.Grounding.Y, groundingVar)
		for _, c := range in.Comparisons {
			x := make([]float64, 5)
			floats.SubTo(x, c.Phi1, c.Phi2)
			g = g.ConditionOnValue(x, c.Y, in.ObsVar)
		}
		return g
	}
	g := fit(in.Grounding.NoiseVar)
	work := make([]float64, 5)
	for i, phi := range in.Predict {
		within(t, "predicted mean", floats.Dot(phi, g.mean), out.Mean[i], tol)
		g.CovMul(work, phi)
		for j, other := range in.Predict {
			want := out.Cov[i][j]
			if i == j {
				want -= in.ObsVar
			}
			within(t, "predicted covariance", floats.Dot(other, work), want, tol)
		}
	}
	w := fit(in.ObsVar)
	for i := range 5 {
		within(t, "weight mean", w.mean[i], out.WeightMean[i], tol)
		for j := range 5 {
			within(t, "weight covariance", w.cov[5*i+j], out.WeightCov[i][j], tol)
		}
	}
}

// Thompson samples from given normal numbers: the mean and the lower Cholesky factor
// of the predictive covariance times each column of z. The states stand in order.
func TestVectorPosteriorSamples(t *testing.T) {
	var file struct {
		Inputs struct {
			ObsVar       float64 `json:"obs_var"`
			Observations [][2]float64
			States       []int
			Z            [][]float64 `json:"standard_normals_z"`
		}
		Outputs struct{ Samples [][]float64 }
	}
	vector(t, "posterior_samples", &file)
	const tol = 1e-6 // stated
	in := file.Inputs
	g := line(t, len(in.States))
	for _, o := range in.Observations {
		x := make([]float64, len(in.States))
		x[int(o[0])] = 1
		g = g.ConditionOnValue(x, o[1], in.ObsVar)
	}
	g = g.Predictive(in.ObsVar)
	for k := range in.Z[0] {
		z := make([]float64, len(in.States))
		for i := range z {
			z[i] = in.Z[i][k]
		}
		for i, got := range g.SampleFrom(nil, z) {
			within(t, "sample", got, file.Outputs.Samples[i][k], tol)
		}
	}
	if len(in.Z[0]) != 2 {
		t.Errorf("%d samples, want 2", len(in.Z[0]))
	}
}
