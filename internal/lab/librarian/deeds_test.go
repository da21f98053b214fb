//go:build mujoco

package librarian_test

// deeds are what the names of behaviours promise. The ant's walking
// falls on its back from two of eight starts. The cause is not known.
var deeds = []deed{
	{"hopper", "hopping", 8, 1, true, "Distance forward", 6, 1},
	{"hopper", "hopping slowly", 8, 2, true, "Distance forward", 4, 1},
	{"hopper", "standing", 4, 0, true, "Distance forward", -0.5, 1},
	{"walker2d", "running", 8, 1, true, "Distance forward", 12, 1},
	{"walker2d", "standing", 4, 0, true, "Distance forward", -0.5, 1},
	{"ant", "walking", 8, 2, true, "Distance forward", 15, 1},
	{"ant", "walking backward", 4, 1, true, "Distance forward", 15, -1},
	{"ant", "walking to the left", 4, 1, true, "Distance to the left", 15, 1},
	{"ant", "walking to the right", 4, 1, true, "Distance to the left", 15, -1},
	{"ant", "resting", 2, 0, true, "Upright", 90, 1},
	{"half-cheetah", "running", 8, 1, false, "Distance forward", 100, 1},
	{"half-cheetah", "running backward", 8, 0, false, "Distance forward", 100, -1},
	{"swimmer", "swimming", 4, 0, false, "Distance forward", 4, 1},
	{"swimmer", "swimming backward", 4, 0, false, "Distance forward", 4, -1},
	{"inverted-pendulum", "balancing", 8, 0, false, "Tilt", -0.1, -1},
	{"inverted-pendulum", "balancing to the left", 4, 0, false, "Tilt", -0.1, -1},
	{"inverted-double-pendulum", "balancing", 8, 1, false, "Tip height", 110, 1}, // 120 if it is upright throughout
}
