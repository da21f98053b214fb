package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/train/training"
	"tiebreak/store"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// A labeller answers in lockstep: a question, its answer, the ack, the next. Its
// choices are a function of the questions alone.
type labeller struct {
	conn  *client.Conn
	recv  func(limit time.Time) (wire.FromServer, error) // of conn; see listen
	rng   *rand.Rand                                     // for ids
	asked []idrl.QueryID
	acked map[idrl.AnswerID]bool
	sent  *wire.Answer
	known map[idrl.AssignmentID]*wire.Query // not answered yet
	done  map[idrl.AssignmentID]bool        // acknowledged; a second hello may bring their questions again
	open  []idrl.AssignmentID               // as the last status listed them
	said  *wire.Status                      // the last status
	began time.Time                         // when the reply under way was sent
	waits []time.Duration                   // from reply to acknowledgement
	until int                               // acknowledgements after which it replies no more
	think time.Duration                     // before a reply, on average
	heeds bool                              // replies only by a list of questions that knows of its last reply
}

func newLabeller(conn *client.Conn, seed uint64) *labeller {
	return &labeller{
		conn: conn, recv: conn.RecvBy, rng: rng.New(seed, "answer ids", 0),
		acked: map[idrl.AnswerID]bool{}, done: map[idrl.AssignmentID]bool{}, known: map[idrl.AssignmentID]*wire.Query{},
	}
}

func (l *labeller) choice(q *wire.Query) idrl.Choice {
	h := fnv.New32a()
	_, _ = h.Write([]byte(q.Query))
	return []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.ChoseA, idrl.Equal}[h.Sum32()%4]
}

// label goes on until n answers are acknowledged or the socket breaks.
func (l *labeller) label(n int) error {
	l.until = n
	hello := &wire.ClientHello{}
	if l.sent != nil {
		hello.Outbox = append(hello.Outbox, l.sent.ID)
	}
	if err := l.conn.Send(hello); err != nil {
		return err
	}
	return l.hear()
}

// goOn is label on a socket that has said hello.
func (l *labeller) goOn(n int) error {
	l.until = n
	if err := l.answer(); err != nil {
		return err
	}
	return l.hear()
}

// labelWait is how long a labeller waits for its next acknowledgement: longer than trainings take
// on a machine with much other work.
const labelWait = 5 * time.Minute

// doneWait is how long it waits for more where the server has no further question.
const doneWait = time.Minute

// hear takes messages until as many answers are acknowledged as are wanted. It returns an error
// that says what it waited for if the server has no further question, or sends none for labelWait.
func (l *labeller) hear() error {
	have, limit := len(l.acked), time.Now().Add(labelWait)
	for len(l.acked) < l.until {
		if len(l.acked) > have {
			have, limit = len(l.acked), time.Now().Add(labelWait)
		}
		by := limit
		if l.said != nil && l.said.Done && l.sent == nil { // a later status may say that more is wanted
			by = time.Now().Add(doneWait)
		}
		m, err := l.recv(by)
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
func (l *labeller) waiting() string {
	what := "a question"
	if l.sent != nil {
		what = "the acknowledgement of " + string(l.sent.ID)
	}
	return fmt.Sprintf("%d of %d answers are acknowledged, waiting for %s; the last status was %+v", len(l.acked), l.until, what, l.said)
}

// listen reads the socket from now on, as a browser does: also while the labeller
// does not, so that the server hears that it is there. It ends with the connection.
func (l *labeller) listen() {
	type heard struct {
		m   wire.FromServer
		err error
	}
	inbox := make(chan heard, 4096) // more than come while others wait for their first clips
	conn := l.conn
	go func() {
		for {
			m, err := conn.Recv()
			inbox <- heard{m, err}
			if err != nil {
				return
			}
		}
	}()
	l.recv = func(limit time.Time) (wire.FromServer, error) {
		select {
		case h := <-inbox:
			return h.m, h.err
		case <-time.After(time.Until(limit)):
			return nil, os.ErrDeadlineExceeded
		}
	}
}

func (l *labeller) take(m wire.FromServer) error {
	switch m := m.(type) {
	case *wire.Hello:
		if l.sent == nil {
			return nil
		}
		if slices.Contains(m.Have, l.sent.ID) {
			l.ack(l.sent.ID)
			return nil
		}
		return l.conn.Send(l.sent)
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
			return l.conn.Send(l.sent)
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
func (l *labeller) answer() error {
	if l.heeds && slices.ContainsFunc(l.open, func(id idrl.AssignmentID) bool { return l.done[id] }) {
		return nil
	}
	for _, id := range l.open {
		q := l.known[id]
		if l.sent != nil || q == nil || len(l.acked) >= l.until {
			continue
		}
		l.sent = &wire.Answer{
			ID: client.NewAnswerID(l.rng), Assignment: q.Assignment, Choice: l.choice(q), ShownLeft: q.Left,
			ShownAt: time.Now().UTC(), Input: "api", Instructions: 1,
		}
		l.asked = append(l.asked, q.Query)
		if l.think > 0 {
			<-time.After(time.Duration(2 * l.rng.Float64() * float64(l.think)))
		}
		l.began = time.Now()
		return l.conn.Send(l.sent)
	}
	return nil
}

func (l *labeller) ack(id idrl.AnswerID) {
	if l.sent != nil && l.sent.ID == id {
		l.acked[id] = true
		l.waits = append(l.waits, time.Since(l.began))
		l.done[l.sent.Assignment] = true
		delete(l.known, l.sent.Assignment)
		l.sent = nil
	}
}

// study makes a session in a new folder and labels n questions of it, and says
// how long that took. With kills > 0 the server is killed that many times and
// started again: at a random moment of the next fuse, or after the next n/kills
// answers if that comes first.
func study(t *testing.T, n, kills int, fuse time.Duration) (*labeller, record.Record, time.Duration) {
	t.Helper()
	data, addr := t.TempDir(), freeAddr(t)
	status, stdout, stderr := cli(t, "session", "--data", data, "--addr", addr, "--env", "gridworld",
		"--kind", "clip_comparison", "--train-every", "3", "--adopt-after", "2", "--seed", "11")
	if status != 0 {
		t.Fatalf("session: %s", stderr)
	}
	out := &process{out: &syncBuffer{}}
	_, _ = out.out.Write([]byte(stdout))
	id, link := out.find(t, `Session:\s+(\S+)`), out.find(t, `Annotator:\s+(\S+)`)

	p := startServer(t, "serve", "--data", data, "--addr", addr)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	conn, err := client.Dial(ctx, link)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	l := newLabeller(conn, 1)
	l.heeds = true // what is asked next is then a function of the log, whatever comes first, an acknowledgement or the list
	began := time.Now()
	moments, midway := rng.New(2, "kill moments", 0), 0
	for k := range kills {
		timer := time.AfterFunc(time.Duration(moments.Int64N(int64(fuse))), func() { _ = p.cmd.Process.Kill() })
		if err := l.label((k + 1) * n / (kills + 1)); err != nil && idrl.KindOf(err) != idrl.Internal {
			t.Fatalf("kill %d: %v", k, err)
		}
		if timer.Stop() {
			p.kill() // between two answers
		} else {
			midway++
		}
		<-p.done
		p = startServer(t, "serve", "--data", data, "--addr", addr)
		if err := conn.Reconnect(ctx); err != nil {
			t.Fatalf("reconnect after kill %d: %v\n%s", k, err, p.out)
		}
	}
	if err := l.label(n); err != nil {
		t.Fatalf("label: %v\n%s", err, p.out)
	}
	took := time.Since(began)
	if kills > 0 {
		t.Logf("%d of %d kills came between a question and its acknowledgement", midway, kills)
	}
	p.kill()
	db, err := store.OpenReadOnly(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rec, err := db.Load(t.Context(), idrl.SessionID(id))
	if err != nil {
		t.Fatal(err)
	}
	return l, rec, took
}

// TestKill kills the real server at twenty random moments while it is answered,
// and compares the outcome with a run that was left alone.
func TestKill(t *testing.T) {
	t.Parallel()
	const answers, kills = 126, 20
	calm, calmRec, took := study(t, answers, 0, 0)
	torn, rec, _ := study(t, answers, kills, took/kills)

	stored := map[idrl.AnswerID]int{}
	for _, a := range rec.Log {
		stored[a.ID]++
	}
	for id := range maps.Keys(torn.acked) {
		if stored[id] != 1 {
			t.Errorf("acknowledged answer %s is stored %d times, want once", id, stored[id])
		}
	}
	if len(rec.Log) != answers || len(torn.acked) != answers {
		t.Errorf("%d rows and %d acks for %d answers", len(rec.Log), len(torn.acked), answers)
	}
	if diff := cmp.Diff(calm.asked, torn.asked); diff != "" {
		t.Errorf("the kills changed the questions (-without +with):\n%s", diff)
		for i, as := range rec.Assignments {
			if calm := calmRec.Assignments[i]; as.Query.ID != calm.Query.ID {
				t.Errorf("first at assignment %d, chosen for %+v, without kills for %+v", as.N, as.Why, calm.Why)
				break
			}
		}
	}
	last := rec.Snapshots[len(rec.Snapshots)-1]
	if want := replay(t, rec); !bytes.Equal(last.Belief, want) {
		t.Error("the belief is not the replay of the log")
	}
	if calmLast := calmRec.Snapshots[len(calmRec.Snapshots)-1]; !bytes.Equal(last.Belief, calmLast.Belief) {
		t.Error("the kills changed the belief")
	}
	if rec.Generation.BasedOn != calmRec.Generation.BasedOn {
		t.Errorf("generation %d in use, without kills %d", rec.Generation.BasedOn, calmRec.Generation.BasedOn)
	}
}

// replay returns the encoded belief that follows from the log alone.
func replay(t *testing.T, rec record.Record) []byte {
	t.Helper()
	model, err := training.Model(envs.Catalogue(), rec.Spec)
	if err != nil {
		t.Fatal(err)
	}
	queries := journaltest.Vectors(t, rec)
	var items []posterior.Item
	for _, a := range record.Effective(rec.Log) {
		if q := queries[a.Assignment]; a.Informative() {
			items = append(items, posterior.ItemOf(&q, a))
		}
	}
	p, err := posterior.Of(t.Context(), model, items)
	if err != nil {
		t.Fatal(err)
	}
	b, err := model.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
