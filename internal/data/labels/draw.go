package labels

import (
	"context"

	"tiebreak/internal/idrl"
)

// A Drawing says what Draw draws. All fields are required.
type Drawing struct {
	Pairs    []Pair
	Clips    map[Segment]idrl.Clip           // of Pairs; Media of those that are drawn is set
	Encode   func(idrl.Clip) ([]byte, error) // draws a clip; an error of kind Invalid says that it cannot be shown
	Most     int                             // bytes of Media: what comes after them is not drawn
	Progress func(done int)                  // is told how many clips are drawn
}

// Drawn says what Draw has drawn.
type Drawn struct {
	Pairs int   // comparisons of which both clips are drawn
	Why   error // why the first clip that cannot be shown cannot; nil if there was none
}

const (
	firstBlock = 256 // pairs
	maxFailed  = 8   // clips that cannot be shown, where none can
)

// Draw draws the clips of the first pairs, until they take d.Most bytes. It takes pairs in blocks and
// the clips of a block one rollout after another, since reading a rollout takes longer than drawing a
// clip. It returns errors of d.Encode that are of another kind than Invalid.
func Draw(ctx context.Context, d Drawing) (Drawn, error) {
	w := &drawer{Drawing: d, failed: map[Segment]bool{}}
	for at, n := 0, firstBlock; at < len(d.Pairs) && n > 0 && !w.ended(); {
		block := d.Pairs[at:min(len(d.Pairs), at+n)]
		if err := w.block(ctx, block); err != nil {
			return Drawn{}, err
		}
		at += len(block)
		n = (d.Most - w.bytes) * 3 / 4 / max(1, w.bytes/at) // three quarters of as many as seem to have room
	}
	out := Drawn{Why: w.why}
	for _, p := range d.Pairs {
		if d.Clips[p.Segments[0]].Media != nil && d.Clips[p.Segments[1]].Media != nil {
			out.Pairs++
		}
	}
	return out, nil
}

// A drawer is a Drawing under way.
type drawer struct {
	Drawing
	drawn, bytes int // clips, and their Media
	failed       map[Segment]bool
	why          error
}

// ended reports whether no more is to be drawn.
func (w *drawer) ended() bool {
	return w.bytes > w.Most || w.drawn == 0 && len(w.failed) >= maxFailed
}

func (w *drawer) block(ctx context.Context, pairs []Pair) error {
	for _, s := range segments(pairs) {
		if err := ctx.Err(); err != nil || w.ended() {
			return err
		}
		c := w.Clips[s]
		if c.Media != nil || w.failed[s] {
			continue
		}
		media, err := w.Encode(c)
		switch {
		case idrl.KindOf(err) == idrl.Invalid:
			if w.failed[s] = true; w.why == nil {
				w.why = err
			}
		case err != nil:
			return err
		default:
			c.Media = media
			w.Clips[s] = c
			w.drawn, w.bytes = w.drawn+1, w.bytes+len(media)
			w.Progress(w.drawn)
		}
	}
	return nil
}
