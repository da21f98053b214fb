package training

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/neural"
	"tiebreak/internal/train/jobs"
)

// fitKind is the kind of jobs that learn features. They save no checkpoints: a fit takes
// seconds.
const fitKind = "fit"

// fitWork is the processor time that a fit is taken to need before there was one.
const fitWork = 5 * time.Second

// featuresName is the name of the artefact that ends a fit.
const featuresName = "features"

// Learner returns what learns the features of a session; nil where those of its
// environment are used. It returns an error of kind Invalid if the session cannot have a
// learnt model.
func Learner(list envs.List, spec idrl.SessionSpec) (idrl.FeatureLearner, error) {
	if spec.Model != idrl.NetworkModel {
		return nil, nil
	}
	env, err := Environment(list, spec)
	if err != nil {
		return nil, err
	}
	if spec := env.Spec(); spec.Actions.Num > 0 {
		return nil, idrl.Errorf(idrl.Invalid, "the model %q needs an environment with continuous actions, for which policies are trained by soft actor-critic; "+
			"those of %q are discrete. Use the model %q", idrl.NetworkModel, spec.ID, idrl.FeaturesModel)
	}
	return neural.LearnerFor(spec, env)
}

// A fitRequest is the payload of a fit. Clips are stored once, without the features of
// the environment, which a network does not read.
type fitRequest struct {
	Spec    idrl.SessionSpec
	BasedOn int64 // last row of the log that an answer is from
	Version int64
	Seed    uint64
	Queries []idrl.Query
	Answers []idrl.Answer
	Clips   []idrl.Steps
	Shown   [][]int // Shown[i][j]: place in Clips of Queries[i].Clips[j]

	Recorded bool // the request is the one that is recorded, without answers and clips, which only the worker gets
}

// maxFit is how many bytes of raw steps a fit may take: about as many as fit into the
// payload of a job. That is some 3,000 clips of 50 steps of HalfCheetah.
const maxFit = 14 << 20

// newFitRequest returns the payload of a fit. Of more answers than a payload can hold, the
// newest are taken.
func newFitRequest(spec idrl.SessionSpec, d idrl.Dataset, version int64, seed uint64) fitRequest {
	r := fitRequest{Spec: spec, Version: version, Seed: seed}
	places, size, from := map[idrl.ClipID]int{}, 0, len(d.Answers)
	for ; from > 0; from-- {
		for j, id := range d.Queries[from-1].Clips {
			if _, known := places[id]; !known {
				places[id] = -1
				size += stepsBytes(d.Shown[from-1][j])
			}
		}
		if size > maxFit {
			break
		}
	}
	clear(places)
	r.Queries, r.Answers = d.Queries[from:], d.Answers[from:]
	for i, q := range r.Queries {
		var shown []int
		for j, id := range q.Clips {
			k, known := places[id]
			if !known {
				k = len(r.Clips)
				places[id] = k
				s := d.Shown[from+i][j]
				s.Phi = nil
				r.Clips = append(r.Clips, s)
			}
			shown = append(shown, k)
		}
		r.Shown = append(r.Shown, shown)
	}
	for _, a := range r.Answers {
		r.BasedOn = max(r.BasedOn, a.Seq)
	}
	return r
}

// stepsBytes returns about how many bytes raw steps take in a payload.
func stepsBytes(s idrl.Steps) int {
	n := 64
	for _, row := range slices.Concat(s.Obs, s.Actions) {
		n += 4*len(row) + 2
	}
	return n
}

// dataset is the inverse of newFitRequest, but for the features of the environment.
func (r *fitRequest) dataset() (idrl.Dataset, error) {
	d := idrl.Dataset{Queries: r.Queries, Answers: r.Answers}
	for i, places := range r.Shown {
		if i >= len(r.Queries) || len(places) != len(r.Queries[i].Clips) {
			return d, errors.New("the clips of a fit are not those of its questions")
		}
		var shown []idrl.Steps
		for _, k := range places {
			if k < 0 || k >= len(r.Clips) || len(r.Clips[k].Obs) != r.Clips[k].Len()+1 {
				return d, errors.New("a clip of a fit is missing or has no steps")
			}
			shown = append(shown, r.Clips[k])
		}
		d.Shown = append(d.Shown, shown)
	}
	if len(d.Queries) != len(d.Answers) || len(d.Shown) != len(d.Queries) {
		return d, errors.New("a fit has not as many answers as questions")
	}
	return d, nil
}

// A Fitter is a FeatureLearner that has workers learn. Its Open is that of the learner.
type Fitter struct {
	idrl.FeatureLearner                  // required; Learner(…, Spec)
	Jobs                Dispatcher       // required
	Spec                idrl.SessionSpec // of the session
	Travel              Travel           // Elsewhere(…, Spec)
}

var _ idrl.FeatureLearner = Fitter{}

// Learn implements idrl.FeatureLearner. The bytes are those of the learner itself, but
// where the answers are more than a payload holds: then the newest count. Where people
// wait for the features, in sessions that adopt them at a fixed row, the job is urgent.
func (f Fitter) Learn(ctx context.Context, d idrl.Dataset, version int64, seed uint64) ([]byte, error) {
	req := newFitRequest(f.Spec, d, version, seed)
	recorded, err := pack.Encode(&fitRequest{Spec: f.Spec, BasedOn: req.BasedOn, Version: version, Seed: seed, Recorded: true})
	if err != nil {
		return nil, err
	}
	job := jobs.Job{
		JobKey: record.JobKey{Session: f.Spec.ID, Kind: fitKind, BasedOn: req.BasedOn},
		Like:   fitKind + " " + f.Spec.Env, Work: fitWork, Payload: recorded,
		Make:  func(context.Context) ([]byte, error) { return pack.Encode(&req) },
		Needs: f.Travel.Needs, Files: f.Travel.Files,
	}
	if f.Spec.AdoptAfter > 0 {
		job.Priority = record.Urgent
	}
	var content []byte
	for e, err := range f.Jobs.Start(ctx, job) {
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case jobs.Began:
			content = nil
		case jobs.Artefact:
			if e.Name == featuresName {
				content = e.Bytes
			}
		case jobs.Done:
			if content == nil {
				err := fmt.Errorf("the worker handed over no features of version %d", version)
				e.Reject(err)
				return nil, err
			}
			return content, nil
		}
	}
	return nil, errors.New("the stream of a fit has no end")
}

// fit learns features in a worker.
func (h *Handler) fit(ctx context.Context, job record.JobRecord, to jobs.Reporter) error {
	req, err := pack.Decode[fitRequest](job.Payload)
	var d idrl.Dataset
	if req.Recorded {
		return errRecorded(job.JobKey)
	}
	if err == nil {
		d, err = req.dataset()
	}
	if err == nil && (req.Spec.ID != job.Session || req.BasedOn != job.BasedOn) {
		err = fmt.Errorf("it is of fit %d of session %s", req.BasedOn, req.Spec.ID)
	}
	if err != nil {
		return idrl.Errorf(idrl.Invalid, "the payload of fit %d of session %s cannot be read: %v", job.BasedOn, job.Session, err)
	}
	l, err := Learner(h.Envs(), req.Spec)
	if err == nil && l == nil {
		err = idrl.Errorf(idrl.Invalid, "session %s has no features to be learnt", job.Session)
	}
	if err != nil {
		return err
	}
	to.Progress(0, 1, fmt.Sprintf("fitting the reward network to %d answers", len(d.Answers)))
	content, err := l.Learn(ctx, d, req.Version, req.Seed)
	if err != nil {
		return err
	}
	return to.Artefact(featuresName, content)
}
