//go:build mujoco

package librarian_test

var deeds = []deed{
	{"hopper", "hopping", 8, 1, true, "Distance forward", 6, 1},
	{"hopper", "standing", 4, 0, true, "Distance forward", -0.5, 1},
	{"half-cheetah", "running", 8, 1, false, "Distance forward", 100, 1},
	{"half-cheetah", "running backward", 8, 0, false, "Distance forward", 50, -1},
}
