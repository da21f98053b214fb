package rehearsal

import (
	"context"

	"tiebreak/internal/idrl"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// practise does the practice questions that are due, as a person's page does before the first question counts. An answer to a
// question of the researcher is sent; one to a question that the program chose stays with the person.
func (r *Annotator) practise(ctx context.Context) error {
	if r.practised || !r.cfg.Practise {
		return nil
	}
	r.practised = true
	shown, drawn := r.shown, r.drawn // of the question that waits
	defer func() { r.shown, r.drawn = shown, drawn }()
	if r.cfg.Ready != nil && r.cfg.person == 0 {
		if err := r.cfg.Ready(ctx, r.theta); err != nil {
			return err
		}
	}
	list, err := r.conn.Practice(ctx)
	if err != nil {
		return err
	}
	for _, p := range list.Questions {
		if !p.Due {
			continue
		}
		if err := r.exercise(ctx, p, list.Examples); err != nil {
			return err
		}
	}
	return nil
}

// exercise does one practice question.
func (r *Annotator) exercise(ctx context.Context, p client.Exercise, example bool) error {
	kind := idrl.RateClip
	if len(p.Clips) == 2 {
		kind = idrl.CompareClips
	}
	q, err := r.look(ctx, &wire.Query{Query: idrl.QueryID("practice " + p.Assignment()), Kind: kind, Clips: p.Clips})
	if err != nil {
		return err
	}
	a, slow, err := r.decide(q, 0)
	if err != nil {
		return err
	}
	shown, err := r.think(ctx, slow, r.stream("response time "+string(q.ID), 0))
	if err != nil || example {
		return err
	}
	out := &wire.Answer{
		ID: client.NewAnswerID(r.stream("id "+string(q.ID), 0)), Assignment: idrl.AssignmentID(p.Assignment()), Choice: a.Choice, Reason: a.Reason,
		ShownLeft: p.Left, ShownAt: shown.UTC(), AnsweredMS: 1, Input: "api", Instructions: r.hello.Instructions,
	}
	if a.Choice == idrl.Rated {
		out.Rating = &a.Rating
	}
	return r.conn.Practise(ctx, out)
}
