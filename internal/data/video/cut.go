package video

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Source is the video of one camera.
type Source struct {
	File  *os.File    // open; the caller closes it
	First int         // frame at which the cut begins
	Size  image.Point // pixels
}

// A Cut is the same number of frames of one or more cameras, beside each other in one video. Each source must be Constant.
type Cut struct {
	From   []Source
	Frames int     // of each; at least 1
	FPS    float64 // above 0
	Stills []int   // frames that are also written as pictures, increasing, at least one
}

// Names of the files of a Cut, in its folder. StillName is followed by the number of the still, from 1, and ".jpg".
const (
	MP4Name   = "cut.mp4"
	WebMName  = "cut.webm"
	stillName = "still-"
)

// StillName returns the name of the picture of still i, from 0.
func StillName(i int) string { return fmt.Sprintf("%s%d.jpg", stillName, i+1) }

// Largest sides of what is cut, in pixels: of the picture of a camera, and of all beside each other.
const (
	mostSide = 480
	mostWide = 1920
)

// MaxCameras is how many cameras are shown beside each other.
const MaxCameras = 6

// Layout returns the size of the video of c, and where in it each camera is. All numbers are even.
func (c Cut) Layout() (size image.Point, at []image.Rectangle) {
	side := float64(min(mostSide, mostWide/len(c.From)))
	for _, s := range c.From {
		by := min(1, side/float64(max(s.Size.X, s.Size.Y)))
		w, h := even(by*float64(s.Size.X)), even(by*float64(s.Size.Y))
		at = append(at, image.Rect(size.X, 0, size.X+w, h))
		size = image.Pt(size.X+w, max(size.Y, h))
	}
	return size, at
}

func even(v float64) int { return 2 * max(1, int(math.Round(v/2))) }

// rate returns a number of frames a second as ffmpeg reads it.
func rate(fps float64) string {
	if fps == math.Trunc(fps) {
		return strconv.Itoa(int(fps))
	}
	return fmt.Sprintf("%d/1000", int(math.Round(1000*fps)))
}

// Write decodes the frames of c and writes them into a folder: H.264 in MP4, VP9 in WebM, and JPEG files of stills. It
// is one run of ffmpeg: the same files on one machine, with one version of ffmpeg, give the same bytes. It returns an
// error if frames are missing or do not decode.
func (c Cut) Write(ctx context.Context, folder string) error {
	args := []string{"-v", "error", "-nostdin", "-y"}
	var files []*os.File
	for k, s := range c.From {
		files = append(files, s.File)
		begin := (float64(s.First) - 0.5) / c.FPS // between frames
		if s.First > 0 {
			args = append(args, "-ss", strconv.FormatFloat(begin, 'f', 6, 64))
		}
		args = append(args, "-threads", "2", "-noautorotate")
		args = append(args, input(k, s.File)...)
	}
	args = append(args, "-filter_complex_threads", "1", "-filter_complex", c.filters())
	key := strconv.Itoa(max(1, int(math.Round(c.FPS/2))))
	common := []string{
		"-an", "-sn", "-dn", "-map_metadata", "-1", "-map_chapters", "-1", "-fps_mode", "passthrough", "-frames:v", strconv.Itoa(c.Frames),
		"-fflags", "+bitexact", "-flags:v", "+bitexact", "-threads", "2",
	}
	out := func(label, name string, more ...string) {
		args = append(args, "-map", label)
		args = append(args, common...)
		args = append(args, more...)
		args = append(args, "file:"+filepath.Join(folder, name))
	}
	out("[h]", MP4Name, "-c:v", "libx264", "-preset", "veryfast", "-crf", "27", "-maxrate", "560k", "-bufsize", "560k", "-bf", "0",
		"-g", key, "-keyint_min", key, "-sc_threshold", "0", "-movflags", "+faststart", "-f", "mp4")
	out("[v]", WebMName, "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-row-mt", "1", "-crf", "36", "-b:v", "500k", "-g", key, "-f", "webm")
	out("[s]", stillName+"%d.jpg", "-frames:v", strconv.Itoa(len(c.Stills)), "-c:v", "mjpeg", "-q:v", "3", "-pix_fmt", "yuvj420p", "-f", "image2")
	child := run(ctx, "ffmpeg", files, args...)
	defer child.cancel()
	if err := child.finish(); err != nil {
		if ctx.Err() != nil || errors.Is(err, ErrMissing) {
			return errors.Join(ctx.Err(), err)
		}
		return fmt.Errorf("the video does not decode: %w", err)
	}
	return c.check(folder)
}

// filters returns the graph from the inputs to the outputs h, v and s.
func (c Cut) filters() string {
	var b strings.Builder
	size, at := c.Layout()
	for i, r := range at {
		fmt.Fprintf(&b, "[%d:v:0]trim=end_frame=%d,settb=expr=1/(%s),setpts=N,scale=%d:%d:flags=bicubic,pad=%d:%d:0:0,setsar=1,format=yuv420p[c%d];", i, c.Frames, rate(c.FPS), r.Dx(), r.Dy(), r.Dx(), size.Y, i)
	}
	for i := range at {
		fmt.Fprintf(&b, "[c%d]", i)
	}
	if len(at) > 1 {
		fmt.Fprintf(&b, "hstack=inputs=%d:shortest=1,", len(at))
	}
	b.WriteString("split=3[h][v][p];[p]select='")
	for i, n := range c.Stills {
		if i > 0 {
			b.WriteByte('+')
		}
		fmt.Fprintf(&b, "eq(n,%d)", n)
	}
	b.WriteString("'[s]")
	return b.String()
}

// check returns an error unless all frames were written.
func (c Cut) check(folder string) error {
	f, err := os.Open(filepath.Join(folder, MP4Name)) //nolint:gosec // just written
	if err != nil {
		return fmt.Errorf("the video ends before the first of %d frames", c.Frames)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	t, err := ReadTable(f, info.Size())
	if err != nil || t.Frames != c.Frames {
		return fmt.Errorf("the video ends within the %d frames that were to be cut", c.Frames)
	}
	return nil
}

// Spread returns about n frames of so many, evenly spread, with the first and the last.
func Spread(frames, n int) []int {
	n = min(n, frames)
	out := make([]int, n)
	for i := range out {
		out[i] = i * (frames - 1) / max(1, n-1)
	}
	return slices.Compact(out)
}

// CheckFrame returns an error unless a frame of a Source decodes.
func CheckFrame(ctx context.Context, s Source, fps float64) error {
	args := []string{"-v", "error", "-nostdin"}
	if s.First > 0 {
		args = append(args, "-ss", strconv.FormatFloat((float64(s.First)-0.5)/fps, 'f', 6, 64))
	}
	args = append(args, "-threads", "2", "-noautorotate")
	args = append(args, input(0, s.File)...)
	c := run(ctx, "ffmpeg", []*os.File{s.File}, append(args, "-map", "0:v:0", "-frames:v", "1", "-vf", "scale=16:16", "-f", "rawvideo", "-pix_fmt", "gray", "pipe:1")...)
	defer c.cancel()
	got := new(counter)
	c.Stdout = got
	err := c.finish()
	if err == nil && *got != 256 {
		err = errors.New("there is no such picture")
	}
	if err != nil {
		return fmt.Errorf("picture %d does not decode: %w", s.First, err)
	}
	return nil
}

// counter counts bytes.
type counter int

// Write implements io.Writer.
func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
