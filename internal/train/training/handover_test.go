package training

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"
)

// prepared is a handler that hands over a generation that is ready.
type prepared idrl.Generation

func (prepared) Forget(idrl.SessionID) {}

func (g prepared) Do(_ context.Context, _ record.JobRecord, to jobs.Reporter) error {
	return (&sender{to: to}).generation(idrl.Generation(g))
}

// weighing is a reporter that counts the bytes of artefacts.
type weighing struct {
	jobs.Reporter
	bytes int
}

func (w *weighing) Artefact(_ string, b []byte) error {
	w.bytes += len(b)
	return nil
}

// BenchmarkHandOver measures the handing over of a generation that is ready, both sides
// together, in memory: hashes, and the manifest. JSON is what it would be without
// package pack, with every clip in base64.
//
//	bytes  of a first generation
func BenchmarkHandOver(b *testing.B) {
	names := []string{"gridworld", "driver"}
	if mujoco.Unavailable() == nil {
		names = append(names, "half-cheetah", "ant")
	}
	for _, name := range names {
		g := firstGeneration(b, name)
		text := must.Get(json.Marshal(g))(b)
		b.Run(fmt.Sprintf("%s/json", name), func(b *testing.B) {
			for b.Loop() {
				var got idrl.Generation
				must.Do(b, json.Unmarshal(text, &got))
			}
			b.ReportMetric(float64(len(text)), "bytes")
		})
		var w weighing
		must.Do(b, (&sender{to: &w}).generation(g))
		b.Run(fmt.Sprintf("%s/frames", name), func(b *testing.B) {
			r := &Remote{Jobs: jobstest.Memory{Store: &jobstest.Store{}, Handler: prepared(g)}, Records: records{&jobstest.Store{}, nil}, Model: threeWeights}
			job := idrl.TrainJob{Posterior: belief.Isotropic(2, 1)}
			for b.Loop() {
				must.Get(r.Train(b.Context(), job))(b)
			}
			b.ReportMetric(float64(w.bytes), "bytes")
		})
	}
}

// firstGeneration returns that of a session without what stays in the worker.
func firstGeneration(b *testing.B, env string) idrl.Generation {
	b.Helper()
	spec := settings.Complete(idrl.SessionSpec{ID: "s1", Env: env, Seed: 1})
	e := must.Get(Environment(envs.Catalogue(), spec))(b)
	t := must.Get(New(envs.Catalogue(), spec))(b)
	g := must.Get(t.Train(b.Context(), idrl.TrainJob{Posterior: belief.Isotropic(e.Spec().FeatureDim(), 1), Seed: 1, First: true}))(b)
	for k := range g.Candidates {
		g.Candidates[k].Policy = nil
	}
	for id, c := range g.Clips {
		c.Snapshots = nil
		g.Clips[id] = c
	}
	return g
}
