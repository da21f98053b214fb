package training

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// keeper is a reporter that keeps the last checkpoint.
type keeper struct {
	jobs.Reporter
	n    int
	last []byte
}

func (k *keeper) Checkpoint(b []byte) error {
	k.n, k.last = k.n+1, b
	return nil
}

// Solves for candidates are saved at once; what is less is saved every half second.
func TestCheckpointsThatCanWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		k := &keeper{}
		job := record.JobRecord{Payload: []byte("what")}
		s := &saver{job: job, to: k, log: slog.New(slog.NewTextHandler(&log, nil))}
		if got := s.last(); got.Pool != nil || got.Solved != nil || got.Search != nil {
			t.Errorf("without a checkpoint: %+v", got)
		}
		var state idrl.TrainState
		for range 30 { // ten to a checkpoint
			time.Sleep(saveEvery / 10)
			state.Pool = append(state.Pool, idrl.Solved{Theta: []float64{1}, Params: []float64{2}})
			s.save(state)
		}
		if k.n != 3 {
			t.Errorf("%d checkpoints, want three", k.n)
		}
		for n := range 3 {
			state.Solved = append(state.Solved, idrl.Solved{Theta: []float64{1}, Params: []float64{2}})
			s.save(state)
			state.Search = []byte("half")
			s.save(state)
			state.Search = nil
			if k.n != 3+n+1 {
				t.Errorf("%d checkpoints after %d candidates", k.n, n+1)
			}
		}
		s.report()
		if log.Len() > 0 {
			t.Errorf("nothing was interrupted; the log says %s", log.String())
		}

		job.Checkpoint = k.last
		s = &saver{job: job, to: k, log: slog.New(slog.NewTextHandler(&log, nil))}
		if got := s.last(); len(got.Pool) != 30 || len(got.Solved) != 3 {
			t.Errorf("the checkpoint has %d policies and %d solves, want 30 and 3", len(got.Pool), len(got.Solved))
		}
		state.Search = []byte("half")
		s.save(state)
		state.Solved, state.Search = append(state.Solved, idrl.Solved{Theta: []float64{1}}), nil
		s.save(state)
		if s.report(); !strings.Contains(log.String(), "kept=33 solved=1") {
			t.Errorf("the log says %s", log.String())
		}
	})
}
