package film

import (
	"image"
	stddraw "image/draw"
	"math"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/draw"
)

// freezeSec is how long the last frame stays at least, at any speed, so that the jump back
// does not read as motion: FREEZE in static/js/duo-player.js.
const freezeSec = 0.3

// gap is the space between two clips, pixels; even.
const gap = 8

// Limits of a Config.
const (
	minSide, maxSide   = 16, 2048
	minSpeed, maxSpeed = 0.05, 20
)

// Config describes a film.
type Config struct {
	Clips  []*clip.Clip // required; side by side, left first. The shorter one waits on its last frame
	Width  int          // required: of the box in pixels that each clip fits in
	Height int          // required: of that box
	Speed  float64      // required; 1 is as fast as on the page
}

// A Film shows one loop of the page's player. One goroutine may use it at a time.
type Film struct {
	painters  []*draw.Painter
	places    []image.Rectangle // of the clips
	size      image.Point
	lengthSec float64 // of the longer clip, at speed 1
	restSec   float64 // how long the last frame stays
	speed     float64
}

// New returns the film of cfg. It returns an error of kind Invalid if a side is
// not between 16 and 2048 pixels, or the speed not between 0.05 and 20.
func New(cfg Config) (*Film, error) {
	switch {
	case min(cfg.Width, cfg.Height) < minSide || max(cfg.Width, cfg.Height) > maxSide:
		return nil, idrl.Errorf(idrl.Invalid, "a film of %dx%d is too small or too large; use %d to %d pixels, such as 480x360",
			cfg.Width, cfg.Height, minSide, maxSide)
	case !(cfg.Speed >= minSpeed && cfg.Speed <= maxSpeed):
		return nil, idrl.Errorf(idrl.Invalid, "a speed of %v is too slow or too fast; use %v to %v, where 1 is that of the page",
			cfg.Speed, minSpeed, maxSpeed)
	}
	f := &Film{speed: cfg.Speed, restSec: freezeSec}
	for i, c := range cfg.Clips {
		p := draw.New(c)
		w, h := p.Size(cfg.Width, cfg.Height)
		if i > 0 {
			f.size.X += gap
		}
		f.painters = append(f.painters, p)
		f.places = append(f.places, image.Rect(f.size.X, 0, f.size.X+w, h))
		f.size = image.Pt(f.size.X+w, max(f.size.Y, h))
		f.lengthSec, f.restSec = max(f.lengthSec, clipSec(c)), max(f.restSec, c.Header.EndSec)
	}
	return f, nil
}

// clipSec returns how long a clip plays at speed 1.
func clipSec(c *clip.Clip) float64 {
	return float64(len(c.Frames)-1) * c.Header.FrameSec / c.Header.Playback
}

// Seconds returns how long the film lasts: as long as a loop in the page's player.
func (f *Film) Seconds() float64 { return f.lengthSec/f.speed + f.restSec }

// frame returns a new image of the film's size, white where no clip is.
func (f *Film) frame() *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: f.size})
	stddraw.Draw(img, img.Bounds(), image.White, image.Point{}, stddraw.Src)
	return img
}

// Draw draws the film as it is sec seconds after its start on an image of frame.
func (f *Film) Draw(dst *image.RGBA, sec float64) {
	t := min(max(sec, 0)*f.speed, f.lengthSec)
	for i, p := range f.painters {
		c, at := p.Clip(), f.places[i]
		frame := 0.0
		if s := clipSec(c); s > 0 {
			frame = t / s * float64(len(c.Frames)-1)
		}
		part := dst.SubImage(at).(*image.RGBA)
		p.Draw(&image.RGBA{Pix: part.Pix, Stride: part.Stride, Rect: image.Rect(0, 0, at.Dx(), at.Dy())}, frame)
	}
}

// A moment is the time of a frame.
type moment struct {
	atSec float64 // of the film, as drawn
	ticks int     // how long it is shown
}

// moments returns frames that show the film at a number of ticks a second. Each but the last is
// shown for at least least ticks, and about that long; the last is the end of the film, and stays.
func (f *Film) moments(ticksPerSec float64, least int) []moment {
	length := int(math.Round(f.lengthSec / f.speed * ticksPerSec))
	whole := int(math.Round(f.Seconds() * ticksPerSec))
	n := length / least
	if n == 0 && length > 0 {
		n = 1
	}
	out := make([]moment, 0, n+1)
	at := func(k int) int { return k * length / n }
	for k := range n {
		out = append(out, moment{float64(at(k)) / ticksPerSec, at(k+1) - at(k)})
	}
	return append(out, moment{f.Seconds(), whole - length})
}
