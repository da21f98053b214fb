//go:build mujoco

package mujoco

import (
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco/engine"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// rounds is how many steps one round of a benchmark has.
const rounds = 250

// turn is how many seconds of CPU time a side of a race has before the other's
// turn, at the least. After a call into C of more than 10 ms, as the plain loop
// is one, the runtime's monitor thread wakes every 20 µs for some milliseconds,
// which turns of a few milliseconds would charge to the other side.
const turn = 0.2

// A race measures two ways to do the same work in turn, by the CPU time of the
// process, which other programs disturb least.
type race struct{ ours, plain pace }

// A pace is how many rounds took how many seconds.
type pace struct {
	rounds  int
	seconds float64
}

func (p *pace) run(round func()) {
	for start, end := cpu(), cpu()+turn; ; {
		round()
		p.rounds++
		if now := cpu(); now >= end {
			p.seconds += now - start
			return
		}
	}
}

// step returns the time of one step in nanoseconds.
func (p *pace) step(steps int) float64 { return 1e9 * p.seconds / float64(p.rounds*steps) }

func (r *race) run(ours, plain func()) {
	r.ours.run(ours)
	r.plain.run(plain)
}

// report says what share of the speed of the plain loop is left.
func (r *race) report(b *testing.B, steps int) {
	ours, plain := r.ours.step(steps), r.plain.step(steps)
	b.ReportMetric(plain/ours, "of-C")
	b.ReportMetric(ours, "cpu-ns/step")
	b.ReportMetric(plain, "C-cpu-ns/step")
}

// BenchmarkStep compares environment steps, with observations and features, with
// one C loop over the same controls from the same state.
func BenchmarkStep(b *testing.B) {
	bench := func(id string, open func() (*Env, error)) {
		b.Run(id, func(b *testing.B) {
			e := must.Get(open())(b)
			steps := min(rounds, e.Spec().Horizon)
			actions, ctrl, c := record(b, e, steps)
			var r race
			for b.Loop() {
				r.run(
					func() {
						e.Reset(rng.New(1, "env", 0))
						for _, a := range actions {
							e.Step(a)
						}
					},
					func() { c(ctrl) },
				)
			}
			r.report(b, steps)
		})
	}
	for _, id := range Tasks() {
		bench(id, func() (*Env, error) { return NewTask(id, Options{}) })
	}
	bench(SwimmerCorridorID, NewSwimmerCorridor)
	bench(AntCorridorID, NewAntCorridor)
}

// record plays random actions. It returns them, the controls that they led to by
// rows, and a function that plays these in one call from the same first state.
func record(b *testing.B, e *Env, steps int) (actions []idrl.Action, ctrl []float64, c func(ctrl []float64)) {
	e.Reset(rng.New(1, "env", 0))
	qpos, qvel := slices.Clone(e.d.QPos), slices.Clone(e.d.QVel)
	stream := rng.New(1, "act", 0)
	for range steps {
		actions = append(actions, randomAction(e, stream))
		e.Step(actions[len(actions)-1])
		ctrl = append(ctrl, e.d.Ctrl...)
	}
	d := must.Get(e.m.NewData())(b)
	c = func(ctrl []float64) {
		e.must(d.Reset())
		copy(d.QPos, qpos)
		copy(d.QVel, qvel)
		e.must(d.Forward())
		e.must(d.Roll(ctrl, e.skip, nil))
	}
	if c(ctrl); e.after == nil && !slices.Equal(d.QPos, e.d.QPos) {
		b.Fatal("the loop in C does other work")
	}
	return actions, ctrl, c
}

// BenchmarkRoll compares chunks of at least a millisecond, which hand out the
// state after every engine step, with the plain loop.
func BenchmarkRoll(b *testing.B) {
	for _, test := range []struct {
		file        string
		skip, chunk int
	}{
		{"cheetah.xml", 5, 50},
		{"walker2d.xml", 4, 25},
		{"hopper.xml", 4, 25},
		{"ant.xml", 5, 10},
		{"swimmer.xml", 4, 50},
		{"inverted_pendulum.xml", 2, 125},
		{"inverted_double_pendulum.xml", 5, 50},
		{"reacher.xml", 2, 125},
	} {
		b.Run(test.file, func(b *testing.B) {
			m := must.Get(model(test.file))(b)
			d, plain := benchData(b, m), benchData(b, m)
			stream := rng.New(1, "act", 0)
			ctrl := make([]float64, rounds*m.NU)
			uniform(ctrl, 1, stream)
			out := make([]float64, test.chunk*test.skip*(m.NQ+m.NV))
			var r race
			for b.Loop() {
				r.run(
					func() {
						if d.Reset() != nil || d.Forward() != nil {
							b.Fatal("it does not start")
						}
						for rows := range slices.Chunk(ctrl, test.chunk*m.NU) {
							must.Do(b, d.Roll(rows, test.skip, out))
						}
					},
					func() { plain.Loop(ctrl, rounds, test.skip, rounds) },
				)
			}
			if !slices.Equal(d.QPos, plain.QPos) {
				b.Fatal("the loop in C does other work")
			}
			r.report(b, rounds)
		})
	}
}

func benchData(b *testing.B, m *engine.Model) *engine.Data {
	b.Helper()
	d := must.Get(m.NewData())(b)
	return d
}
