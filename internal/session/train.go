package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/view"
)

// training is the state of the background. A generation is named by the log
// position it is based on. With AdoptAfter = 0 the next one is trained from the
// newest belief whenever TrainEvery rows have come; else trainings are based on
// the multiples of TrainEvery and adopted exactly AdoptAfter rows later, so
// that the questions do not depend on how fast the machine is.
type training struct {
	*statements
	*schedule
	*refit
	underWay
	retry    <-chan time.Time // after a failure
	failures int
	hopeless bool             // another attempt would fail likewise
	ready    *idrl.Generation // trained, not yet adopted
	prepared prepared         // of ready
}

// underWay is the training, or the follow-up, that runs, or else the last one.
type underWay struct {
	state    view.Training
	progress chan progress     // the newest
	outlook  chan idrl.Outlook // the newest
	result   chan result       // nil when none is under way
	cancel   context.CancelFunc
	pace     pace
	began    time.Time
	ended    time.Time           // when its result was there
	past     record.PastTraining // what is known of it when it begins
	stopped  bool                // by CancelTraining
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
func (t *training) startTraining(ctx context.Context) {
	if t.result != nil {
		t.makeWay()
		return
	}
	if t.ready != nil || t.retry != nil || t.hopeless || t.held() {
		return
	}
	p, due := t.nextPoint()
	job := idrl.TrainJob{Seed: t.spec.Seed, First: t.gen == nil, Soon: t.gen != nil && t.gen.BasedOn == 0}
	switch {
	case due:
		job.Last = t.spec.AdoptAfter == 0 && t.done() // else it would depend on when it begins
	case t.followsUp():
		p = point{t.gen.BasedOn, t.learner.Posterior(), t.features}
		job.From = len(t.gen.Candidates)
		t.follow--
	default:
		return
	}
	job.BasedOn, job.Posterior, job.Features = p.seq, p.belief, p.rep
	job.Progress = func(done, total int, what string) { newest(t.progress, progress{done, total, what}) }
	job.Outlook = func(o idrl.Outlook) { newest(t.outlook, o) }
	if err := p.policies(t.learner.Policies().All()); err != nil {
		t.trainingFailed(ctx, fmt.Errorf("train from answer %d: %w", p.seq, err))
		return
	}
	job.Warm = t.learner.Warm(p.belief, p.mu)
	t.state = view.Training{Running: true, BasedOn: p.seq, FollowUp: job.From > 0, Outlook: idrl.Outlook{Waiting: true}, Err: t.state.Err}
	c := make(chan result, 1)
	t.result, t.began, t.pace, t.stopped = c, t.cfg.Now(), pace{}, false
	t.past = record.PastTraining{BasedOn: p.seq, Answers: t.history.Before(p.seq + 1), FollowUp: job.From > 0, Began: t.began}
	if job.From > 0 { // from the posterior of now
		t.past.Answers = t.history.Len()
	}
	ctx, t.cancel = context.WithCancel(ctx)
	cancel, prepare := t.cancel, t.preparer()
	go func() {
		defer cancel()
		gen, err := t.cfg.Trainer.Train(ctx, job)
		if err == nil {
			gen.Cov = upper(job.Posterior)
			err = t.cfg.Journal.StageAgents(ctx, t.spec.ID, gen.Agents)
		}
		c <- result{gen: gen, followUp: job.From > 0, err: err}.prepare(prepare)
	}()
	t.publish(live.EventTraining, "")
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
	if r.err != nil || r.followUp && len(r.gen.Candidates) == 0 && len(r.gen.Queries) == 0 {
		return r
	}
	if r.err = errors.New("training gave no candidate policy"); len(r.gen.Candidates) > 0 || r.followUp {
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
func (t *training) trained(ctx context.Context, res result) {
	if res.err == nil && !res.followUp && t.spec.AdoptAfter == 0 && res.prepared.version() != t.features.version() {
		t.prepareAgain(res)
		return
	}
	t.ended = t.cfg.Now()
	t.state = view.Training{BasedOn: t.state.BasedOn, Err: t.state.Err}
	take(t.progress)
	take(t.outlook)
	if res.unusable {
		t.reject(res.err)
	}
	if res.followUp {
		t.followed(ctx, res)
		return
	}
	if t.rest >= 0 && errors.Is(res.err, context.Canceled) {
		t.noteTraining(ctx, record.TrainingCancelled, 0, nil)
		t.publish(live.EventTraining, "")
		return
	}
	if res.err != nil {
		t.noteTraining(ctx, record.TrainingFailed, 0, res.err)
		t.trainingFailed(ctx, res.err)
		return
	}
	t.took = max(1, t.cfg.Now().Sub(t.began))
	if seq := res.gen.BasedOn; seq != t.past.BasedOn { // the trainer has finished an interrupted training instead
		t.past.BasedOn, t.past.Answers = seq, t.history.Before(seq+1)
	}
	t.ready, t.prepared = &res.gen, res.prepared
}

// prepareAgain prepares a generation that was prepared under features that are in use no
// more, beside the session as before.
func (t *training) prepareAgain(res result) {
	c, prepare := make(chan result, 1), t.prepareFrom(cmp.Or(res.prepared.sight, t.sight))
	t.result = c
	go func() { c <- res.prepare(prepare) }()
}

// fixed says in words why the training under way cannot be cancelled; it is empty if it can be.
func (t *training) fixed() string {
	switch {
	case t.gen == nil, t.spec.AdoptAfter > 0:
		return "the questions of the session wait for it"
	}
	return ""
}

// CancelTraining ends the training that is under way; the candidates in use stay. The next
// one begins after the next answer: agents, and searches among gaits, from the state that
// came with the generation in use, and others where this one was last saved. It returns an
// error of kind Conflict if there is none, and if questions wait for it.
func (s *Session) CancelTraining(ctx context.Context) error {
	_, err := call(ctx, s.inbox, func() (struct{}, error) {
		t := s.training
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

// trainingFailed plans another attempt, except for an arena whose entrants cannot be compared: another attempt would fail
// for the same reason.
func (t *training) trainingFailed(ctx context.Context, err error) {
	wait := min(firstRetry<<min(t.failures, 16), lastRetry)
	t.failures++
	t.points = t.points[max(0, len(t.points)-1):] // answers went on: the next attempt learns from the newest
	if t.spec.IsArena() && idrl.KindOf(err) == idrl.Invalid {
		t.hopeless, t.state.Err = true, "The clips could not be made. "+why(err)
	} else {
		t.state.Err = fmt.Sprintf("Training failed; trying again in %v. %s", wait, why(err))
		t.retry = time.After(wait)
	}
	t.cfg.Log.ErrorContext(ctx, "training failed", "session", t.spec.ID, "based_on", t.state.BasedOn, "err", err)
	t.publish(live.EventTraining, "")
}

// pastTraining describes the last training, which has ended; err is why it failed.
func (t *training) pastTraining(end record.TrainingEnd, candidates int, err error) record.PastTraining {
	p := t.past
	p.Ended, p.End, p.Candidates = t.ended, end, candidates
	if err != nil {
		p.Why = why(err)
	}
	p.Began, p.Ended = p.Began.UTC().Truncate(time.Millisecond), p.Ended.UTC().Truncate(time.Millisecond)
	return p
}

// noteTraining records that the last training has ended; err is why it failed.
func (t *training) noteTraining(ctx context.Context, end record.TrainingEnd, candidates int, err error) {
	p := t.pastTraining(end, candidates, err)
	if err := t.cfg.Journal.NoteTraining(context.WithoutCancel(ctx), t.spec.ID, p); err != nil {
		t.cfg.Log.WarnContext(ctx, "the list of past trainings lacks one", "session", t.spec.ID, "based_on", p.BasedOn, "err", err)
	}
}

// Trainings returns the trainings that have ended, the last one first, at most so many; all if
// that is 0.
func (s *reports) Trainings(ctx context.Context, most int) ([]record.PastTraining, error) {
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

// due reports whether the generation under way is to be used from now on.
func (t *training) due() bool {
	base := t.state.BasedOn
	if t.ready != nil {
		base = t.ready.BasedOn
	} else if len(t.points) > 0 {
		base = t.points[0].seq
	} else if t.result == nil {
		return false
	}
	return t.gen == nil || t.log.seq() >= base+t.spec.AdoptAfter
}

// adoptionDue reports whether nothing may happen before the next generation is adopted.
// Before the first one nothing can happen that questions depend on, and people ask
// how long they wait. A training that failed is not waited for, because it may fail again for ever.
func (t *training) adoptionDue() bool {
	return t.spec.AdoptAfter > 0 && t.gen != nil && t.failures == 0 && t.due()
}

// mustWait reports whether no row may be added now, so that the order of questions does
// not depend on how fast learning is.
func (t *training) mustWait() bool {
	return t.adoptionDue() || t.spec.AdoptAfter > 0 && (t.refit.outcome != nil || t.refitDue())
}

// held reports whether no work may begin in the background, because the session is paused or
// was closed before its first question. A paused session still does the work that answers under way wait for (mustWait).
func (t *training) held() bool {
	return t.paused() && !t.mustWait() || t.closed() && t.gen == nil
}

// adopt replaces the generation whole if a new one is ready and due. It reports whether it did.
func (t *training) adopt(ctx context.Context) bool {
	if t.ready == nil || !t.due() || t.spec.AdoptAfter > 0 && (t.refit.outcome != nil || t.refitDue()) {
		return false // learnt features come first, so that their order does not depend on which was faster
	}
	g := t.ready
	lost := func(err error, useless bool) bool {
		if t.ready = nil; useless {
			t.reject(err)
		}
		t.noteTraining(ctx, record.TrainingFailed, 0, err)
		t.trainingFailed(ctx, err)
		return false
	}
	ready, err := t.use(t.prepared, g)
	if err != nil {
		return lost(err, true)
	}
	past := t.pastTraining(record.TrainingDone, len(g.Candidates), nil)
	if err := t.cfg.Journal.Adopt(context.WithoutCancel(ctx), t.spec.ID, *g, t.log.seq(), past); err != nil {
		err = fmt.Errorf("record generation %d: %w", g.BasedOn, err)
		return lost(err, idrl.KindOf(err) != idrl.Unavailable) // else the journal cannot write, whatever it is given
	}
	t.failures, t.state.Err = 0, ""
	t.noteEngine(ctx, g)
	t.learner.Adopt(g.Pool, g.Candidates)
	t.families.add(g.Pool, g.Candidates)
	if t.gen == nil {
		t.noteStart(g.Candidates)
	}
	t.ready, t.prepared = nil, prepared{}
	partial := t.spec.IsArena() && len(g.Agents) > 0 // which says how far its clips are cut
	t.takeOver(g, ready)
	if t.follow = t.followable(); partial {
		t.follow = 1
	}
	if len(t.points) > 0 {
		t.points = t.points[1:]
	}
	return true
}

// restIfComplete says that the trainer is not needed, if that is so.
func (t *training) restIfComplete() {
	if _, more := t.nextPoint(); t.done() && !more && !t.followsUp() && t.cfg.Rests != nil {
		t.cfg.Rests()
	}
}
