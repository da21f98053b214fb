package rehearsal

import (
	"context"
	"fmt"
	"time"

	"tiebreak/internal/idrl"
)

// report says why it ends, and what the truth is.
func (r *Annotator) report(ctx context.Context) error {
	fmt.Fprintln(r.cfg.Out, r.ending())
	if err := r.end(); err != nil {
		return err
	}
	if err := r.compare(ctx); err != nil {
		return err
	}
	if r.person != nil {
		fmt.Fprintf(r.cfg.Out, "A seeing expert has no true reward: this one answered by the taste %q: %s.\n", r.person.Name, r.person.About)
		return nil
	}
	fmt.Fprintln(r.cfg.Out, "The expert's true reward weights:")
	for k, name := range r.env.Spec().FeatureNames {
		fmt.Fprintf(r.cfg.Out, "  %-28s %8.3f\n", name, r.theta[k])
	}
	return nil
}

// ending says why the annotator answers no more.
func (r *Annotator) ending() string {
	given, all := counted(r.given), counted(r.status.Answers)
	if r.status.Budget > 0 {
		all = fmt.Sprintf("%d of %d answers", r.status.Answers, r.status.Budget)
	}
	switch complete := r.status.Budget > 0 && r.status.Answers >= r.status.Budget; {
	case !r.status.Done || r.given >= r.cfg.Answers:
		return given + " given, as many as were asked for."
	case complete && r.given == 0:
		return fmt.Sprintf("0 answers given: the session was complete already (%s).", all)
	case complete:
		return fmt.Sprintf("%s given: the session is complete (%s).", given, all)
	case r.status.Waiting != "":
		return fmt.Sprintf("%s given; there is no further question for this annotator (%s of all annotators). The server says: %s", given, all, r.status.Waiting)
	default:
		return fmt.Sprintf("%s given; there is no further question for this annotator (%s of all annotators).", given, all)
	}
}

// counted returns "1 answer", "2 answers".
func counted(n int) string {
	if n == 1 {
		return "1 answer"
	}
	return fmt.Sprintf("%d answers", n)
}

// compare compares what the session recommends with the truth, or says how a person likes it, if
// the server's data are there and it has not done so since the last answer.
func (r *Annotator) compare(ctx context.Context) error {
	if r.told == r.given {
		return nil
	}
	if clock, skips := r.cfg.Clock.(SkipIdle); skips && clock.Awaits { // else the machine decides whether the training with the last answer has ended
		if err := clock.Wait(ctx, 0); err != nil {
			return err
		}
	}
	if clock, measures := r.cfg.Clock.(*Stopwatch); measures {
		defer func(began time.Time) { clock.Exclude(time.Since(began)) }(time.Now())
	}
	said, err := r.comparison(ctx)
	for err != nil {
		if idrl.KindOf(err) != idrl.Unavailable {
			return err
		}
		if err = r.patience.failed(ctx, 0, err); err != nil {
			return err
		}
		said, err = r.comparison(ctx)
	}
	r.patience.succeeded()
	if r.told = r.given; said != nil {
		said()
	}
	return nil
}

// comparison compares once, and returns a function that writes the result; nil without the server's data.
func (r *Annotator) comparison(ctx context.Context) (func(), error) {
	switch {
	case r.ranking != nil:
		order, answers, err := r.ranking.compare(ctx)
		return func() { fmt.Fprintln(r.cfg.Out, say(order, answers)) }, err
	case r.truth == nil && r.liking == nil:
		return nil, nil
	}
	c, err := r.recommended(ctx)
	return func() {
		c.Given, c.ResponseS = r.cfg.before+r.given, r.took.Seconds()
		fmt.Fprintln(r.cfg.Out, c)
		r.cfg.Compared(c)
	}, err
}

func (r *Annotator) recommended(ctx context.Context) (Comparison, error) {
	if r.liking != nil {
		return r.liking.compare(ctx)
	}
	return r.truth.compare(ctx)
}
