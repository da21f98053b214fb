package rehearsal

import (
	"context"
	"fmt"

	"tiebreak/internal/idrl"
)

// report says why it ends, and what the truth is.
func (r *Annotator) report(ctx context.Context) error {
	complete := fmt.Sprintf("%d of %d answers", r.status.Answers, r.status.Budget)
	switch {
	case r.status.Done && r.given == 0:
		fmt.Fprintf(r.cfg.Out, "0 answers given: the session was complete already (%s).\n", complete)
	case r.status.Done && r.given < r.cfg.Answers:
		fmt.Fprintf(r.cfg.Out, "%d answers given: the session is complete (%s).\n", r.given, complete)
	default:
		fmt.Fprintf(r.cfg.Out, "%d answers given, as many as were asked for.\n", r.given)
	}
	if err := r.compare(ctx); err != nil {
		return err
	}
	if r.person != nil {
		fmt.Fprintf(r.cfg.Out, "A person who sees has no true reward: this one answered by the taste %q: %s.\n", r.person.Name, r.person.About)
		return nil
	}
	fmt.Fprintln(r.cfg.Out, "The expert's true reward weights:")
	for k, name := range r.env.Spec().FeatureNames {
		fmt.Fprintf(r.cfg.Out, "  %-28s %8.3f\n", name, r.theta[k])
	}
	return nil
}

// compare compares what the session recommends with the truth, or says how a person likes it, if
// the server's data are there and it has not done so since the last answer.
func (r *Annotator) compare(ctx context.Context) error {
	if r.truth == nil && r.liking == nil || r.compared.Given == r.given && r.given > 0 {
		return nil
	}
	c, err := r.recommended(ctx)
	for err != nil {
		if idrl.KindOf(err) != idrl.Unavailable {
			return err
		}
		if err = r.patience.failed(ctx, 0, err); err != nil {
			return err
		}
		c, err = r.recommended(ctx)
	}
	r.patience.succeeded()
	c.Given, c.ResponseS = r.given, r.took.Seconds()
	r.compared = c
	fmt.Fprintln(r.cfg.Out, c)
	r.cfg.Compared(c)
	return nil
}

func (r *Annotator) recommended(ctx context.Context) (Comparison, error) {
	if r.liking != nil {
		return r.liking.compare(ctx)
	}
	return r.truth.compare(ctx)
}
