package training

import (
	"crypto/sha256"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/neural"
)

// trainKind is the kind of training jobs.
const trainKind = "train"

// A request is the payload of a training job.
type request struct {
	Spec    idrl.SessionSpec
	BasedOn int64
	Belief  []byte // of Model, or of the model of the learnt features
	Warm    [][]float64
	First   bool
	Last    bool
	From    int

	Version  int64             // of the learnt features; 0 for those of the environment
	Features []byte            // the learnt features, encoded
	Agents   map[string][]byte // that are kept, as far as this training goes on with them
	Recorded bool              // the request is the one that is recorded, without the agents, which only the worker gets
}

// newRequest returns the request for a training of a session, without the states of its agents.
func newRequest(m idrl.RewardModel, spec idrl.SessionSpec, job idrl.TrainJob) (req request, err error) {
	req = request{Spec: spec, BasedOn: job.BasedOn, Warm: job.Warm, First: job.First, Last: job.Last, From: job.From}
	if job.Features != nil {
		learnt, ok := job.Features.(neural.Representation)
		if !ok {
			return req, idrl.Errorf(idrl.Invalid, "workers cannot train under features of type %T", job.Features)
		}
		m, req.Version, req.Warm = learnt.RewardModel(), learnt.Version(), nil
		if req.Features, err = learnt.Model.Encode(); err != nil {
			return req, err
		}
	}
	req.Belief, err = m.Encode(job.Posterior)
	return req, err
}

// decodeRequest returns an error of kind Invalid if the payload is none of a training of
// that name.
func decodeRequest(key record.JobKey, payload []byte) (request, error) {
	req, err := pack.Decode[request](payload)
	switch {
	case key.Kind != trainKind:
		return request{}, idrl.Errorf(idrl.Invalid, "unknown kind of job %q", key.Kind)
	case err != nil:
		return request{}, idrl.Errorf(idrl.Invalid, "the payload of training %d of session %s cannot be read: %v", key.BasedOn, key.Session, err)
	case req.Recorded:
		return request{}, errRecorded(key)
	case req.Spec.ID != key.Session || req.BasedOn != key.BasedOn:
		return request{}, idrl.Errorf(idrl.Invalid, "the payload of training %d of session %s is that of training %d of session %s", key.BasedOn, key.Session, req.BasedOn, req.Spec.ID)
	}
	return req, nil
}

// errRecorded says that a worker was given what is recorded of a job, which leaves out
// what the server has elsewhere.
func errRecorded(key record.JobKey) error {
	return idrl.Errorf(idrl.Invalid, "the payload of %s %d of session %s is only what is recorded of it", key.Kind, key.BasedOn, key.Session)
}

// A checkpoint is where a training goes on.
type checkpoint struct {
	Payload [sha256.Size]byte // hash of the payload that it belongs to
	State   idrl.TrainState
}
