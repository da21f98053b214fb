package outcome

import (
	"encoding/json"

	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/sac"
	"tiebreak/internal/plan/solver"
)

// policyFiles returns the files of a policy; none of one of the pool, of which only clips and
// feature expectations are kept. It returns an error of kind Damaged if what is recorded of it is no
// policy in env.
func (s *Source) policyFiles(name string, c idrl.Candidate) ([]export.File, error) {
	if s.Acted != nil {
		if called, rollouts, ok := s.Acted(c); ok {
			return lone(name, acted{Format: actedFormat, Version: version, Name: called, Rollouts: rollouts})
		}
	}
	if c.Params == nil {
		return nil, nil
	}
	p, err := behaviour.Recorded(s.Env, s.Spec.ByGaits(), c.Params)
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

// An acted policy is one that acted in rollouts, and can do nothing else.
type acted struct {
	Format   string   `json:"format"`
	Version  int      `json:"version"`
	Name     string   `json:"name"`
	Rollouts []string `json:"rollouts"`
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
