package session

import (
	"context"
	"errors"
	"time"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/session/view"
)

// Follow-ups are jobs that add candidates to the generation in use while no training is
// due. They end after a bounded time (learning.FollowUps), and at once when a training becomes due.

// pause: when a session is loaded, its generation has follow-ups only if the last log row is at most so old. A session of the
// past does not change when its page is opened.
const pause = 10 * time.Minute

// followable returns how many follow-ups the generation in use may have.
func (s *schedule) followable() int {
	if s.spec.AdoptAfter > 0 || !s.spec.ByGaits() || s.gen == nil || s.uncertain(s.gen.BasedOn) {
		return 0
	}
	return learning.FollowUps
}

// restoreFollowUps lets the generation in use have follow-ups after a restart, if the last
// row is not old.
func (s *schedule) restoreFollowUps() {
	if s.spec.Arena.Recorded() && s.gen != nil && !s.closed() {
		if s.cfg.Uncut {
			s.follow = 1
		}
		return
	}
	if n := s.log.seq(); n > 0 && s.cfg.Now().Sub(s.log.at(n).ReceivedAt) <= pause {
		s.follow = s.followable()
	}
}

// followsUp reports whether a follow-up is to begin if no training is due.
func (s *schedule) followsUp() bool { return s.follow > 0 && s.rest != s.log.seq() }

// makeWay ends the job under way if that is a follow-up and a training has become due.
func (t *training) makeWay() {
	if !t.state.FollowUp {
		return
	}
	if p, due := t.nextPoint(); due {
		t.cancel()
		t.pace = pace{}
		t.state = view.Training{Running: true, BasedOn: p.seq, Outlook: idrl.Outlook{Waiting: true}, Err: t.state.Err}
	}
}

// moreClips reports whether further clips of an arena are to be cut, about which people are asked later.
func (t *training) moreClips() bool {
	return t.spec.IsArena() && t.gen != nil && !t.hopeless && (t.followsUp() || t.result != nil)
}

// cutMore takes in what a follow-up of an arena has cut. It returns false if it failed, and is tried again.
func (t *training) cutMore(ctx context.Context, res result) bool {
	if res.err == nil && (len(res.gen.Queries) > 0 || res.gen.Agents != nil) {
		res.err = t.lengthen(ctx, res, t.vectors)
	}
	if res.err != nil {
		t.follow = 1
		if !errors.Is(res.err, context.Canceled) {
			t.trainingFailed(ctx, res.err)
		}
		return false
	}
	t.follow, t.failures, t.state.Err = 0, 0, ""
	if res.gen.Agents != nil {
		t.follow = 1
	}
	return true
}

// followed takes in the result of a follow-up. The result of one that was cancelled is lost. After a failure the generation has
// no further ones, except in an arena.
func (t *training) followed(ctx context.Context, res result) {
	event := live.EventTraining
	switch {
	case t.spec.IsArena():
		if t.cutMore(ctx, res) {
			event = live.EventAdopted
		}
	case errors.Is(res.err, context.Canceled):
		if t.stopped { // else it made way for a training
			t.noteTraining(ctx, record.TrainingCancelled, 0, nil)
		}
	case res.err == nil && len(res.gen.Candidates) == 0 && res.gen.Agents == nil:
		t.follow = 0
	default:
		if res.err == nil {
			res.err = t.lengthen(ctx, res, t.vectors)
		}
		if res.err == nil {
			if n := len(res.gen.Candidates); n > 0 {
				t.noteTraining(ctx, record.TrainingDone, n, nil)
			} else {
				t.follow = max(0, t.follow+1-learning.DryFollowUps)
			}
			event = live.EventAdopted
			break
		}
		t.follow = 0
		t.noteTraining(ctx, record.TrainingFailed, 0, res.err)
		t.cfg.Log.ErrorContext(ctx, "a follow-up failed; the generation in use has no others", "session", t.spec.ID, "based_on", t.gen.BasedOn, "err", res.err)
	}
	t.publish(event, "")
	t.restIfComplete()
}
