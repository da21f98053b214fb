package driven

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/learn/representation"
	"tiebreak/internal/session"
	"tiebreak/internal/session/memory"
	"tiebreak/internal/session/view"
)

// Config has the parts of a Session. Spec, Model, Method and Trainer are required.
type Config struct {
	Spec    idrl.SessionSpec // complete
	Model   idrl.RewardModel
	Method  acquisition.Method
	Trainer Trainer

	// Of session.Config, for what the session states.
	Averaged func(idrl.RewardModel) idrl.Filter
	Rival    func(stds []float64) posterior.Personal
	Steps    func(idrl.Candidate) float64
	Exact    bool

	// Taken is told of each result of the Trainer that the session takes, before the next training
	// begins. It may be nil.
	Taken func(idrl.Generation)
}

// A Session is a session.Session whose caller answers for its annotators and moves its clock. With
// SessionSpec.AdoptAfter above 0 the session itself waits for its generations, and the clock stands
// for nothing; else a generation is in use when its training has ended by the clock. It is used by
// one goroutine.
type Session struct {
	session *session.Session
	events  *watch
	ended   chan struct{} // closed when Run has returned
	cancel  context.CancelFunc

	mu      *sync.Mutex    // guards record
	record  *record.Record // what the journal holds
	journal *memory.Journal
	view    *representation.View // of the questions

	clock   atomic.Int64 // of the session, which reads it; ns since the epoch
	waits   bool         // the session waits for its generations
	jobs    chan *job
	job     *job // under way; nil without
	follows bool // it is a follow-up
	spent   time.Duration
	answers int
}

// epoch is when the clock begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Start starts a session and returns it when its first generation is in use: the clock has moved by as
// long as that takes. The caller must call Close.
func Start(ctx context.Context, c Config) (*Session, error) {
	run, cancel := context.WithCancel(ctx)
	s := &Session{
		events: &watch{more: make(chan struct{}, 1), stop: cancel}, cancel: cancel, ended: make(chan struct{}),
		mu: new(sync.Mutex), record: &record.Record{Spec: c.Spec}, waits: c.Spec.AdoptAfter > 0, jobs: make(chan *job),
	}
	s.journal = &memory.Journal{Record: s.record, Guard: s.mu}
	s.view = representation.New(nil, representation.Source{Remarks: true, Clip: s.clip})
	does := trains{c.Trainer, c.Taken, s.events.fail}
	var trainer idrl.Trainer = timed{does, s.jobs}
	if s.waits {
		trainer = prompt{does}
	}
	var err error
	s.session, err = session.New(session.Config{
		Record: record.Record{Spec: c.Spec}, Model: c.Model, Acquisition: c.Method, Trainer: trainer, Journal: s.journal,
		Averaged: c.Averaged, Rival: c.Rival, Steps: c.Steps, Exact: c.Exact,
		Publisher: s.events, Log: slog.New(slog.DiscardHandler), Rejected: s.events.fail,
		Now: func() time.Time { return epoch.Add(time.Duration(s.clock.Load())) },
	})
	if err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(s.ended)
		_ = s.session.Run(run) // it ends with run
	}()
	if err := s.first(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// first waits for the first generation.
func (s *Session) first(ctx context.Context) error {
	if s.waits {
		return s.await(ctx, func() bool { adopted, _ := s.events.counts(); return adopted > 0 })
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	ends, ok, err := s.Ends(ctx)
	if err == nil && !ok {
		err = errors.New("driven: the session trains nothing before its first question")
	}
	if err != nil {
		return err
	}
	return s.Until(ctx, ends)
}

// Close ends the session. When it returns, nothing of it runs any more.
func (s *Session) Close() {
	s.cancel()
	<-s.ended
}

// Now returns the time on the clock since the start.
func (s *Session) Now() time.Duration { return time.Duration(s.clock.Load()) }

// Trained returns how much of that time was spent on trainings.
func (s *Session) Trained() time.Duration {
	if s.job != nil {
		return s.spent + s.Now() - s.job.began
	}
	return s.spent
}

// Until moves the clock on. Each training that ends by then comes into use at its time, and what
// is due after it begins.
func (s *Session) Until(ctx context.Context, at time.Duration) error {
	for {
		ends, ok, err := s.Ends(ctx)
		if err != nil {
			return err
		}
		if !ok || ends > at {
			break
		}
		s.clock.Store(int64(ends))
		if err := s.release(ctx); err != nil {
			return err
		}
	}
	s.clock.Store(max(s.clock.Load(), int64(at)))
	return nil
}

// Ends returns when the training under way ends; ok is false if there is none.
func (s *Session) Ends(ctx context.Context) (at time.Duration, ok bool, err error) {
	j := s.job
	if j == nil {
		return 0, false, nil
	}
	if !j.known {
		close(j.begin)
		select {
		case took := <-j.took:
			j.ends, j.known = j.began+took, true
		case <-s.ended:
			return 0, false, s.events.why(errEnded)
		case <-ctx.Done():
			return 0, false, ctx.Err()
		}
	}
	return j.ends, true, nil
}

// Trains reports whether a training is under way that is no follow-up.
func (s *Session) Trains() bool { return s.job != nil && !s.follows }

// FollowsUp reports whether a follow-up is running.
func (s *Session) FollowsUp() bool { return s.job != nil && s.follows }

var errEnded = errors.New("driven: the session has ended")

// release brings the result of the training under way into use.
func (s *Session) release(ctx context.Context) error {
	_, before := s.events.counts()
	s.spent += s.job.ends - s.job.began
	close(s.job.release)
	s.job = nil
	if err := s.await(ctx, func() bool { _, news := s.events.counts(); return news > before }); err != nil {
		return err
	}
	return s.settle(ctx)
}

// await waits until the session has announced what is waited for.
func (s *Session) await(ctx context.Context, is func() bool) error {
	for !is() {
		select {
		case <-s.events.more:
		case <-s.ended:
			return s.events.why(errEnded)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.events.why(nil)
}

// settle notes the training that the session has begun or given up by its last request.
func (s *Session) settle(ctx context.Context) error {
	if s.waits {
		return nil
	}
	now, err := session.Inside{Of: s.session}.Training(ctx)
	if err != nil {
		return s.events.why(err)
	}
	if s.job != nil {
		select {
		case <-s.job.gone:
			s.spent += s.Now() - s.job.began
			s.job = nil
		default:
			return nil
		}
	}
	s.follows = now.FollowUp
	if !now.Running {
		return nil
	}
	select {
	case s.job = <-s.jobs:
		s.job.began = s.Now()
		_, err = session.Inside{Of: s.session}.Training(ctx) // what the session announces of its beginning is counted then
		return s.events.why(err)
	case <-s.ended:
		return s.events.why(errEnded)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Claim returns the questions that an annotator holds, the next one first.
func (s *Session) Claim(ctx context.Context, who idrl.AnnotatorID) ([]record.Assignment, error) {
	o, err := s.session.Claim(ctx, who)
	return o.Open, s.events.why(err)
}

// Answer has the annotator of a question give an answer to it, now. Of that it needs what is
// said alone.
func (s *Session) Answer(ctx context.Context, q record.Assignment, a idrl.Answer) error {
	s.answers++
	now := epoch.Add(s.Now())
	a.ID, a.Assignment, a.Left, a.Order, a.Input = idrl.AnswerID(fmt.Sprint("answer ", s.answers)), q.ID, q.Left, q.Order, "api"
	a.ShownAt, a.AnsweredAt, a.Instructions = q.IssuedAt, now, 1
	if _, err := s.session.Answer(ctx, q.Annotator, a); err != nil {
		return s.events.why(err)
	}
	return s.settle(ctx)
}

// Want changes the number of answers after which the session is complete, as a researcher can.
func (s *Session) Want(ctx context.Context, answers int) error {
	s.mu.Lock()
	s.record.Spec.Budget = answers
	s.mu.Unlock()
	if err := s.session.Follow(ctx); err != nil {
		return s.events.why(err)
	}
	return s.settle(ctx)
}

// Recommended returns the policy that the session recommends now.
func (s *Session) Recommended(ctx context.Context) (idrl.Candidate, error) {
	c, err := session.Inside{Of: s.session}.Recommended(ctx)
	return c, s.events.why(err)
}

// Posterior returns the posterior as it is now.
func (s *Session) Posterior(ctx context.Context) (idrl.Posterior, error) {
	h, err := s.session.Posterior(ctx)
	return h.Posterior, s.events.why(err)
}

// Status returns what the session's page shows.
func (s *Session) Status(ctx context.Context) (view.Status, error) {
	st, err := s.session.Status(ctx)
	return st, s.events.why(err)
}

// Known returns all policies so far, those that are no longer compared included.
func (s *Session) Known() []idrl.Candidate {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Concat(s.record.Pool, slices.Concat(s.record.Archive...), s.record.Generation.Candidates)
}

// Question returns what a question says of the weights of the environment's features, with the
// average of two clips, whether the session takes remarks or not.
func (s *Session) Question(q idrl.Query) (*idrl.QueryVector, error) { return s.view.Query(q) }

// Media returns the drawing of a clip.
func (s *Session) Media(ctx context.Context, id idrl.ClipID) ([]byte, error) {
	return s.journal.ClipMedia(ctx, s.record.Spec.ID, id)
}

// Policies returns the number of policies of all generations so far, those of the pool included.
func (s *Session) Policies() int { return len(s.Known()) }

// clip returns a clip that was asked about.
func (s *Session) clip(id idrl.ClipID) (idrl.Clip, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.record.Clips[id]
	if !ok {
		return c, idrl.Errorf(idrl.NotFound, "clip %s was not asked about", id)
	}
	return c, nil
}
