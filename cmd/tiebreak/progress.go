package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progressEvery is how often progress is written where lines are kept.
const progressEvery = 30 * time.Second

// A progressLine shows how far something is: on a terminal as one line that is
// written over, elsewhere, such as in a log file, as a line now and then. Its methods
// may be called from any goroutine.
type progressLine struct {
	out      io.Writer
	terminal bool
	now      func() time.Time

	mu    sync.Mutex // guards all below
	shown bool       // on a terminal: the line is not empty
	last  time.Time  // elsewhere: of the last line
}

func newProgressLine(out io.Writer) *progressLine {
	return &progressLine{out: out, terminal: isTerminal(out), now: time.Now}
}

// isTerminal reports whether people see what is written to out as it is written.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// show shows a line.
func (p *progressLine) show(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		p.shown = true
		fmt.Fprintf(p.out, "\r%-79.79s", line) // one that is wrapped could not be written over
		return
	}
	if now := p.now(); now.Sub(p.last) >= progressEvery {
		p.last = now
		fmt.Fprintln(p.out, line)
	}
}

// clear takes the line away, so that other text can follow.
func (p *progressLine) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprintf(p.out, "\r%-79s\r", "")
		p.shown = false
	}
}

// say writes a line that stays.
func (p *progressLine) say(format string, args ...any) {
	p.clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, format+"\n", args...)
}
