package recordingstest

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// Reachers are rollouts of an arm's hand that goes to the place of a task: policy k of n comes the nearer the greater k is.
type Reachers struct {
	Policies []string
	Tasks    []string // empty: the rollouts name none
	Each     int      // rollouts of each policy in each task
	Matched  int      // of so many tasks, the first ones, the rollouts say how they start
}

// ReacherTaste is a reward of the feature of Reachers: the distance costs.
var ReacherTaste = []float64{-1, 0}

// Write writes the rollouts into folder as 'tiebreak import --rollouts' takes them: 20 steps each, which are one clip.
func (r Reachers) Write(folder string) error {
	type rollout struct {
		Name   string `json:"name"`
		Policy string `json:"policy"`
		Task   string `json:"task,omitempty"`
		Start  string `json:"start,omitempty"`
	}
	var list []rollout
	tasks := r.Tasks
	if len(tasks) == 0 {
		tasks = []string{""}
	}
	for k, policy := range r.Policies {
		for t, task := range tasks {
			for n := range r.Each {
				one := rollout{Name: fmt.Sprintf("r%d-%d-%d", k, t, n), Policy: policy, Task: task}
				if t < r.Matched {
					one.Start = fmt.Sprintf("seed %d", n)
				}
				list = append(list, one)
				share := (float64(k) + 1) / float64(len(r.Policies)+1)
				if err := reacher(filepath.Join(folder, one.Name), share, t, n); err != nil {
					return err
				}
			}
		}
	}
	return writeJSON(filepath.Join(folder, "rollouts.json"), map[string]any{
		"format": "tiebreak.rollouts", "version": 1, "title": "Reaching", "step_seconds": 0.1, "clip_steps": 20,
		"features": []string{"distance", "speed"}, "rollouts": list,
	})
}

// reacher writes rollout n of a policy that goes a share of the way in task t.
func reacher(folder string, share float64, t, n int) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	const steps = 20
	angle := 1.1*float64(t) + 0.5
	goal := [2]float64{1.2 * math.Cos(angle), 1.2 * math.Sin(angle)}
	begin := [2]float64{0.3 * math.Cos(float64(n)), 0.3 * math.Sin(float64(n))}
	var features []float64
	var scenes []any
	for s := range steps + 1 {
		way := share * (0.9 + 0.05*float64(n%3)) * float64(s) / steps
		x, y := begin[0]+way*(goal[0]-begin[0]), begin[1]+way*(goal[1]-begin[1])
		y += 0.1 * math.Sin(float64(s+7*n)/3)
		if s > 0 {
			features = append(features, math.Hypot(x-goal[0], y-goal[1]), share*(1+0.1*float64(n)))
		}
		scenes = append(scenes, map[string]any{
			"camera": map[string]any{"x": 0, "y": 0, "w": 4, "h": 3},
			"static": []any{map[string]any{"kind": "circle", "paint": "mark", "size": 0.15, "points": goal[:]}},
			"moving": []any{map[string]any{"kind": "circle", "paint": "agent", "size": 0.12, "points": []float64{x, y}}},
		})
	}
	if err := writeJSON(folder+".scene.json", scenes); err != nil {
		return err
	}
	return writeFeatures(folder, features, 2)
}

// writeFeatures writes the array of features of a rollout, in rows of d.
func writeFeatures(folder string, features []float64, d int) error {
	head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }\n", len(features)/d, d)
	b := append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head))), head...) // #nosec G115 -- a short line
	b, err := binary.Append(b, binary.LittleEndian, features)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "features.npy"), b, 0o600)
}
