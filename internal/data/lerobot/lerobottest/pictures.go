package lerobottest

import (
	"bytes"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Deep is how far the bars of a picture reach from above, pixels.
const Deep = 24

// Bars of a picture: each is a bit of a number, white or black.
const (
	bars     = 12
	wide     = Width / bars // pixels
	perFrame = 7            // bits of the frame; those above are of the episode
)

// picture returns a frame of RGB, with bars that tell the episode and the frame; each camera has another colour below.
func picture(episode, frame, camera int) []byte {
	number := episode<<perFrame | frame
	out := make([]byte, 0, 3*Width*Height)
	for y := range Height {
		for x := range Width {
			v := byte(60 + 80*camera)
			if y < Deep {
				v = 20
				if number>>(bars-1-x/wide)&1 == 1 {
					v = 235
				}
			}
			out = append(out, v, v, byte(2*x))
		}
	}
	return out
}

// Read returns which episode and frame a part of a picture shows, which is the picture of a camera in any size.
func Read(p image.Image, at image.Rectangle) (episode, frame int) {
	scale := float64(at.Dx()) / Width
	number := 0
	for b := range bars {
		x := at.Min.X + int((float64(b)+0.5)*wide*scale)
		y := at.Min.Y + int(Deep/2*scale)
		r, g, blue, _ := p.At(x, y).RGBA()
		number <<= 1
		if (r+g+blue)/3 > 0x7fff {
			number |= 1
		}
	}
	return number >> perFrame, number & (1<<perFrame - 1)
}

// videos writes the videos: each episode is encoded alone, and those of a file are put one after another, as LeRobot does.
func (d *Dataset) videos(folder string) error {
	for k, c := range d.Cameras {
		for first := 0; first < len(d.Lengths); first += d.PerFile {
			last := min(len(d.Lengths), first+d.PerFile)
			if d.Legacy {
				for i := first; i < min(len(d.Lengths), first+d.PerFile); i++ {
					if err := d.encode(i, k, filepath.Join(folder, fmt.Sprintf("videos/chunk-000/%s/episode_%06d.mp4", c, i))); err != nil {
						return err
					}
				}
				continue
			}
			to := filepath.Join(folder, fmt.Sprintf("videos/%s/chunk-000/file-%03d.mp4", c, first/d.PerFile))
			if err := d.join(first, last, k, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// encode writes the video of one episode by the settings of LeRobot: a key frame every two frames, crf 30.
func (d *Dataset) encode(i, camera int, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	var raw bytes.Buffer
	for k := range d.Lengths[i] {
		raw.Write(picture(i, k, camera))
	}
	return ffmpeg(&raw, "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", fmt.Sprintf("%dx%d", Width, Height), "-r", fmt.Sprint(d.FPS), "-i", "pipe:0",
		"-c:v", d.Codec, "-g", "2", "-crf", "30", "-pix_fmt", "yuv420p", path)
}

// join writes a video of several episodes.
func (d *Dataset) join(first, last, camera int, to string) error {
	dir, err := os.MkdirTemp("", "lerobottest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var list strings.Builder
	for i := first; i < last; i++ {
		path := filepath.Join(dir, fmt.Sprintf("%d.mp4", i))
		if err := d.encode(i, camera, path); err != nil {
			return err
		}
		fmt.Fprintf(&list, "file '%s'\n", path)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	names := filepath.Join(dir, "list")
	if err := os.WriteFile(names, []byte(list.String()), 0o600); err != nil {
		return err
	}
	return ffmpeg(strings.NewReader(""), "-f", "concat", "-safe", "0", "-i", names, "-c", "copy", "-movflags", "faststart", to)
}

// ffmpeg runs the program of that name.
func ffmpeg(in interface{ Read([]byte) (int, error) }, args ...string) error {
	cmd := exec.Command("ffmpeg", append([]string{"-v", "error", "-y"}, args...)...) //nolint:gosec // of a test
	cmd.Stdin = in
	cmd.Env = append(os.Environ(), "SVT_LOG=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ffmpeg: %w: %s", err, out)
	}
	return nil
}
