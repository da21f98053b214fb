package rehearsal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"tiebreak/internal/clip"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
	"tiebreak/internal/sim"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// An Annotator is a simulated annotator at work. The ids of its answers are a function
// of the seed and the question, so that an answer that is sent again, after the server
// was away, is known to be the same. It is owned by the goroutine that calls Run.
type Annotator struct {
	cfg      Config
	conn     *client.Conn
	patience patience

	hello     *wire.Hello // the first; nil before
	env       idrl.Environment
	theta     []float64 // true weights
	expert    sim.Expert
	truth     *truth                            // nil without the server's data
	asked     map[idrl.QueryID]uint64           // times that a question was answered
	questions map[idrl.AssignmentID]*wire.Query // offered, not answered
	shown     []idrl.Clip                       // of the question under way
	status    wire.Status                       // the last
	sent      *wire.Answer                      // not acknowledged; nil if none
	given     int                               // acknowledged
	waits     string                            // what was said last of what is waited for
	ready     time.Time                         // since when the annotator has been able to look at the next question
	took      time.Duration                     // response time of the last answer, by cfg.Clock
	compared  Comparison                        // the last; zero before
}

// New returns a simulated annotator that has not joined. It speaks to no server yet.
// It returns an error of kind Invalid if cfg cannot work. The caller must Close it.
func New(cfg Config) (*Annotator, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	conn, err := client.New(cfg.Link)
	if err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &Annotator{
		cfg: cfg, conn: conn, patience: patience{limit: cfg.Patience, out: cfg.Out},
		asked: map[idrl.QueryID]uint64{}, questions: map[idrl.AssignmentID]*wire.Query{},
	}, nil
}

// Close ends the connection.
func (r *Annotator) Close() error { return r.conn.Close() }

// Session returns the id of the session, empty before it is known.
func (r *Annotator) Session() idrl.SessionID {
	if r.hello == nil {
		return ""
	}
	return r.hello.Session
}

// Run joins the session and answers until all answers are given or the session is
// complete. It survives a server that restarts at any time. It must be called once.
func (r *Annotator) Run(ctx context.Context) error {
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
func (r *Annotator) finished() bool {
	return r.sent == nil && (r.given >= r.cfg.Answers || r.status.Done) // else an acknowledgement may be under way
}

// converse joins, unless it has, and talks on one socket until the answers are given
// or the session is complete. After an error of kind Unavailable it may be called
// again.
func (r *Annotator) converse(ctx context.Context) error {
	if err := r.conn.Join(ctx, "Simulated "+r.cfg.Expert.name()); err != nil {
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

func (r *Annotator) take(ctx context.Context, m wire.FromServer) error {
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
func (r *Annotator) refused(ctx context.Context, m *wire.Nak) error {
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
func (r *Annotator) sayWhatFor() {
	if len(r.status.Open) > 0 || r.status.Done {
		r.waits = ""
		return
	}
	r.patience.succeeded()
	if says := r.status.Waiting; says != r.waits {
		fmt.Fprintf(r.cfg.Out, "Waiting: %s\n", says)
		r.waits = says
	}
}

// greet notes what arrived before the connection was lost, sends the rest again and,
// the first time, prepares the expert for the session's environment.
func (r *Annotator) greet(ctx context.Context, m *wire.Hello) error {
	if r.hello == nil {
		if err := r.prepare(ctx, m); err != nil {
			return err // it may be tried again
		}
		r.hello = m
		return nil
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

// prepare makes the environment, the true reward and the expert.
func (r *Annotator) prepare(ctx context.Context, m *wire.Hello) error {
	spec := idrl.SessionSpec{Env: m.Env, Seed: r.cfg.Seed} // what is known without the server's data
	var rec idrl.Record
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
	if err == nil && r.cfg.Data != nil {
		r.truth, err = newTruth(ctx, r.cfg.Data, rec, r.env, r.theta)
	}
	return err
}

// match draws the true reward from the prior of a recorded session.
func (r *Annotator) match(rec idrl.Record) error {
	cfg, err := r.cfg.Data.Config(rec)
	if err != nil {
		return err
	}
	r.theta = cfg.Model.Prior().Sample(nil, rng.New(r.cfg.Seed, "matched reward", 0))
	r.expert, err = sim.NewMatched(rec.Spec, r.theta)
	return err
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
	scale := sim.Range(env, r.theta, m.Kind, rng.New(r.cfg.Seed, "range", 0))
	r.expert, err = sim.NewExpert(r.cfg.Expert.Kind, task, r.cfg.Expert.options(scale, r.steps))
	return err
}

// acked notes an acknowledgement.
func (r *Annotator) acked(ctx context.Context, id idrl.AnswerID) error {
	if r.sent == nil || r.sent.ID != id {
		return nil
	}
	delete(r.questions, r.sent.Assignment)
	r.sent, r.ready = nil, time.Now()
	r.patience.succeeded()
	if r.given++; r.given%10 == 0 || r.given == r.cfg.Answers {
		fmt.Fprintf(r.cfg.Out, "%d of %d answers\n", r.given, r.cfg.Answers)
	}
	if r.cfg.Every > 0 && r.given%r.cfg.Every == 0 && r.given < r.cfg.Answers {
		return r.compare(ctx)
	}
	return nil
}

// next returns the first open question that has no reply, or nil.
func (r *Annotator) next() *wire.Query {
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
	if err != nil {
		return err
	}
	// The same seed gives the same answers to the same questions, in any session.
	a := r.expert.Answer(q, rng.New(r.cfg.Seed, "answer "+string(m.Query), r.asked[m.Query]))
	n := r.asked[m.Query]
	r.asked[m.Query]++
	shown, err := r.think(ctx, rng.New(r.cfg.Seed, "response time "+string(m.Query), n))
	if err != nil {
		return err
	}
	out := &wire.Answer{
		ID: client.NewAnswerID(rng.New(r.cfg.Seed, "id "+string(m.Assignment), 0)), Assignment: m.Assignment,
		Choice: a.Choice, Reason: a.Reason, ShownLeft: m.Left, ShownAt: shown.UTC(),
		AnsweredMS: max(1, time.Since(shown).Milliseconds()), Input: "api", Instructions: r.hello.Instructions,
	}
	if a.Choice == idrl.Rated {
		out.Rating = &a.Rating
	}
	return r.send(out)
}

// think passes the response time. It returns when the annotator began to look, which
// is when the question was there and the answer before it acknowledged.
func (r *Annotator) think(ctx context.Context, stream *rand.Rand) (shown time.Time, err error) {
	now := time.Now()
	if r.ready.IsZero() {
		r.ready = now
	}
	shown, r.took = r.ready, r.cfg.Pause
	if r.cfg.Pace > 0 {
		r.took += responseTime(r.cfg.Pace, stream)
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
func (r *Annotator) look(ctx context.Context, m *wire.Query) (idrl.Query, error) {
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
func (r *Annotator) steps(id idrl.ClipID) [][]float64 {
	for _, c := range r.shown {
		if c.ID == id {
			return [][]float64{c.Phi}
		}
	}
	return nil
}

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
	fmt.Fprintln(r.cfg.Out, "The expert's true reward weights:")
	for k, name := range r.env.Spec().FeatureNames {
		fmt.Fprintf(r.cfg.Out, "  %-28s %8.3f\n", name, r.theta[k])
	}
	return nil
}

// compare compares what the session recommends with the truth, if the server's data
// are there and it has not done so since the last answer.
func (r *Annotator) compare(ctx context.Context) error {
	if r.truth == nil || r.compared.Given == r.given && r.given > 0 {
		return nil
	}
	c, err := r.truth.compare(ctx)
	for err != nil {
		if idrl.KindOf(err) != idrl.Unavailable {
			return err
		}
		if err = r.patience.failed(ctx, 0, err); err != nil {
			return err
		}
		c, err = r.truth.compare(ctx)
	}
	r.patience.succeeded()
	c.Given, c.ResponseS = r.given, r.took.Seconds()
	r.compared = c
	fmt.Fprintln(r.cfg.Out, c)
	r.cfg.Compared(c)
	return nil
}
