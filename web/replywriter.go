package web

import (
	"net/http"
	"time"
)

// Limits of replies. A client that does not read its reply would else hold what the handler
// holds: a goroutine, memory, and in an export the state of the database that it reads.
const (
	replyWait = 30 * time.Second // for a part to be taken
	replyPart = 64 << 10         // bytes: a slow client is given time for each part, not for all of a reply
)

// A replyWriter writes a reply in parts, and breaks off the connection of a client that does
// not take one in time. Every reply is written by one; a socket that takes over the
// connection sets deadlines of its own.
type replyWriter struct {
	http.ResponseWriter
	wait time.Duration
}

func (w *replyWriter) Write(b []byte) (int, error) {
	for n := 0; ; {
		w.extend()
		m, err := w.ResponseWriter.Write(b[n:min(len(b), n+replyPart)])
		if n += m; err != nil || n == len(b) {
			return n, err
		}
	}
}

// extend gives the client time for what is written next.
func (w *replyWriter) extend() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.wait)) // a recorder of tests has none
}

// Unwrap is for http.ResponseController.
func (w *replyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
