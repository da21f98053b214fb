package rehearsal

import (
	"context"
	"fmt"
	"log/slog"
	"math"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/seeing"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/session"
)

// A liking measures how much a seeing person likes what a session recommends: by the taste that the
// person answers by, in the clips that the session has of the recommended policy.
type liking struct {
	data    Data
	session idrl.SessionID
	taste   seeing.Taste
}

// compare returns the worth of what the session recommends now.
func (l *liking) compare(ctx context.Context) (Comparison, error) {
	r, err := review(ctx, l.data, l.session)
	if err != nil {
		return Comparison{}, err
	}
	if r.Best.ID == "" {
		return Comparison{Seq: r.Seq, BasedOn: -1}, nil
	}
	nan := math.NaN()
	c := stated(r)
	c.Return, c.Best, c.BestKnown, c.Span, c.Regret, c.RegretKnown, c.Cosine = nan, nan, nan, nan, nan, nan, nan
	c.Worth, c.WorthClips, err = l.worth(ctx, r.Best)
	return c, err
}

// worth returns the mean worth of the clips of a policy, and their number. Stills count only
// where there is nothing else.
func (l *liking) worth(ctx context.Context, of idrl.Candidate) (mean float64, n int, err error) {
	media, err := l.data.PolicyClips(ctx, l.session, of.Clip)
	if err != nil {
		return 0, 0, err
	}
	var sum, still [2]float64 // of worths, and their number
	for _, b := range media {
		c, err := clip.Decode(b)
		if err != nil {
			return 0, 0, fmt.Errorf("a clip of policy %s: %w", of.ID, err)
		}
		to := &sum
		if c.Header.Steps == 0 {
			to = &still
		}
		if c.Header.Steps == 0 && !l.taste.Stills {
			continue
		}
		w, err := l.taste.Worth(c)
		if err != nil {
			return 0, 0, err
		}
		to[0], to[1] = to[0]+w, to[1]+1
	}
	if sum[1] == 0 {
		sum = still
	}
	return sum[0] / sum[1], int(sum[1]), nil // NaN without clips
}

// review returns what a session recommends now.
func review(ctx context.Context, data Data, id idrl.SessionID) (r session.Review, err error) {
	rec, err := data.Record(ctx, id)
	if err != nil {
		return r, fmt.Errorf("read the server's data: %w", err)
	}
	cfg, err := data.Config(rec)
	if err != nil {
		return r, err
	}
	cfg.Log = slog.New(slog.DiscardHandler)
	return session.ReviewRecord(cfg)
}
