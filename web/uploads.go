package web

import (
	"context"
	"sync"
	"time"

	"tiebreak/internal/idrl"
)

const (
	maxUploads = 3                // whose bodies are held at once: each may take 200 MB
	uploadWait = time.Minute      // for which an upload waits for others
	uploadRead = 30 * time.Second // for the body of one, as for that of any request
)

// uploads let several uploads share one core. Of each token one is read at a time; trajectories of
// different uploads take turns, so that a small upload waits only for one trajectory of each other
// upload.
type uploads struct {
	wait  time.Duration // for others; tests shorten it
	held  chan struct{} // an element for each upload that is read
	turns chan struct{} // an element while a trajectory is read

	lock sync.Mutex
	own  map[person]*ownUploads // guarded by lock; by token
}

// ownUploads are those of one token.
type ownUploads struct {
	read chan struct{} // an element while one is read
	all  int           // those that wait, too; guarded by uploads.lock
}

func newUploads() uploads {
	return uploads{wait: uploadWait, held: make(chan struct{}, maxUploads), turns: make(chan struct{}, 1), own: map[person]*ownUploads{}}
}

var errUploads = idrl.Errorf(idrl.Unavailable, "the server is reading other uploads; try again in a moment")

// enter waits for a limited time until an upload of a token may be read. serving ends when the
// server stops.
func (u *uploads) enter(ctx, serving context.Context, token person) (leave func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, u.wait, errUploads)
	defer cancel()
	defer context.AfterFunc(serving, cancel)()
	own := u.of(token)
	if err := take(ctx, own.read); err != nil {
		u.forget(token)
		return nil, err
	}
	if err := take(ctx, u.held); err != nil {
		<-own.read
		u.forget(token)
		return nil, err
	}
	return func() {
		<-u.held
		<-own.read
		u.forget(token)
	}, nil
}

// turn is a rollouts.Turn.
func (u *uploads) turn(ctx context.Context) (leave func(), err error) {
	if err := take(ctx, u.turns); err != nil {
		return nil, err
	}
	return func() { <-u.turns }, nil
}

// take waits for a place. Waiting callers get one in their order.
func take(ctx context.Context, places chan<- struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errUploads // the client has disconnected or waited long enough, or the server stops
	}
}

func (u *uploads) of(token person) *ownUploads {
	u.lock.Lock()
	defer u.lock.Unlock()
	own := u.own[token]
	if own == nil {
		own = &ownUploads{read: make(chan struct{}, 1)}
		u.own[token] = own
	}
	own.all++
	return own
}

func (u *uploads) forget(token person) {
	u.lock.Lock()
	defer u.lock.Unlock()
	if u.own[token].all--; u.own[token].all == 0 {
		delete(u.own, token)
	}
}
