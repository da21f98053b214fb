package mujoco

import (
	"maps"
	"math"
	"slices"
	"strings"

	"tiebreak/envs/corridor"
	"tiebreak/internal/base/drawing"
)

// A sight is what a picture of a legend shows: the robot as it is first drawn, from where
// the camera of the task is.
type sight struct {
	name, text string
	body       string     // in the middle of the picture; empty: what the camera follows
	at         [3]float64 // of the middle, in the frame of the body, or from where the camera looks
	width      float64    // of the view, metres; 0: the task's
	forward    bool       // an arrow on the floor shows which way is forward
	trail      bool       // the robot has come a way
	marks      bool       // those of a clip are on the floor
	bend       []float64  // added to the positions of the joints, from the first on
}

// A lesson is the guide of a task, whose pictures are yet to be drawn.
type lesson struct {
	purpose string
	look    []string
	legend  []sight
}

// Guide explains the pictures.
func (e *Env) Guide() drawing.Guide {
	task := strings.TrimSuffix(e.spec.ID, "-classic")
	l, ok := lessons()[task]
	if !ok {
		l = ownLesson
	}
	g := drawing.Guide{Purpose: l.purpose, Purposes: purposes()[task], Look: l.look}
	for _, s := range l.legend {
		g.Legend = append(g.Legend, drawing.LegendEntry{Name: s.name, Text: s.text, Scene: e.sight(s)})
	}
	return g
}

// sight draws a picture of a legend.
func (e *Env) sight(s sight) (scene drawing.Scene) {
	first, err := e.m.NewData()
	e.must(err)
	qpos := slices.Clone(first.QPos)
	for i, v := range s.bend {
		qpos[i] += v
	}
	e.drawAt(&scene, qpos)
	c := &scene.Camera
	if s.body != "" {
		at := part{shape: drawing.Shape{Pts: s.at[:]}, index: e.body(s.body)}.place(make([]float64, 3), e.pose)
		c.X, c.Y, c.Z = at[0], at[1], at[2]
	} else {
		c.X, c.Y, c.Z = c.X+s.at[0], c.Y+s.at[1], c.Z+s.at[2]
	}
	if s.width > 0 {
		c.W, c.H = s.width, s.width/drawing.LegendRatio
	}
	if s.forward {
		scene.Moving = append(scene.Moving, ahead(*c, e.scene.floor))
	}
	if s.trail {
		scene.Static = append(slices.Clone(scene.Static), come(*c, e.scene.floor))
	}
	if s.marks {
		at := e.followed()
		isFloor := func(s drawing.Shape) bool { return s.Kind == drawing.Checker }
		marks := e.ruler([][2]float64{at, {at[0] + c.W, at[1]}}).shapes()
		scene.Static = append(slices.DeleteFunc(slices.Clone(scene.Static), isFloor), marks...)
	}
	return scene
}

// come returns the line that a robot leaves on the floor, on its way to the middle of a
// picture.
func come(c drawing.Camera, z float64) drawing.Shape {
	out := drawing.Shape{Kind: drawing.Polyline, Paint: drawing.Agent, Size: c.W / 60}
	for k := range 9 {
		back := float64(8-k) / 8
		out.Pts = append(out.Pts, c.X-0.45*c.W*back, c.Y+0.04*c.W*math.Sin(5*back), z)
	}
	return out
}

// ahead returns an arrow along x on the floor in front of the middle of a picture.
func ahead(c drawing.Camera, z float64) drawing.Shape {
	x, y, size := c.X+0.02*c.W, c.Y-0.17*c.W, 0.07*c.W
	return drawing.Shape{Kind: drawing.Polygon, Paint: drawing.Focus, Pts: []float64{
		x + 5*size, y, z, x + 3.5*size, y + size, z, x + 3.5*size, y + 0.35*size, z, x, y + 0.35*size, z,
		x, y - 0.35*size, z, x + 3.5*size, y - 0.35*size, z, x + 3.5*size, y - size, z,
	}}
}

// Sentences that several lessons have.
const (
	follows  = "The picture follows the robot: the numbers on the floor and the line at the top show how far it goes."
	isAhead  = "The robot. Forward is to the right, as this arrow shows. Clips have no arrow."
	tiles    = "The floor. Each square is 1 m wide: the squares that pass by show how far the robot goes."
	evenly   = "Does it move evenly, or does it jerk and waste its strength?"
	waysLine = "Blue line: the way that it has come since the clip began."
)

// walking moves the legs of Walker2d apart.
var walking = []float64{3: 0.5, 4: -0.3, 6: -0.5, 7: -0.2}

func floorSight(width float64, at ...float64) sight {
	s := sight{name: "floor", text: tiles, width: width, marks: true}
	copy(s.at[:], at)
	return s
}

// ownLesson is the guide of a model of a user's own.
var ownLesson = lesson{
	"Judge how the robot moves.",
	[]string{follows, evenly},
	[]sight{{name: "robot", text: "The robot, as it starts."}},
}

// lessons returns the guides by task.
func lessons() map[string]lesson {
	all := robotLessons()
	for _, more := range []map[string]lesson{jointLessons(), corridorLessons()} {
		maps.Copy(all, more)
	}
	return all
}

// robotLessons are of the robots that go forward.
func robotLessons() map[string]lesson {
	return map[string]lesson{
		HalfCheetahID: {
			"Judge how well the robot runs forward, to the right.",
			[]string{follows, "Is it on its feet, or does it lie on its back or turn somersaults?", evenly},
			[]sight{
				{name: "robot", text: isAhead, forward: true, width: 2.4},
				{name: "head", text: "Ball: its head, at the front.", body: "trunk", at: [3]float64{0.55, 0, 0.1}, width: 0.8},
				{name: "legs", text: "Orange: the hind leg. Blue: body and front leg.", body: "hind-shin", at: [3]float64{0.25, 0, 0.1}, width: 1.2},
				floorSight(2.8, 1, 0, -0.4),
			},
		},
		Walker2dID: {
			"Judge how well the robot walks forward, to the right.",
			[]string{follows, "Does it stay upright, with its head up, or does it fall?", evenly},
			[]sight{
				{name: "robot", text: isAhead, forward: true, bend: walking},
				{name: "head", text: "Ball: its head, at the top while it stands.", body: "trunk", at: [3]float64{0, 0, 0.15}, width: 1},
				{name: "legs", text: "One leg is blue and one orange, so that you can tell them apart.", at: [3]float64{0, 0, -0.5}, width: 1.8, bend: walking},
				floorSight(3, 0.9, 0, -0.5),
			},
		},
		HopperID: {
			"Judge how well the robot hops forward, to the right.",
			[]string{follows, "Does it stay upright, with its head up, or does it fall?", evenly},
			[]sight{
				{name: "robot", text: isAhead, forward: true},
				{name: "head", text: "Ball: its head, at the top while it stands.", body: "trunk", at: [3]float64{0, 0, 0.15}, width: 1},
				{name: "leg", text: "Orange: its one leg and foot. Blue: its trunk.", at: [3]float64{0, 0, -0.5}, width: 1.6},
				floorSight(3, 0.9, 0, -0.5),
			},
		},
		AntID: {
			"Judge how well the robot walks forward, to the right.",
			[]string{"The picture follows the robot: the blue line and the numbers on the floor show how far it goes, and where.", "Is it on its feet, or does it lie on its back?", evenly},
			[]sight{
				{name: "robot", text: isAhead, forward: true},
				{name: "legs", text: "Orange: its front, with two legs. Blue: the two legs behind.", width: 2.6},
				{name: "trail", text: waysLine, trail: true},
				floorSight(3.8, 1, -0.7, -0.3),
			},
		},
		SwimmerID: {
			"Judge how well the robot swims forward, to the right.",
			[]string{"The picture follows the robot: the blue line and the numbers on the floor show how far it goes.", "Does it swim straight, or wind on the spot?", "Clips run faster than life."},
			[]sight{
				{name: "robot", text: isAhead, forward: true},
				{name: "head", text: "Ball: its head, at the front.", body: "front", at: [3]float64{1.2, 0, 0}, width: 1.6},
				{name: "tail", text: "Orange: the last of its three parts.", body: "rear", at: [3]float64{-0.5, 0, 0}, width: 2.4},
				{name: "trail", text: waysLine, trail: true},
				floorSight(5, 1.2, -0.8, 0),
			},
		},
	}
}

// jointLessons are of the arm and the poles, which stay where they are.
func jointLessons() map[string]lesson {
	return map[string]lesson{
		ReacherID: {
			"Judge how well the arm brings its finger to the target.",
			[]string{"Does the finger get to the ring, and how soon?", "Does it stay there until the end, where the clip stops for a moment?", "Does the arm move calmly, or does it whirl?"},
			[]sight{
				{name: "arm", text: "The arm. Its blue part turns about the middle of the table, its orange part about the joint."},
				{name: "finger", text: "Blue ball at the end of the orange part: the finger.", body: "fingertip", width: 0.16},
				{name: "target", text: "Pink dot in a pink ring: the target.", body: "target", width: 0.16},
			},
		},
		InvertedPendulumID: {
			"Judge how well the cart balances the pole.",
			[]string{"Does the pole stay upright?", "Does the cart stay near the middle of its rail?", "Does the cart move calmly, or does it jerk?"},
			[]sight{
				{name: "pole", text: "Orange: the pole. It swings about its lower end.", body: "pole", at: [3]float64{0, 0, 0.3}, width: 1.2},
				{name: "cart", text: "Blue: the cart. It moves to the left and to the right.", body: "cart", width: 1},
				{name: "rail", text: "Long bar: the rail. The cart cannot leave it."},
			},
		},
		InvertedDoublePendulumID: {
			"Judge how well the cart balances the two poles.",
			[]string{"Do both poles stay upright, or does the ball at the tip fall?", "Does the cart stay near the middle of its rail?", "Does the cart move calmly, or does it jerk?"},
			[]sight{
				{name: "poles", text: "Orange: the lower pole. Pink: the upper pole, with a ball at its tip.", body: "lower", at: [3]float64{0, 0, 0.6}, width: 2.2},
				{name: "cart", text: "Blue: the cart. It moves to the left and to the right.", body: "cart", width: 1},
				{name: "rail", text: "Long bar: the rail. The cart cannot leave it."},
			},
		},
	}
}

// corridorLessons are of the robots that go to a cell.
func corridorLessons() map[string]lesson {
	return map[string]lesson{
		SwimmerCorridorID: {
			"Judge how well the robot swims to the green cell and stays there.",
			[]string{"Does it come nearer to the goal? The line at the top of the clip says how far that is.", "At the goal, does it stay?", "Clips run faster than life."},
			append([]sight{
				{name: "robot", text: "The robot. The ball is its head, at the front; orange is its tail.", width: 4.5},
			}, corridorSights(3)...),
		},
		AntCorridorID: {
			"Judge how well the robot walks to the green cell and stays there.",
			[]string{"Does it come nearer to the goal? The line at the top of the clip says how far that is.", "At the goal, does it stay?", "Clips run faster than life."},
			append([]sight{
				{name: "robot", text: "The robot. It walks in any direction. Orange: the two legs that are on the right at the start.", width: 4.5},
			}, corridorSights(4)...),
		},
	}
}

// corridorSights are entries of the corridors, whose cells have that edge.
func corridorSights(cell float64) []sight {
	return []sight{
		{name: "pointer", text: "Pink arrow on the floor: the way to the goal. In the goal, it points at its middle.", at: [3]float64{0.3 * 2 * cell, 0.3 * cell, 0}, width: 1.3 * cell},
		{name: "goal", text: "Green cell: the goal.", at: [3]float64{cell * corridor.Goal, 0, 0}, width: 2.2 * cell},
		{name: "cells", text: "Numbers: the cells of the corridor, counted from its left end.", at: [3]float64{cell, -0.5 * cell, 0}, width: 1.2 * cell},
		{name: "trail", text: waysLine, trail: true, width: 1.3 * cell},
	}
}
