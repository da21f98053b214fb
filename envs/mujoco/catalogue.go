package mujoco

import "tiebreak/envs/mujoco/engine"

// A Listing is an environment of this package as a catalogue shows it.
type Listing struct {
	ID, Title, Description string
	New                    func() (*Env, error)
}

// Catalogue returns the environments that come with the project.
func Catalogue() []Listing {
	task := func(id string) func() (*Env, error) {
		return func() (*Env, error) { return NewTask(id, Options{}) }
	}
	return []Listing{
		{HalfCheetahID, "HalfCheetah", "A flat cheetah of seven limbs on two legs. It may run, crawl, or turn somersaults.", task(HalfCheetahID)},
		{Walker2dID, "Walker2d", "A flat body on two legs. It may walk, stand, or hop on one of them.", task(Walker2dID)},
		{HopperID, "Hopper", "A flat body on one leg with one foot. It may hop or stand.", task(HopperID)},
		{AntID, "Ant", "A round body on four legs of two joints, free to go and to turn everywhere.", task(AntID)},
		{SwimmerID, "Swimmer", "Three links in a thick liquid, seen from above. It moves by winding.", task(SwimmerID)},
		{ReacherID, "Reacher", "An arm of two links on a table is to bring its finger to a target.", task(ReacherID)},
		{InvertedPendulumID, "InvertedPendulum", "A cart on a rail balances a pole.", task(InvertedPendulumID)},
		{InvertedDoublePendulumID, "InvertedDoublePendulum", "A cart on a rail balances a pole with a second pole on top.", task(InvertedDoublePendulumID)},
		{
			SwimmerCorridorID, "Swimmer-Corridor",
			"The swimmer in a corridor of thirteen cells, with a goal in the seventh. Clips are played four times as fast.", NewSwimmerCorridor,
		},
		{
			AntCorridorID, "Ant-Corridor",
			"The ant in a corridor of thirteen cells, with a goal in the seventh. It knows how to walk and learns where to.", NewAntCorridor,
		},
	}
}

// Unavailable returns nil if environments of this package can be made, else what is
// missing, as a continuation of "environment "ant"".
func Unavailable() error { return engine.Check() }

// Version returns the version of MuJoCo that was found: "2.2.2". It is empty if
// there is none.
func Version() string { return engine.Version() }

// Origin says where MuJoCo was found: its path and what it belongs to. It is empty
// if there is none.
func Origin() string { return engine.Origin() }

// Found returns the version of MuJoCo and where it is, or that there is none and why, for people.
func Found() string {
	if err := Unavailable(); err != nil {
		return "not available: " + err.Error()
	}
	return Version() + " (" + Origin() + ")"
}
