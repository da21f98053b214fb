package training

import (
	"crypto/sha256"

	"tiebreak/internal/idrl"
	"tiebreak/internal/pack"
)

// trainKind is the kind of training jobs.
const trainKind = "train"

// A request is the payload of a training job.
type request struct {
	Spec    idrl.SessionSpec
	BasedOn int64
	Belief  []byte // of Model
	Warm    [][]float64
	First   bool
}

// encodeRequest returns the payload of a training of a session.
func encodeRequest(m idrl.RewardModel, spec idrl.SessionSpec, job idrl.TrainJob) ([]byte, error) {
	if job.Features != nil {
		return nil, idrl.Errorf(idrl.Invalid, "workers of this version cannot train under learnt features (version %d)", job.Features.Version())
	}
	b, err := m.Encode(job.Posterior)
	if err != nil {
		return nil, err
	}
	return pack.Encode(&request{Spec: spec, BasedOn: job.BasedOn, Belief: b, Warm: job.Warm, First: job.First})
}

// decodeRequest returns an error of kind Invalid if the payload is none of a training of
// that name.
func decodeRequest(key idrl.JobKey, payload []byte) (request, error) {
	req, err := pack.Decode[request](payload)
	switch {
	case key.Kind != trainKind:
		return request{}, idrl.Errorf(idrl.Invalid, "unknown kind of job %q", key.Kind)
	case err != nil:
		return request{}, idrl.Errorf(idrl.Invalid, "the payload of training %d of session %s cannot be read: %v", key.BasedOn, key.Session, err)
	case req.Spec.ID != key.Session || req.BasedOn != key.BasedOn:
		return request{}, idrl.Errorf(idrl.Invalid, "the payload of training %d of session %s is that of training %d of session %s", key.BasedOn, key.Session, req.BasedOn, req.Spec.ID)
	}
	return req, nil
}

// A checkpoint is where a training goes on.
type checkpoint struct {
	Payload [sha256.Size]byte // hash of the payload that it belongs to
	State   idrl.TrainState
}
