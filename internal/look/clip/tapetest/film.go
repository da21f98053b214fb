package tapetest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"

	"tiebreak/internal/look/clip"
)

// Sizes of what Film films.
const (
	Width, Height = 160, 120 // pixels of a camera
	Bits          = 9        // bars with the number of the frame, the least bit first, in the upper half
	Cameras       = 2        // beside each other
)

// Encoders of Film, by the names of codecs that browsers have.
var Encoders = map[string][]string{
	"avc1": {H264, "mp4", "-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-g", "15", "-crf", "20", "-movflags", "+faststart"},
	"vp09": {VP9, "webm", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-g", "15", "-crf", "20", "-b:v", "0"},
}

// Film films a number of frames with the program ffmpeg, in some of Encoders: in each camera the number of the frame as
// bars, above a grey, 0 to 255, that is a little lighter in the second camera. Every fifteenth frame is a still.
func Film(ctx context.Context, dir string, frames int, rate float64, grey uint8, codecs ...string) (*clip.Tape, error) {
	t := &clip.Tape{W: Cameras * Width, H: Height}
	for i := range Cameras {
		t.Cameras = append(t.Cameras, clip.Camera{Name: []string{"front", "wrist"}[i], X: i * Width, W: Width, H: Height})
	}
	var raw bytes.Buffer
	for i := range frames {
		img := Frame(i, grey)
		raw.Write(img.Pix)
		if i%15 == 0 {
			t.Stills, t.At = append(t.Stills, img), append(t.At, i)
		}
	}
	for _, codec := range codecs {
		how := Encoders[codec]
		path := filepath.Join(dir, codec+"."+how[1])
		args := append([]string{"-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", fmt.Sprintf("%dx%d", t.W, t.H), "-r", fmt.Sprint(rate), "-i", "-"}, how[2:]...)
		cmd := exec.CommandContext(ctx, "ffmpeg", append(args, "-pix_fmt", "yuv420p", path)...)
		cmd.Stdin = bytes.NewReader(raw.Bytes())
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("ffmpeg: %w %s", err, out)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		t.Videos = append(t.Videos, clip.Video{Type: how[0], File: file})
	}
	return t, nil
}

// Frame is the picture of all cameras in a frame that Film films.
func Frame(n int, grey uint8) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, Cameras*Width, Height))
	for y := range Height {
		for x := range Cameras * Width {
			v := grey + uint8(20*(x/Width))
			if y < Height/2 {
				v = 255 * uint8(n>>(x%Width*Bits/Width)&1)
			}
			img.SetRGBA(x, y, color.RGBA{v, v, v, 255})
		}
	}
	return img
}
