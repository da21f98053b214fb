package film

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"

	"tiebreak/internal/base/tail"
	"tiebreak/internal/idrl"
)

// videoRate is the frames a second of MP4 and WebM: one for each picture of most screens, which
// also shows the motion within a step of the environment.
const videoRate = 60

// codecs are the arguments of ffmpeg for each format. Slower presets take two and six times as long
// for files of about the same size.
var codecs = map[string][]string{
	"mp4": {"-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"},
	"webm": {
		"-c:v", "libvpx-vp9", "-crf", "26", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "6", "-row-mt", "1", "-f", "webm",
	},
}

// encode lets ffmpeg write the film to a file.
func (f *Film) encode(ctx context.Context, path string, codec []string) error {
	program, err := exec.LookPath("ffmpeg")
	if err != nil {
		return idrl.Errorf(idrl.Invalid, "MP4 and WebM need the program ffmpeg, which was not found: "+
			"install the package ffmpeg, or use the format gif")
	}
	cmd := exec.CommandContext(ctx, program, f.arguments(path, codec)...)
	var said tail.Writer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start ffmpeg: %w", err)
	}
	fed := f.feed(ctx, in)
	err = errors.Join(in.Close(), cmd.Wait())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil || fed != nil:
		return fmt.Errorf("ffmpeg: %w: %s", errors.Join(err, fed), said.String())
	}
	return nil
}

// arguments are those of ffmpeg: frames of four bytes a pixel come by its standard
// input, and their colours are kept as in BT.709.
func (f *Film) arguments(path string, codec []string) []string {
	rate := strconv.Itoa(videoRate)
	args := []string{
		"-hide_banner", "-loglevel", "error", "-y",
		"-f", "rawvideo", "-pix_fmt", "rgba", "-video_size", fmt.Sprintf("%dx%d", f.size.X, f.size.Y), "-framerate", rate, "-i", "pipe:0",
		"-an", "-vf", "scale=out_color_matrix=bt709:out_range=tv:flags=accurate_rnd+full_chroma_int", "-pix_fmt", "yuv420p",
		"-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv",
		"-fflags", "+bitexact", "-flags:v", "+bitexact",
	}
	return append(append(args, codec...), "file:"+path)
}

// feed writes every frame to w.
func (f *Film) feed(ctx context.Context, w io.Writer) error {
	img := f.frame()
	for _, m := range f.moments(videoRate, 1) {
		f.Draw(img, m.atSec)
		for range m.ticks {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, err := w.Write(img.Pix); err != nil {
				return err
			}
		}
	}
	return nil
}
