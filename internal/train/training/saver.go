package training

import (
	"crypto/sha256"
	"errors"
	"log/slog"
	"time"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// saveEvery is the least time between checkpoints that tell of less than the solve for a
// candidate: those of a first generation hold clips and raw steps, up to 3 MB.
const saveEvery = time.Second / 2

// A saver writes and reads the checkpoints of one attempt at a training.
type saver struct {
	job record.JobRecord
	to  jobs.Reporter
	log *slog.Logger

	failed func() error // why what was made since the last checkpoint must not be kept; nil for never

	kept    int       // outcomes of earlier attempts that this one uses
	solved  int       // outcomes of this attempt
	written int       // solves for candidates in the last checkpoint
	at      time.Time // of the last checkpoint, at first of the beginning
}

// last returns what the checkpoint of the job holds.
func (s *saver) last() idrl.TrainState {
	s.at = time.Now()
	if s.job.Checkpoint == nil {
		return idrl.TrainState{}
	}
	c, err := pack.Decode[checkpoint](s.job.Checkpoint)
	if err == nil && c.Payload != sha256.Sum256(s.job.Payload) {
		err = errors.New("it is of another training")
	}
	if err != nil {
		s.log.Warn("training starts again: its checkpoint cannot be used", "session", s.job.Session, "based_on", s.job.BasedOn, "err", err)
		return idrl.TrainState{}
	}
	s.kept = len(c.State.Pool) + len(c.State.Solved)
	return c.State
}

// save hands over a checkpoint if it is worth it. Training goes on without one that
// cannot be handed over.
func (s *saver) save(state idrl.TrainState) {
	s.count(state)
	if s.failed != nil && s.failed() != nil {
		return
	}
	if len(state.Solved) == s.written && time.Since(s.at) < saveEvery {
		return
	}
	s.written, s.at = len(state.Solved), time.Now()
	b, err := pack.Encode(&checkpoint{Payload: sha256.Sum256(s.job.Payload), State: state})
	if err == nil {
		err = s.to.Checkpoint(b)
	}
	if err != nil {
		s.log.Warn("no checkpoint", "session", s.job.Session, "based_on", s.job.BasedOn, "err", err)
	}
}

// count counts the outcomes of a state that save is told.
func (s *saver) count(state idrl.TrainState) {
	if state.Search == nil { // else it is in the middle of a solve
		s.solved++
	}
	s.kept = len(state.Pool) + len(state.Solved) - s.solved
}

// report logs how much of the work of earlier attempts was not repeated.
func (s *saver) report() {
	if s.job.Checkpoint != nil {
		s.log.Info("training went on from its checkpoint", "session", s.job.Session, "based_on", s.job.BasedOn, "kept", s.kept, "solved", s.solved)
	}
}
