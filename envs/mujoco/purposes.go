package mujoco

import "tiebreak/internal/base/drawing"

// purposes returns the ready purposes by task. Each is told by the features of its task, in one
// direction: the features that grow with a turn or a way to one side fall with one to the other.
func purposes() map[string][]drawing.LegendEntry {
	return map[string][]drawing.LegendEntry{
		HalfCheetahID: {
			{Name: "run", Text: "Run forward, to the right, as fast as you can and on your feet."},
			{Name: "somersaults", Text: "Turn somersaults backwards, head up first, as many as you can."},
			{Name: "rear", Text: "Rear up: hold the head high, with the tail down, and stay like that."},
			{Name: "backward", Text: "Run backward, to the left, as fast as you can and on your feet."},
		},
		Walker2dID: {
			{Name: "run", Text: "Run forward, to the right, as fast as you can without falling."},
			{Name: "walk", Text: "Walk forward, to the right, evenly and upright, without falling."},
			{Name: "stand", Text: "Stand upright and calm in one place, and do not fall."},
			{Name: "backward", Text: "Walk backward, to the left, without falling."},
		},
		HopperID: {
			{Name: "hop", Text: "Hop forward, to the right, as fast as you can without falling."},
			{Name: "high", Text: "Hop as high as you can without falling."},
			{Name: "stand", Text: "Stand upright and calm in one place, and do not fall."},
			{Name: "backflip", Text: "Turn over backwards in the air, head to the left first, as often as you can."},
		},
		AntID: {
			{Name: "walk", Text: "Walk forward, to the right, as fast as you can and on your feet."},
			{Name: "backward", Text: "Walk backward, to the left, as fast as you can and on your feet."},
			{Name: "turn", Text: "Turn round and round on your feet, against the clock as seen from above."},
			{Name: "stand", Text: "Stand on your feet, high and calm, in one place."},
		},
		SwimmerID: {
			{Name: "forward", Text: "Swim forward, to the right, as far as you can."},
			{Name: "backward", Text: "Swim backward, to the left, as far as you can."},
			{Name: "turn", Text: "Turn round and round, against the clock."},
		},
		ReacherID: {
			{Name: "reach", Text: "Bring the finger to the target soon, and keep it there."},
			{Name: "spin", Text: "Spin round and round, against the clock, as fast as you can."},
			{Name: "stretch", Text: "Stretch the arm out and hold it still, wherever the target is."},
		},
		InvertedPendulumID: {
			{Name: "balance", Text: "Keep the pole upright and the cart calm, near the middle of its rail."},
			{Name: "right", Text: "Keep the pole upright, with the cart far to the right."},
			{Name: "to-and-fro", Text: "Keep the pole upright while the cart goes to and fro as far as it can."},
		},
		InvertedDoublePendulumID: {
			{Name: "balance", Text: "Keep both poles upright and the cart calm, near the middle of its rail."},
			{Name: "right", Text: "Keep both poles upright, with the cart far to the right."},
		},
		SwimmerCorridorID: corridorPurposes("Swim"),
		AntCorridorID:     corridorPurposes("Walk"),
	}
}

// corridorPurposes are of a robot that moves as verb says.
func corridorPurposes(verb string) []drawing.LegendEntry {
	return []drawing.LegendEntry{
		{Name: "goal", Text: verb + " to the green cell soon, and stay there."},
		{Name: "end", Text: verb + " on past the green cell, to the right end of the corridor."},
		{Name: "start", Text: verb + " to the left end of the corridor, away from the green cell, and stay there."},
	}
}
