package loadtest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// A Labeller answers in lockstep: a question, its answer, the ack, the next. Its
// choices are a function of the questions alone.
type Labeller struct {
	Conn  *client.Conn
	Recv  func(limit time.Time) (wire.FromServer, error) // of conn; see Listen
	rng   *rand.Rand                                     // for ids
	Asked []idrl.QueryID
	Acked map[idrl.AnswerID]bool
	sent  *wire.Answer
	known map[idrl.AssignmentID]*wire.Query // not answered yet
	done  map[idrl.AssignmentID]bool        // acknowledged; a second hello may bring their questions again
	open  []idrl.AssignmentID               // as the last status listed them
	said  *wire.Status                      // the last status
	began time.Time                         // when the reply under way was sent
	Waits []time.Duration                   // from reply to acknowledgement
	until int                               // acknowledgements after which it replies no more
	Think time.Duration                     // before a reply, on average
	Blind bool                              // sends the answer that is not acknowledged again without asking whether it is recorded
	Heeds bool                              // replies only by a list of questions that knows of its last reply
}

// New returns a Labeller of a connection that has said nothing, whose ids are drawn from seed.
func New(conn *client.Conn, seed uint64) *Labeller {
	return &Labeller{
		Conn: conn, Recv: conn.RecvBy, rng: rng.New(seed, "answer ids", 0),
		Acked: map[idrl.AnswerID]bool{}, done: map[idrl.AssignmentID]bool{}, known: map[idrl.AssignmentID]*wire.Query{},
	}
}

// Pending returns the id of the answer that was sent and is not acknowledged; empty if there is none.
func (l *Labeller) Pending() idrl.AnswerID {
	if l.sent == nil {
		return ""
	}
	return l.sent.ID
}

// Forget has the labeller send the answer that is not acknowledged no more, as one would that takes what is sent for recorded.
func (l *Labeller) Forget() { l.sent = nil }

// Open returns a question that is open and has no reply yet; nil if there is none.
func (l *Labeller) Open() *wire.Query {
	for _, id := range l.open {
		if q := l.known[id]; q != nil && !l.done[id] {
			return q
		}
	}
	return nil
}

// Choice is the reply to a question.
func (l *Labeller) Choice(q *wire.Query) idrl.Choice {
	h := fnv.New32a()
	_, _ = h.Write([]byte(q.Query))
	return []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.ChoseA, idrl.Equal}[h.Sum32()%4]
}

// Label goes on until n answers are acknowledged or the socket breaks.
func (l *Labeller) Label(n int) error {
	l.until = n
	hello := &wire.ClientHello{}
	if l.sent != nil && !l.Blind {
		hello.Outbox = append(hello.Outbox, l.sent.ID)
	}
	if err := l.Conn.Send(hello); err != nil {
		return err
	}
	return l.hear()
}

// GoOn is Label on a socket that has said hello.
func (l *Labeller) GoOn(n int) error {
	l.until = n
	if err := l.answer(); err != nil {
		return err
	}
	return l.hear()
}

// Wait is how long a labeller waits for its next acknowledgement: longer than trainings take
// on a machine with much other work.
const Wait = 5 * time.Minute

// doneWait is how long it waits for more where the server has no further question.
const doneWait = time.Minute

// hear takes messages until as many answers are acknowledged as are wanted. It returns an error
// that says what it waited for if the server has no further question, or sends none for Wait.
func (l *Labeller) hear() error {
	have, limit := len(l.Acked), time.Now().Add(Wait)
	for len(l.Acked) < l.until {
		if len(l.Acked) > have {
			have, limit = len(l.Acked), time.Now().Add(Wait)
		}
		by := limit
		if l.said != nil && l.said.Done && l.sent == nil { // a later status may say that more is wanted
			by = time.Now().Add(doneWait)
		}
		m, err := l.Recv(by)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("nothing came: %s", l.waiting())
		}
		if err != nil {
			return err
		}
		if err := l.take(m); err != nil {
			return err
		}
	}
	return nil
}

// waiting says what the labeller waits for.
func (l *Labeller) waiting() string {
	what := "a question"
	if l.sent != nil {
		what = "the acknowledgement of " + string(l.sent.ID)
	}
	return fmt.Sprintf("%d of %d answers are acknowledged, waiting for %s; the last status was %+v", len(l.Acked), l.until, what, l.said)
}

// Listen reads the socket from now on, as a browser does: also while the labeller
// does not, so that the server hears that it is there. It ends with the connection.
func (l *Labeller) Listen() {
	type heard struct {
		m   wire.FromServer
		err error
	}
	inbox := make(chan heard, 4096) // more than come while others wait for their first clips
	conn := l.Conn
	go func() {
		for {
			m, err := conn.Recv()
			inbox <- heard{m, err}
			if err != nil {
				return
			}
		}
	}()
	l.Recv = func(limit time.Time) (wire.FromServer, error) {
		select {
		case h := <-inbox:
			return h.m, h.err
		case <-time.After(time.Until(limit)):
			return nil, os.ErrDeadlineExceeded
		}
	}
}

func (l *Labeller) take(m wire.FromServer) error {
	switch m := m.(type) {
	case *wire.Hello:
		if l.sent == nil {
			return nil
		}
		if slices.Contains(m.Have, l.sent.ID) {
			l.ack(l.sent.ID)
			return nil
		}
		return l.Conn.Send(l.sent)
	case *wire.Query:
		if !l.done[m.Assignment] {
			l.known[m.Assignment] = m
		}
	case *wire.Ack:
		l.ack(m.ID)
		return l.answer() // a status may have come before the ack
	case *wire.Nak:
		if m.RetryMS > 0 && l.sent == nil {
			return nil // the server could not say what is open; it tries again
		}
		if m.RetryMS > 0 {
			<-time.After(time.Duration(m.RetryMS) * time.Millisecond)
			return l.Conn.Send(l.sent)
		}
		return idrl.Errorf(idrl.Invalid, "refused: %s", m.Message)
	case *wire.Status:
		l.open, l.said = m.Open, m
		return l.answer()
	}
	return nil
}

// answer replies to the first open question that has no reply, unless a reply
// is under way.
func (l *Labeller) answer() error {
	if l.Heeds && slices.ContainsFunc(l.open, func(id idrl.AssignmentID) bool { return l.done[id] }) {
		return nil
	}
	for _, id := range l.open {
		q := l.known[id]
		if l.sent != nil || q == nil || len(l.Acked) >= l.until {
			continue
		}
		l.sent = &wire.Answer{
			ID: client.NewAnswerID(l.rng), Assignment: q.Assignment, Choice: l.Choice(q), ShownLeft: q.Left,
			ShownAt: time.Now().UTC(), Input: "api", Instructions: 1,
		}
		l.Asked = append(l.Asked, q.Query)
		if l.Think > 0 {
			<-time.After(time.Duration(2 * l.rng.Float64() * float64(l.Think)))
		}
		l.began = time.Now()
		return l.Conn.Send(l.sent)
	}
	return nil
}

func (l *Labeller) ack(id idrl.AnswerID) {
	if l.sent != nil && l.sent.ID == id {
		l.Acked[id] = true
		l.Waits = append(l.Waits, time.Since(l.began))
		l.done[l.sent.Assignment] = true
		delete(l.known, l.sent.Assignment)
		l.sent = nil
	}
}
