package session

import (
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A schedule says when trainings and follow-ups are due, and from which posterior.
type schedule struct {
	*statements
	points  []point       // multiples of TrainEvery not trained yet; AdoptAfter > 0 only
	rest    int64         // log row at which a training was cancelled; -1 before
	took    time.Duration // by the last training that gave a generation; 0 before there is one
	follow  int           // follow-ups that the generation in use may still have
	toLearn toLearn
}

// restoreTraining finds the training points that a restart left undone.
func (s *schedule) restoreTraining(snapshots []record.Snapshot) error {
	s.restoreFollowUps()
	if s.spec.AdoptAfter == 0 {
		return nil
	}
	if s.gen == nil {
		s.points = append(s.points, point{0, s.cfg.Model.Prior(), s.features})
	}
	for _, snap := range snapshots {
		if !s.trainsFrom(snap.Seq) || s.gen != nil && snap.Seq <= s.gen.BasedOn {
			continue
		}
		f, err := s.under(snap.Representation)
		if err != nil { // restoreFeatures has logged it
			f = s.features
		}
		b, err := f.decode(snap)
		if err != nil || snap.Definition != record.PosteriorDefinition { // restoreBelief has logged it
			if b, err = s.posteriorAfter(f, s.log.rows[:snap.Seq]); err != nil {
				return err
			}
		}
		s.points = append(s.points, point{snap.Seq, b, f})
	}
	return nil
}

// noteTrainingPoint keeps the belief just reached if a training is based on it. It
// reports whether one is.
func (s *schedule) noteTrainingPoint() bool {
	seq := s.log.seq()
	is := s.spec.AdoptAfter > 0 && s.trainsFrom(seq)
	if is {
		s.points = append(s.points, point{seq, s.learner.Posterior(), s.features})
	}
	return is
}

// trainsFrom reports whether a session that adopts each generation at a fixed row trains
// from the belief at row seq, which is not the first.
func (s *schedule) trainsFrom(seq int64) bool {
	return seq%s.spec.TrainEvery == 0 && !s.unlearnt(seq) && !s.uncertain(seq)
}

// firstSearch is the log row from which on there are searches among gaits. Before it the
// weights are hardly known, and half of the draws from their prior ask for standing still.
const firstSearch = 5

// uncertain reports whether policies would be found by searches among gaits, but too little
// was known when row seq was the last one. People are asked about those of the first
// generation.
func (s *schedule) uncertain(seq int64) bool { return s.spec.ByGaits() && seq < firstSearch }

// nextPoint returns the belief to train from now, if there is a reason to.
func (s *schedule) nextPoint() (point, bool) {
	if s.spec.Uploads() {
		return point{}, false
	}
	if s.spec.AdoptAfter > 0 {
		if len(s.points) == 0 {
			return point{}, false
		}
		return s.points[0], true
	}
	now := point{s.log.seq(), s.learner.Posterior(), s.features}
	switch {
	case s.gen == nil:
		return now, true
	case s.spec.IsArena(), s.cfg.Learner != nil && len(s.fits) == 0, s.uncertain(now.seq), s.rest == now.seq:
		return point{}, false
	case now.seq-s.gen.BasedOn >= s.every(), s.done() && now.seq > s.gen.BasedOn, s.log.decidedSince(s.gen.BasedOn):
		return now, true
	default:
		return point{}, false
	}
}

// every returns the number of log rows between the starts of two trainings. Where the
// spec leaves it to the session, and AdoptAfter is 0, it depends on how long the last
// training took, the time in which it waited for a worker included.
func (s *schedule) every() int64 {
	switch {
	case s.spec.TrainEvery > 0:
		return s.spec.TrainEvery
	case s.features.version() > 0: // agents go on all the time
		return 1
	case s.took > 0 && s.took < idrl.QuickTraining:
		return 1
	}
	return idrl.DearTrainEvery
}
