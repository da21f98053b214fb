package video

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
)

// An Info is what a file says of its first video.
type Info struct {
	Codec string // as ffmpeg calls it: "h264", "av1", …
	Size  image.Point
}

// Probe returns what a file says of its first video. It decodes little of it.
func Probe(ctx context.Context, f *os.File) (info Info, err error) {
	c := run(ctx, "ffprobe", []*os.File{f}, append([]string{"-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height,codec_name", "-of", "json"}, input(0, f)...)...)
	defer c.cancel()
	var out bytes.Buffer
	c.Stdout = &limited{w: &out, n: 64 << 10}
	if err := c.finish(); err != nil {
		if errors.Is(err, ErrMissing) {
			return info, err
		}
		return info, fmt.Errorf("the video does not decode: %w", err)
	}
	var found struct {
		Streams []struct {
			Width, Height int
			Codec         string `json:"codec_name"`
		}
	}
	if err := json.Unmarshal(out.Bytes(), &found); err != nil || len(found.Streams) != 1 {
		return info, errors.New("there are no pictures in the file")
	}
	s := found.Streams[0]
	info = Info{s.Codec, image.Pt(s.Width, s.Height)}
	if min(s.Width, s.Height) < 8 || max(s.Width, s.Height) > MaxSide {
		return info, fmt.Errorf("a picture of the video has %dx%d pixels; a side may have 8 to %d", s.Width, s.Height, MaxSide)
	}
	return info, nil
}

// Decode calls frame with every picture of the video at path, in the order in which they are
// shown, none left out and none twice, whatever times the file gives them. The picture is
// overwritten by the next. It returns an error of frame as it is.
func Decode(ctx context.Context, path string, frame func(image.Image) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := Probe(ctx, f)
	if err != nil {
		return err
	}
	args := append([]string{"-v", "error", "-nostdin", "-noautorotate"}, input(0, f)...)
	c := run(ctx, "ffmpeg", []*os.File{f}, append(args, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgba", "pipe:1")...)
	defer c.cancel()
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	img := image.NewRGBA(image.Rectangle{Max: info.Size})
	n := 0
	for ; err == nil; n++ {
		if _, err = io.ReadFull(out, img.Pix); err == nil {
			err = frame(img)
		}
	}
	if errors.Is(err, io.EOF) {
		if err := c.Wait(); err != nil {
			return fmt.Errorf("the video does not decode: %w", err)
		}
		if n < 2 {
			return errors.New("the video does not decode: it holds no picture")
		}
		return nil
	}
	c.cancel()
	_ = c.Cmd.Wait()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the video ends within a picture: %s", c.words(nil))
	}
	return err
}
