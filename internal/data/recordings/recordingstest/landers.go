package recordingstest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// LanderTaste is a reward of the features of Landers under which "lands" is the best policy per
// step: distance from the pad, tilt and speed all cost. Over whole episodes "falls" costs least,
// because it is over soonest.
var LanderTaste = []float64{-1, -1, -0.2}

// Landers writes 16 rollouts into folder as 'tiebreak import --rollouts' takes them, four of each
// of four policies: "lands" comes down on the pad, upright, in 380 to 440 steps; "falls" crashes after 72; "spins"
// after 150, and "hovers" stays above the pad for 400. Clips have 50 steps. At most so many steps
// are written of each; 0: all.
func Landers(folder string, most int) error {
	type rollout struct {
		Name   string `json:"name"`
		Policy string `json:"policy"`
	}
	manifest := map[string]any{
		"format": "tiebreak.rollouts", "version": 1, "title": "Landers", "step_seconds": 0.02, "clip_steps": 50,
		"features": []string{"distance", "tilt", "speed"},
	}
	var list []rollout
	for k := range 16 {
		policy := []string{"lands", "falls", "spins", "hovers"}[k%4]
		r := rollout{fmt.Sprintf("r%d", k), policy}
		list = append(list, r)
		if err := lander(filepath.Join(folder, r.Name), policy, k/4, most); err != nil {
			return err
		}
	}
	manifest["rollouts"] = list
	return writeJSON(filepath.Join(folder, "rollouts.json"), manifest)
}

// A pose is a state of a lander: metres from the pad, and radians from upright.
type pose struct{ x, y, tilt float64 }

// poses returns the states of rollout n of a policy.
func poses(policy string, n int) (out []pose) {
	steps := map[string]int{"lands": 380 + 20*n, "falls": 72, "spins": 150, "hovers": 400}[policy]
	side := 0.2 + 0.05*float64(n)
	for t := range steps + 1 {
		at := float64(t) / float64(steps) // of the episode
		wave := math.Sin(float64(t)/9 + float64(n))
		switch policy {
		case "lands":
			out = append(out, pose{side * (1 - at), 1.4 * math.Pow(1-at, 1.5), 0.08 * (1 - at) * wave})
		case "falls":
			out = append(out, pose{side + 0.5*at, 1.4 * (1 - at*at), 0.2 + 1.2*at})
		case "spins":
			out = append(out, pose{side - 0.9*at, 1.4 - 1.3*at + 0.1*wave, 0.9 + 0.4*wave})
		default:
			out = append(out, pose{side + 0.1*wave, 1 + 0.05*wave, 0.15 + 0.1*wave})
		}
	}
	return out
}

// lander writes the rollout of a policy: its features, and a scene for each state.
func lander(folder, policy string, n, most int) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	all := poses(policy, n)
	if most > 0 && len(all) > most+1 {
		all = all[:most+1]
	}
	var features []float64
	var scenes []any
	for t, p := range all {
		if t > 0 {
			speed := 50 * math.Hypot(p.x-all[t-1].x, p.y-all[t-1].y)
			features = append(features, math.Hypot(p.x, p.y), math.Abs(p.tilt), speed)
		}
		dx, dy := 0.15*math.Cos(p.tilt), 0.15*math.Sin(p.tilt)
		scenes = append(scenes, map[string]any{
			"camera": map[string]any{"x": 0, "y": 0.7, "w": 3, "h": 1.8},
			"static": []any{map[string]any{"kind": "line", "paint": "mark", "size": 0.03, "points": []float64{-0.2, 0, 0.2, 0}}},
			"moving": []any{
				map[string]any{"kind": "line", "paint": "agent", "size": 0.06, "points": []float64{p.x - dx, p.y - dy, p.x + dx, p.y + dy}},
				map[string]any{"kind": "circle", "paint": "agent", "size": 0.07, "points": []float64{p.x, p.y}},
			},
		})
	}
	if err := writeJSON(folder+".scene.json", scenes); err != nil {
		return err
	}
	return writeFeatures(folder, features, 3)
}

func writeJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}
