package mujoco

import (
	"tiebreak/envs/corridor"
	"tiebreak/internal/base/drawing"
)

// How each robot is drawn. Planar robots are seen from the side and a little from
// above, the others from a corner. What is near the eye or at the front has
// another paint than what is far or at the back; a ball marks the head.

func cheetahAppearance() appearance {
	return appearance{
		body: 1, height: 0.75, width: 3.1, distance: 9, elevation: 0.16,
		limbs: []limb{{"hind-thigh", "hind-foot", drawing.Other}},
		marks: []mark{{"trunk", [3]float64{0.7146, 0, 0.1967}, drawing.Ball, 0.075, drawing.Agent}},
	}
}

func walkerAppearance() appearance {
	return appearance{
		body: 1, height: 0.9, width: 3, distance: 9, elevation: 0.12,
		limbs: []limb{{"thigh-l", "foot-l", drawing.Other}},
		marks: []mark{{"trunk", [3]float64{0, 0, 0.2}, drawing.Ball, 0.1, drawing.Agent}},
	}
}

func hopperAppearance() appearance {
	return appearance{
		body: 1, height: 0.9, width: 3, distance: 9, elevation: 0.12,
		limbs: []limb{{"thigh", "foot", drawing.Other}},
		marks: []mark{{"trunk", [3]float64{0, 0, 0.2}, drawing.Ball, 0.1, drawing.Agent}},
	}
}

// antAppearance is for a model with body "trunk" and legs named as in ant.xml, whose
// "fl" and "br" are the legs ahead.
func antAppearance() appearance {
	return appearance{
		body: 1, sideways: true, height: 0.5, width: 3.8, distance: 9, elevation: 0.42, azimuth: 0.55, trail: 1,
		limbs: []limb{
			{"fl-hip", "fl-shank", drawing.Other},
			{"br-hip", "br-shank", drawing.Other},
			{"fr-hip", "bl-shank", drawing.Agent},
		},
		marks: []mark{{"trunk", [3]float64{0.23, 0, 0.06}, drawing.Ball, 0.09, drawing.Other}},
	}
}

func swimmerAppearance() appearance {
	return appearance{
		body: 1, whole: true, sideways: true, width: 5, distance: 11, elevation: 0.75, azimuth: -0.3, trail: 2,
		limbs: []limb{{"rear", "rear", drawing.Other}},
		marks: []mark{{"front", [3]float64{1.5, 0, 0}, drawing.Ball, 0.16, drawing.Agent}},
	}
}

// antCorridorAppearance follows the ant along a corridor. The paints
// of its legs show there which end is ahead, so it needs no mark.
func antCorridorAppearance(m *corridor.Maze) appearance {
	a := antAppearance()
	a.sideways, a.maze, a.width, a.distance, a.azimuth = false, m, 7, 15, -0.35
	a.reach = 1.5 // a leg, 1.21 m, and what the trunk goes into a wall within a step
	a.marks = nil
	return a
}

// swimmerCorridorAppearance follows the swimmer along a corridor.
func swimmerCorridorAppearance(m *corridor.Maze) appearance {
	a := swimmerAppearance()
	a.sideways, a.maze, a.width, a.distance = false, m, 7.5, 16
	a.reach = 1.9
	return a
}

func pendulumAppearance() appearance {
	return appearance{
		height: 0.25, width: 3, distance: 8, elevation: 0.2,
		limbs:   []limb{{"pole", "pole", drawing.Other}},
		scenery: []drawing.Shape{checker(0.25, 0, 0, -0.12)},
	}
}

func doublePendulumAppearance() appearance {
	return appearance{
		height: 0.07, width: 3.9, distance: 10, elevation: 0.1,
		limbs:   []limb{{"lower", "lower", drawing.Other}, {"upper", "upper", drawing.Focus}},
		marks:   []mark{{"upper", [3]float64{0, 0, 0.6}, drawing.Ball, 0.07, drawing.Focus}},
		scenery: []drawing.Shape{checker(0.5, 0, 0, -1.35)},
	}
}

func reacherAppearance() appearance {
	const arena = 0.22 // its radius; the arm reaches 0.21
	return appearance{
		width: 0.6, distance: 1.4, elevation: 0.95,
		limbs: []limb{{"lower", "lower", drawing.Other}, {"target", "target", drawing.Focus}},
		marks: []mark{
			{"fingertip", [3]float64{}, drawing.Ball, 0.015, drawing.Agent},
			{"target", [3]float64{0, 0, -0.01}, drawing.Circle, 0.03, drawing.Focus},
			{"target", [3]float64{0, 0, -0.01}, drawing.Circle, 0.023, drawing.Surface},
		},
		scenery: []drawing.Shape{
			checker(0.1, 0, 0, 0),
			{Kind: drawing.Polyline, Paint: drawing.Mark, Size: 0.006, Pts: ring(circle(0, 0, 0, arena, 32))},
			{Kind: drawing.Circle, Paint: drawing.Mark, Size: 0.022, Pts: []float64{0, 0, 0}},
		},
	}
}
