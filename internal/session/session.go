package session

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/learn/representation"
	"tiebreak/internal/session/insight"
)

// A Publisher announces events. Publish must not block.
type Publisher interface {
	Publish(id idrl.SessionID, e idrl.Event)
}

// Config is what a session is made of. Every field is required but those that say
// otherwise.
type Config struct {
	Record      idrl.Record      // what the journal holds; the session takes its Log and Assignments over
	Model       idrl.RewardModel // of the weights of the environment's features
	Acquisition acquisition.Method
	Trainer     idrl.Trainer
	Journal     idrl.Journal
	Publisher   Publisher
	Log         *slog.Logger

	// Rejected is told that the last result of the Trainer was not a generation that
	// the journal takes. It may be nil.
	Rejected func(why error)

	// Rests is called when the session is complete and its last generation is in use:
	// the Trainer is not needed unless answers are withdrawn or more are wanted. May be
	// nil.
	Rests func()

	// Title returns what people call a policy, for researchers; nothing if it has no name of
	// its own. It may be nil: none has.
	Title func(idrl.Candidate) string

	// Steps returns the mean number of (discounted) steps of an episode of a policy that acted in
	// rollouts that were imported. It is nil where policies are trained.
	Steps func(idrl.Candidate) float64

	// Exact says that the Trainer finds the best policy for all weights.
	Exact bool

	// StepSec is the time of a processor that a step of the environment takes, seconds, where it
	// was measured; 0: next to nothing.
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

	Now   func() time.Time // the server's clock; default time.Now
	Lease time.Duration    // of a question; default 10 minutes
}

// A Session is run by one goroutine, the one that calls Run. That goroutine
// owns every field below inbox; all others speak to it through the inbox. Between
// turns what is in memory is never ahead of the journal.
type Session struct {
	cfg     Config
	spec    idrl.SessionSpec
	stopped chan struct{} // closed when Run has returned
	inbox   chan request

	uploading sync.Mutex // held by the caller of Upload that is under way; no field is guarded by it

	superseded  bool      // by the withdrawal of a person's data: Run is to end
	waiting     []request // to be served before what is in the inbox
	retrySingly int       // how many of them are to be served one at a time

	shown   atomic.Pointer[idrl.SessionSpec]   // what Spec returns; for anybody
	revoked map[idrl.AnnotatorID]bool          // who may not answer any more
	wanted  map[idrl.AnnotatorID]idrl.Counting // how replies are to count; the log may not say so yet
	golden  idrl.GoldSettings
	state   idrl.SessionState

	history *posterior.History // the effective answers
	learner *learning.Learner  // whose posterior is that of history
	log     *answerLog
	asked   *assignments
	regret  []idrl.Regret // recorded, by Seq
	before  idrl.ClipID   // of the policy that was recommended before the first answer

	shelf    *shelf
	sight    *sight
	clear    clarity
	toLearn  toLearn
	features features           // in use
	vectors  []idrl.QueryVector // the queries of gen under them
	fits     []idrl.LearntFit   // features learnt so far, by Version
	impaired error              // why those learnt last are not in use; nil if they are
	refit    refit

	fitting background
	insight insight.Follower // of what Insight hands over; for anybody
	gallery gallery          // likewise

	gen      *idrl.Generation // in use; nil before the first
	now      present
	stop     stopState
	looked   shownEffect
	blocked  []idrl.AnnotatorID // answered while the next generation was awaited
	training training
	selector selector

	conditions conditions
	scores     scores // for anybody
}

// present is the statement about the present, kept until something changes.
type present struct {
	gen    *idrl.Generation // of the statement
	regret idrl.Regret
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
	r := cfg.Record
	if err := cfg.Acquisition.Fits(r.Spec.Kind, false); err != nil { // clips may be parts of trajectories
		return nil, fmt.Errorf("session %s: %w", r.Spec.ID, err)
	}
	s := assemble(cfg)
	var err error
	if s.conditions, err = newConditions(r.Spec); err != nil {
		return nil, fmt.Errorf("session %s: %w", r.Spec.ID, err)
	}
	s.restoreKnown(r)
	if err := s.restoreVectors(); err != nil {
		return nil, fmt.Errorf("session %s: %w", r.Spec.ID, err)
	}
	s.restoreFeatures()
	set := r.Settings
	set.Title, set.Budget, set.Told, set.Gold.Every = r.Spec.Title, r.Spec.Budget, r.Spec.CurrentInstructions(), r.Spec.GoldEvery
	set.Consent = r.Spec.CurrentConsent()
	s.applySettings(set)
	if err := s.restoreBelief(r.Snapshots); err != nil {
		return nil, fmt.Errorf("session %s: %w", s.spec.ID, err)
	}
	if err := s.restoreTraining(r.Snapshots); err != nil {
		return nil, fmt.Errorf("session %s: %w", s.spec.ID, err)
	}
	return s, nil
}

// assemble returns a session with its log, without a belief.
func assemble(cfg Config) *Session {
	r := cfg.Record
	s := &Session{
		cfg: cfg, spec: r.Spec, stopped: make(chan struct{}), inbox: make(chan request),
		log: newAnswerLog(r.Log), asked: newAssignments(r.Assignments), gen: r.Generation, fits: r.Fits, refit: refit{seen: -1},
		shelf: &shelf{journal: cfg.Journal, session: r.Spec.ID, asked: r.Clips, gen: r.Generation, remarks: r.Spec.Remarks, arena: r.Spec.Arena}, sight: newSight(cfg.Journal, r.Spec.ID),
		learner: learning.New(learning.Config{
			Model: cfg.Model, Method: cfg.Acquisition, Schedule: learning.OfSession(r.Spec),
			Regret: rng.New(r.Spec.Seed, "regret", 0), Tolerance: r.Spec.Tolerance, // the same numbers after a restart
		}),
	}
	if s.shelf.asked == nil {
		s.shelf.asked = map[idrl.ClipID]idrl.Clip{}
	}
	s.features = features{model: cfg.Model, view: representation.New(nil, s.shelf.source(0))}
	s.cfg.Record = idrl.Record{} // it would otherwise live as long as the session
	if !r.Spec.StatesRegret() {  // no setting changes that
		s.cfg.Averaged = nil
	}
	return s
}

// restoreVectors sets the queries of the generation under the features of the
// environment.
func (s *Session) restoreVectors() (err error) {
	if s.gen != nil {
		s.vectors, err = s.features.view.Queries(s.gen.Queries)
	}
	return err
}

// restoreKnown sets the known policies as the adoptions so far left them, and the
// statement before the first answer.
func (s *Session) restoreKnown(r idrl.Record) {
	if r.Generation == nil {
		return
	}
	for i, candidates := range append(slices.Clone(r.Archive), r.Generation.Candidates) {
		s.learner.Adopt(r.Pool, candidates)
		if i == 0 {
			s.noteStart(candidates)
		}
	}
}

// restoreBelief sets the belief, the regret series, and which answers the belief
// foretold. Snapshots are a cache: if the last one is damaged then the belief is computed
// from the log, which gives the same bits. One of an earlier version that is damaged costs the
// mark of the answer after it.
func (s *Session) restoreBelief(snapshots []idrl.Snapshot) (err error) {
	m := met{mean: s.cfg.Model.Prior().Mean(nil)}
	f, err := s.under(0)
	if err != nil {
		return err
	}
	for _, snap := range snapshots {
		if snap.Seq > s.log.seq() {
			return fmt.Errorf("snapshot %d is ahead of the log, which ends at %d", snap.Seq, s.log.seq())
		}
		if snap.Regret.Definition == idrl.RegretDefinition {
			snap.Regret.Tolerance = s.spec.Tolerance // a setting, which no row repeats
		}
		s.noteRegret(snap.Regret)
		s.notePast(f, snap, m)
		m.seq, m.mean, m.belief = -1, nil, nil // no row comes after it
		if snap.Representation != f.version() {
			next, err := s.under(snap.Representation)
			if err != nil { // restoreFeatures has logged it
				continue
			}
			f = next
		}
		if !snap.Emptied() { // else withdrawn data were part of it
			m.take(f, snap)
		}
	}
	if len(m.damaged) > 0 {
		s.cfg.Log.Warn("stored posteriors are damaged; what is needed of them is computed from the answers, and no answer is lost",
			"session", s.spec.ID, "damaged", len(m.damaged), "of", len(snapshots), "first", m.damaged[0])
	}
	if m.seq != s.log.seq() || !s.current(snapshots) {
		m.belief = nil
	}
	return s.restoreHistory(snapshots, m.belief)
}

// met is the belief that the answer after log row seq met, as far as it is stored.
type met struct {
	seq     int64          // -1 where nothing is stored
	mean    []float64      // nil likewise
	belief  idrl.Posterior // nil where the mean alone is stored
	damaged []error        // of the rows so far
}

// take sets the belief to that of a snapshot, about the weights of f.
func (m *met) take(f features, snap idrl.Snapshot) {
	if snap.Belief != nil || snap.Mean == nil {
		p, err := f.decode(snap)
		if err != nil {
			m.damaged = append(m.damaged, err)
		} else {
			m.seq, m.mean, m.belief = snap.Seq, p.Mean(nil), p
		}
	}
	if len(snap.Mean) == f.model.Prior().Dim() {
		m.seq, m.mean = snap.Seq, snap.Mean
	}
}

// notePast notes what the belief before, about the weights of f, foretold of the row of a
// snapshot.
func (s *Session) notePast(f features, snap idrl.Snapshot, m met) {
	if m.seq != snap.Seq-1 {
		return
	}
	a := s.log.at(snap.Seq)
	if snap.Foretold == nil && m.belief != nil { // of an earlier version
		if said, ok := s.foretell(f, a, m.belief, 0); ok {
			snap.Foretold = said.P
		}
	}
	s.notePrediction(f, a, m.mean, snap.Foretold)
}

// decode returns the belief of a snapshot, which is about the weights of f, or an error
// if it is damaged.
func (f features) decode(snap idrl.Snapshot) (idrl.Posterior, error) {
	p, err := f.model.Decode(snap.Belief)
	if err != nil {
		return nil, fmt.Errorf("belief after log row %d: %w", snap.Seq, err)
	}
	return p, nil
}

// question returns what an answer of the log replies to, under a representation.
func (s *Session) question(under *representation.View, a idrl.Answer) (*idrl.QueryVector, error) {
	as := s.asked.get(a.Assignment)
	if as == nil {
		return nil, fmt.Errorf("answer %d: its assignment %s is not recorded", a.Seq, a.Assignment)
	}
	return under.Query(as.Query)
}

// Spec returns what the session is made of now.
func (s *Session) Spec() idrl.SessionSpec { return *s.shown.Load() }

// Run serves requests until ctx is done. When it returns, no goroutine that it
// started is left, and every method returns an error of kind Unavailable. It
// must be called once. It also ends, with errSuperseded, when the data of a person are
// withdrawn.
func (s *Session) Run(ctx context.Context) error {
	defer close(s.stopped)
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
		s.waiting = append(s.waiting, s.decision(ctx, who, nil, func(_ idrl.Receipt, err error) {
			if err != nil {
				s.cfg.Log.ErrorContext(ctx, "decide whose answers count", "session", s.spec.ID, "annotator", who, "err", err)
			}
		}))
	}
	for {
		if s.superseded {
			return errSuperseded
		}
		s.startRefit(ctx)
		s.startTraining(ctx)
		inbox := s.inbox
		if s.mustWait() {
			inbox = nil // the order of questions must not depend on how fast training is
		} else if len(s.waiting) > 0 {
			t, _ := s.next()
			s.serve(ctx, t)
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case t := <-inbox:
			s.serve(ctx, t)
		case p := <-s.training.progress:
			s.training.state.Done, s.training.state.Total, s.training.state.What = p.done, p.total, p.what
			s.training.pace.note(s.cfg.Now(), p.done, p.total)
			s.publish(idrl.EventTraining, "")
		case o := <-s.training.outlook:
			s.training.state.Outlook = o
			s.publish(idrl.EventTraining, "")
		case res := <-s.training.result:
			s.training.result = nil
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.trained(ctx, res)
		case res := <-s.refit.result:
			s.refit.result = nil
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.relearnt(ctx, res)
		case <-s.training.retry:
			s.training.retry = nil
		}
	}
}

func (s *Session) publish(kind idrl.EventKind, annotator idrl.AnnotatorID) {
	s.cfg.Publisher.Publish(s.spec.ID, idrl.Event{Kind: kind, Seq: s.log.seq(), Annotator: annotator})
}
