package bynats

import (
	"crypto/rand"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tiebreak/internal/train/elsewhere"
)

// subjectHeader has the subject that a message was sent under, without prefix.
const subjectHeader = "Tiebreak-Subject"

// numberHeader has the number of a message of a stream.
const numberHeader = "Tiebreak-Number"

// streamHeader is on what NATS itself has read from a stream and answers a request with.
const streamHeader = "Nats-Stream"

// message returns a message of NATS.
func message(subject string, data []byte) *nats.Msg {
	return &nats.Msg{Subject: prefix + subject, Data: data, Header: nats.Header{subjectHeader: {subject}}}
}

// genuine returns the message that arrived under a subject of NATS, unless it was not sent under it.
//
// NATS does not check where the answer to a request goes. So a worker can have it answered under a subject
// that the worker may not publish under, with what the worker has put, or received. The first has the header of
// a stream, and the second that of another subject: neither is handed over.
func genuine(subject string, header nats.Header, data []byte) (elsewhere.Message, bool) {
	plain, ok := strings.CutPrefix(subject, prefix)
	if !ok || len(header[streamHeader]) > 0 || header.Get(subjectHeader) != plain || elsewhere.CheckSent(plain, data) != nil {
		return elsewhere.Message{}, false
	}
	return elsewhere.Message{Subject: plain, Data: data}, true
}

// A number says who has sent a message, and as which of that sender's. Later ones under a subject have higher numbers.
type number struct {
	sender string
	n      uint64
}

// numbered gives a message its number, for receivers, and an id for JetStream, which stores only one message of an id.
// The id is random: a worker that could guess one could use it up.
func numbered(m *nats.Msg, of number) {
	m.Header.Set(numberHeader, of.sender+"."+strconv.FormatUint(of.n, 10))
	m.Header.Set(jetstream.MsgIDHeader, rand.Text())
}

// numberOf returns the number of a message.
func numberOf(header nats.Header) (number, bool) {
	sender, digits, ok := strings.Cut(header.Get(numberHeader), ".")
	n, err := strconv.ParseUint(digits, 10, 64)
	return number{sender, n}, ok && err == nil && len(sender) <= 64
}

// once tells which messages are new under their subjects. It holds the numbers of the
// most recent subjects, half of which it forgets when there are too many.
type once struct {
	now, before map[[2]string]uint64 // by subject and sender
}

const maxOnce = 2048 // in one map

// first reports whether a message has a higher number than all of its sender's under the subject before, and keeps that.
func (o *once) first(subject string, of number) bool {
	key := [2]string{subject, of.sender}
	last, is := o.now[key]
	if !is {
		last, is = o.before[key]
	}
	if is && of.n <= last {
		return false
	}
	if o.now == nil || len(o.now) >= maxOnce {
		o.before, o.now = o.now, map[[2]string]uint64{}
	}
	o.now[key] = of.n
	return true
}
