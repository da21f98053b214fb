package mujoco

import (
	"tiebreak/envs/corridor"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

const (
	antSkip   = 5   // engine steps of a step
	antLength = 2.3 // from foot to foot, m
	antTorque = 30  // largest torque, N·m
	highLevel = 20. // largest number of a high-level action; the softmax has long saturated
)

// NewAntCorridor returns Ant-Corridor: the ant in a row of 13 cells of 4 m. An
// action is five numbers, whose softmax mixes gaits along +y, +x, −y and −x and
// standing still. Source: docs/paper-code.md, section 1.6.
//
// An observation is positions, velocities, 1, and one number for each cell that
// is 1 in the cell that holds the robot. The authors' has 420 numbers, of which
// all but these 43 are always 0; their high-level actions have no bounds.
func NewAntCorridor() (*Env, error) {
	m, err := model("ant_corridor.xml")
	if err != nil {
		return nil, err
	}
	gait, err := FindGait(AntForward)
	if err != nil {
		return nil, err
	}
	params, err := gait.Params()
	if err != nil {
		return nil, err
	}
	maze := corridor.Maze{CellSize: 4}
	t := corridorTask(AntCorridorID, maze, [3]float64{2.5, 2.5, 0.05})
	t.skip = antSkip
	t.spec.Actions = idrl.ActionSpec{}
	for range 5 {
		t.spec.Actions.Low = append(t.spec.Actions.Low, -highLevel)
		t.spec.Actions.High = append(t.spec.Actions.High, highLevel)
	}
	t.spec.StepSeconds = m.TimestepSec * antSkip
	t.spec.ObsDim = m.NQ + m.NV + 1 + corridor.Cells
	t.spec.Horizon = 500
	t.spec.Search = idrl.Search{StepSize: 0.3, NoiseStd: 0.2, Directions: 8, Iterations: 50, Episodes: 10, LiveSteps: 15_000}
	t.spec.ClipSteps, t.spec.Playback = 40, 3
	t.spec.EarlierClip = idrl.ClipForm{Steps: 20, Playback: 2}
	t.length = antLength
	t.reset = antReset
	legs := newWalker(params)
	t.control = func(e *Env, a idrl.Action) { legs.act(e.d.Ctrl, a, e) }
	t.fallen = antFallen
	t.name = corridorNamer(maze, "walks")
	t.appearance = antCorridorAppearance(&maze)
	return newEnv(t, m)
}

// A walker turns high-level actions of the ant into torques.
type walker struct {
	rows   [][]float64 // of the gait along x, divided by the standard deviations
	offset []float64   // of each torque
	obs    []float64
	turned []float64
	parts  [][]float64 // torques of the four gaits
}

// newWalker returns the walker of a gait along x with normalised observations.
func newWalker(params []float64) *walker {
	const n = 8
	w := &walker{obs: make([]float64, antObs), turned: make([]float64, antObs)}
	mean, std := params[n*antObs:(n+1)*antObs], params[(n+1)*antObs:]
	for i := range n {
		row := make([]float64, antObs)
		floats.DivTo(row, params[i*antObs:(i+1)*antObs], std)
		w.rows = append(w.rows, row)
		w.offset = append(w.offset, floats.Dot(row, mean))
	}
	for range 4 {
		w.parts = append(w.parts, make([]float64, n))
	}
	return w
}

// act stores the torques of the high-level action u in e's state in dst, length 8.
func (w *walker) act(dst, u []float64, e *Env) {
	antGaitObs(e, w.obs)
	for i, k := range [4]int{1, 0, 3, 2} { // quarters that turn x to +y, +x, −y, −x
		w.gait(w.parts[i], k)
	}
	mix(dst, u, w.parts)
}

// gait stores the torques of the gait along x, turned by k quarters, in dst.
func (w *walker) gait(dst []float64, k int) {
	copy(w.turned, w.obs)
	for range k {
		turnBack(w.turned)
	}
	for i, row := range w.rows {
		dst[i] = max(-antTorque, min(antTorque, floats.Dot(row, w.turned)-w.offset[i]))
	}
	for range k {
		turnTorques(dst)
	}
}
