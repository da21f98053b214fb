package session_test

import (
	"context"
	"image"
	"image/color"
	"maps"
	"slices"
	"testing"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// A picturesTrainer gives each clip of fakeTrainer two pictures of a white field with a small figure, which
// is farther to the right from clip to clip. Clips that are made once answers were given begin farther to the left.
type picturesTrainer struct{ fakeTrainer }

func (p picturesTrainer) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	g, err := p.fakeTrainer.Train(ctx, job)
	for i, id := range slices.Sorted(maps.Keys(g.Clips)) {
		left := 200 + 4*i
		if job.BasedOn > 0 {
			left -= 100
		}
		f := clip.Footage{Env: "cam", Steps: 1, FrameSec: 1, Playback: 1, Phi: g.Clips[id].Phi, Seek: true, Pictures: []image.Image{figure(left), figure(left + 2)}}
		c := g.Clips[id]
		if c.Media, err = clip.EncodeFootage(f); err != nil {
			return g, err
		}
		g.Clips[id] = c
	}
	return g, err
}

// figure is a picture of 400x300 pixels with a square of 20 on white.
func figure(left int) image.Image {
	img := image.NewGray(image.Rect(0, 0, 400, 300))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for i := range 400 {
		img.Set(left+i%20, 150+i/20, color.Black)
	}
	return img
}

// The offer says which part has the figures of all clips in it, also of those that nobody was asked about, and
// of clips that come later, besides those before them.
func TestPartThatAllClipsShow(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery = 1 })
	b.trainer = picturesTrainer{fakeTrainer{d: dim}}
	s, _ := b.start(t)
	part := func(first, last int) drawing.Part {
		return drawing.Part{float64(first) / 400, 150. / 300, float64(last) / 400, 170. / 300}
	}
	claim(t, s, "ann") // which waits for the first clips
	n := len(b.record(t, s).Generation.Clips)
	first := part(200, 200+4*(n-1)+22)
	for k := range 8 {
		offer, want := claim(t, s, "ann"), first
		g := b.record(t, s).Generation
		if g.BasedOn > 0 {
			want = first.Around(part(100, 200))
		}
		if offer.Seen != want {
			t.Errorf("after %d answers and with the generation of %d, seen %v, want %v", k, g.BasedOn, offer.Seen, want)
		}
		if k == 7 && g.BasedOn == 0 {
			t.Error("no generation came")
		}
		mustAnswer(t, s, "ann", reply(offer.Open[0], k))
	}
}
