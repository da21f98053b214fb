package lerobot

import (
	"context"
	"errors"
	"fmt"

	"tiebreak/internal/data/video"
)

// A Checked says what is known of a video after CheckVideos.
type Checked struct {
	Codec         string
	Width, Height int // pixels
	Frames        int
}

// CheckVideos compares every video with what the data set says: pixels, frame rate and number of frames; and decodes the
// last picture that an episode has in it. It returns what was found, in the order of Videos. What known holds already, by the name of the file, is
// not looked at again; begin is called before each other one, and each with what else is found.
func (d *Dataset) CheckVideos(ctx context.Context, known map[string]Checked, begin func(i int), each func(name string, c Checked) error) ([]Checked, error) {
	out := make([]Checked, len(d.Videos))
	last := make([]int, len(d.Videos))    // frame
	episode := make([]int, len(d.Videos)) // that has it
	for i, e := range d.Episodes {
		for _, p := range e.Places {
			if end := p.First + e.Length - 1; end >= last[p.Video] {
				last[p.Video], episode[p.Video] = end, i
			}
		}
	}
	for k, v := range d.Videos {
		if c, ok := known[v.Name]; ok {
			out[k] = c
			continue
		}
		begin(k)
		c, err := d.checkVideo(ctx, v, last[k])
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, inEpisode(episode[k], fmt.Errorf("%.200s: %w", v.Name, err))
		}
		out[k] = c
		if err := each(v.Name, c); err != nil {
			return nil, err
		}
	}
	return out, sameSize(d, out)
}

// checkVideo checks one, whose last frame of an episode is given.
func (d *Dataset) checkVideo(ctx context.Context, v Video, last int) (c Checked, err error) {
	file, err := OpenFile(d.root, v.Name)
	if err != nil {
		return c, err
	}
	defer file.Close()
	t, err := video.ReadTable(file, v.Bytes)
	if err != nil {
		return c, refused("video", "%v", err)
	}
	if err := t.Constant(d.FPS); err != nil {
		return c, refused("rate", "%v", err)
	}
	if t.Frames <= last {
		return c, refused("video", "it has %d pictures, and the episode ends with picture %d", t.Frames, last+1)
	}
	info, err := video.Probe(ctx, file)
	if err == nil {
		err = video.CheckFrame(ctx, video.Source{File: file, First: last, Size: info.Size}, d.FPS)
	}
	if errors.Is(err, video.ErrMissing) {
		return c, refused("ffmpeg", "%v", err)
	}
	if err != nil {
		return c, refused("video", "%v", err)
	}
	if want := d.Cameras[v.Camera].Size; want.X > 0 && want.Y > 0 && want != info.Size {
		return c, refused("video", "its pictures have %dx%d pixels, and %s says %dx%d", info.Size.X, info.Size.Y, InfoName, want.X, want.Y)
	}
	return Checked{Codec: info.Codec, Width: info.Size.X, Height: info.Size.Y, Frames: t.Frames}, nil
}

// sameSize returns an error unless all videos of a camera have the same size.
func sameSize(d *Dataset, found []Checked) error {
	first := map[int]int{}
	for k, v := range d.Videos {
		f, ok := first[v.Camera]
		if !ok {
			first[v.Camera] = k
			continue
		}
		if a, b := found[f], found[k]; a.Width != b.Width || a.Height != b.Height {
			return refused("video", "%.200s has %dx%d pixels, and %.200s, of the same camera, %dx%d", v.Name, b.Width, b.Height, d.Videos[f].Name, a.Width, a.Height)
		}
	}
	return nil
}
