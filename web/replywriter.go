package web

import (
	"net/http"
	"time"
)

// Limits of replies. Otherwise a client that does not read its reply would hold the resources of
// the handler: a goroutine, memory, and in an export a snapshot of the database.
const (
	replyWait = 30 * time.Second // to send a part
	replyPart = 64 << 10         // bytes: a slow client has this time for each part, not for the whole reply
)

// A replyWriter writes a reply in parts, and closes the connection of a client that does not read
// one in time. It writes every reply; a socket that takes over the connection sets deadlines of its
// own.
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

// extend gives the client time for the next part.
func (w *replyWriter) extend() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.wait)) // a recorder of tests has no deadline
}

// Unwrap is for http.ResponseController.
func (w *replyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
