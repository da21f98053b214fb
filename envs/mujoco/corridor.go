package mujoco

import (
	"fmt"
	"math"
	"math/rand/v2"

	"tiebreak/envs/corridor"
	"tiebreak/internal/idrl"
)

// Robots of a corridor.
const (
	SwimmerCorridorID = "swimmer-corridor"
	AntCorridorID     = "ant-corridor"
)

// NewSwimmerCorridor returns Swimmer-Corridor: the three-link swimmer in a row of
// 13 cells of 3 m. Source: docs/paper-code.md, section 1.6, whose steps of 4 ×
// 0.04 s are longer than those of Swimmer.
//
// An observation is positions, velocities, 1, and one number for each cell that
// is 1 in the cell that holds the robot. The authors' has 154 numbers, of which
// all but these 24 are always 0.
func NewSwimmerCorridor() (*Env, error) {
	m, err := model("swimmer_corridor.xml")
	if err != nil {
		return nil, err
	}
	maze := corridor.Maze{CellSize: 3}
	t := corridorTask(SwimmerCorridorID, maze, [3]float64{4, 3, 0.05})
	t.skip = 4
	t.spec.Actions = idrl.ActionSpec{Low: m.CtrlLow, High: m.CtrlHigh}
	t.spec.StepSeconds = m.TimestepSec * float64(t.skip)
	t.spec.ObsDim = m.NQ + m.NV + 1 + corridor.Cells
	t.spec.Horizon = 1000
	t.spec.Search = idrl.Search{StepSize: 0.04, NoiseStd: 0.06, Directions: 16, Iterations: 30, Episodes: 10, LiveSteps: 60_000}
	t.spec.ClipSteps, t.spec.Playback = 75, 4 // 12 s, in which a swimmer that travels goes half its length or more
	t.spec.EarlierClip = idrl.ClipForm{Steps: 12, Playback: 1}
	t.length = 3
	t.reset = func(e *Env, rng *rand.Rand) {
		uniform(e.d.QPos, 0.1, rng)
		uniform(e.d.QVel, 0.1, rng)
	}
	t.name = corridorNamer(maze, "swims")
	t.appearance = swimmerCorridorAppearance(&maze)
	return newEnv(t, m)
}

// corridorTask returns what the corridors have in common. The root's position is
// the first two of the engine's; scale is that of the prior of the features of a cell.
func corridorTask(id string, maze corridor.Maze, scale [3]float64) *task {
	t := &task{memo: 0}
	t.spec = idrl.EnvSpec{ID: id, FeatureNames: corridorFeatures(), Discount: 1, StillLabel: "this moment"}
	for range corridor.Cells {
		t.spec.PriorScale = append(t.spec.PriorScale, scale[:]...)
	}
	start := make([]float64, 2) // of the step under way
	t.before = func(e *Env) { copy(start, e.d.QPos) }
	t.after = func(e *Env) {
		e.d.QPos[0], e.d.QPos[1] = maze.Enter(start[0], start[1], e.d.QPos[0], e.d.QPos[1])
	}
	t.phi = func(e *Env, _ idrl.Action, dst []float64) {
		maze.Features(dst, start[0], start[1], e.d.QPos[0], e.d.QPos[1])
	}
	t.observe = func(e *Env, dst []float64) {
		n := copy(dst, e.d.QPos)
		n += copy(dst[n:], e.d.QVel)
		dst[n] = 1
		cells := dst[n+1:]
		clear(cells)
		if cell, ok := maze.Cell(e.d.QPos[0], e.d.QPos[1]); ok {
			cells[cell] = 1
		}
	}
	return t
}

// narrateCorridor is Narrate in a corridor.
func (e *Env) narrateCorridor(first, last []float64) string {
	from := e.centre(first)
	said := whereGoalIs(*e.appearance.maze, from[0])
	if last == nil {
		return said
	}
	if to := e.centre(last); math.Hypot(to[0]-from[0], to[1]-from[1]) < e.length/2 {
		said += " " + idrl.Stays
	}
	return said
}

// centre returns x and y of what the camera follows in a state.
func (e *Env) centre(state []float64) [2]float64 {
	e.prepare()
	e.Restore(state)
	copy(e.pose.QPos, e.d.QPos)
	e.must(e.pose.Kinematics())
	return e.followed()
}

// whereGoalIs says how far the goal is from a place along a corridor, in a picture in which
// the corridor runs to the right.
func whereGoalIs(m corridor.Maze, x float64) string {
	way := m.CellSize*corridor.Goal - x
	left := math.Abs(way) - m.CellSize/2 // to its edge
	switch {
	case left <= 0:
		return "At the goal."
	case way > 0:
		return fmt.Sprintf("The goal is %.2g m to the right.", left)
	}
	return fmt.Sprintf("The goal is %.2g m to the left.", left)
}

// corridorFeatures names the features of package corridor.
func corridorFeatures() (out []string) {
	for c := range corridor.Cells {
		for _, what := range []string{"forward", "sideways", "staying"} {
			out = append(out, fmt.Sprintf("Cell %d: %s", c+1, what))
		}
	}
	return out
}

// uniform adds noise from [−size, size] to every number of x.
func uniform(x []float64, size float64, rng *rand.Rand) {
	for i := range x {
		x[i] += size * (2*rng.Float64() - 1)
	}
}

// normal adds normal noise to every number of x.
func normal(x []float64, std float64, rng *rand.Rand) {
	for i := range x {
		x[i] += std * rng.NormFloat64()
	}
}
