package jobs

import (
	"bytes"
	"log/slog"
	"time"
)

// A lineLog writes the standard error of a process to a log, line by line: at most
// maxLines in logWindow, because a Go program that dies writes hundreds, of which the
// first say why. It logs how many lines it left out. It is used by one goroutine.
type lineLog struct {
	log     *slog.Logger
	now     func() time.Time
	rest    []byte // of a line that has not ended
	since   time.Time
	written int // lines since then
	dropped int // lines since then
}

const (
	maxLogLine = 8 << 10 // bytes
	maxLines   = 20
	logWindow  = time.Minute
)

func newLineLog(log *slog.Logger) *lineLog { return &lineLog{log: log, now: time.Now} }

func (l *lineLog) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		l.rest = append(l.rest, line[:min(len(line), maxLogLine-len(l.rest))]...) // a longer line is cut off
		if ended {
			l.line()
		}
		b = rest
	}
	return n, nil
}

// line logs the line that has ended.
func (l *lineLog) line() {
	if l.now().Sub(l.since) > logWindow {
		l.flush()
		l.since, l.written = l.now(), 0
	}
	if l.written++; l.written > maxLines {
		l.dropped++
	} else {
		l.log.Warn("worker says", "line", string(l.rest))
	}
	l.rest = l.rest[:0]
}

// flush says how many lines were left out.
func (l *lineLog) flush() {
	if l.dropped > 0 {
		l.log.Warn("worker said more", "lines_left_out", l.dropped)
		l.dropped = 0
	}
}

// end logs what is left when the process is gone.
func (l *lineLog) end() {
	if len(l.rest) > 0 {
		l.line()
	}
	l.flush()
}
