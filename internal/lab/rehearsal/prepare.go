package rehearsal

import (
	"context"
	"fmt"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/web/wire"

	"gonum.org/v1/gonum/floats"
)

// prepare makes the environment, the true reward and the expert.
func (r *Annotator) prepare(ctx context.Context, m *wire.Hello) error {
	if r.cfg.Expert.sees() {
		return r.open(m)
	}
	if r.theta != nil { // of the person before
		return nil
	}
	spec := idrl.SessionSpec{Env: m.Env, Seed: r.cfg.Seed} // what is known without the server's data
	var rec record.Record
	var err error
	if r.cfg.Data != nil {
		if rec, err = r.cfg.Data.Record(ctx, m.Session); err != nil {
			return fmt.Errorf("read the server's data: %w", err)
		}
		spec = rec.Spec
	}
	if r.env, err = r.cfg.NewEnv(spec); err != nil {
		return err
	}
	if r.cfg.Expert.Matched {
		err = r.match(rec)
	} else {
		err = r.imagine(m)
	}
	switch {
	case err != nil || r.cfg.Data == nil:
	case rec.Spec.IsArena():
		r.ranking = &ranking{data: r.cfg.Data, session: m.Session, theta: r.theta}
	default:
		r.truth, err = newTruth(ctx, r.cfg.Data, rec, r.env, r.theta)
	}
	return err
}

// open makes a person who sees.
func (r *Annotator) open(m *wire.Hello) (err error) {
	if r.person, err = r.cfg.Expert.person(m.Env, m.Kind, r.cfg.Seed^uint64(r.cfg.person)<<32); err != nil || r.cfg.Data == nil {
		return err
	}
	r.liking = &liking{data: r.cfg.Data, session: m.Session, taste: r.person.Taste}
	return nil
}

// match draws the true reward from the prior of a recorded session. An arena has none: there it is the true reward of the benchmarks.
func (r *Annotator) match(rec record.Record) error {
	if rec.Spec.IsArena() {
		if r.cfg.Expert.Right == 0 {
			return idrl.Errorf(idrl.Invalid, "--matched draws a reward and a noise from a session's prior, and an arena has no reward: say --right, or leave it out and name an --expert")
		}
		r.theta = sim.NewTask(r.env, rng.New(r.cfg.Seed, "task", 0)).Theta
		return nil // tune makes the expert
	}
	cfg, err := r.cfg.Data.Config(rec)
	if err != nil {
		return err
	}
	r.theta = cfg.Model.Prior().Sample(nil, rng.New(r.cfg.Seed, "matched reward", 0))
	r.expert, err = sim.NewMatched(rec.Spec, r.theta)
	return err
}

// tune gives the person the noise of Expert.Right, once there are questions.
func (r *Annotator) tune(ctx context.Context) error {
	if r.cfg.Expert.Right == 0 || r.tuned {
		return nil
	}
	rec, err := r.cfg.Data.Record(ctx, r.hello.Session)
	if err != nil {
		return fmt.Errorf("read the server's data: %w", err)
	}
	if rec.Generation == nil || rec.Generation.BasedOn != 0 {
		return idrl.Errorf(idrl.Invalid, "--right is about the questions before the first answer, and the session has gone on from them: make a new session")
	}
	spec := rec.Spec
	if spec.Likelihood != "probit" && spec.Likelihood != "bradley-terry" {
		return idrl.Errorf(idrl.Invalid, "--right needs a likelihood whose noise is a number, probit or bradley-terry; the session has %s", spec.Likelihood)
	}
	noise := stats.NoiseOfRight(differences(rec.Generation, r.theta), r.cfg.Expert.Right)
	spec.NoiseStd, spec.TieBand, spec.MuchBand, spec.RatingVar = noise, spec.TieBand*noise/spec.NoiseStd, spec.MuchBand*noise/spec.NoiseStd, noise*noise/2
	r.tuned = true
	r.expert, err = sim.NewMatched(spec, r.theta)
	return err
}

// differences returns those of the rewards of the clips of each question; of ratings, of each pair of questions.
func differences(g *idrl.Generation, theta []float64) (out []float64) {
	var alone []float64
	pairs := func(values []float64) {
		for i, u := range values {
			for _, v := range values[:i] {
				out = append(out, u-v)
			}
		}
	}
	for _, q := range g.Queries {
		var values []float64
		for _, id := range q.Clips {
			values = append(values, floats.Dot(theta, g.Clips[id].Phi))
		}
		if len(values) == 1 {
			alone = append(alone, values...)
		}
		pairs(values)
	}
	pairs(alone)
	return out
}

// imagine draws the true reward of the benchmarks. It is the same with the server's
// data and without.
func (r *Annotator) imagine(m *wire.Hello) error {
	env, err := r.cfg.NewEnv(idrl.SessionSpec{Env: m.Env, Seed: r.cfg.Seed})
	if err != nil {
		return err
	}
	task := sim.NewTask(env, rng.New(r.cfg.Seed, "task", 0))
	r.theta = task.Theta
	r.scale = sim.Range(env, r.theta, m.Kind, rng.New(r.cfg.Seed, "range", 0))
	r.expert, err = r.expertFor()
	return err
}

// expertFor returns the expert for the true weights, who sees the clips of this annotator's question.
func (r *Annotator) expertFor() (sim.Expert, error) {
	return sim.NewExpert(r.cfg.Expert.Kind, sim.Task{Theta: r.theta}, r.cfg.Expert.options(r.scale, r.steps))
}
