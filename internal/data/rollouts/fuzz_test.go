package rollouts_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tiebreak/internal/data/rollouts"
	"tiebreak/internal/idrl"
)

// FuzzTrajectories: an upload is refused with an error of kind Invalid, or makes a clip for each trajectory.
func FuzzTrajectories(f *testing.F) {
	f.Add(`{"trajectories":[{"observations":[[0],[1]],"actions":[[1]],"features":[[1,2]],"step_seconds":0.1,"scenes":[[{"circle":[0,0,1]}],[{"circle":[1,0,1]}]]}]}`)
	f.Add(`{"trajectories":[{"observations":[[0],[1]],"actions":[[1]],"features":[[1,2]],"step_seconds":0.1,"pictures":["iVBORw0KGgo=","AA"]}]}`)
	f.Add(`{"trajectories":[{"name":"\u202e","features":[[1e999]]}]}`)
	f.Add(`{"trajectories":[{}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		var upload struct {
			Trajectories []rollouts.Trajectory `json:"trajectories"`
		}
		if json.NewDecoder(rollouts.Limited(strings.NewReader(body))).Decode(&upload) != nil {
			return
		}
		g, clips, err := rollouts.Read(t.Context(), spec, upload.Trajectories, alone)
		switch {
		case err != nil && idrl.KindOf(err) != idrl.Invalid:
			t.Errorf("%s: %v", body, err)
		case err == nil && (len(clips) != len(upload.Trajectories) || len(g.Clips) == 0):
			t.Errorf("%s: %d clips of %d trajectories", body, len(clips), len(upload.Trajectories))
		}
	})
}
