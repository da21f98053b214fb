package behaviour

import (
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/sac"
	"tiebreak/internal/plan/solver"
)

// A Class is a kind of policy. Its number never changes: it is stored.
type Class int

// Classes of policies.
const (
	Linear  Class = 1 // solver.Linear
	Gait    Class = 2 // solver.Gait
	Network Class = 3 // sac.Policy
)

// String returns the name of the class.
func (c Class) String() string {
	switch c {
	case Linear:
		return "linear policy"
	case Gait:
		return "gait"
	case Network:
		return "network"
	default:
		return "unknown class"
	}
}

// A Policy is a policy of any class. It is Timed even if its class is not.
type Policy struct {
	class  Class
	policy idrl.Policy // of the class
	params []float64   // the class and then the parameters of the policy
}

var _ idrl.Timed = (*Policy)(nil)

// New returns the policy for an environment with these actions and observations that has these
// Params: the number of the class, and then the numbers of the policy in its class
// (solver.NewLinear, solver.NewGait, sac.NewPolicy). It returns an error of kind Invalid if there
// is no such class or the numbers do not fit it.
func New(spec idrl.EnvSpec, params []float64) (*Policy, error) {
	if len(params) == 0 {
		return nil, idrl.Errorf(idrl.Invalid, "a behaviour of %s begins with the number of its class; there are no numbers", spec.ID)
	}
	p := &Policy{class: Class(params[0]), params: slices.Clone(params)}
	if float64(p.class) != params[0] {
		p.class = 0
	}
	own := p.params[1:]
	var err error
	switch p.class {
	case Linear:
		p.policy, err = solver.NewLinear(spec, own)
	case Gait:
		p.policy, err = solver.NewGait(spec, own)
	case Network:
		p.policy, err = sac.NewPolicy(spec, own)
	default:
		err = idrl.Errorf(idrl.Invalid, "a behaviour of %s is of class %v, which this version of the program does not know", spec.ID, params[0])
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Recorded returns the policy with the parameters that a session has recorded. gaits says that the
// session searches among gaits, for which behaviours are recorded. Other sessions record networks,
// or policies of solver.For. Errors are those of New or solver.FromParams.
func Recorded(env idrl.Environment, gaits bool, params []float64) (idrl.Policy, error) {
	if gaits {
		p, err := New(env.Spec(), params)
		if err != nil {
			return nil, err
		}
		return p.Own(), nil
	}
	if p, err := sac.NewPolicy(env.Spec(), params); err == nil {
		return p, nil
	}
	return solver.FromParams(env, params)
}

// Remake is New for trainer.Thompson.Remake.
func Remake(env idrl.Environment, params []float64) (idrl.Policy, error) {
	p, err := New(env.Spec(), params)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Params returns the parameters of a policy of class c in the form that New takes.
func (c Class) Params(own []float64) []float64 {
	return append([]float64{float64(c)}, own...)
}

// Own returns the parameters in class c of the behaviour with these Params. ok is false
// if it is of another class.
func (c Class) Own(params []float64) (own []float64, ok bool) {
	if len(params) == 0 || params[0] != float64(c) {
		return nil, false
	}
	return params[1:], true
}

// Class returns the class of p.
func (p *Policy) Class() Class { return p.class }

// Own returns the policy in its class: a *solver.Linear, *solver.Gait or *sac.Policy.
func (p *Policy) Own() idrl.Policy { return p.policy }

// Params returns the numbers that New takes. The caller must not change them.
func (p *Policy) Params() []float64 { return p.params }

// Act is ActAt at the start of an episode.
func (p *Policy) Act(dst idrl.Action, obs []float64, rng *rand.Rand) idrl.Action {
	return p.policy.Act(dst, obs, rng)
}

// ActAt stores the action after t steps of the episode in dst and returns it.
func (p *Policy) ActAt(dst idrl.Action, obs []float64, t int, rng *rand.Rand) idrl.Action {
	if timed, ok := p.policy.(idrl.Timed); ok {
		return timed.ActAt(dst, obs, t, rng)
	}
	return p.policy.Act(dst, obs, rng)
}
