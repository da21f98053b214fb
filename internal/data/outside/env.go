package outside

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// How often an environment that fails is started again.
const (
	maxTries  = 3  // for the same request
	maxStarts = 20 // of one Env
)

// backoff is the wait before the second try, four times as long before the third.
const backoff = 250 * time.Millisecond

// A Program is an outside environment whose hello is known. It is immutable.
type Program struct {
	Description
	Hello   Hello
	Version string // of what it says and of the files of its command: "1.2-0a1b2c3d4e5f"
}

// Load starts the program of a description, asks what it is, and ends it. It returns an error
// of kind Unavailable that says what is wrong with it.
func Load(d *Description) (*Program, error) {
	p := &Program{Description: *d}
	l, h, f := p.greet(func(*link) {})
	if l != nil {
		l.close()
	}
	if f != nil {
		return nil, f.error(p.title())
	}
	said, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode the hello of %s: %w", d.ID, err)
	}
	p.Hello, p.Version = h, h.Version+"-"+d.hash(said)
	return p, nil
}

// title returns what messages call the environment.
func (p *Program) title() string {
	if p.Title != "" {
		return p.Title
	}
	return p.ID
}

// greet opens a link, tells opened of it, and reads the hello. The caller closes the link, also
// after a failure.
func (p *Program) greet(opened func(*link)) (*link, Hello, *failure) {
	var h Hello
	l, f := p.open()
	if f != nil {
		return nil, h, f
	}
	opened(l)
	f = l.ask(request{Cmd: "hello", Protocol: protocol}, p.startLimit(), &h)
	if f == nil {
		f = h.check()
	}
	return l, h, f
}

// New returns an environment of p, which starts its process with the first episode. It draws
// itself in scenes (drawing.Drawer) or shows itself in pictures (drawing.Pictured), and its states
// can be saved (idrl.Snapshotter): if the program does not save them, by playing the
// episode again. It is idrl.Fallible.
func (p *Program) New() idrl.Environment {
	e := &Env{p: p, spec: p.Hello.spec(p.ID), pause: time.Sleep}
	e.spec.CostSec = p.StepMS / 1000
	e.obs, e.phi = make([]float64, e.spec.ObsDim), make([]float64, e.spec.FeatureDim())
	if p.Hello.Draws == drawsScene {
		return &scenic{Env: e}
	}
	return &pictured{Env: e}
}

// An Env is one instance of an outside environment: at most one process or connection.
//
// An operation changes what is wanted (base and acts), and has the process follow: a process
// that was started again gets there by playing the episode so far.
type Env struct {
	p     *Program
	spec  idrl.EnvSpec
	pause func(time.Duration)

	base base      // where the episode, or what is left of it, begins
	acts []float64 // actions since, as they are sent

	link   *link
	at     int // actions since base that the process has played; -1: it is somewhere else
	starts int // of the process
	err    atomic.Pointer[error]
	stop   stopper

	obs, phi []float64
	ended    bool // the process said that the episode has ended
	happens  int  // number of what it said that happens in the last step (Hello.happening)
	closed   bool
}

// A base is a state that a process can go to at once.
type base struct {
	seed  uint32
	state []float64 // saved; nil: the start of the episode with that seed
	steps int       // of the episode before it
	ended bool      // the episode ended with it

	happens int // number of what happened in the step before it

	begun bool   // false of the zero base
	sum   uint32 // of the observation after all of acts; 0: not known
}

var (
	_ idrl.Fallible    = (*Env)(nil)
	_ idrl.Snapshotter = (*Env)(nil)
	_ drawing.Namer    = (*Env)(nil)
)

// Spec implements idrl.Environment.
func (e *Env) Spec() idrl.EnvSpec { return e.spec }

// Err implements idrl.Fallible. Its error is of kind Unavailable and has a Code in its text.
// Err may be called from any goroutine.
func (e *Env) Err() error {
	if err := e.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Reclip implements training.Reclipper.
func (e *Env) Reclip(steps int, playback float64) {
	e.spec.ClipSteps, e.spec.Playback = steps, playback
}

// Interrupt implements training.Interrupter. The process is killed.
func (e *Env) Interrupt() { e.stop.now() }

// A stopper ends the link of an Env from other goroutines.
type stopper struct {
	lock    sync.Mutex
	link    *link // guarded by lock; nil before the first
	stopped bool  // guarded by lock
}

// holds says which link now ends. It ends at once if it is too late.
func (s *stopper) holds(l *link) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.link = l; s.stopped {
		l.kill()
	}
}

func (s *stopper) now() {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.stopped = true; s.link != nil {
		s.link.kill()
	}
}

func (s *stopper) isStopped() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.stopped
}

// Close implements idrl.Fallible.
func (e *Env) Close() error {
	e.closed = true
	if e.link != nil && e.Err() == nil {
		var nothing struct{}
		_ = e.link.ask(request{Cmd: "close"}, graceful, &nothing) // it is ended if it does not agree
	}
	e.drop()
	return nil
}

// drop ends the process.
func (e *Env) drop() {
	if e.link != nil {
		e.link.close()
		e.link = nil
	}
	e.at = -1
}

// Reset implements idrl.Environment. The seed of the episode is drawn from the stream.
func (e *Env) Reset(stream *rand.Rand) idrl.TimeStep {
	e.goTo(base{seed: stream.Uint32(), begun: true}, nil)
	e.at = -1
	e.ended, e.happens = false, 0
	if !e.follow() {
		return e.broken()
	}
	return idrl.TimeStep{Kind: idrl.First, Obs: e.obs}
}

// Step implements idrl.Environment.
func (e *Env) Step(a idrl.Action) idrl.TimeStep {
	if !e.base.begun || !e.spec.Actions.Contains(a) {
		panic("outside: Step before Reset, or with an action that is none")
	}
	if e.Err() != nil {
		return e.broken()
	}
	if e.over() {
		panic("outside: Step after the end of an episode")
	}
	e.acts = append(e.acts, e.sent(a)...)
	e.base.sum = 0
	if !e.follow() {
		return e.broken()
	}
	kind := idrl.Mid
	switch {
	case e.ended:
		kind = idrl.Terminated
	case e.over():
		kind = idrl.Truncated
	}
	return idrl.TimeStep{Kind: kind, Obs: e.obs, Phi: e.phi}
}

// broken is the step of an environment that has failed.
func (e *Env) broken() idrl.TimeStep {
	clear(e.obs)
	clear(e.phi)
	return idrl.TimeStep{Kind: idrl.Truncated, Broken: true, Obs: e.obs, Phi: e.phi}
}

// sent returns an action as the process gets it.
func (e *Env) sent(a idrl.Action) []float64 {
	if e.p.Hello.Action.Num == 0 {
		return a
	}
	best := 0
	for k, v := range a {
		if v > a[best] {
			best = k
		}
	}
	return []float64{float64(best)}
}

// width is the length of an action as it is sent.
func (e *Env) width() int {
	if e.p.Hello.Action.Num > 0 {
		return 1
	}
	return e.spec.Actions.Dim()
}

// steps returns the steps of the episode so far.
func (e *Env) steps() int { return e.base.steps + len(e.acts)/e.width() }

// over reports whether the episode has ended.
func (e *Env) over() bool { return e.ended || e.steps() >= e.spec.Horizon }

// goTo says where the process shall be. What it has played of that already need not be
// played again.
func (e *Env) goTo(b base, acts []float64) {
	same := e.base.begun && b.seed == e.base.seed && slices.Equal(b.state, e.base.state) && b.steps == e.base.steps
	played := e.at * e.width()
	if !same || e.at < 0 || played > len(acts) || !slices.Equal(e.acts[:played], acts[:played]) {
		e.at = -1
	}
	e.base, e.acts = b, append(e.acts[:0], acts...)
}

// follow has the process go where it shall be, and starts it if need be, again and again.
// It reports whether it is there; else Err says why not.
func (e *Env) follow() bool {
	return e.do(func() *failure { return nil })
}

// do has the process go where it shall be and calls f, which speaks to it there.
func (e *Env) do(f func() *failure) bool {
	if e.closed {
		panic("outside: a closed environment is used")
	}
	if e.Err() != nil {
		return false
	}
	for try := 0; ; try++ {
		wrong := e.advance()
		if wrong == nil {
			wrong = f()
		}
		if wrong == nil {
			return true
		}
		e.drop()
		if try == tries(wrong.code)-1 || e.starts >= maxStarts || e.stop.isStopped() {
			err := e.failed(wrong, try+1)
			e.err.Store(&err)
			return false
		}
		e.pause(backoff << (2 * try))
	}
}

// tries returns how often a request is tried that fails in a way.
func tries(c Code) int {
	switch c {
	case CodeReplay: // it is no accident
		return 1
	case CodeTimeout: // people may wait
		return 2
	default:
		return maxTries
	}
}

// failed returns the error of the last of some tries.
func (e *Env) failed(f *failure, tries int) error {
	where := ""
	if e.base.begun && f.code != CodeStart && f.code != CodeHello {
		where = fmt.Sprintf(" (seed %d, step %d of the episode)", e.base.seed, e.steps())
	}
	if tries > 1 {
		where += fmt.Sprintf("; it was started %d times", tries)
	}
	return failf(f.code, "%s%s", f.text, where).error(e.p.title())
}
