package session

import (
	"context"

	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
)

// A Present holds all reports of a session at one moment.
type Present struct {
	Status  view.Status
	Insight *insight.Report
	Scores  view.ConditionScores // zero in a session without conditions and held-out comparisons
}

// PresentOf returns the reports of the session that cfg is about, without running it: those of Status, Insight and Conditions. Of cfg
// it needs what New needs, and it writes nothing. Errors are those of New and of these methods.
func PresentOf(ctx context.Context, cfg Config) (p Present, err error) {
	s, err := New(cfg)
	if err != nil {
		return p, err
	}
	p.Status = s.statusInput().status()
	if p.Insight, err = s.report(ctx, s.handOver()); err != nil {
		return p, err
	}
	p.Scores, err = s.scored(ctx)
	return p, err
}
