package training

import (
	"encoding/json"
	"fmt"

	"tiebreak/internal/belief"
	"tiebreak/internal/idrl"
)

// request is what a worker process is told to do.
type request struct {
	Spec    idrl.SessionSpec
	BasedOn int64
	Belief  []byte
	Warm    [][]float64
}

// encodeRequest turns a training job of a session into the bytes for a worker.
func encodeRequest(spec idrl.SessionSpec, job idrl.TrainJob) ([]byte, error) {
	b, err := belief.Codec{}.EncodeBelief(job.Posterior)
	if err != nil {
		return nil, err
	}
	return json.Marshal(request{Spec: spec, BasedOn: job.BasedOn, Belief: b, Warm: job.Warm})
}

// encodeGeneration leaves out what the server does not need: the policies'
// code, and the snapshots that the clips were drawn from.
func encodeGeneration(g idrl.Generation) ([]byte, error) {
	clips := make(map[idrl.ClipID]idrl.Clip, len(g.Clips))
	for id, c := range g.Clips {
		c.Snapshots = nil
		clips[id] = c
	}
	cands := make([]idrl.Candidate, len(g.Candidates))
	for i, c := range g.Candidates {
		c.Policy = nil
		cands[i] = c
	}
	g.Clips, g.Candidates = clips, cands
	return json.Marshal(g)
}

func decodeGeneration(b []byte) (g idrl.Generation, err error) {
	if err := json.Unmarshal(b, &g); err != nil {
		return idrl.Generation{}, fmt.Errorf("decode the generation: %w", err)
	}
	return g, nil
}
