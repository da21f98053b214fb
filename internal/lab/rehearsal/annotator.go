package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/seeing"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/look/clip"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// An Annotator is a simulated annotator at work. The ids of its answers are a function
// of the seed and the question, so that an answer that is sent again, after the server
// was away, is known to be the same. It is owned by the goroutine that calls Run.
type Annotator struct {
	cfg      Config
	conn     *client.Conn
	crowd    bool   // the link is one of a crowd platform, whose ids are made up
	agreed   string // version of the consent text that was said last
	patience patience

	hello     *wire.Hello // the first; nil before
	env       idrl.Environment
	theta     []float64 // true weights
	scale     float64   // range of the true reward (sim.Range); 0 of a matched expert
	expert    sim.Expert
	practised bool                              // or there was nothing to practise
	tuned     bool                              // expert has the noise of Expert.Right
	truth     *truth                            // nil without the server's data, for a person, and in an arena
	ranking   *ranking                          // of an arena; nil without the server's data
	person    *seeing.Person                    // who answers in place of expert; nil if none does
	liking    *liking                           // of the person; nil without the server's data
	asked     map[idrl.QueryID]uint64           // times that a question was answered
	questions map[idrl.AssignmentID]*wire.Query // offered, not answered
	done      map[idrl.AssignmentID]bool        // acknowledged: offers of them were on the way then
	shown     []idrl.Clip                       // of the question under way
	drawn     []*clip.Clip                      // the same as they are drawn
	status    wire.Status                       // the last
	sent      *wire.Answer                      // not acknowledged; nil if none
	given     int                               // acknowledged
	waits     string                            // what was said last of what is waited for
	heard     time.Time                         // when something new was heard
	ready     time.Time                         // since when the annotator has been able to look at the next question
	took      time.Duration                     // response time of the last answer, by cfg.Clock
	told      int                               // answers given when the last comparison was written; -1 before
}

// New returns a simulated annotator that has not joined. It speaks to no server yet.
// It returns an error of kind Invalid if cfg cannot work. The caller must Close it.
func New(cfg Config) (*Annotator, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	link, crowd := client.FillIn(cfg.Link, "test-"+mark(cfg.Seed, "-")+cfg.apart("-"))
	conn, err := client.New(link)
	if err != nil {
		return nil, err
	}
	conn.Agrees = true
	cfg = cfg.withDefaults()
	return &Annotator{
		cfg: cfg, conn: conn, crowd: crowd, told: -1, patience: patience{limit: cfg.Patience, out: cfg.Out},
		asked: map[idrl.QueryID]uint64{}, questions: map[idrl.AssignmentID]*wire.Query{}, done: map[idrl.AssignmentID]bool{},
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
	if err := r.conn.Join(ctx, r.name()); err != nil {
		return err
	}
	r.sayAgreed()
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
	for r.heard = time.Now(); !r.finished(); {
		m, err := r.conn.RecvBy(r.heard.Add(quiet))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return r.errNothing()
		}
		if err != nil {
			return errLost(err)
		}
		if err := r.take(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// quiet is how long an annotator waits for a question, an acknowledgement or a sign of progress:
// longer than the longest step of a training that is told apart.
const quiet = 15 * time.Minute

// errNothing returns an error that names the message that did not come in time.
func (r *Annotator) errNothing() error {
	switch {
	case r.sent != nil:
		return idrl.Errorf(idrl.Unavailable, "an answer was not acknowledged for %v", quiet)
	case r.waits != "":
		return idrl.Errorf(idrl.Conflict, "there was no question and no progress for %v; the server says: %s", quiet, r.waits)
	}
	return idrl.Errorf(idrl.Conflict, "the server sent no question for %v", quiet)
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
		r.heard = time.Now()
		if !r.done[m.Assignment] {
			r.questions[m.Assignment] = m
		}
	case *wire.Ack:
		if err := r.acked(ctx, m.ID); err != nil {
			return err
		}
		return r.answer(ctx) // a status may have come before the ack
	case *wire.Nak:
		return r.refused(ctx, m)
	case *wire.Status:
		r.status = *m
		if m.Consent != "" {
			if err := r.conn.Agree(ctx); err != nil {
				return err
			}
			r.sayAgreed()
		}
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
	if err := r.patience.failed(ctx, wait, fmt.Errorf("the session cannot go on: %s", m.Message)); err != nil {
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
		r.waits, r.heard = says, time.Now()
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

// acked notes an acknowledgement.
func (r *Annotator) acked(ctx context.Context, id idrl.AnswerID) error {
	if r.sent == nil || r.sent.ID != id {
		return nil
	}
	delete(r.questions, r.sent.Assignment)
	r.done[r.sent.Assignment] = true
	r.sent, r.ready, r.heard = nil, time.Now(), time.Now()
	r.patience.succeeded()
	if r.given++; r.given%10 == 0 || r.given == r.cfg.Answers {
		fmt.Fprintf(r.cfg.Out, "%d of %d answers\n", r.given, r.cfg.Answers)
	}
	if all := r.cfg.before + r.given; r.cfg.Every > 0 && all%r.cfg.Every == 0 && r.given < r.cfg.Answers {
		return r.compare(ctx)
	}
	return nil
}
