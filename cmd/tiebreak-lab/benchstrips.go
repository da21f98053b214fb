package main

import (
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment/teaching"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/film"
)

// A strip of a clip is stripFrames pictures side by side.
const (
	stripFrames             = 5
	stripWidth, stripHeight = 96, 80 // pixels
	stripGap                = 12
)

// writeStrip draws the questions of a lesson, one a row: both clips, and between them a bar on
// the side of the answer.
func writeStrip(path string, asked []teaching.Asked) error {
	all := image.NewRGBA(image.Rect(0, 0, (2*stripFrames)*stripWidth+stripGap, len(asked)*(stripHeight+4)))
	for k, q := range asked {
		for side, c := range []*clip.Clip{q.A, q.B} {
			strip := film.Strip(c, stripFrames, stripWidth-4, stripHeight)
			at := image.Pt(side*(stripFrames*stripWidth+stripGap), k*(stripHeight+4))
			draw.Draw(all, strip.Bounds().Add(at), strip, image.Point{}, draw.Src)
		}
		markAnswer(all, q.Answer.Choice, k*(stripHeight+4))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(file, all), file.Close())
}

// markAnswer draws a bar on the side of the chosen clip, on both for equal.
func markAnswer(on *image.RGBA, choice idrl.Choice, y int) {
	middle := stripFrames * stripWidth
	bar := func(x int) {
		draw.Draw(on, image.Rect(x, y, x+stripGap/2-1, y+stripHeight), image.NewUniform(color.Black), image.Point{}, draw.Src)
	}
	if choice != idrl.ChoseB {
		bar(middle)
	}
	if choice != idrl.ChoseA {
		bar(middle + stripGap/2)
	}
}

// writeFilm writes a clip as GIF.
func writeFilm(ctx context.Context, path string, c *clip.Clip) error {
	f, err := film.New(film.Config{Clips: []*clip.Clip{c}, Width: 320, Height: 240, Speed: 1})
	if err != nil {
		return err
	}
	return f.Save(ctx, path, "gif")
}
