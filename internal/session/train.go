package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"tiebreak/internal/idrl"
)

// training is the state of the background. A generation is named by the log
// position it is based on. With AdoptAfter = 0 the next one is trained from the
// newest belief whenever TrainEvery rows have come; else trainings are based on
// the multiples of TrainEvery and adopted exactly AdoptAfter rows later, so
// that the questions do not depend on how fast the machine is.
type training struct {
	state    idrl.Training
	progress chan progress     // the newest
	outlook  chan idrl.Outlook // the newest
	result   chan result       // nil when no training is under way
	retry    <-chan time.Time  // after a failure
	began    time.Time         // of the training under way
	ended    time.Time         // of the last one, when its result was there
	past     idrl.PastTraining // what is known of it when it begins
	stopped  bool              // it was cancelled by CancelTraining
	pace     pace              // of the training under way
	took     time.Duration     // by the last training that gave a generation; 0 before there is one
	failures int
	hopeless bool               // another attempt would fail likewise
	cancel   context.CancelFunc // of the training under way
	rest     int64              // log row at which a training was cancelled; -1 before
	follow   int                // follow-ups that the generation in use may still have
	ready    *idrl.Generation   // trained, not yet adopted
	prepared prepared           // of ready
	points   []point            // multiples of TrainEvery not trained yet; AdoptAfter > 0 only
}

// point is a belief to train from.
type point struct {
	seq    int64
	belief idrl.Posterior
	features
}

type progress struct {
	done, total int
	what        string
}

type result struct {
	gen      idrl.Generation
	prepared prepared // of gen
	followUp bool     // gen has what a follow-up found
	err      error
	unusable bool // err says what is wrong with gen
}

// wait returns when no training goroutine is left.
func (t *training) wait() {
	if t.result != nil {
		<-t.result
	}
}

// startTraining starts a training if one is due, or else a follow-up, if none is under way.
func (s *Session) startTraining(ctx context.Context) {
	t := &s.training
	if t.result != nil {
		s.makeWay()
		return
	}
	if t.ready != nil || t.retry != nil || t.hopeless || s.held() {
		return
	}
	p, due := s.nextPoint()
	job := idrl.TrainJob{Seed: s.spec.Seed, First: s.gen == nil, Soon: s.gen != nil && s.gen.BasedOn == 0}
	switch {
	case due:
		job.Last = s.spec.AdoptAfter == 0 && s.done() // else it would depend on when it begins
	case s.followsUp():
		p = point{s.gen.BasedOn, s.learner.Posterior(), s.features}
		job.From = len(s.gen.Candidates)
		t.follow--
	default:
		return
	}
	job.BasedOn, job.Posterior, job.Features = p.seq, p.belief, p.rep
	job.Progress = func(done, total int, what string) { newest(t.progress, progress{done, total, what}) }
	job.Outlook = func(o idrl.Outlook) { newest(t.outlook, o) }
	if err := p.policies(s.learner.Policies().All()); err != nil {
		s.trainingFailed(ctx, fmt.Errorf("train from answer %d: %w", p.seq, err))
		return
	}
	job.Warm = s.learner.Warm(p.belief, p.mu)
	t.state = idrl.Training{Running: true, BasedOn: p.seq, FollowUp: job.From > 0, Outlook: idrl.Outlook{Waiting: true}, Err: t.state.Err}
	c := make(chan result, 1)
	t.result, t.began, t.pace, t.stopped = c, s.cfg.Now(), pace{}, false
	t.past = idrl.PastTraining{BasedOn: p.seq, Answers: s.history.Before(p.seq + 1), FollowUp: job.From > 0, Began: t.began}
	if job.From > 0 { // from the posterior of now
		t.past.Answers = s.history.Len()
	}
	ctx, t.cancel = context.WithCancel(ctx)
	cancel, prepare := t.cancel, s.preparer()
	go func() {
		defer cancel()
		gen, err := s.cfg.Trainer.Train(ctx, job)
		if err == nil {
			gen.Cov = upper(job.Posterior)
			err = s.cfg.Journal.StageAgents(ctx, s.spec.ID, gen.Agents)
		}
		c <- result{gen: gen, followUp: job.From > 0, err: err}.prepare(prepare)
	}()
	s.publish(idrl.EventTraining, "")
}

// upper returns the upper triangle, by rows, of the covariance of p.
func upper(p idrl.Posterior) (out []float64) {
	d := p.Dim()
	row, unit := make([]float64, d), make([]float64, d)
	for i := range d {
		unit[i] = 1
		p.CovMul(row, unit)
		unit[i] = 0
		out = append(out, row[i:]...)
	}
	return out
}

// prepare returns r with what the session needs of its generation, if it has one.
func (r result) prepare(by func(*idrl.Generation) (prepared, error)) result {
	if r.err != nil || r.followUp && len(r.gen.Candidates) == 0 {
		return r
	}
	if r.err = errors.New("training gave no candidate policy"); len(r.gen.Candidates) > 0 {
		r.prepared, r.err = by(&r.gen)
	}
	r.unusable = r.err != nil
	return r
}

// newest hands v to the session's goroutine in place of what it has not taken yet.
func newest[T any](c chan T, v T) {
	take(c)
	select {
	case c <- v:
	default: // another caller was faster
	}
}

// take empties a channel.
func take[T any](c chan T) {
	select {
	case <-c:
	default:
	}
}

// trained takes in the result of a training.
func (s *Session) trained(ctx context.Context, res result) {
	t := &s.training
	if res.err == nil && !res.followUp && s.spec.AdoptAfter == 0 && res.prepared.version() != s.features.version() {
		s.prepareAgain(res)
		return
	}
	t.ended = s.cfg.Now()
	t.state = idrl.Training{BasedOn: t.state.BasedOn, Err: t.state.Err}
	take(t.progress)
	take(t.outlook)
	if res.unusable {
		s.reject(res.err)
	}
	if res.followUp {
		s.followed(ctx, res)
		return
	}
	if t.rest >= 0 && errors.Is(res.err, context.Canceled) {
		s.noteTraining(ctx, idrl.TrainingCancelled, 0, nil)
		s.publish(idrl.EventTraining, "")
		return
	}
	if res.err != nil {
		s.noteTraining(ctx, idrl.TrainingFailed, 0, res.err)
		s.trainingFailed(ctx, res.err)
		return
	}
	t.took = max(1, s.cfg.Now().Sub(t.began))
	t.ready, t.prepared = &res.gen, res.prepared
	s.adoptIfDue(ctx)
}

// prepareAgain prepares a generation that was prepared under features that are in use no
// more, beside the session as before.
func (s *Session) prepareAgain(res result) {
	c, prepare := make(chan result, 1), s.prepareFrom(cmp.Or(res.prepared.sight, s.sight))
	s.training.result = c
	go func() { c <- res.prepare(prepare) }()
}

// fixed says why the training under way cannot be cancelled; it is empty if it can.
func (s *Session) fixed() string {
	switch {
	case s.gen == nil, s.spec.AdoptAfter > 0:
		return "the questions of the session wait for it"
	}
	return ""
}

// CancelTraining ends the training that is under way; the candidates in use stay. The next
// one begins after the next answer: agents, and searches among gaits, from the state that
// came with the generation in use, and others where this one was last saved. It returns an
// error of kind Conflict if there is none, and if questions wait for it.
func (s *Session) CancelTraining(ctx context.Context) error {
	_, err := call(ctx, s, func() (struct{}, error) {
		t := &s.training
		if t.result == nil {
			return struct{}{}, idrl.Errorf(idrl.Conflict, "no training is under way")
		}
		if why := s.fixed(); why != "" {
			return struct{}{}, idrl.Errorf(idrl.Conflict, "this training cannot be cancelled: %s", why)
		}
		t.rest, t.stopped = s.log.seq(), true
		t.cancel()
		return struct{}{}, nil
	})
	return err
}

// Pauses before a training is tried again, doubled from the first to the last.
const (
	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
)

// trainingFailed plans another attempt. That of an arena whose entrants cannot be compared would
// come to the same.
func (s *Session) trainingFailed(ctx context.Context, err error) {
	t := &s.training
	wait := min(firstRetry<<min(t.failures, 16), lastRetry)
	t.failures++
	if s.spec.IsArena() && idrl.KindOf(err) == idrl.Invalid {
		t.hopeless, t.state.Err = true, "The clips could not be made. "+why(err)
	} else {
		t.state.Err = fmt.Sprintf("Training failed; trying again in %v. %s", wait, why(err))
		t.retry = time.After(wait)
	}
	s.cfg.Log.ErrorContext(ctx, "training failed", "session", s.spec.ID, "based_on", t.state.BasedOn, "err", err)
	s.publish(idrl.EventTraining, "")
}

// noteTraining records that the last training has ended; err is why it failed.
func (s *Session) noteTraining(ctx context.Context, end idrl.TrainingEnd, candidates int, err error) {
	p := s.training.past
	p.Ended, p.End, p.Candidates = s.training.ended, end, candidates
	if err != nil {
		p.Why = why(err)
	}
	p.Began, p.Ended = p.Began.UTC().Truncate(time.Millisecond), p.Ended.UTC().Truncate(time.Millisecond)
	if err := s.cfg.Journal.NoteTraining(context.WithoutCancel(ctx), s.spec.ID, p); err != nil {
		s.cfg.Log.WarnContext(ctx, "the list of past trainings lacks one", "session", s.spec.ID, "based_on", p.BasedOn, "err", err)
	}
}

// Trainings returns the trainings that have ended, the last one first, at most so many; all if
// that is 0.
func (s *Session) Trainings(ctx context.Context, most int) ([]idrl.PastTraining, error) {
	return s.cfg.Journal.Trainings(ctx, s.spec.ID, most)
}

// why says to researchers why a training failed: in words if they can do something about it,
// as about an outside environment, or about the entrants of an arena.
func why(err error) string {
	var e *idrl.Error
	if errors.As(err, &e) && (e.Kind == idrl.Unavailable || e.Kind == idrl.Invalid) {
		return "The reason: " + e.Msg
	}
	return "The server's log says why."
}

// reject tells the trainer that its last result is of no use.
func (s *Session) reject(why error) {
	if s.cfg.Rejected != nil {
		s.cfg.Rejected(why)
	}
}

// due reports whether the generation under way is to be used from now on.
func (s *Session) due() bool {
	t := &s.training
	base := t.state.BasedOn
	if t.ready != nil {
		base = t.ready.BasedOn
	} else if len(t.points) > 0 {
		base = t.points[0].seq
	} else if t.result == nil {
		return false
	}
	return s.gen == nil || s.log.seq() >= base+s.spec.AdoptAfter
}

// adoptionDue reports whether nothing may happen before the next generation is adopted.
// Before the first one nothing can happen that questions depend on, and people ask
// how long they wait.
func (s *Session) adoptionDue() bool { return s.spec.AdoptAfter > 0 && s.gen != nil && s.due() }

// noteEngine warns if another physics engine computed g than the generation before.
func (s *Session) noteEngine(ctx context.Context, g *idrl.Generation) {
	if s.gen == nil || s.gen.Engine == "" || g.Engine == "" || s.gen.Engine == g.Engine {
		return
	}
	s.cfg.Log.WarnContext(ctx, "the physics engine has changed: the same policies may move differently than in earlier clips (docs/mujoco.md, section 2)",
		"session", s.spec.ID, "before", s.gen.Engine, "now", g.Engine)
}

// adoptIfDue replaces the generation whole if a new one is ready and due.
func (s *Session) adoptIfDue(ctx context.Context) {
	t := &s.training
	if t.ready == nil || !s.due() || s.spec.AdoptAfter > 0 && (s.refit.result != nil || s.refitDue()) {
		return // learnt features come first, so that their order does not depend on which was faster
	}
	g := t.ready
	ready, err := s.use(t.prepared, g)
	if err != nil {
		t.ready = nil
		s.reject(err)
		s.noteTraining(ctx, idrl.TrainingFailed, 0, err)
		s.trainingFailed(ctx, err)
		return
	}
	if err := s.cfg.Journal.Adopt(context.WithoutCancel(ctx), s.spec.ID, *g, s.log.seq()); err != nil {
		t.ready = nil
		err = fmt.Errorf("record generation %d: %w", g.BasedOn, err)
		if idrl.KindOf(err) != idrl.Unavailable { // else the journal cannot write, whatever it is given
			s.reject(err)
		}
		s.noteTraining(ctx, idrl.TrainingFailed, 0, err)
		s.trainingFailed(ctx, err)
		return
	}
	s.noteTraining(ctx, idrl.TrainingDone, len(g.Candidates), nil)
	t.failures, t.state.Err = 0, ""
	s.noteEngine(ctx, g)
	s.learner.Adopt(g.Pool, g.Candidates)
	if s.gen == nil {
		s.noteStart(g.Candidates)
	}
	t.ready, t.prepared = nil, prepared{}
	s.takeOver(g, ready)
	t.follow = s.followable()
	if len(t.points) > 0 {
		t.points = t.points[1:]
	}
	// Together with the adoption, or it would depend on whether the annotator's
	// next answer or their next claim comes first.
	for _, who := range s.blocked {
		s.topUpOrLog(ctx, who)
	}
	s.blocked = nil
	s.publish(idrl.EventAdopted, "")
	s.restIfComplete()
}

// takeOver makes a generation that is recorded the one in use, as it was prepared.
func (s *Session) takeOver(g *idrl.Generation, p prepared) {
	s.gen, s.vectors, s.shelf.gen = g, p.vectors, g
	if p.sight == nil {
		p.sight = newSight(s.cfg.Journal, s.spec.ID)
	}
	s.sight = p.sight
	g.Steps, g.Agents = nil, nil // the store has them now
	for id, c := range g.Clips {
		c.Media, c.Snapshots = nil, nil
		g.Clips[id] = c
	}
}

// restIfComplete says that the trainer is not needed, if that is so.
func (s *Session) restIfComplete() {
	if _, more := s.nextPoint(); s.done() && !more && !s.followsUp() && s.cfg.Rests != nil {
		s.cfg.Rests()
	}
}
