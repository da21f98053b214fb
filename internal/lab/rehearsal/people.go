package rehearsal

import (
	"context"
	"errors"
	"io"
	"time"

	"tiebreak/internal/idrl"
)

// Rehearse has simulated people do one run, whose seed is that of cfg, one after another (Config.People). Out and Compared of cfg
// are not used. heard is told the number of answers after every comparison. The error is that of an
// annotator, or of kind Conflict if nothing was compared; in an arena nothing is.
func Rehearse(ctx context.Context, cfg Config, heard func(given int)) (Run, error) {
	r, began := Run{Seed: cfg.Seed}, time.Now()
	cfg.Out = io.Discard
	cfg.Compared = func(c Comparison) {
		if c.Recommended != "" { // else there is nothing to say before the first generation
			r.Rows = append(r.Rows, c)
		}
		heard(c.Given)
	}
	last, err := cfg.everybody(ctx)
	if err != nil {
		return Run{}, err
	}
	if len(r.Rows) == 0 && last.ranking == nil {
		return Run{}, idrl.Errorf(idrl.Conflict, "no answer was compared with the truth: the session was complete or has no candidates")
	}
	r.Session, r.Seconds = last.Session(), time.Since(began).Seconds()
	return r, nil
}

// succeed has the annotator answer by the true reward of the person before.
func (r *Annotator) succeed(last *Annotator) (err error) {
	r.env, r.theta, r.scale, r.expert, r.tuned, r.truth, r.ranking = last.env, last.theta, last.scale, last.expert, last.tuned, last.truth, last.ranking
	if r.scale > 0 {
		r.expert, err = r.expertFor()
	}
	return err
}

// everybody has the people answer, and returns the last of them.
func (c Config) everybody(ctx context.Context) (last *Annotator, err error) {
	for total := c.Answers; ; c.person++ {
		c.Answers = total - c.before
		if c.Each > 0 {
			c.Answers = min(c.Answers, c.Each)
		}
		a, err := New(c)
		if err != nil {
			return nil, err
		}
		if last != nil {
			if err := a.succeed(last); err != nil {
				return nil, errors.Join(err, a.Close())
			}
		}
		err = a.Run(ctx)
		if closed := a.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return nil, err
		}
		last = a
		if c.before += a.given; c.before >= total || c.person+1 >= c.People {
			return last, nil
		}
		if more, err := c.Between(ctx); err != nil || !more {
			return last, err
		}
	}
}
