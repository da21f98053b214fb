package representation

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/mat"
)

// Environment returns env with the features of rep in place of its own, for solvers; env
// itself if rep is nil. In a tabular environment the features of rep must depend on the
// state entered alone. The result is not differentiable, and only a tabular one can be drawn
// or saved.
func Environment(env idrl.Environment, rep idrl.Representation) idrl.Environment {
	if rep == nil {
		return env
	}
	spec := env.Spec()
	spec.FeatureNames = make([]string, rep.Dim())
	for i := range spec.FeatureNames {
		spec.FeatureNames[i] = fmt.Sprintf("feature %d", i+1)
	}
	out := learnt{Environment: env, rep: rep, spec: spec, phi: make([]float64, rep.Dim())}
	if t, ok := env.(idrl.Tabular); ok {
		return &learntTabular{learnt: out, Tabular: t}
	}
	return &out
}

// learnt is an environment with learnt features.
type learnt struct {
	idrl.Environment
	rep  idrl.Representation
	spec idrl.EnvSpec
	obs  []float32 // before the next action
	phi  []float64 // of the last step
}

// Spec implements idrl.Environment.
func (e *learnt) Spec() idrl.EnvSpec { return e.spec }

// Reset implements idrl.Environment.
func (e *learnt) Reset(stream *rand.Rand) idrl.TimeStep {
	s := e.Environment.Reset(stream)
	e.obs = single(s.Obs)
	return s
}

// Step implements idrl.Environment.
func (e *learnt) Step(a idrl.Action) idrl.TimeStep {
	s := e.Environment.Step(a)
	obs := single(s.Obs)
	e.rep.Features(e.phi, one(e.obs, obs, single(a), s.Phi))
	e.obs, s.Phi = obs, e.phi
	return s
}

// one returns the raw steps of one step.
func one(before, after, action []float32, phi []float64) idrl.Steps {
	return idrl.Steps{Obs: [][]float32{before, after}, Actions: [][]float32{action}, Phi: [][]float64{phi}}
}

func single(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// learntTabular is a tabular environment with learnt features.
type learntTabular struct {
	learnt
	idrl.Tabular
}

// Spec implements idrl.Environment.
func (e *learntTabular) Spec() idrl.EnvSpec { return e.learnt.Spec() }

// Reset implements idrl.Environment.
func (e *learntTabular) Reset(stream *rand.Rand) idrl.TimeStep { return e.learnt.Reset(stream) }

// Step implements idrl.Environment.
func (e *learntTabular) Step(a idrl.Action) idrl.TimeStep { return e.learnt.Step(a) }

// Features implements idrl.Tabular.
func (e *learntTabular) Features(dst *mat.Dense) {
	phi := mat.NewDense(e.NumStates(), e.Tabular.Spec().FeatureDim(), nil)
	e.Tabular.Features(phi)
	action := make([]float32, e.spec.Actions.Dim())
	for s := range e.NumStates() {
		entered := []float32{float32(s)}
		dst.SetRow(s, e.rep.Features(e.phi, one(entered, entered, action, slices.Clone(phi.RawRowView(s)))))
	}
}
