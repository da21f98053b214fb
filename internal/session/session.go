package session

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session/view"
)

// A Publisher announces events. Publish must not block.
type Publisher interface {
	Publish(id idrl.SessionID, e live.Event)
}

// Config configures a session. Every field is required unless it says
// otherwise.
type Config struct {
	Record      record.Record    // of the session, as the journal loads it; the session takes over its Log and Assignments
	Model       idrl.RewardModel // of the weights of the environment's features
	Acquisition acquisition.Method
	Trainer     idrl.Trainer
	Journal     record.Journal
	Publisher   Publisher
	Log         *slog.Logger

	// Rejected is called if the last result of the Trainer was not a generation that
	// the journal takes. It may be nil.
	Rejected func(why error)

	// Rests is called when the session is complete and its last generation is in use:
	// the Trainer is not needed unless answers are withdrawn or more are wanted. May be
	// nil.
	Rests func()

	// Title returns the name of a policy for researchers; empty if it has no name of
	// its own. It may be nil: no policy has one.
	Title func(idrl.Candidate) string

	// Task returns the task of the n-th episode of a recorded policy; empty if the recording does not name it. It may be nil.
	Task func(c idrl.Candidate, n int) string

	// Begins returns what the n-th episode of a policy began from, as recordings say it: of episodes with equal ones the task and the start are the same. It is empty where
	// they do not say it. It may be nil: there are no recordings.
	Begins func(c idrl.Candidate, n int) string

	// Steps returns the mean number of (discounted) steps of an episode of a policy that acted in
	// rollouts that were imported. It is nil where policies are trained.
	Steps func(idrl.Candidate) float64

	// Recordings describes the imported rollouts; nil where policies are trained.
	Recordings *view.Recordings

	// Uncut says that clips of an arena were still to be cut when the session was loaded: a part of them is asked about.
	Uncut bool

	// Exact says that the Trainer finds the best policy for all weights.
	Exact bool

	// StepSec is the processor time of a step of the environment, seconds; 0 if it was not measured
	// or is negligible.
	StepSec float64

	// Unseen says that there is nothing to see of the environment: no question is asked, and
	// the session is complete.
	Unseen bool

	// Learner learns features from answers; nil where those of the environment are
	// used. Discount is γ of the environment, which only Learner needs.
	Learner  idrl.FeatureLearner
	Discount float64

	// Averaged returns the model that statements of regret draw weights by, where it is
	// another than m: one that averages over what m takes for known. It returns nil if
	// there is none. Default: there is none.
	Averaged func(m idrl.RewardModel) idrl.Filter

	// Rival is Model as misfit.New needs it, for the test whether answers follow something that the features
	// do not tell; nil where there is no such test.
	Rival func(stds []float64) posterior.Personal

	// RestAfter is the time without a request after which Run ends, if nothing is under way, so that
	// the session takes no memory; 0: never. Watched reports whether a page of the session is open: then it
	// does not rest. It may be nil.
	RestAfter time.Duration
	Watched   func() bool

	Now   func() time.Time // the server's clock; default time.Now
	Lease time.Duration    // of a question; default 10 minutes

	// Expired is called with the number of leases that have ended without an answer since the last call. Default: not called.
	Expired func(n int)
}

// A Session is run by one goroutine, the one that calls Run. That goroutine
// owns all parts of the session. Each part embeds those that it needs. Other goroutines send it requests through the inbox.
// Between two requests the memory is never ahead of the journal.
type Session struct {
	*inbox          // requests
	*settings       // configuration and present settings
	*ledger         // answers and questions
	*learntFeatures // features of clips and policies
	*inference      // posterior
	*generation     // candidates and queries in use
	*statements     // regret, and whether the session may stop
	*selector       // chooses questions
	*refit          // learns features
	*schedule       // when it trains
	*training       // makes generations
	*claims         // hands out questions
	*uploads        // clips from outside
	*reports        // status, charts and scores
	*exhibits       // clips of the result

	superseded bool   // the data of a person were withdrawn: Run is to end
	quiet      int    // ticks of restTicks since the last request
	followed   uint64 // digest of the settings with which it came to rest
}

// New returns a session that has not started. It rebuilds the belief from the
// record: from the last snapshot if it is that of the last log row and sound,
// else by replaying the log. It returns an error of kind Invalid if the acquisition
// function cannot value the session's questions.
func New(cfg Config) (*Session, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Lease == 0 {
		cfg.Lease = 10 * time.Minute
	}
	if cfg.Expired == nil {
		cfg.Expired = func(int) {}
	}
	r := cfg.Record
	if err := cfg.Acquisition.Fits(r.Spec.Kind, false); err != nil { // clips may be parts of trajectories
		return nil, fmt.Errorf("session %s: %w", r.Spec.ID, err)
	}
	s := assemble(cfg)
	if err := s.restore(r); err != nil {
		return nil, fmt.Errorf("session %s: %w", r.Spec.ID, err)
	}
	return s, nil
}

// restore sets the parts of a session to their state when r was recorded.
func (s *Session) restore(r record.Record) (err error) {
	if s.conditions, err = newConditions(r.Spec); err != nil {
		return err
	}
	s.restoreKnown(r)
	if err = s.restoreVectors(); err != nil {
		return err
	}
	s.restoreFeatures()
	set := r.Settings
	set.Title, set.Budget, set.Told, set.Gold.Every = r.Spec.Title, r.Spec.Budget, r.Spec.CurrentInstructions(), r.Spec.GoldEvery
	set.Consent = r.Spec.CurrentConsent()
	s.applySettings(set)
	if err = s.restoreBelief(r.Snapshots); err != nil {
		return err
	}
	s.restoreRegret(r.Snapshots)
	return s.restoreTraining(r.Snapshots)
}

// assemble returns a session with its log, without a belief.
func assemble(cfg Config) *Session {
	r := cfg.Record
	cfg.Record = record.Record{} // it would otherwise live as long as the session
	if !r.Spec.StatesRegret() {  // no setting changes that
		cfg.Averaged = nil
	}
	set := &settings{cfg: cfg, spec: r.Spec}
	rec := &ledger{settings: set, log: newAnswerLog(r.Log), asked: newAssignments(r.Assignments, r.Spec.Ahead)}
	fits := newLearntFeatures(rec, r)
	inf := &inference{learntFeatures: fits, learner: learning.New(learning.Config{
		Model: cfg.Model, Method: cfg.Acquisition, Schedule: learning.OfSession(r.Spec),
		Regret: rng.New(r.Spec.Seed, "regret", 0), Tolerance: r.Spec.Tolerance, // the same numbers after a restart
	})}
	gen := &generation{inference: inf, gen: r.Generation, sight: newSight(cfg.Journal, r.Spec.ID)}
	say := &statements{generation: gen}
	sel := &selector{generation: gen}
	fit := &refit{statements: say, seen: -1}
	due := &schedule{statements: say, rest: -1}
	train := &training{statements: say, schedule: due, refit: fit, underWay: underWay{progress: make(chan progress, 1), outlook: make(chan idrl.Outlook, 1)}}
	sel.cutting = train.moreClips
	in := &inbox{requests: make(chan request), stopped: make(chan struct{})}
	return &Session{
		inbox: in, settings: set, ledger: rec, learntFeatures: fits, inference: inf, generation: gen, statements: say,
		selector: sel, refit: fit, schedule: due, training: train, claims: &claims{training: train, selector: sel},
		uploads: &uploads{inbox: in, statements: say, uploading: make(chan struct{}, 1)}, reports: &reports{inbox: in, training: train},
		exhibits: &exhibits{inbox: in, training: train, selector: sel},
	}
}

// Run serves requests until ctx is done. When it returns, no goroutine that it
// started is left, and every method returns an error of kind Unavailable. It
// must be called once. It also ends, with errSuperseded, when the data of a person are
// withdrawn, and with errRests when it comes to rest.
func (s *Session) Run(ctx context.Context) error {
	defer close(s.inbox.stopped)
	ctx, cancel := context.WithCancel(ctx)
	defer s.fitting.wait()
	defer s.training.wait()
	defer s.refit.wait()
	defer cancel()
	s.fitting.start(ctx)
	if err := s.look(); err != nil { // tried again when a question is chosen
		s.cfg.Log.ErrorContext(ctx, "look at the clips of the generation", "session", s.spec.ID, "err", err)
	}
	for _, who := range s.undecided() {
		s.waiting = append(s.waiting, s.decision(ctx, who, nil, func(_ view.Receipt, err error) {
			if err != nil {
				s.cfg.Log.ErrorContext(ctx, "decide whose answers count", "session", s.spec.ID, "annotator", who, "err", err)
			}
		}))
	}
	var tick <-chan time.Time
	if s.cfg.RestAfter > 0 {
		t := time.NewTicker(max(1, s.cfg.RestAfter/restTicks))
		defer t.Stop()
		tick = t.C
	}
	for {
		if s.superseded {
			s.ending = errSuperseded
			return errSuperseded
		}
		if s.quiet > restTicks && s.comesToRest(ctx) {
			return errRests
		}
		if !s.held() {
			s.startRefit(ctx)
		}
		s.startTraining(ctx)
		inbox := s.requests
		if s.mustWait() {
			inbox = nil // the order of questions must not depend on how fast training is
		} else if len(s.waiting) > 0 {
			t, _ := s.next()
			s.serve(ctx, t)
			continue
		}
		if err := s.await(ctx, inbox, tick); err != nil {
			return err
		}
	}
}

// restTicks is the number of ticks in Config.RestAfter.
const restTicks = 4

// mayRest reports whether nothing is under way that a session that is loaded again would not know. A session whose
// training was cancelled or cannot succeed does not rest, because after loading it would begin that training again.
func (s *Session) mayRest() bool {
	t := s.training
	return len(s.waiting) == 0 && s.gen != nil && t.result == nil && t.ready == nil && t.retry == nil && !t.hopeless && t.rest != s.log.seq() &&
		s.refit.outcome == nil && !s.fitting.busy() && (s.cfg.Watched == nil || !s.cfg.Watched())
}

// comesToRest makes the session rest, if it may and has applied the present settings.
func (s *Session) comesToRest(ctx context.Context) bool {
	s.quiet = 0
	if !s.mayRest() {
		return false
	}
	set, err := s.cfg.Journal.Settings(ctx, s.spec.ID)
	if err != nil || set.Withdrawals != s.log.withdrew {
		return false
	}
	if s.followSettings(set) || len(s.undecided()) > 0 {
		return false
	}
	s.ending, s.followed = errRests, digest(set)
	return true
}

// await takes in the next thing that happens: a request of inbox, a message of a training or a fit, or a tick. It returns ctx.Err() when ctx is done.
func (s *Session) await(ctx context.Context, inbox <-chan request, tick <-chan time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-tick:
		s.quiet++
	case t := <-inbox:
		s.quiet = 0
		s.serve(ctx, t)
	case p := <-s.training.progress:
		s.training.state.Done, s.training.state.Total, s.training.state.What = p.done, p.total, p.what
		s.training.pace.note(s.cfg.Now(), p.done, p.total)
		s.publish(live.EventTraining, "")
	case o := <-s.training.outlook:
		s.training.state.Outlook = o
		s.publish(live.EventTraining, "")
	case res := <-s.training.result:
		s.training.result = nil
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.trained(ctx, res)
		s.adoptIfDue(ctx)
	case res := <-s.refit.outcome:
		s.refit.outcome = nil
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.relearnt(ctx, res)
	case <-s.training.retry:
		s.training.retry = nil
	}
	return nil
}
