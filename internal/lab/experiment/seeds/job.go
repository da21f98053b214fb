package seeds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"
	"tiebreak/internal/train/jobs"
)

// Kind is the kind of the jobs, and the name of the artefact that each hands over.
const Kind = "seed"

// workOfSeed is the processor time that a job is taken to need before one like it was done.
const workOfSeed = 30 * time.Second

// A request is the payload of a job: an experiment with one seed and the methods whose runs are
// missing.
type request struct {
	Config      []byte // the experiment.Config as JSON
	Task        []byte // text of the file of a user's own task; empty for a figure
	Fingerprint string // report.Fingerprint of the experiment
}

// A result is the artefact of a job: of each method, in the order of the request, the bytes that are
// kept of its run (report.EncodeRun).
type result struct{ Runs [][]byte }

// encodeRequest returns the payload for the only seed of e. It returns an error of kind Invalid if e
// is about a task that was not read from a file.
func encodeRequest(e experiment.Experiment) ([]byte, error) {
	req := request{Fingerprint: report.Fingerprint(e)}
	if e.Task != nil {
		if req.Task = e.Task.Text(); len(req.Task) == 0 {
			return nil, idrl.Errorf(idrl.Invalid, "workers can compute the runs of a task only if it was read from a file")
		}
	}
	var err error
	if req.Config, err = json.Marshal(e.Config); err != nil {
		return nil, err
	}
	return pack.Encode(&req)
}

// decodeRequest returns the experiment of a payload. Its errors are of kind Invalid; of kind
// Unavailable if this program cannot compute its runs.
func decodeRequest(payload []byte) (experiment.Experiment, error) {
	c, want, err := readRequest(payload)
	if err != nil {
		return experiment.Experiment{}, errVersion(err)
	}
	e, err := c.Validate()
	if err != nil {
		return e, err
	}
	switch {
	case e.Seeds != 1:
		return e, idrl.Errorf(idrl.Invalid, "a job is about one seed of an experiment, and this one about %d", e.Seeds)
	case report.Fingerprint(e) != want:
		return e, errVersion(fmt.Errorf("this version of the program has another experiment %s", e.Name()))
	case e.Task != nil:
		return e, nil
	}
	f, err := experiment.FindFigure(e.Figure)
	if err != nil {
		return e, err
	}
	return e, f.Available()
}

// readRequest returns what is in a payload, with the fingerprint that the experiment must have.
func readRequest(payload []byte) (c experiment.Config, fingerprint string, err error) {
	req, err := pack.Decode[request](payload)
	if err != nil {
		return c, "", err
	}
	dec := json.NewDecoder(bytes.NewReader(req.Config))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, "", err
	}
	if len(req.Task) > 0 {
		c.Task, err = experiment.ReadTask(bytes.NewReader(req.Task))
	}
	return c, req.Fingerprint, err
}

// processor is what all runs need, and engine what those of robots do: numbers come out the same only there. engine is empty
// where there is no MuJoCo.
func processor() string { return "processor " + runtime.GOARCH }
func engine() string    { return envs.Catalogue().Engine("swimmer-corridor") }

// needs returns what a worker must have for runs of e.
func needs(e experiment.Experiment) []string {
	out := []string{processor()}
	if f, err := experiment.FindFigure(e.Figure); e.Task == nil && err == nil && f.Robot() {
		out = append(out, engine())
	}
	return out
}

// Has returns what this program has of what runs need.
func Has() []string {
	out := []string{processor()}
	if name := engine(); name != "" {
		out = append(out, name)
	}
	return out
}

// errVersion says what to do about a payload that cannot be read.
func errVersion(err error) error {
	return idrl.Errorf(idrl.Invalid, "this worker cannot compute the runs of the seed: %v; start workers of the version of the program that asks for them", err)
}

// encodeResult returns the artefact with the runs of the methods of e on its only seed.
func encodeResult(e experiment.Experiment, runs []experiment.Run) ([]byte, error) {
	out := result{Runs: make([][]byte, len(runs))}
	for i, r := range runs {
		var err error
		if out.Runs[i], err = report.EncodeRun(e, e.Methods[i], e.FirstSeed, r); err != nil {
			return nil, err
		}
	}
	return pack.Encode(&out)
}

// decodeResult is the inverse of encodeResult. It returns an error unless the bytes are those of runs
// of e.
func decodeResult(e experiment.Experiment, b []byte) ([]experiment.Run, error) {
	in, err := pack.Decode[result](b)
	if err != nil {
		return nil, err
	}
	if len(in.Runs) != len(e.Methods) {
		return nil, fmt.Errorf("there are %d runs of %d methods", len(in.Runs), len(e.Methods))
	}
	out := make([]experiment.Run, len(in.Runs))
	for i, data := range in.Runs {
		if out[i], err = report.DecodeRun(e, e.Methods[i], e.FirstSeed, data); err != nil {
			return nil, fmt.Errorf("the run of %s: %w", e.Methods[i], err)
		}
	}
	return out, nil
}

// By returns the Elsewhere of experiment.Options whose runs the jobs of a batch compute. Its errors
// are those of jobs.Batch.Do.
func By(batch *jobs.Batch) func(context.Context, experiment.Experiment, idrl.Progress) ([]experiment.Run, error) {
	return func(ctx context.Context, e experiment.Experiment, told idrl.Progress) ([]experiment.Run, error) {
		payload, err := encodeRequest(e)
		if err != nil {
			return nil, err
		}
		job := jobs.Job{JobKey: record.JobKey{Kind: Kind}, Like: Kind + " " + e.Name(), Work: workOfSeed, Payload: payload, Needs: needs(e)}
		var runs []experiment.Run
		err = batch.Do(ctx, job, Kind, func(p jobs.Progress) { told(p.Done, p.Total, p.What) }, func(b []byte) (err error) {
			runs, err = decodeResult(e, b)
			return err
		})
		return runs, err
	}
}
