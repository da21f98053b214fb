package bundle

import (
	"context"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
)

// A Comparison is an answer about two clips as it counts: turned ones are their opposites. One that the answer to a group implies has
// a number (record.Labelled.Part).
type Comparison struct {
	*record.Labelled        // until the next one
	Split, SplitPair string // parts as comparisons.parquet has them; empty for none, and where neither clip is preferred nor both are equal
}

// Comparisons calls yield with the answers about two clips that count, by their place in the log: those of comparisons.parquet, and
// "can't tell".
func Comparisons(ctx context.Context, from Source, yield func(Comparison) error) error {
	var all splits
	err := counting(ctx, from, record.Part{}, func(r *record.Labelled) error {
		if stated(r) {
			all.add(r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	seed := from.Spec().Seed
	return counting(ctx, from, record.Part{}, func(r *record.Labelled) error {
		switch {
		case stated(r):
			return yield(Comparison{r, all.of(r), all.pairOf(r, seed)})
		case len(r.Clips) == 2 && r.Answer.Choice == idrl.CantTell:
			return yield(Comparison{Labelled: r})
		}
		return nil
	})
}

// Ratings calls yield with the answers that rate a clip and count, by their place in the log; turned ones are their opposites. A row is
// valid until the next one.
func Ratings(ctx context.Context, from Source, yield func(*record.Labelled) error) error {
	return counting(ctx, from, record.Part{}, func(r *record.Labelled) error {
		if len(r.Clips) != 1 || r.Answer.Choice != idrl.Rated {
			return nil
		}
		return yield(r)
	})
}

// stated reports whether an answer is about two clips and says which one is better, or that both are equal.
func stated(r *record.Labelled) bool {
	_, ok := r.Answer.ProbA()
	return ok && len(r.Clips) == 2
}

// counting calls yield with the answers that count, each until the next one and as it counts: turned ones as their opposites, and of
// the answers to groups the comparisons that they imply.
func counting(ctx context.Context, from Source, p record.Part, yield func(*record.Labelled) error) error {
	p.Counting = true
	rows := export.Rows(func(yield func(record.Labelled) error) error {
		return from.Rows(ctx, p, func(r record.Labelled) error {
			if r.Turned {
				r.Answer = r.Answer.Opposite()
			}
			return yield(r)
		})
	})
	var row record.Labelled // of which a copy for each call would be garbage
	return export.Parts(rows)(func(r record.Labelled) error {
		row = r
		return yield(&row)
	})
}
