package outcome

import (
	"encoding/json"

	"tiebreak/internal/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/sac"
	"tiebreak/internal/solver"
)

// policyFiles returns the files of the policy with these parameters. It returns an error
// of kind Damaged if they are those of no policy in env.
func policyFiles(env idrl.Environment, name string, params []float64) ([]export.File, error) {
	if p, err := sac.NewPolicy(env.Spec(), params); err == nil {
		return encoded(name, p.Network())
	}
	p, err := solver.FromParams(env, params)
	if err != nil {
		return nil, idrl.Errorf(idrl.Damaged, "what is recorded of it is no policy of %s: %v", env.Spec().ID, err)
	}
	switch p := p.(type) {
	case *solver.Linear:
		return encoded(name, p.Network())
	case *solver.OpenLoop:
		return lone(name, sequenceOf(env.Spec(), p.Params()))
	case *solver.TabularPolicy:
		return lone(name, table{Format: tableFormat, Version: version, Actions: p.Params()})
	default:
		return nil, idrl.Errorf(idrl.Invalid, "policies of its class cannot be exported")
	}
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
