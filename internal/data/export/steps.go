package export

import (
	"encoding/json"
	"io"

	"tiebreak/internal/idrl"
)

// StepsFormat is the name of the format that WriteSteps writes.
const StepsFormat = "steps"

// rawSteps is a line of WriteSteps. docs/datasets.md describes the fields.
type rawSteps struct {
	ID           idrl.StepsID `json:"steps_id"`
	Env          string       `json:"env"`
	Version      int          `json:"env_version"`
	Seed         uint64       `json:"seed"`
	Episode      uint64       `json:"episode"`
	Observations [][]float32  `json:"observations"`
	Actions      [][]float32  `json:"actions"`
	Features     [][]float64  `json:"features"`
	Terminated   bool         `json:"terminated"`
}

// WriteSteps writes the raw steps of a trajectory as a line of JSON. The result is a
// function of the arguments, to the byte.
func WriteSteps(w io.Writer, id idrl.StepsID, s idrl.Steps) error {
	b, err := json.Marshal(rawSteps{
		ID: id, Env: s.Env, Version: s.Version, Seed: s.Seed, Episode: s.Episode,
		Observations: s.Obs, Actions: s.Actions, Features: s.Phi, Terminated: s.End == idrl.Terminated,
	})
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
