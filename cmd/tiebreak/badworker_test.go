package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/training"
)

// badCommand, and the name of a fault after it, make this program a worker with that fault.
const badCommand = "bad-worker"

// serveBadly is the main function of that worker.
func serveBadly(fault string) int {
	var h jobs.Handler = &training.Handler{Envs: envs.Catalogue}
	if fault == "lost" {
		h = forgetful{h}
	}
	if err := jobs.Serve(context.Background(), os.Stdin, &badOutput{fault: fault, to: os.Stdout}, h); err != nil {
		return 1
	}
	return 0
}

// forgetful is a handler that does not hand over the first clip.
type forgetful struct{ jobs.Handler }

func (f forgetful) Do(ctx context.Context, job record.JobRecord, to jobs.Reporter) error {
	return f.Handler.Do(ctx, job, &forgetfulReporter{Reporter: to})
}

type forgetfulReporter struct {
	jobs.Reporter
	lost bool
}

func (f *forgetfulReporter) Artefact(name string, b []byte) error {
	if !f.lost && strings.HasPrefix(name, "clip ") {
		f.lost = true
		return nil
	}
	return f.Reporter.Artefact(name, b)
}

// badOutput is the output of a worker, with a fault.
type badOutput struct {
	fault string
	to    io.Writer
	begun bool
}

// frame types of the protocol, which begin a frame.
const (
	helloFrame    = 1
	artefactFrame = 7
)

func (o *badOutput) Write(b []byte) (int, error) {
	out := bytes.Clone(b)
	switch {
	case o.fault == "version" && !o.begun && b[0] == helloFrame:
		out[len(out)-2], out[len(out)-1] = 3, 231 // 999
	case o.fault == "damaged" && len(b) > 1000: // the body of an artefact, which is written by itself
		out[len(out)-1] ^= 1
	case o.fault == "large" && b[0] == artefactFrame && len(b) == 16:
		out[4] = 1 << 7 // of the length: 2 GiB more
	}
	o.begun = true
	_, err := o.to.Write(out)
	return len(b), err
}

// TestLabellingGoesOnBesideBadWorkers: a session that has questions goes on with them
// whatever its workers do, and log and status say what is wrong.
func TestLabellingGoesOnBesideBadWorkers(t *testing.T) {
	t.Parallel()
	for fault, says := range map[string]string{
		"version": "server and worker are not of the same version; start the server again: this side speaks version 2 of the protocol of jobs, the other version 999",
		"large":   "bytes is announced; at most 16778240 are allowed",
		"damaged": "does not have the hash that it came with",
		"lost":    "was not handed over",
	} {
		t.Run(fault, func(t *testing.T) {
			s := newLabelledFolder(t)
			s.worker = []string{os.Args[0], badCommand, fault}
			log := s.serve(t, envs.Catalogue(), func(a *app, base string) {
				token := must.Get(a.auth.NewInvitation(t.Context(), s.session, 1, time.Hour))(t)
				status, _, stderr := cli(t, "simulate", "--url", base+"/join/"+token, "--answers", "7", "--seed", "5")
				if status != 0 {
					t.Errorf("simulate: status %d, %s", status, stderr)
				}
				s.failedTraining(t, a)
			})
			if !strings.Contains(log, says) {
				t.Errorf("the log does not say %q:\n%s", says, log)
			}
			if _, export, _ := cli(t, "export", "--data", s.dir, "--session", string(s.session)); strings.Count(export, "\n") != 14 {
				t.Errorf("the export has not 14 lines:\n%s", export)
			}
		})
	}
}

// failedTraining returns when the status of the session says that a training failed.
func (s labelledFolder) failedTraining(t *testing.T, a *app) {
	t.Helper()
	news := make(chan struct{}, 1)
	defer a.hub.Subscribe(s.session, func(live.Event) {
		select {
		case news <- struct{}{}:
		default:
		}
	})()
	live := must.Get(a.manager.Session(t.Context(), s.session))(t)
	for {
		st := must.Get(live.Status(t.Context()))(t)
		if strings.Contains(st.Training.Err, "Training failed; trying again in") {
			return
		}
		waittest.For(t, news, "a training that fails")
	}
}
