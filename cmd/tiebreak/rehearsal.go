package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/clip"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
	"tiebreak/internal/sim"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// A rehearsal is one simulated annotator at work. The ids of its answers are a
// function of the seed and the question, so that an answer that is sent again, after
// the server was away, is known to be the same.
type rehearsal struct {
	envs     envs.List
	flags    simulateFlags
	conn     *client.Conn
	out      io.Writer
	patience perseverance

	hello     *wire.Hello // the first; nil before
	task      sim.Task
	expert    sim.Expert
	truth     *truth                            // nil without the server's data
	asked     map[idrl.QueryID]uint64           // times that a question was answered
	questions map[idrl.AssignmentID]*wire.Query // offered, not answered
	shown     []idrl.Clip                       // of the question under way
	status    wire.Status                       // the last
	sent      *wire.Answer                      // not acknowledged; nil if none
	given     int                               // acknowledged
	waits     string                            // what was said last of what is waited for
}

func newRehearsal(list envs.List, f simulateFlags, out io.Writer) *rehearsal {
	return &rehearsal{
		envs: list, flags: f, out: out, patience: perseverance{limit: f.patience, out: out},
		asked: map[idrl.QueryID]uint64{}, questions: map[idrl.AssignmentID]*wire.Query{},
	}
}

func (r *rehearsal) run(ctx context.Context) error {
	for {
		err := r.converse(ctx)
		switch {
		case err == nil:
			return r.report(ctx)
		case ctx.Err() != nil:
			return ctx.Err()
		case idrl.KindOf(err) != idrl.Unavailable:
			return err
		}
		if err := r.patience.failed(ctx, 0, err); err != nil {
			return err
		}
	}
}

// finished reports whether there is nothing left to do.
func (r *rehearsal) finished() bool {
	return r.sent == nil && (r.given >= r.flags.answers || r.status.Done) // else an acknowledgement may be under way
}

// converse joins, unless it has, and talks on one socket until the answers are given
// or the session is complete. After an error of kind Unavailable it may be called
// again.
func (r *rehearsal) converse(ctx context.Context) error {
	if err := r.conn.Join(ctx, "Simulated "+r.flags.expert); err != nil {
		return err
	}
	if err := r.conn.Reconnect(ctx); err != nil {
		return err
	}
	hello := &wire.ClientHello{}
	if r.sent != nil {
		hello.Outbox = []idrl.AnswerID{r.sent.ID}
	}
	if err := r.conn.Send(hello); err != nil {
		return errLost(err)
	}
	r.status.Open = nil // of the last socket
	for !r.finished() {
		m, err := r.conn.Recv()
		if err != nil {
			return errLost(err)
		}
		if err := r.take(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// errLost says that the connection is lost.
func errLost(err error) error {
	return idrl.Errorf(idrl.Unavailable, "the connection to the server is lost: %v", err)
}

func (r *rehearsal) take(ctx context.Context, m wire.FromServer) error {
	switch m := m.(type) {
	case *wire.Hello:
		return r.greet(ctx, m)
	case *wire.Query:
		r.questions[m.Assignment] = m
	case *wire.Ack:
		if err := r.acked(ctx, m.ID); err != nil {
			return err
		}
		return r.answer(ctx) // a status may have come before the ack
	case *wire.Nak:
		return r.refused(ctx, m)
	case *wire.Status:
		r.status = *m
		r.sayWhatFor()
		return r.answer(ctx)
	case *wire.Bye:
		return idrl.Errorf(idrl.Unavailable, "the server stops")
	}
	return nil
}

// refused waits where the server cannot take an answer now, or cannot say what is
// open, and sends the answer again.
func (r *rehearsal) refused(ctx context.Context, m *wire.Nak) error {
	if m.RetryMS == 0 {
		return idrl.Errorf(idrl.Conflict, "the server refused an answer: %s", m.Message)
	}
	wait := time.Duration(m.RetryMS) * time.Millisecond
	if err := r.patience.failed(ctx, wait, fmt.Errorf("the server cannot go on: %s", m.Message)); err != nil {
		return err
	}
	if r.sent == nil {
		return nil // the server tries again
	}
	return r.send(r.sent)
}

// sayWhatFor says what is waited for when there is nothing to answer.
func (r *rehearsal) sayWhatFor() {
	if len(r.status.Open) > 0 || r.status.Done {
		r.waits = ""
		return
	}
	r.patience.succeeded()
	if says := r.status.Waiting; says != r.waits {
		fmt.Fprintf(r.out, "Waiting: %s\n", says)
		r.waits = says
	}
}

// greet notes what arrived before the connection was lost, sends the rest again and,
// the first time, prepares the expert for the session's environment.
func (r *rehearsal) greet(ctx context.Context, m *wire.Hello) error {
	if r.hello == nil {
		r.hello = m
		return r.prepare(ctx, m)
	}
	switch {
	case r.sent == nil:
		return nil
	case slices.Contains(m.Have, r.sent.ID):
		return r.acked(ctx, r.sent.ID)
	default:
		return r.send(r.sent)
	}
}

func (r *rehearsal) prepare(ctx context.Context, m *wire.Hello) error {
	e, err := r.envs.Find(m.Env)
	if err != nil {
		return err
	}
	env := e.New(rng.New(r.flags.seed, "layout", 0))
	r.task = sim.NewTask(env, rng.New(r.flags.seed, "task", 0))
	scale := sim.Range(env, r.task.Theta, m.Kind, rng.New(r.flags.seed, "range", 0))
	if r.expert, err = sim.NewExpert(r.flags.expert, r.task, r.flags.options(scale, r.steps)); err != nil {
		return err
	}
	if r.flags.data != "" {
		r.truth, err = newTruth(ctx, r.envs, r.flags.data, m.Session, r.task.Theta)
	}
	return err
}

// acked notes an acknowledgement.
func (r *rehearsal) acked(ctx context.Context, id idrl.AnswerID) error {
	if r.sent == nil || r.sent.ID != id {
		return nil
	}
	delete(r.questions, r.sent.Assignment)
	r.sent = nil
	r.patience.succeeded()
	if r.given++; r.given%10 == 0 || r.given == r.flags.answers {
		fmt.Fprintf(r.out, "%d of %d answers\n", r.given, r.flags.answers)
	}
	if r.flags.every > 0 && r.given%r.flags.every == 0 && r.given < r.flags.answers {
		return r.compare(ctx)
	}
	return nil
}

// next returns the first open question that has no reply, or nil.
func (r *rehearsal) next() *wire.Query {
	for _, id := range r.status.Open {
		if q := r.questions[id]; q != nil {
			return q
		}
	}
	return nil
}

// answer replies to the next question, unless a reply is under way.
func (r *rehearsal) answer(ctx context.Context) error {
	m := r.next()
	if r.sent != nil || m == nil || r.given >= r.flags.answers {
		return nil
	}
	q, err := r.look(ctx, m)
	if err != nil {
		return err
	}
	shown := time.Now()
	// The same seed gives the same answers to the same questions, in any session.
	a := r.expert.Answer(q, rng.New(r.flags.seed, "answer "+string(m.Query), r.asked[m.Query]))
	r.asked[m.Query]++
	if err := pause(ctx, r.flags.pause); err != nil {
		return err
	}
	out := &wire.Answer{
		ID: newAnswerID(rng.New(r.flags.seed, "id "+string(m.Assignment), 0)), Assignment: m.Assignment,
		Choice: a.Choice, Reason: a.Reason, ShownLeft: m.Left, ShownAt: shown.UTC(),
		AnsweredMS: max(1, time.Since(shown).Milliseconds()), Input: "api", Instructions: r.hello.Instructions,
	}
	if a.Choice == idrl.Rated {
		out.Rating = &a.Rating
	}
	return r.send(out)
}

func (r *rehearsal) send(a *wire.Answer) error {
	r.sent = a
	if err := r.conn.Send(a); err != nil {
		return errLost(err)
	}
	return nil
}

// look fetches the clips of a question and returns the question that they pose.
func (r *rehearsal) look(ctx context.Context, m *wire.Query) (idrl.Query, error) {
	r.shown = nil
	for _, url := range m.Clips {
		b, err := r.conn.Clip(ctx, url)
		if err != nil {
			return idrl.Query{}, err
		}
		c, err := clip.Decode(b)
		if err != nil {
			return idrl.Query{}, fmt.Errorf("clip %s: %w", url, err)
		}
		r.shown = append(r.shown, idrl.Clip{ID: idrl.ClipID(url), Steps: c.Header.Steps, Phi: c.Header.Phi})
	}
	if m.Kind.Comparison() {
		return idrl.NewComparison(r.shown[0], r.shown[1]), nil
	}
	return idrl.NewRating(r.shown[0]), nil
}

// steps returns the features of a clip that is shown as if it were of one step:
// a clip carries their sum alone, which says what its return is.
func (r *rehearsal) steps(id idrl.ClipID) [][]float64 {
	for _, c := range r.shown {
		if c.ID == id {
			return [][]float64{c.Phi}
		}
	}
	return nil
}

// newAnswerID returns a version 4 UUID made from the stream.
func newAnswerID(stream *rand.Rand) idrl.AnswerID {
	hi := stream.Uint64()&^uint64(0xf000) | 0x4000
	lo := stream.Uint64()&^(uint64(3)<<62) | 1<<63
	return idrl.AnswerID(fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&(1<<48-1)))
}

// report says why it ends, and what the truth is.
func (r *rehearsal) report(ctx context.Context) error {
	complete := fmt.Sprintf("%d of %d answers", r.status.Answers, r.status.Budget)
	switch {
	case r.status.Done && r.given == 0:
		fmt.Fprintf(r.out, "0 answers given: the session was complete already (%s).\n", complete)
	case r.status.Done && r.given < r.flags.answers:
		fmt.Fprintf(r.out, "%d answers given: the session is complete (%s).\n", r.given, complete)
	default:
		fmt.Fprintf(r.out, "%d answers given, as many as were asked for.\n", r.given)
	}
	if err := r.compare(ctx); err != nil {
		return err
	}
	fmt.Fprintln(r.out, "The expert's true reward weights:")
	e, err := r.envs.Find(r.hello.Env)
	if err != nil {
		return err
	}
	for k, name := range e.New(rng.New(r.flags.seed, "layout", 0)).Spec().FeatureNames {
		fmt.Fprintf(r.out, "  %-28s %8.3f\n", name, r.task.Theta[k])
	}
	return nil
}

// compare says how good what the session recommends is in truth, if the server's data
// are there.
func (r *rehearsal) compare(ctx context.Context) error {
	if r.truth == nil {
		return nil
	}
	says, err := r.truth.compare(ctx)
	if err == nil {
		fmt.Fprintln(r.out, says)
	}
	return err
}
