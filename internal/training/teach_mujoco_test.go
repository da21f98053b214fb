//go:build mujoco

package training

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"syscall"
	"testing"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/acquisition"
	"tiebreak/internal/idrl"
	"tiebreak/internal/jobs/jobstest"
	"tiebreak/internal/learning"
	"tiebreak/internal/rng"
	"tiebreak/internal/sim"

	"gonum.org/v1/gonum/floats"
)

// A teacher is a scripted person who compares clips by how fast the robot goes forward, in
// m/s, and how upright it is, from 0 to 1 in the mean of the clip, and is wrong in one of ten
// comparisons. The clips differ for them by 0.1 or more, or are equal.
type teacher struct {
	spec idrl.EnvSpec
	seed uint64
}

func (t teacher) worth(c idrl.Clip) float64 {
	seconds := float64(c.Steps) * t.spec.StepSeconds
	return c.Phi[slices.Index(t.spec.FeatureNames, "Distance forward")]/seconds + c.Phi[slices.Index(t.spec.FeatureNames, "Upright")]/(2*seconds)
}

func (t teacher) answer(n int, a, b idrl.Clip) idrl.Answer {
	d := t.worth(a) - t.worth(b)
	if rng.New(t.seed, "error", uint64(n)).Float64() < 0.1 {
		d = -d
	}
	switch {
	case math.Abs(d) < 0.1:
		return idrl.Answer{Choice: idrl.Equal}
	case d > 0:
		return idrl.Answer{Choice: idrl.ChoseA}
	}
	return idrl.Answer{Choice: idrl.ChoseB}
}

// cpu returns the CPU time of the process.
func cpu(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// A lesson teaches a robot by a session's trainer and learner. Trainings are not beside the
// answers: all the CPU time is charged.
type lesson struct {
	*testing.B
	teacher
	records
	session idrl.SessionSpec
	remote  *Remote
	learner *learning.Learner
	gen     idrl.Generation
	clips   map[idrl.ClipID]idrl.Clip
	asked   map[idrl.QueryID]bool
	env     idrl.Environment
}

func newLesson(b *testing.B, robot, solver string, seed uint64) *lesson {
	spec := idrl.SessionSpec{ID: "s", Title: "T", Env: robot, Seed: seed, Solver: solver}.WithDefaults()
	spec, err := Complete(envs.Catalogue(), spec)
	must(b, err)
	m, err := Model(envs.Catalogue(), spec)
	must(b, err)
	method, err := acquisition.Find(spec.Acquisition)
	must(b, err)
	env, err := Environment(envs.Catalogue(), spec)
	must(b, err)
	l := &lesson{
		B: b, teacher: teacher{env.Spec(), seed}, records: records{&jobstest.Store{}, map[string][]byte{}}, session: spec, env: env,
		learner: learning.New(learning.Config{Model: m, Method: method, Schedule: learning.OfSession(spec)}),
		clips:   map[idrl.ClipID]idrl.Clip{}, asked: map[idrl.QueryID]bool{},
	}
	h := &Handler{Envs: envs.Catalogue(), Yield: func() {}, Log: slog.New(slog.DiscardHandler)}
	l.remote = &Remote{Jobs: jobstest.Memory{Store: l.Store, Handler: h}, Records: l.records, Spec: spec, Model: m}
	return l
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// train trains after n answers.
func (l *lesson) train(n int) {
	p := l.learner.Posterior()
	g, err := l.remote.Train(l.Context(), idrl.TrainJob{BasedOn: int64(n), Posterior: p, Seed: l.session.Seed, First: n == 0, Warm: l.learner.Warm(p, nil)})
	must(l.B, err)
	l.adopt(g)
	l.learner.Adopt(g.Pool, g.Candidates)
	l.gen = g
}

// ask asks question n.
func (l *lesson) ask(n int) {
	var askable []idrl.QueryVector
	for _, q := range l.gen.Queries {
		if !l.asked[q.ID] {
			askable = append(askable, idrl.ComparisonVector(l.gen.Clips[q.Clips[0]], l.gen.Clips[q.Clips[1]]))
		}
	}
	c, err := l.learner.Choose(learning.Question{Askable: askable}, rng.New(l.session.Seed, "choice", uint64(n)))
	must(l.B, err)
	q := askable[c.Query]
	l.asked[q.ID] = true
	a := l.answer(n, l.gen.Clips[q.Clips[0]], l.gen.Clips[q.Clips[1]])
	must(l.B, l.learner.Observe(q, a))
}

// truth returns the true return of the recommended policy, the mean of four episodes.
func (l *lesson) truth() float64 {
	best := l.learner.Recommend()
	if best.Params == nil { // of the pool, whose parameters a session does not keep
		best = l.gen.Candidates[0]
	}
	t, err := New(envs.Catalogue(), l.session)
	must(l.B, err)
	p, err := t.Remake(l.env, best.Params)
	must(l.B, err)
	theta, sum := sim.NewTask(l.env, nil).Theta, 0.0
	for n := range 4 {
		for _, step := range idrl.EpisodeOf(l.env, p, rng.New(99, "true return", uint64(n))) {
			if step.Kind != idrl.First {
				sum += floats.Dot(theta, step.Phi) / 4
			}
		}
	}
	return sum
}

// BenchmarkTeaching teaches half-cheetah by thirty comparisons, with searches among gaits
// and as sessions do without, and reports the true return of the recommended policy on the
// way with the CPU seconds charged so far. Policies are trained after every fifth answer,
// and in use before the next one:
//
//	go test -tags mujoco -run - -bench Teaching/gaits -benchtime 1x ./internal/training
func BenchmarkTeaching(b *testing.B) {
	for _, solver := range []string{idrl.GaitSolver, idrl.OwnSolver} {
		for seed := uint64(1); seed <= 3; seed++ {
			b.Run(fmt.Sprintf("%s/seed=%d", solver, seed), func(b *testing.B) {
				for range b.N {
					teach(b, "half-cheetah", solver, seed, 30)
				}
			})
		}
	}
}

func teach(b *testing.B, robot, solver string, seed uint64, answers int) {
	l := newLesson(b, robot, solver, seed)
	took, from := time.Duration(0), cpu(b)
	l.train(0)
	for n := 1; n <= answers; n++ {
		l.ask(n)
		if n%5 == 0 {
			l.train(n)
		}
		if n%10 == 0 || n == 5 {
			took += cpu(b) - from
			b.ReportMetric(l.truth(), fmt.Sprintf("return-after-%d", n))
			b.ReportMetric(took.Seconds(), fmt.Sprintf("cpu-s-after-%d", n))
			b.Logf("%s, seed %d, %d answers, %.0f CPU s: return %.0f, weights %.2f", solver, seed, n, took.Seconds(), l.truth(), l.learner.Posterior().Mean(nil))
			from = cpu(b)
		}
	}
}
