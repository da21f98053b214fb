package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/training"
)

// BenchmarkAnswersBesideTraining measures what a training in a worker costs those who
// label meanwhile: eight annotators of a session that trains no more reply at a
// steady pace, in turns without and with a training of half-cheetah (driver, without
// MuJoCo) under way, so that both meet the same load of the machine.
//
//	calm-p50-ms, calm-p99-ms    from sending an answer to its acknowledgement
//	beside-p50-ms, beside-p99-ms  while the training is under way
//	p50-ratio, p99-ratio        the second to the first
func BenchmarkAnswersBesideTraining(b *testing.B) {
	const turn = 2 * time.Second
	l := load{env: "gridworld", sessions: 2, each: 4, trainEvery: 1 << 30, think: 20 * time.Millisecond}
	a, labellers := l.openOn(b)
	var calm, beside []time.Duration
	for b.Loop() {
		calm = append(calm, labelFor(b, labellers, turn)...)
		stop := trainBeside(b, a)
		beside = append(beside, labelFor(b, labellers, turn)...)
		stop()
	}
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

// labelFor lets every labeller reply for a time and returns their waits.
func labelFor(b *testing.B, labellers []*labeller, d time.Duration) (waits []time.Duration) {
	b.Helper()
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for _, l := range labellers {
		l.waits = nil
		wg.Go(func() {
			for time.Now().Before(end) {
				if err := l.label(len(l.acked) + 1); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, l := range labellers {
		waits = append(waits, l.waits...)
	}
	if b.Failed() {
		b.FailNow()
	}
	return waits
}

// trainBeside has a worker train, again and again, until stop is called; it returns when
// the worker is solving.
func trainBeside(b *testing.B, a *app) (stop func()) {
	b.Helper()
	name := "half-cheetah"
	if e, err := a.envs.Find(name); err != nil || e.Unavailable != nil {
		name = "driver"
	}
	spec, err := newSession(b.Context(), a.db, a.envs, idrl.SessionSpec{Title: "beside", Env: name, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	cfg, err := sessionConfig(a.envs, idrl.Record{Spec: spec})
	if err != nil {
		b.Fatal(err)
	}
	remote := &training.Remote{Jobs: a.pool, Records: a.db, Spec: spec, Model: cfg.Model, Log: a.log}
	ctx, cancel := context.WithCancel(b.Context())
	solving, ended := make(chan struct{}), make(chan error, 1)
	begun := sync.OnceFunc(func() { close(solving) })
	job := idrl.TrainJob{Posterior: cfg.Model.Prior(), Seed: spec.Seed, Progress: func(int, int, string) { begun() }}
	go func() {
		for {
			job.BasedOn++
			if _, err := remote.Train(ctx, job); err != nil {
				ended <- err
				return
			}
		}
	}()
	select {
	case <-solving:
	case err := <-ended:
		b.Fatal(err)
	}
	return func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			b.Error(err)
		}
	}
}
