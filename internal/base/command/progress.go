package command

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progressEvery is the interval of lines of progress where they are kept, as in a log file.
const progressEvery = 30 * time.Second

// A ProgressLine shows the progress of work: on a terminal as one line that is overwritten,
// elsewhere, such as in a log file, as a line from time to time. Its methods may be called from any
// goroutine.
type ProgressLine struct {
	out      io.Writer
	terminal bool
	now      func() time.Time

	mu    sync.Mutex // guards all below
	shown bool       // on a terminal: the line is not empty
	last  time.Time  // elsewhere: of the last line
}

// NewProgressLine returns a line that is written to out.
func NewProgressLine(out io.Writer) *ProgressLine {
	return &ProgressLine{out: out, terminal: isTerminal(out), now: time.Now}
}

// isTerminal reports whether out is a terminal.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Show shows a line.
func (p *ProgressLine) Show(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		p.shown = true
		fmt.Fprintf(p.out, "\r%-79.79s", line) // a wrapped line could not be overwritten
		return
	}
	if now := p.now(); now.Sub(p.last) >= progressEvery {
		p.last = now
		fmt.Fprintln(p.out, line)
	}
}

// Clear removes the line, so that other text can follow.
func (p *ProgressLine) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprintf(p.out, "\r%-79s\r", "")
		p.shown = false
	}
}

// Say writes a line that stays.
func (p *ProgressLine) Say(format string, args ...any) {
	p.Clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, format+"\n", args...)
}
