package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/internal/learn/neural"
	"tiebreak/internal/session"
	"tiebreak/internal/train/training"
)

// BenchmarkAnswersBesideTraining measures what a training in a worker costs those who
// label meanwhile: eight annotators of a session that trains no more reply at a
// steady pace, in turns without and with a training of half-cheetah (driver, without
// MuJoCo) under way, so that both meet the same load of the machine.
//
//	calm-p50-ms, calm-p99-ms    from sending an answer to its acknowledgement
//	beside-p50-ms, beside-p99-ms  while the training is under way
//	p50-ratio, p99-ratio        the second to the first
//	generations                 that the training made
func BenchmarkAnswersBesideTraining(b *testing.B) { answersBeside(b, 2*time.Second, 0, trainBeside) }

// BenchmarkAnswersBesideNetwork is BenchmarkAnswersBesideTraining with trainings of agents
// for a reward network. A turn ends when a generation was recorded within it, with the
// checkpoints of two agents, 10 MB, which the next job gets; the turn without is as long.
func BenchmarkAnswersBesideNetwork(b *testing.B) {
	answersBeside(b, 10*time.Second, 1, trainAgentsBeside)
}

// answersBeside measures turns of at least that long, in which at least so many generations are recorded.
func answersBeside(b *testing.B, turn time.Duration, least int64, train func(b *testing.B, a *app) (made *atomic.Int64, stop func())) {
	b.Helper()
	l := load{env: "gridworld", sessions: 2, each: 4, trainEvery: 1 << 30, think: 20 * time.Millisecond}
	a, labellers := l.openOn(b)
	var calm, beside []time.Duration
	generations := int64(0)
	for b.Loop() {
		began := time.Now()
		made, stop := train(b, a)
		beside = append(beside, labelFor(b, labellers, func() bool { return time.Since(began) < turn || made.Load() < least })...)
		took := time.Since(began)
		stop()
		generations += made.Load()
		began = time.Now()
		calm = append(calm, labelFor(b, labellers, func() bool { return time.Since(began) < took })...)
	}
	b.ReportMetric(float64(generations), "generations")
	slices.Sort(calm)
	slices.Sort(beside)
	for name, q := range map[string]float64{"p50": 0.5, "p99": 0.99} {
		ms := func(waits []time.Duration) float64 {
			return float64(waits[int(q*float64(len(waits)-1))].Microseconds()) / 1000
		}
		b.ReportMetric(ms(calm), "calm-"+name+"-ms")
		b.ReportMetric(ms(beside), "beside-"+name+"-ms")
		b.ReportMetric(ms(beside)/ms(calm), name+"-ratio")
	}
	b.ReportMetric(float64(len(calm)+len(beside)), "answers")
}

// labelFor lets every labeller reply while goOn and returns their waits.
func labelFor(b *testing.B, labellers []*loadtest.Labeller, goOn func() bool) (waits []time.Duration) {
	b.Helper()
	var wg sync.WaitGroup
	for _, l := range labellers {
		l.Waits = nil
		wg.Go(func() {
			for goOn() {
				if err := l.GoOn(len(l.Acked) + 1); err != nil { // without a hello for each, of which the server takes few
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, l := range labellers {
		waits = append(waits, l.Waits...)
	}
	if b.Failed() {
		b.FailNow()
	}
	return waits
}

// trainBeside has a worker train, again and again, until stop is called, and counts the
// generations; it returns when the worker is solving.
func trainBeside(b *testing.B, a *app) (made *atomic.Int64, stop func()) {
	b.Helper()
	spec, cfg := sessionBeside(b, a, idrl.FeaturesModel)
	job := idrl.TrainJob{Posterior: cfg.Model.Prior(), Seed: spec.Seed}
	return trainAgain(b, a, spec, cfg, job)
}

// trainAgentsBeside is trainBeside for a reward network.
func trainAgentsBeside(b *testing.B, a *app) (made *atomic.Int64, stop func()) {
	b.Helper()
	spec, cfg := sessionBeside(b, a, idrl.NetworkModel)
	env, err := training.Environment(a.envs(), spec)
	if err != nil {
		b.Fatal(err)
	}
	content, err := cfg.Learner.Learn(b.Context(), randomAnswers(env.Spec(), 12), 1, 1)
	if err != nil {
		b.Fatal(err)
	}
	rep, _, err := cfg.Learner.Open(1, content)
	if err != nil {
		b.Fatal(err)
	}
	learnt, ok := rep.(neural.Representation)
	if !ok {
		b.Fatalf("features of type %T", rep)
	}
	return trainAgain(b, a, spec, cfg, idrl.TrainJob{Posterior: learnt.Model.Posterior(), Features: rep, Seed: spec.Seed})
}

// randomAnswers returns comparisons of clips with random observations and actions.
func randomAnswers(spec idrl.EnvSpec, n int) (d idrl.Dataset) {
	stream := rng.New(1, "random clips", 0)
	rows := func(n, width int) [][]float32 {
		out := make([][]float32, n)
		for i := range out {
			out[i] = make([]float32, width)
			for k := range out[i] {
				out[i][k] = float32(stream.NormFloat64())
			}
		}
		return out
	}
	for range n {
		var shown []idrl.Steps
		for range 2 {
			shown = append(shown, idrl.Steps{Obs: rows(41, spec.ObsDim), Actions: rows(40, spec.Actions.Dim())})
		}
		d.Shown = append(d.Shown, shown)
		d.Queries = append(d.Queries, idrl.Query{Kind: idrl.CompareClips, Clips: []idrl.ClipID{"a", "b"}})
		d.Answers = append(d.Answers, idrl.Answer{Choice: idrl.ChoseA})
	}
	return d
}

// sessionBeside returns a session that is not labelled, with half-cheetah if it is there.
func sessionBeside(b *testing.B, a *app, model string) (idrl.SessionSpec, session.Config) {
	b.Helper()
	name := "half-cheetah"
	if e, err := a.envs().Find(name); err != nil || e.Unavailable != nil {
		name = "driver"
	}
	spec := must.Get(newSession(b.Context(), a.db, a.envs(), idrl.SessionSpec{Title: "beside", Env: name, Seed: 1, Model: model}))(b)
	cfg := must.Get(sessionConfig(a.envs(), record.Record{Spec: spec}))(b)
	return spec, cfg
}

// trainAgain has a worker do a job, and again from the next row, and records what it
// makes, until stop is called; it returns when the worker has made progress.
func trainAgain(b *testing.B, a *app, spec idrl.SessionSpec, cfg session.Config, job idrl.TrainJob) (made *atomic.Int64, stop func()) {
	b.Helper()
	remote := &training.Remote{Jobs: a.pool, Records: a.db, Spec: spec, Model: cfg.Model, Log: a.log}
	ctx, cancel := context.WithCancel(b.Context())
	solving, ended := make(chan struct{}), make(chan error, 1)
	begun := sync.OnceFunc(func() { close(solving) })
	job.Progress = func(int, int, string) { begun() }
	made = new(atomic.Int64)
	go func() {
		for {
			job.BasedOn++
			g, err := remote.Train(ctx, job)
			if err == nil {
				err = a.db.StageAgents(ctx, spec.ID, g.Agents)
			}
			if err == nil {
				err = a.db.Adopt(ctx, spec.ID, g, job.BasedOn)
			}
			if err != nil {
				ended <- err
				return
			}
			made.Add(1)
		}
	}()
	select {
	case <-solving:
	case err := <-ended:
		b.Fatal(err)
	}
	return made, func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			b.Error(err)
		}
	}
}
