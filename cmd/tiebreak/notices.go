package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/notice"
)

// notifyFlag is the name of the flag with the address of a web hook.
const notifyFlag = "notify-url"

const (
	noticesEvery = time.Minute      // how often sessions that have changed are looked at
	allEvery     = 10 * time.Minute // how often all sessions are, to find those without new answers
	hookTime     = 10 * time.Second // for a message to the web hook
)

// notices looks at sessions that have changed, and writes what is new for researchers to the log and to a web hook. It is the
// Publisher of sessions, so that it loads none that rests and keeps none awake.
type notices struct {
	a     *app
	board notice.Board
	quiet time.Duration
	base  string // of links
	hook  string // address; empty for none
	post  *http.Client
	sent  func(ctx context.Context, id int64) error // notes that the web hook has taken a notice

	mu      sync.Mutex
	changed map[idrl.SessionID]bool // since they were looked at

	looking sync.Mutex // held by look
}

// restore puts back what was told before the server was started.
func (n *notices) restore(ctx context.Context) error {
	told, err := n.a.db.ToldNotices(ctx)
	of := map[idrl.SessionID][]record.ToldNotice{}
	for _, t := range told {
		of[t.Session] = append(of[t.Session], t)
	}
	for id, list := range of {
		n.board.Restore(id, list)
	}
	return err
}

func newNotices(a *app, at site) *notices {
	return &notices{a: a, quiet: at.quiet, base: at.base, hook: at.notify, changed: map[idrl.SessionID]bool{}, sent: a.db.SentNotice, post: &http.Client{
		Timeout: hookTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// checkHook returns an error unless address is empty, or one of a web hook to which nothing is sent that others could read on the way.
func checkHook(address string) error {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return nil
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !thisMachine(u.Hostname())):
		return idrl.Errorf(idrl.Invalid, "--%s is not the address of a web hook: it must begin with https://, or be on this machine, and have no password before the name", notifyFlag)
	}
	return nil
}

// Publish implements session.Publisher.
func (n *notices) Publish(session idrl.SessionID, e live.Event) {
	n.mu.Lock()
	n.changed[session] = true
	n.mu.Unlock()
	n.a.hub.Publish(session, e)
}

// watch looks at sessions until ctx is done, at all of them at once.
func (n *notices) watch(ctx context.Context) {
	report := func(err error) {
		if err != nil && ctx.Err() == nil {
			n.a.log.Warn("sessions could not be looked at for notices", "err", err)
		}
	}
	report(n.look(ctx, time.Now(), true))
	tick := time.NewTicker(noticesEvery)
	defer tick.Stop()
	for looked := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			all := now.Sub(looked) >= allEvery
			if all {
				looked = now
			}
			report(n.look(ctx, now, all))
		}
	}
}

// look looks at the sessions that have changed, leaves out whom their rules exclude, with all also at the times of the last answers of all, tells what is new, and sends
// what could not be sent before.
func (n *notices) look(ctx context.Context, now time.Time, all bool) error {
	n.looking.Lock()
	defer n.looking.Unlock()
	n.mu.Lock()
	changed := n.changed
	n.changed = map[idrl.SessionID]bool{}
	n.mu.Unlock()
	var errs []error
	for id := range changed {
		errs = append(errs, n.a.exclude(ctx, id, now), n.status(ctx, id, now))
	}
	if all {
		list, err := n.a.db.Sessions(ctx)
		errs = append(errs, err)
		for _, s := range list {
			if s.Spec.Rehearsal {
				continue
			}
			if s.State == record.StateRunning {
				errs = append(errs, n.a.exclude(ctx, s.Spec.ID, now))
			}
			kinds := []notice.Kind{notice.Quiet}
			if s.State != record.StateRunning { // nothing holds of it, also if it ended while no server ran
				kinds = append(kinds, ofStatus...)
			}
			errs = append(errs, n.tell(ctx, s.Spec, kinds, notice.OfSummary(s, now, n.quiet, n.board.Of(s.Spec.ID)), now))
		}
	}
	errs = append(errs, n.send(ctx))
	return errors.Join(errs...)
}

// status looks at a session, if it is in memory.
func (n *notices) status(ctx context.Context, id idrl.SessionID, now time.Time) error {
	s := n.a.manager.Loaded(id)
	if s == nil {
		return nil
	}
	st, err := s.Status(ctx)
	if idrl.KindOf(err) == idrl.Unavailable {
		return nil // it has come to rest meanwhile
	}
	if err != nil {
		return err
	}
	spec, err := n.a.db.Spec(ctx, id)
	if err != nil || spec.Rehearsal {
		return err
	}
	return n.tell(ctx, spec, ofStatus, notice.OfStatus(st), now)
}

// ofStatus are the kinds of notices that notice.OfStatus returns.
var ofStatus = []notice.Kind{notice.MayStop, notice.Quality, notice.Failed}

func titled(spec idrl.SessionSpec, list []notice.Notice) []notice.Notice {
	for i := range list {
		list[i].Title = spec.Title
	}
	return list
}

// tell sets what holds for a session, of the given kinds alone, keeps it, and writes what is fresh to the log. What is fresh is kept
// for the web hook, too. If it cannot be kept it counts as not told, and is fresh again the next time.
func (n *notices) tell(ctx context.Context, spec idrl.SessionSpec, kinds []notice.Kind, holds []notice.Notice, now time.Time) error {
	before := n.board.Told(spec.ID)
	fresh := n.board.Set(spec.ID, kinds, titled(spec, holds), now)
	told := n.board.Told(spec.ID)
	if slices.Equal(before, told) {
		return nil
	}
	var unsent []record.UnsentNotice
	if n.hook != "" {
		for _, f := range fresh {
			unsent = append(unsent, record.UnsentNotice{Key: rand.Text(), Session: f.Session, Title: f.Title, Kind: string(f.Kind), Text: f.Text, Since: f.Since})
		}
	}
	removed, err := n.a.db.KeepNotices(ctx, spec.ID, told, unsent)
	if err != nil {
		n.board.Restore(spec.ID, before)
		return err
	}
	for _, f := range fresh {
		n.a.log.Info("notice", "session", f.Session, "kind", f.Kind, "text", f.Text)
	}
	if removed > 0 {
		n.a.log.Warn("the web hook has not taken notices for long; the oldest are not sent", "notices", removed)
	}
	return nil
}

// send posts what waits for the web hook, in order, until that fails. A notice is sent again, under the same key, if the program ends,
// or its database fails, after the web hook took it and before that is written down.
func (n *notices) send(ctx context.Context) error {
	if n.hook == "" {
		return nil
	}
	list, err := n.a.db.UnsentNotices(ctx)
	if err != nil {
		return err
	}
	for _, u := range list {
		err := n.sendOne(ctx, u.Key, notice.Notice{Session: u.Session, Title: u.Title, Kind: notice.Kind(u.Kind), Text: u.Text, Since: u.Since})
		if err != nil {
			return fmt.Errorf("the web hook (--%s) did not take a notice, which is sent again: %w", notifyFlag, err)
		}
		if err := n.sent(context.WithoutCancel(ctx), u.ID); err != nil { // also if the server is stopped now
			return err
		}
	}
	return nil
}

// sendOne posts a notice as JSON, with a text as Slack and Mattermost show it. key is the same each time that it is sent, so that the
// receiver can drop what it has already. Errors do not name the address, which is a secret.
func (n *notices) sendOne(ctx context.Context, key string, f notice.Notice) error {
	page := n.base + "/sessions/" + url.PathEscape(string(f.Session))
	title := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(f.Title) // as these want it
	body, err := json.Marshal(struct {
		Key  string `json:"id"`
		Said string `json:"text"`
		notice.Notice
		Says string `json:"notice"`
		URL  string `json:"url"`
	}{key, title + ": " + f.Text + " " + page, f, f.Text, page})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.hook, bytes.NewReader(body))
	if err != nil {
		return errors.New("its address is wrong")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	reply, err := n.post.Do(req)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err
		}
		return err
	}
	defer reply.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(reply.Body, 64<<10))
	if reply.StatusCode < 200 || reply.StatusCode > 299 {
		return errors.New("it answered " + reply.Status)
	}
	return nil
}
