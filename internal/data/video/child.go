package video

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// containers are the formats of files that are read: a playlist would name other files.
const containers = "mov,mp4,matroska,webm,avi,gif"

// Limits of one child process. On Linux the system keeps all of them, elsewhere the time alone is kept.
const (
	Time = 10 * time.Minute // by the clock

	cpuSeconds = 1200 // of all its threads
	dataBytes  = 4 << 30
	fileBytes  = 512 << 20 // of a file that it writes
	openFiles  = 256
	saidBytes  = 2000
)

// MaxSide is how wide and how high pictures of a video may be, in pixels.
const MaxSide = 4096

// ErrMissing is in the errors of a program that is not installed.
var ErrMissing = errors.New("videos need the programs ffmpeg and ffprobe, which were not found: install the package ffmpeg (Debian: apt install ffmpeg)")

// input returns the arguments by which a child opens the k-th of the files that it inherits, and nothing else. The child opens
// no path: it reads the file that was checked.
func input(k int, f *os.File) []string {
	path := fmt.Sprintf("/dev/fd/%d", 3+k)
	if runtime.GOOS == "windows" {
		path = f.Name()
	}
	return []string{"-protocol_whitelist", "file,pipe", "-format_whitelist", containers, "-i", "file:" + path}
}

// A child is a run of ffmpeg or ffprobe.
type child struct {
	*exec.Cmd
	said   bytes.Buffer // the beginning of what it wrote to standard error
	cancel context.CancelFunc
}

// run returns a child that was not started, which inherits files. It ends with ctx, or after Time. The caller calls cancel.
func run(ctx context.Context, program string, files []*os.File, args ...string) *child {
	ctx, cancel := context.WithTimeout(ctx, Time)
	c := &child{Cmd: exec.CommandContext(ctx, program, args...), cancel: cancel} //nolint:gosec // one of two programs
	c.Stderr = &limited{w: &c.said, n: saidBytes}
	c.WaitDelay = 5 * time.Second
	if runtime.GOOS != "windows" {
		c.ExtraFiles = files
	}
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // others may be secrets
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains([]string{"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT"}, strings.ToUpper(name))
	})
	return c
}

// Start starts c within limits.
func (c *child) Start() error {
	for _, f := range c.ExtraFiles { // on macOS the child shares the place at which f is read
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	if err := c.Cmd.Start(); errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w (%w)", ErrMissing, err)
	} else if err != nil {
		return fmt.Errorf("%s cannot be started: %w", filepath.Base(c.Path), err)
	}
	if err := limit(c.Process.Pid); err != nil {
		return errors.Join(err, c.Process.Kill(), c.Cmd.Wait())
	}
	return nil
}

// Wait waits for the end of c. A child that says something of an error has failed.
func (c *child) Wait() error {
	err := c.Cmd.Wait()
	if err == nil && c.said.Len() == 0 {
		return nil
	}
	return errors.New(c.words(err))
}

// finish runs c to its end.
func (c *child) finish() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// words returns what c said, else err, in a line.
func (c *child) words(err error) string {
	said := c.said.String()
	if said == "" && err != nil {
		said = err.Error()
	}
	if said == "" {
		said = "it holds no picture"
	}
	return fmt.Sprintf("%.500s", strings.Join(strings.Fields(said), " "))
}

// limited passes on the first n bytes.
type limited struct {
	w io.Writer
	n int
}

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	k := min(l.n, len(b))
	l.n -= k
	_, err := l.w.Write(b[:k])
	return len(b), err
}
