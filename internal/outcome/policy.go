package outcome

import (
	"encoding/json"

	"tiebreak/internal/behaviour"
	"tiebreak/internal/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/sac"
	"tiebreak/internal/solver"
)

// policyFiles returns the files of the policy with these parameters. It returns an error
// of kind Damaged if they are those of no policy in env.
func (s *Source) policyFiles(name string, params []float64) ([]export.File, error) {
	p, err := behaviour.Recorded(s.Env, s.Spec.ByGaits(), params)
	if err != nil {
		return nil, idrl.Errorf(idrl.Damaged, "what is recorded of it is no policy of %s: %v", s.Env.Spec().ID, err)
	}
	switch p := p.(type) {
	case *sac.Policy:
		return encoded(name, p.Network())
	case *solver.Gait:
		return lone(name, gait{Format: gaitFormat, Version: version, Wave: p.Wave()})
	case *solver.Linear:
		return encoded(name, p.Network())
	case *solver.OpenLoop:
		return lone(name, sequenceOf(s.Env.Spec(), p.Params()))
	case *solver.TabularPolicy:
		return lone(name, table{Format: tableFormat, Version: version, Actions: p.Params()})
	default:
		return nil, idrl.Errorf(idrl.Invalid, "policies of its class cannot be exported")
	}
}

// A gait is a policy of one oscillator.
type gait struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	solver.Wave
}

func lone(name string, v any) ([]export.File, error) {
	text, err := json.Marshal(v)
	return []export.File{{Name: name + textExt, Content: text}}, err
}

// A table is a policy that takes action Actions[s] in state s.
type table struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Actions []float64 `json:"actions"`
}

// A sequence is a policy that takes action Actions[min(t/Hold, last)] after t steps.
type sequence struct {
	Format  string      `json:"format"`
	Version int         `json:"version"`
	Hold    int         `json:"hold"`
	Actions [][]float64 `json:"actions"`
}

func sequenceOf(spec idrl.EnvSpec, params []float64) sequence {
	out := sequence{Format: sequenceFormat, Version: version, Hold: max(1, spec.Actions.Hold)}
	for dim := spec.Actions.Dim(); len(params) >= dim; params = params[dim:] {
		out.Actions = append(out.Actions, params[:dim])
	}
	return out
}
