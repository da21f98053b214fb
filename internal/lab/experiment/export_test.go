package experiment

import (
	"math/rand/v2"

	"tiebreak/envs/corridor"
	"tiebreak/internal/idrl"
)

// SmallDriver returns o with a Driver that computes little before the first
// question.
func (o Options) SmallDriver() Options {
	o.small = &driverSizes{table: 20, restarts: 1, pool: 10, strong: 3, draws: 20}
	return o
}

// ToyCorridor returns o with a corridor of a toy robot in which little is
// computed.
func (o Options) ToyCorridor() Options {
	o.corridor = &corridorSizes{
		rollouts: 6, clips: 20, draws: 20, errors: 50,
		pool: 4, poolSteps: 3, strong: 2, candidate: 1, meanAnswer: 1,
	}
	o.robot = &robot{
		newEnv: func() (idrl.Environment, error) { return newToy(), nil },
		explorer: func() ([]float64, error) {
			params := make([]float64, toyObs)
			params[0] = 0.7 // from the first cell to the last
			return params, nil
		},
		random: uniformAction,
	}
	return o
}

// toyObs is the length of the observation: 1, and which cell it is.
const toyObs = 1 + corridor.Cells

// A toy is a point in a corridor that its action moves along.
type toy struct {
	maze   corridor.Maze
	stream *rand.Rand
	x      float64
	t      int
	broken bool // it breaks down in the next step

	view, phi []float64 // what the last step returned
}

func newToy() *toy {
	return &toy{maze: corridor.Maze{CellSize: 1}, view: make([]float64, toyObs), phi: make([]float64, corridor.FeatureDim)}
}

var toySpec = idrl.EnvSpec{
	ID: "toy-corridor", Actions: idrl.ActionSpec{Low: []float64{-1}, High: []float64{1}}, ObsDim: toyObs,
	FeatureNames: make([]string, corridor.FeatureDim), Horizon: 60, Discount: 1,
	Search: idrl.Search{StepSize: 0.3, NoiseStd: 0.3, Directions: 4, Iterations: 6, Episodes: 3},
}

func (*toy) Spec() idrl.EnvSpec { return toySpec }

func (e *toy) Reset(stream *rand.Rand) idrl.TimeStep {
	e.stream, e.t = stream, 0
	e.x = 0.2 * (stream.Float64() - 0.5)
	return idrl.TimeStep{Kind: idrl.First, Obs: e.obs()}
}

func (e *toy) Step(a idrl.Action) idrl.TimeStep {
	if !toySpec.Actions.Contains(a) {
		panic("toy: not an action")
	}
	before := e.x
	e.x, _ = e.maze.Enter(before, 0, before+0.4*a[0]+0.02*(e.stream.Float64()-0.5), 0)
	e.t++
	kind := idrl.Mid
	if e.t == toySpec.Horizon || e.broken {
		kind = idrl.Truncated
	}
	return idrl.TimeStep{Kind: kind, Obs: e.obs(), Phi: e.maze.Features(e.phi, before, 0, e.x, 0), Broken: e.broken}
}

func (e *toy) obs() []float64 {
	clear(e.view)
	cell, _ := e.maze.Cell(e.x, 0)
	e.view[0], e.view[1+cell] = 1, 1
	return e.view
}
