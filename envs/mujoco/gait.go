package mujoco

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"tiebreak/envs/corridor"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// A Gait is a linear policy that the project has trained itself, and how: by
// augmented random search from nothing, for the reward θ·φ.
type Gait struct {
	Name       string
	New        func() (*Env, error) // the environment that it is trained in
	Theta      []float64
	Search     idrl.Search
	Iterations int
	Seed       uint64
	models     []string // files that the dynamics depend on
	needs      []string // gaits that the dynamics depend on
}

// Names of gaits.
const (
	AntForward      = "ant-forward"      // walks along x
	SwimmerExplorer = "swimmer-explorer" // swims along the whole corridor
	AntExplorer     = "ant-explorer"     // walks along the whole corridor
)

// Gaits returns every gait, each after those that it needs. The authors trained
// four directional gaits for the ant, with torques in another unit. Here one is
// trained, and the other three follow from it by the ant's symmetry (QuarterTurn).
func Gaits() []Gait {
	return []Gait{
		{
			Name: AntForward, New: NewAntDirection, Theta: []float64{1, 0, -1e-4}, Seed: 1, Iterations: 60,
			Search: idrl.Search{StepSize: 0.6, NoiseStd: 1, Directions: 16, Top: 8, Episodes: 4, Normalise: true},
			models: []string{"ant_corridor.xml"},
		},
		{
			Name: SwimmerExplorer, New: NewSwimmerCorridor, Theta: forward(), Seed: 1, Iterations: 40,
			Search: idrl.Search{StepSize: 0.04, NoiseStd: 0.06, Directions: 16, Episodes: 10},
			models: []string{"swimmer_corridor.xml"},
		},
		{
			Name: AntExplorer, New: NewAntCorridor, Theta: forward(), Seed: 1, Iterations: 20,
			Search: idrl.Search{StepSize: 0.3, NoiseStd: 0.2, Directions: 8, Episodes: 10},
			models: []string{"ant_corridor.xml"}, needs: []string{AntForward},
		},
	}
}

// forward returns the weights that reward the way along the corridor.
func forward() []float64 {
	theta := make([]float64, corridor.FeatureDim)
	for c := range corridor.Cells {
		theta[corridor.FeatureDim/corridor.Cells*c] = 1
	}
	return theta
}

// FindGait returns the gait of a name, or an error of kind Invalid.
func FindGait(name string) (Gait, error) {
	for _, g := range Gaits() {
		if g.Name == name {
			return g, nil
		}
	}
	return Gait{}, idrl.Errorf(idrl.Invalid, "unknown gait %q; known: %s, %s, %s", name, AntForward, SwimmerExplorer, AntExplorer)
}

// gaitVersion changes when the same settings would train another policy.
const gaitVersion = 1

// Key returns the key of the trained policy: a hash of the models, the settings and
// the seed, and of the gaits that it needs.
func (g Gait) Key() string {
	h := sha256.New()
	s := g.Search
	fmt.Fprintln(h, gaitVersion, g.Name, g.Theta, g.Iterations, g.Seed)
	fmt.Fprintln(h, s.StepSize, s.NoiseStd, s.Directions, s.Top, s.Episodes, s.Normalise)
	for _, file := range g.models {
		xml, err := files.ReadFile("models/" + file)
		if err != nil {
			panic(err) // it is embedded
		}
		h.Write(xml)
	}
	for _, name := range g.needs {
		needed, err := FindGait(name)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(h, needed.Key())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A GaitFile is the content of a file of gaits.
type GaitFile struct {
	Name   string    `json:"name"`
	Seed   uint64    `json:"seed"`
	Key    string    `json:"key"`    // Gait.Key when it was trained
	Return float64   `json:"return"` // mean of ten episodes under the reward of training
	Params []float64 `json:"params"` // of a linear policy: weights by rows, then means and standard deviations of observations if it has them
}

//go:embed gaits
var gaitFiles embed.FS

// Params returns the parameters of the trained policy. It returns an error of
// kind Invalid if it was trained with other models or settings.
func (g Gait) Params() ([]float64, error) {
	b, err := gaitFiles.ReadFile("gaits/" + g.Name + ".json")
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "gait %s is not there: train it with 'tiebreak-lab gaits %s'", g.Name, g.Name)
	}
	var f GaitFile
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("gait %s: %w", g.Name, err)
	}
	if f.Key != g.Key() {
		return nil, idrl.Errorf(idrl.Invalid, "gait %s was trained with another model or other settings: train it again with 'tiebreak-lab gaits %s'", g.Name, g.Name)
	}
	return f.Params, nil
}

// antObs is the length of the observations of a gait: the ant's height,
// orientation and joints, and all velocities, without its position.
const antObs = 27

// NewAntDirection returns the environment that the ant of Ant-Corridor learns to
// walk in: features are its velocity along x and y in m/s, and the squared size
// of the torques. An episode has 300 steps. Source: docs/paper-code.md, section
// 1.6.
func NewAntDirection() (*Env, error) {
	m, err := model("ant_corridor.xml")
	if err != nil {
		return nil, err
	}
	t := &task{
		skip: antSkip,
		spec: idrl.EnvSpec{
			ID:           "ant-direction",
			FeatureNames: []string{"Speed along x", "Speed along y", "Effort"},
			ObsDim:       antObs, Horizon: 300, Discount: 1, ClipSteps: 20, Playback: 2, StillLabel: "this moment",
			Actions:     idrl.ActionSpec{Low: m.CtrlLow, High: m.CtrlHigh},
			StepSeconds: antSkip * m.TimestepSec,
		},
		reset:      antReset,
		observe:    func(e *Env, dst []float64) { antGaitObs(e, dst) },
		appearance: antAppearance(),
	}
	start := make([]float64, 2)
	t.before = func(e *Env) { copy(start, e.d.QPos) }
	t.phi = func(e *Env, a idrl.Action, dst []float64) {
		for k := range start {
			dst[k] = (e.d.QPos[k] - start[k]) / t.spec.StepSeconds
		}
		dst[2] = floats.Dot(a, a)
	}
	return newEnv(t, m)
}

// antReset draws the first state of Gym's ant: positions ±0.1, the quaternion
// too, and normal velocities of standard deviation 0.1.
func antReset(e *Env, rng *rand.Rand) {
	uniform(e.d.QPos, 0.1, rng)
	normal(e.d.QVel, 0.1, rng)
}

// antGaitObs stores the observation of a gait in dst, length antObs.
func antGaitObs(e *Env, dst []float64) {
	copy(dst[copy(dst, e.d.QPos[2:]):], e.d.QVel)
}
