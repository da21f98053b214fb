package web

import (
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/web/wire"

	"github.com/gorilla/websocket"
)

// cost returns how much a message is charged.
func cost(m wire.FromClient) float64 {
	if _, ok := m.(*wire.ClientHello); ok {
		return helloCost
	}
	return 1
}

// chargeMessage charges the annotator for a message. All their sockets share one limit.
func (a *annotatorSocket) chargeMessage(cost float64) bool {
	return a.srv.limits.messages.take(a.person, cost, time.Now())
}

// rest delays the next message of this socket. The peer's send buffer fills up meanwhile, and its
// other messages cost nothing.
func (a *annotatorSocket) rest() {
	wait := time.NewTimer(restWait)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-a.gone:
	case <-a.srv.ctx.Done():
	}
}

// refuse answers a message that is wrong in itself.
func (a *annotatorSocket) refuse(r *wire.Refused) {
	a.send(wire.Encode(r.Nak()))
	if a.refusals++; a.refusals >= maxRefusals {
		a.end(websocket.ClosePolicyViolation, "too many wrong messages", nil)
	} else if !a.chargeMessage(1) {
		a.rest()
	}
}

// nak refuses a message by the kind of the error.
func (a *annotatorSocket) nak(id string, err error) {
	nak := &wire.Nak{ID: id, Code: codeOf(err), Message: a.srv.explain(err), RetryMS: retryAfter(err).Milliseconds()}
	a.send(wire.Encode(nak))
}

// codeOf returns the code of an error's kind.
func codeOf(err error) wire.Code {
	switch kindOf(err) {
	case idrl.Invalid:
		return wire.Invalid
	case idrl.NotFound:
		return wire.NotFound
	case idrl.Conflict:
		return wire.Conflict
	case idrl.Forbidden:
		return wire.Forbidden
	case idrl.Unavailable:
		return wire.Unavailable
	default:
		return wire.Internal
	}
}

// retryAfter returns the time after which the same message may succeed, 0 for never.
func retryAfter(err error) time.Duration {
	switch kindOf(err) {
	case idrl.Unavailable:
		return retryWait
	case idrl.Internal, idrl.Damaged:
		return retryFault
	default:
		return 0
	}
}

// messageID returns the id that a refusal of m contains.
func messageID(m wire.FromClient) string {
	switch m := m.(type) {
	case *wire.Answer:
		return string(m.ID)
	case *wire.Undo:
		return string(m.ID)
	case *wire.Renew:
		return string(m.Assignment)
	default:
		return ""
	}
}
