package rehearsal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// next returns the first open question that has no reply, or nil. A list of open questions from before the last reply
// may not have the question that the session asks next: what is answered must not depend on which message comes first.
func (r *Annotator) next() *wire.Query {
	if slices.ContainsFunc(r.status.Open, func(id idrl.AssignmentID) bool { return r.done[id] }) {
		return nil
	}
	for _, id := range r.status.Open {
		if q := r.questions[id]; q != nil {
			return q
		}
	}
	return nil
}

// answer replies to the next question, unless a reply is under way.
func (r *Annotator) answer(ctx context.Context) error {
	m := r.next()
	if r.sent != nil || r.given >= r.cfg.Answers {
		return nil
	}
	if m == nil {
		r.ready = time.Time{} // the next response time begins when there is a question
		return nil
	}
	q, err := r.look(ctx, m)
	if err == nil {
		err = r.tune(ctx)
	}
	if err == nil {
		err = r.practise(ctx)
	}
	if err != nil {
		return err
	}
	n := r.asked[m.Query]
	r.asked[m.Query]++
	a, slow, err := r.decide(q, n)
	if err != nil {
		return err
	}
	shown, err := r.think(ctx, slow, r.stream("response time "+string(m.Query), n))
	if err != nil {
		return err
	}
	out := &wire.Answer{
		ID: client.NewAnswerID(rng.New(r.cfg.Seed, "id "+string(m.Assignment), 0)), Assignment: m.Assignment,
		Choice: a.Choice, Much: a.Much, Remark: a.Remark, Reason: a.Reason,
		Best: a.Best, Worst: a.Worst, ShownOrder: m.Order, ShownLeft: m.Left, ShownAt: shown.UTC(),
		AnsweredMS: max(1, time.Since(shown).Milliseconds()), Input: "api", Instructions: r.hello.Instructions,
	}
	if (r.person != nil || r.cfg.Practise) && r.took > 0 { // what was drawn tells how hard it was, also where a Clock skips it
		out.AnsweredMS = max(1, r.took.Milliseconds())
	}
	if a.Choice == idrl.Rated {
		if r.hello.Kind == idrl.JudgeClip {
			a.Rating = idrl.Verdict(a.Rating)
		}
		out.Rating = &a.Rating
	}
	return r.send(out)
}

// Response times of a person, as multiples of the pace: to what is seen at a glance, and to
// what is hardest. They grow linearly between (seeing.Reply.Hard).
const (
	quickest = 0.75
	slowest  = 2.25
)

// decide returns the answer to a question that was answered n times before, and by which factor
// its response time is longer than others. The same seed gives the same answers to the same
// questions, in any session.
func (r *Annotator) decide(q idrl.QueryVector, n uint64) (a idrl.Answer, slow float64, err error) {
	if r.person == nil {
		return r.expert.Answer(q, r.stream("answer "+string(q.ID), n)), 1, nil
	}
	reply, err := r.person.Answer(q.ID, n, r.drawn...)
	return reply.Answer, quickest + (slowest-quickest)*reply.Hard, err
}

// think passes the response time, slow times that of the pace. It returns when the annotator began to look, which
// is when the question was there and the answer before it acknowledged.
func (r *Annotator) think(ctx context.Context, slow float64, stream *rand.Rand) (shown time.Time, err error) {
	now := time.Now()
	if r.ready.IsZero() {
		r.ready = now
	}
	shown, r.took = r.ready, r.cfg.Pause
	if r.cfg.Pace > 0 {
		r.took += time.Duration(slow * float64(responseTime(r.cfg.Pace, stream)))
	}
	if wait := r.took - now.Sub(shown); wait > 0 { // a comparison with the truth takes time, too
		err = r.cfg.Clock.Wait(ctx, wait)
	}
	return shown, err
}

func (r *Annotator) send(a *wire.Answer) error {
	r.sent = a
	if err := r.conn.Send(a); err != nil {
		return errLost(err)
	}
	return nil
}

// look fetches the clips of a question and returns the question that they pose.
func (r *Annotator) look(ctx context.Context, m *wire.Query) (idrl.QueryVector, error) {
	r.shown, r.drawn = nil, nil
	for _, url := range m.Clips {
		b, err := r.conn.Clip(ctx, url)
		if err != nil {
			return idrl.QueryVector{}, err
		}
		c, err := clip.Decode(b)
		if err != nil {
			return idrl.QueryVector{}, fmt.Errorf("clip %s: %w", url, err)
		}
		r.drawn = append(r.drawn, c)
		r.shown = append(r.shown, idrl.Clip{ID: idrl.ClipID(url), Steps: c.Header.Steps, Phi: c.Header.Phi})
	}
	if m.Kind.Group() {
		q := idrl.QueryVector{Query: idrl.Query{ID: m.Query, Kind: m.Kind}}
		for _, c := range r.shown {
			q.Clips, q.Each = append(q.Clips, c.ID), append(q.Each, c.Phi)
		}
		return q, nil
	}
	q := idrl.RatingVector(r.shown[0])
	if m.Kind.Comparison() {
		q = idrl.ComparisonVector(r.shown[0], r.shown[1])
	}
	q.ID = m.Query // the addresses of clips have the id of the session, which is drawn anew for each
	return q, nil
}

// steps returns the features of a clip that is shown as if it were of one step:
// a clip carries their sum alone, which says what its return is.
func (r *Annotator) steps(id idrl.ClipID) [][]float64 {
	for _, c := range r.shown {
		if c.ID == id {
			return [][]float64{c.Phi}
		}
	}
	return nil
}
