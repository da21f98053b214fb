package web

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
	"tiebreak/internal/session/view"
	"tiebreak/web/wire"
)

// Waits of an annotator's socket.
const (
	askAgain    = 5 * time.Second // after which a page without questions looks for expired leases
	othersWait  = time.Second     // until changes by other annotators are passed on
	retryWait   = time.Second     // that a client is asked to wait when the server is busy
	retryFault  = 5 * time.Second // and after an error
	maxRefusals = 200             // messages that are wrong in themselves, then the socket ends
)

// annotatorSocket serves one browser tab of an annotator.
type annotatorSocket struct {
	*socket
	srv     labelling
	session Session
	spec    idrl.SessionSpec
	who     idrl.AnnotatorID
	pacer   *live.Pacer // runs feed

	person   person
	narrow   bool           // the annotator must not see earlier answers
	crowd    identity.Crowd // that they came from; the zero Crowd if from none
	refusals int            // of the reading goroutine

	mu      sync.Mutex
	greeted bool                       // guarded by mu: the client has said hello
	hello   *wire.Hello                // guarded by mu: to be sent by feed; nil if none
	forget  bool                       // guarded by mu: the client starts again
	waiting bool                       // guarded by mu: the last offer was empty
	ending  bool                       // guarded by mu: the annotator may be done, and watches the last training
	sent    map[idrl.AssignmentID]bool // of feed: questions that the client holds

	settings int64 // guarded by mu: number of changes of the session's settings that were noticed

	reading sync.Mutex   // held while consent is read from the database and stored; before mu
	consent consentState // guarded by reading
}

// A consentState is what a socket knows of the consent of its annotator.
type consentState struct {
	known    bool  // it was read
	settings int64 // settings of the socket before it was read
	agreed   int64
	awaits   bool // they are to agree before the next question
}

// annotate is GET /sessions/:id/ws.
func (s labelling) annotate(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	actor, err := s.labeller(c, auth.Label, id, socketCost)
	if err != nil {
		return err
	}
	session, err := s.session(c.Request().Context(), id)
	if err != nil {
		return err
	}
	crowd, err := s.cfg.People.CrowdOf(c.Request().Context(), id, actor.Annotator)
	if err != nil {
		return err
	}
	spec, cookie := session.Spec(), s.annotatorCookie(c, id)
	alive := func(ctx context.Context) error { return s.stillMay(ctx, cookie, auth.Label, id) }
	from := visitor{personOf(actor), annotatorSockets, wire.MaxMessage, alive}
	return s.serve(c.Response(), c.Request(), from, func(sock *socket) (func(int, []byte), func()) {
		a := &annotatorSocket{
			socket: sock, srv: s, session: session, spec: spec, who: actor.Annotator, person: from.who,
			narrow: actor.Narrow, crowd: crowd,
			sent: map[idrl.AssignmentID]bool{},
		}
		a.pacer = live.NewPacer(0, a.feed)
		unsubscribe := s.cfg.Hub.Subscribe(id, a.notice)
		return a.handle, func() {
			unsubscribe()
			a.pacer.Stop()
		}
	})
}

// notice gets every change in the session. Changes of this annotator are passed on at once; the
// others, which only move the progress bar, after a moment.
func (a *annotatorSocket) notice(e live.Event) {
	a.mu.Lock()
	greeted, waiting := a.greeted, a.waiting || a.ending && e.Kind == live.EventTraining
	if e.Kind == live.EventSettings {
		a.settings++
	}
	a.mu.Unlock()
	switch {
	case !greeted:
	case e.Kind == live.EventAdopted, e.Kind == live.EventSettings, e.Kind == live.EventAnswered && e.Annotator == a.who:
		a.pacer.Wake(0)
	case e.Kind == live.EventAnswered || waiting:
		a.pacer.Wake(othersWait)
	}
}

// handle deals with one message of the client.
func (a *annotatorSocket) handle(kind int, b []byte) {
	if kind != websocket.TextMessage {
		a.refuse(&wire.Refused{Code: wire.Invalid, Message: "Messages must be text, not binary."})
		return
	}
	m, err := wire.Decode(b)
	if refused := (*wire.Refused)(nil); errors.As(err, &refused) {
		a.refuse(refused)
		return
	}
	if !a.chargeMessage(cost(m)) {
		a.nak(messageID(m), idrl.Errorf(idrl.Unavailable, "Too many messages at once; sending again in a moment."))
		a.rest()
		return
	}
	defer a.srv.heavy.first()()
	ctx, cancel := context.WithTimeout(a.srv.ctx, callWait)
	defer cancel()
	switch m := m.(type) {
	case *wire.ClientHello:
		a.answerHello(ctx, m)
	case *wire.Answer:
		row := m.Row()
		row.Annotator, row.ReceivedAt = a.who, time.Now().UTC()
		has, err := a.consents(ctx)
		if err != nil {
			a.nak(string(m.ID), err)
			return
		}
		row.Consent = has.agreed
		receipt, err := a.session.Answer(ctx, a.who, row)
		a.srv.counts.answered(row.ReceivedAt, receipt, err)
		a.reply(string(m.ID), receipt, err)
	case *wire.Undo:
		if a.narrow {
			a.nak(string(m.ID), errNarrow)
			return
		}
		receipt, err := a.session.Undo(ctx, a.who, m.ID, m.Of)
		a.reply(string(m.ID), receipt, err)
	case *wire.Renew:
		if err := a.session.Renew(ctx, a.who, m.Assignment); err != nil {
			if kindOf(err) != idrl.Conflict { // answered meanwhile, in another tab: no fault
				a.nak(string(m.Assignment), err)
			}
			a.pacer.Wake(0) // tells which questions are open
		}
	}
}

// answerHello answers a hello: it says which answers of the outbox are durable; then feed sends the
// questions.
func (a *annotatorSocket) answerHello(ctx context.Context, m *wire.ClientHello) {
	have, err := a.session.Have(ctx, a.who, m.Outbox)
	if err != nil {
		a.nak("", err)
		a.end(websocket.CloseTryAgainLater, "try again", nil)
		return
	}
	if have == nil {
		have = []idrl.AnswerID{}
	}
	a.mu.Lock()
	a.greeted, a.forget = true, true
	a.hello = &wire.Hello{
		Session: a.spec.ID, Annotator: a.who, Kind: a.spec.Kind, Env: a.spec.Env, Instructions: a.spec.InstructionsVersion, Have: have,
	}
	a.mu.Unlock()
	a.pacer.Wake(0)
}

// reply acknowledges a durable row, or says why the row is not recorded.
func (a *annotatorSocket) reply(id string, receipt view.Receipt, err error) {
	if err != nil {
		a.nak(id, err)
		a.pacer.Wake(0)
		return
	}
	a.send(wire.Encode(&wire.Ack{ID: receipt.ID, Seq: receipt.Seq, Replay: receipt.Replay}))
}

// feed sends the list of open questions, and each question before it is first listed. The pacer
// runs it.
func (a *annotatorSocket) feed() {
	defer a.srv.heavy.first()()
	ctx, cancel := context.WithTimeout(a.srv.ctx, callWait)
	defer cancel()
	offer, err := a.session.Claim(ctx, a.who)
	a.mu.Lock()
	hello := a.hello
	if a.forget {
		clear(a.sent)
	}
	a.hello, a.forget, a.waiting = nil, false, len(offer.Open) == 0
	a.ending = (offer.Done || offer.Enough) && offer.Learning.Running
	a.mu.Unlock()
	if hello != nil { // also if there is no offer, so that the outbox is emptied
		hello.Seq, hello.Instructions = offer.Seq, max(hello.Instructions, offer.Instructions)
		a.send(wire.Encode(hello))
	}
	has, unknown := a.consents(ctx)
	if err = cmp.Or(err, unknown); err != nil {
		a.nak("", err)
		if wait := retryAfter(err); wait > 0 {
			a.pacer.Wake(wait)
		} else {
			a.end(websocket.ClosePolicyViolation, "not served", nil)
		}
		return
	}
	a.deliver(offer, has.awaits)
}

// errNarrow refuses changes by a person who came back by an id that others may know.
var errNarrow = idrl.Errorf(idrl.Forbidden, "In this browser you can answer more questions, but you cannot change earlier answers. To change them, use the browser in which you gave them.")

// consents returns the state of the annotator's consent. It reads it again until no settings have
// changed meanwhile. A call during a read waits for that read.
func (a *annotatorSocket) consents(ctx context.Context) (consentState, error) {
	a.reading.Lock()
	defer a.reading.Unlock()
	for {
		a.mu.Lock()
		settings := a.settings
		a.mu.Unlock()
		if a.consent.known && a.consent.settings == settings {
			return a.consent, nil
		}
		is, agreed, err := a.srv.cfg.People.Consent(ctx, a.spec.ID, a.who)
		if err != nil {
			return consentState{}, err
		}
		a.consent = consentState{known: true, settings: settings, agreed: agreed, awaits: is.Awaits(agreed)}
	}
}

// deliver sends the questions that the client does not hold, and the status. If consent is missing
// it sends no further questions, and lists only those that the client holds.
func (a *annotatorSocket) deliver(offer view.Offer, awaits bool) {
	if awaits && !offer.Done {
		offer.Open = slices.DeleteFunc(slices.Clone(offer.Open), func(as record.Assignment) bool { return !a.sent[as.ID] })
		offer.Waiting = "The text that people agree to has changed. Please read it before you go on."
	}
	status := &wire.Status{
		Answers: offer.Answers, Mine: offer.Mine, Skipped: offer.Skipped, Budget: offer.Budget,
		Open: []idrl.AssignmentID{}, Done: offer.Done, Enough: offer.Enough && !a.narrow, Waiting: offer.Waiting, Undo: offer.Undo, Learnt: offer.Effect, Same: offer.Same, Code: offer.Code,
		Instructions: offer.Instructions,
	}
	if each := a.spec.AnswersEach; each > 0 && !a.narrow { // their own part is what there is to do
		status.Answers, status.Skipped, status.Budget = offer.Mine, 0, each
		offer.Left = stopping.Forecast{Known: true, About: each - offer.Mine}
	}
	if (offer.Done || offer.Enough) && offer.Mine > 0 {
		status.Return = a.crowd.ReturnTo(offer.Code)
	}
	if a.narrow {
		status.Mine, status.Skipped, status.Undo, status.Learnt = 0, 0, "", false
	}
	if awaits && !offer.Done && len(offer.Open) == 0 {
		status.Consent = sessionURL(a.spec.ID, "consent")
	}
	if l := offer.Learning; l.Answers > 0 && !a.narrow {
		status.Learning = &wire.Learning{
			Answers: l.Answers, Untrained: l.Untrained, Running: l.Running, Waits: l.Waits, Done: l.Done, Total: l.Total, Left: l.Left, Why: l.Why,
		}
	}
	if offer.Left.Known {
		status.ToGo = &offer.Left.About
	}
	held := map[idrl.AssignmentID]bool{}
	for _, as := range offer.Open {
		if !a.sent[as.ID] {
			a.send(wire.Encode(a.question(as, offer.Seen)))
		}
		held[as.ID] = true
		status.Open = append(status.Open, as.ID)
	}
	a.sent = held
	a.send(wire.Encode(status))
	if len(offer.Open) == 0 && !offer.Done {
		a.pacer.Wake(askAgain)
	}
}

// question returns what an annotator may know of an assignment: neither its purpose nor the
// policies of its clips.
func (a *annotatorSocket) question(as record.Assignment, seen drawing.Part) *wire.Query {
	q := &wire.Query{Assignment: as.ID, Query: as.Query.ID, Kind: as.Query.Kind, Left: as.Left, Order: as.Order, Before: as.Before, LeaseUntil: as.LeaseUntil.UTC()}
	if seen != (drawing.Part{}) {
		q.Seen = seen[:]
	}
	for _, id := range as.Query.Clips {
		q.Clips = append(q.Clips, clipURL(a.spec.ID, id))
	}
	return q
}
