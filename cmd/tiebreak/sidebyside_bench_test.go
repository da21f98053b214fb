package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// BenchmarkTrainingsSideBySide measures how sessions share the workers: four sessions on robots
// withDatabase Driver and Gridworld, each with one annotator who answers every 4 s on average, b.N
// times: -benchtime 30x for a session of thirty answers, which takes two minutes. "busy" has
// eight processes of normal priority beside it that do nothing but use the processor. For each
// session it reports
//
//	NAME-generations   that came into use after the first
//	NAME-from-0        share of the questions that came from generation 0
//	NAME-p50-s, NAME-max-s  from an answer to the adoption of a generation that was trained
//	                   with it; until the end of the run where none was
//	NAME-training-s    from the moment when a training was due to its adoption, the longest
func BenchmarkTrainingsSideBySide(b *testing.B) {
	if err := mujoco.Unavailable(); err != nil {
		b.Skip(err)
	}
	for name, loops := range map[string]int{"idle": 0, "busy": 8} {
		b.Run(name, func(b *testing.B) { sideBySide(b, loops) })
	}
}

func sideBySide(b *testing.B, loops int) {
	keepBusy(b, loops)
	a, addr := serveInside(b)
	envs := []string{"ant", "hopper", "half-cheetah", "walker2d", "driver", "gridworld"}
	var links []string
	for _, env := range envs {
		links = append(links, load{env: env, sessions: 1, each: 1}.links(b, a, addr)...)
	}
	labellers := joinAll(b, links, len(links), 4*time.Second)
	labelAll(b, labellers, 1+b.N)
	ended := time.Now()
	list := must.Get(a.db.Sessions(b.Context()))(b)
	for _, s := range list {
		reportShare(b, a, s.Spec.ID, ended)
	}
	b.ReportMetric(0, "ns/op")
}

// keepBusy has that many processes use the processor until the end of the benchmark.
func keepBusy(b *testing.B, loops int) {
	b.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	var wg sync.WaitGroup
	for range loops {
		cmd := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		must.Do(b, cmd.Start())
		wg.Go(func() { _ = cmd.Wait() })
	}
	b.Cleanup(func() {
		stop()
		wg.Wait()
	})
}

// reportShare reports the share of the workers' time that a session had until it ended.
func reportShare(b *testing.B, a *app, id idrl.SessionID, ended time.Time) {
	b.Helper()
	rec := must.Get(a.db.Load(b.Context(), id))(b)
	past := must.Get(a.db.Trainings(b.Context(), id, 0))(b)
	past = slices.DeleteFunc(past, func(t record.PastTraining) bool { return t.FollowUp || t.End != record.TrainingDone || t.BasedOn == 0 })
	slices.SortFunc(past, func(x, y record.PastTraining) int { return x.Ended.Compare(y.Ended) })
	var waits []time.Duration
	for _, row := range rec.Log {
		until := ended
		if k := slices.IndexFunc(past, func(t record.PastTraining) bool { return t.BasedOn >= row.Seq }); k >= 0 {
			until = past[k].Ended
		}
		waits = append(waits, until.Sub(row.ReceivedAt))
	}
	slices.Sort(waits)
	longest, first := time.Duration(0), 0
	for _, t := range past {
		longest = max(longest, t.Ended.Sub(t.Began))
	}
	for _, as := range rec.Assignments {
		if as.Why.BasedOn == 0 {
			first++
		}
	}
	name := rec.Spec.Env
	b.ReportMetric(float64(len(past)), name+"-generations")
	b.ReportMetric(float64(first)/float64(len(rec.Assignments)), name+"-from-0")
	b.ReportMetric(waits[len(waits)/2].Seconds(), name+"-p50-s")
	b.ReportMetric(waits[len(waits)-1].Seconds(), name+"-max-s")
	b.ReportMetric(longest.Seconds(), name+"-training-s")
	fmt.Printf("%-14s %2d generations, from 0: %2d of %d, answer to adoption p50 %4.1f s, max %5.1f s, longest training %5.1f s\n",
		name, len(past), first, len(rec.Assignments), waits[len(waits)/2].Seconds(), waits[len(waits)-1].Seconds(), longest.Seconds())
}
