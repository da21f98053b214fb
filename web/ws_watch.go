package web

import (
	"bytes"
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/live"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/session/view"
)

// A researcher's page gets the state at most this often.
const watchInterval = 250 * time.Millisecond

// watchLimit is the largest message from a researcher's page, which sends none.
const watchLimit = 512 // bytes

// watcher serves one researcher's page of a session.
type watcher struct {
	*socket
	srv     watching
	session Session
	id      idrl.SessionID
	pacer   *live.Pacer // runs tell
	told    []byte      // of tell: the problems that the page shows

	toldConditions []byte // likewise
}

// watch is GET /sessions/:id/watch: the state of the session, now and whenever
// it changes.
func (s watching) watch(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	who, err := s.researcher(c, auth.WatchSession, id)
	if err != nil {
		return err
	}
	session, err := s.session(c.Request().Context(), id)
	if err != nil {
		return err
	}
	cookie := s.researcherCookie(c)
	var w *watcher
	alive := func(ctx context.Context) error {
		w.pacer.Wake(0) // for problems of the server, which no event tells
		return s.stillMay(ctx, cookie, auth.WatchSession, id)
	}
	from := visitor{personOf(who), researcherSockets, watchLimit, alive}
	return s.serve(c.Response(), c.Request(), from, func(sock *socket) (func(int, []byte), func()) {
		w = &watcher{socket: sock, srv: s, session: session, id: id}
		w.pacer = live.NewPacer(watchInterval, w.tell)
		unsubscribe := s.cfg.Hub.Subscribe(id, func(live.Event) { w.pacer.Wake(0) })
		w.pacer.Wake(0)
		return func(int, []byte) {}, func() {
			unsubscribe()
			w.pacer.Stop()
		}
	})
}

// tell sends the state, and the problems of the server if they have changed. While the last state
// is still being sent it waits, so that a slow connection gets fewer states, not older ones.
func (w *watcher) tell() {
	if len(w.out) > 0 {
		w.pacer.Wake(watchInterval)
		return
	}
	ctx, cancel := context.WithTimeout(w.srv.ctx, callWait)
	defer cancel()
	status, err := w.session.Status(ctx)
	var names map[idrl.AnnotatorID]string
	var scores view.ConditionScores
	compares := w.session.Spec().Compares()
	if err == nil && compares {
		scores, err = w.session.Conditions(ctx)
	}
	if err == nil {
		names, err = w.srv.cfg.People.AnnotatorNames(ctx, w.id)
	}
	if err != nil {
		w.srv.explain(err) // for the log; the page keeps the last state
		w.pacer.Wake(max(retryAfter(err), retryWait))
		return
	}
	here := func(a idrl.AnnotatorID) bool { return w.srv.sockets.has(person{auth.Annotator, w.id, string(a)}) }
	w.send(encodeState(status, names, here))
	if compares {
		w.sendConditions(scores)
	}
	if m := encodeProblems(w.srv.problems(ctx)); !bytes.Equal(m, w.told) {
		w.told = m
		w.send(m)
	}
}
