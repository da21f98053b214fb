package recordings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"os/exec"
	"time"

	"tiebreak/internal/look/clip"
)

// containers are the formats of files that are read: a playlist would name other files.
const containers = "mov,mp4,matroska,webm,avi,gif"

// videoTime is how long a video may take to be decoded.
const videoTime = 10 * time.Minute

// decodeVideo calls frame with every picture of the video at path, in the order in which they
// are shown, none left out and none twice, whatever times the file gives them. The picture is
// overwritten by the next.
func decodeVideo(ctx context.Context, path string, frame func(image.Image) error) error {
	ctx, cancel := context.WithTimeout(ctx, videoTime)
	defer cancel()
	size, err := videoSize(ctx, path)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-nostdin", "-protocol_whitelist", "file", "-format_whitelist", containers, "-noautorotate", "-i", "file:"+path, //nolint:gosec // named by the user
		"-map", "0:v:0", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgba", "pipe:1")
	var said bytes.Buffer
	cmd.Stderr = &limited{w: &said, n: 2000}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return needFFmpeg(err)
	}
	img := image.NewRGBA(image.Rectangle{Max: size})
	n := 0
	for ; err == nil; n++ {
		if _, err = io.ReadFull(out, img.Pix); err == nil {
			err = frame(img)
		}
	}
	if errors.Is(err, io.EOF) {
		if err := cmd.Wait(); err != nil || said.Len() > 0 || n < 2 {
			return refused("video", "the video does not decode: %s", oneLine(said.String(), err))
		}
		return nil
	}
	cancel()
	_ = cmd.Wait()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return refused("video", "the video ends within a picture: %s", oneLine(said.String(), nil))
	}
	return err
}

// videoSize returns how large the pictures of the video at path are.
func videoSize(ctx context.Context, path string) (size image.Point, err error) {
	cmd := exec.CommandContext(ctx, "ffprobe", "-v", "error", "-protocol_whitelist", "file", "-format_whitelist", containers, "-select_streams", "v:0", //nolint:gosec // named by the user
		"-show_entries", "stream=width,height", "-of", "json", "-i", "file:"+path)
	var said, out bytes.Buffer
	cmd.Stderr, cmd.Stdout = &limited{w: &said, n: 2000}, &limited{w: &out, n: 64 << 10}
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return size, needFFmpeg(err)
		}
		return size, refused("video", "the video does not decode: %s", oneLine(said.String(), err))
	}
	var found struct {
		Streams []struct{ Width, Height int }
	}
	if err := json.Unmarshal(out.Bytes(), &found); err != nil || len(found.Streams) != 1 {
		return size, refused("video", "there are no pictures in the file")
	}
	size = image.Pt(found.Streams[0].Width, found.Streams[0].Height)
	if err := clip.CheckSize(size); err != nil {
		return size, refused("video", "%v", err)
	}
	return size, nil
}

func needFFmpeg(err error) error {
	return refused("ffmpeg", "videos need the programs ffmpeg and ffprobe, which were not found: install the package ffmpeg (Debian: apt install ffmpeg), or give the pictures as PNG files (%v)", err)
}

// limited passes on the first n bytes.
type limited struct {
	w io.Writer
	n int
}

func (l *limited) Write(b []byte) (int, error) {
	k := min(l.n, len(b))
	l.n -= k
	_, err := l.w.Write(b[:k])
	return len(b), err
}

func oneLine(said string, err error) string {
	if said == "" && err != nil {
		said = err.Error()
	}
	if said == "" {
		said = "it holds no picture"
	}
	return fmt.Sprintf("%.500s", bytes.Join(bytes.Fields([]byte(said)), []byte(" ")))
}
