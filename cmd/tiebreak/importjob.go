package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/base/words"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// importJobCommand is the argument by which a server or a command starts itself as the process of an import. Files of the data set come from outside, so
// that reading them has limits of its own, and a fault ends that process alone.
const importJobCommand = "internal-import"

const (
	importMemory = 1 << 30          // bytes of such a process
	importStops  = 10 * time.Second // after which one that does not stop is killed
)

// An importJob says what such a process does: a line on its standard input. Each further byte lets it go on after a line of progress, and the
// end of the input stops it.
type importJob struct {
	Config recordings.LeRobotConfig // without functions
}

// An importLine is a line that it writes.
type importLine struct {
	Plan []string `json:"plan,omitempty"`
	recordings.Progress

	Ended bool      `json:"ended,omitempty"` // without an error
	Kind  idrl.Kind `json:"kind,omitempty"`
	Error string    `json:"error,omitempty"`
}

// says returns how far an import is, for people: "checking video 3 of 12, about 2 minutes left".
func (l importLine) says() string {
	text := fmt.Sprintf("%s %d of %d", l.What, l.Done+1, l.Total)
	if left := words.AboutTime(l.Left); left != "" {
		text += ", " + left + " left"
	}
	return text
}

// serveImport is the process of an import. It returns the exit status.
func serveImport(in io.Reader, out io.Writer) int {
	if err := limitImport(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	lines, from := json.NewEncoder(out), bufio.NewReader(in)
	first, err := from.ReadBytes('\n')
	var job importJob
	if err == nil {
		err = json.Unmarshal(first, &job)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "what to import is not known:", err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	turns := make(chan struct{}, 1)
	go func() { // ends with the process
		defer cancel()
		for {
			if _, err := from.ReadByte(); err != nil {
				return
			}
			turns <- struct{}{}
		}
	}()
	c := job.Config
	c.Plan = func(p recordings.Plan) { _ = lines.Encode(importLine{Plan: p.Lines()}) }
	c.Progress = func(p recordings.Progress) {
		if lines.Encode(importLine{Progress: p}) != nil {
			cancel()
		}
		select {
		case <-turns:
		case <-ctx.Done():
		}
	}
	err = recordings.ImportLeRobot(ctx, c)
	last := importLine{Ended: err == nil}
	if err != nil {
		last.Kind, last.Error = idrl.KindOf(err), err.Error()
	}
	if lines.Encode(last) != nil || ctx.Err() != nil {
		return 1
	}
	return 0
}

// importApart does an import in a process of its own. tell is called with each line that it writes, and the process waits meanwhile. An
// import that ctx ends can go on later.
func importApart(ctx context.Context, c recordings.LeRobotConfig, tell func(importLine)) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	job, err := json.Marshal(importJob{c})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, importJobCommand)         //nolint:gosec // this program
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // others may be secrets
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains([]string{"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT"}, strings.ToUpper(name))
	})
	var said beginning
	cmd.Stderr, cmd.WaitDelay = &said, importStops
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Cancel = in.Close
	groupImport(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	at := "reading what it says of its episodes"
	last, err := followImport(in, out, append(job, '\n'), func(l importLine) {
		if l.What != "" {
			at = fmt.Sprintf("reading on after \"%s %d of %d\"", l.What, l.Done+1, l.Total)
		}
		tell(l)
	})
	if waited := cmd.Wait(); last.Error == "" && !last.Ended && err == nil {
		err = waited
	}
	switch {
	case ctx.Err() != nil && !last.Ended:
		return ctx.Err()
	case last.Ended:
		return nil
	case last.Error != "":
		return idrl.Errorf(last.Kind, "%s", last.Error)
	case strings.Contains(said.String(), "out of memory") || strings.Contains(said.String(), "cannot allocate memory"):
		err = idrl.Errorf(idrl.Invalid, "lerobot-limit: %s takes more than %d MiB of memory: a Parquet file of the data set is damaged, or has pages that are too large", at, importMemory>>20)
		return errors.Join(err, recordings.Forget(c.Into, c.Name))
	}
	return fmt.Errorf("the process of an import ended (%w): %s", err, said.String())
}

// A beginning keeps the first 2,000 bytes of what is written to it: where a process that has no memory left says so.
type beginning struct{ b []byte }

// Write implements io.Writer.
func (w *beginning) Write(p []byte) (int, error) {
	w.b = append(w.b, p[:min(len(p), 2000-len(w.b))]...)
	return len(p), nil
}

// String returns what is kept.
func (w *beginning) String() string { return strings.TrimSpace(string(w.b)) }

// followImport reads the lines of such a process until it ends, and returns the last one.
func followImport(in io.Writer, out io.Reader, job []byte, tell func(importLine)) (last importLine, err error) {
	if _, err := in.Write(job); err != nil {
		return last, err
	}
	for dec := json.NewDecoder(out); ; {
		last = importLine{}
		if err := dec.Decode(&last); err != nil {
			return importLine{}, cutOff(err)
		}
		if last.Ended || last.Error != "" {
			return last, nil
		}
		tell(last)
		if last.What != "" {
			_, _ = in.Write([]byte{'\n'}) // it may have ended; then so does its output
		}
	}
}

// cutOff returns an error that is not the end of what a process writes.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ended without a result")
	}
	return err
}
