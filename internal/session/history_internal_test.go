package session

import (
	"bytes"
	"log/slog"
	"testing"

	"tiebreak/internal/idrl"
)

// TestFitsThatGoOnAreNotWarnedOf: several people who answer would have a warning for nearly each answer.
func TestFitsThatGoOnAreNotWarnedOf(t *testing.T) {
	t.Parallel()
	for sweeps, warned := range map[int]bool{1: false, 25: true} {
		var log bytes.Buffer
		cfg := Config{Log: slog.New(slog.NewTextHandler(&log, nil))}
		s := &inference{learntFeatures: &learntFeatures{ledger: &ledger{settings: &settings{cfg: cfg}}}}
		s.noteFit(idrl.FitReport{Answers: 30, Sweeps: sweeps, Change: 0.2})
		if (log.Len() > 0) != warned {
			t.Errorf("after %d sweeps: %q", sweeps, log.String())
		}
	}
}
