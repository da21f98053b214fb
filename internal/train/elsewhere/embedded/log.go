package embedded

import (
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/nats-io/nats-server/v2/server"
)

var _ server.Logger = (*logger)(nil)

// A logger passes on what the server of NATS logs.
type logger struct {
	log           *slog.Logger
	fatal, failed atomic.Pointer[string] // the last such message
}

func (l *logger) Noticef(format string, v ...any) { l.log.Debug("NATS: " + fmt.Sprintf(format, v...)) }

func (l *logger) Debugf(format string, v ...any) { l.log.Debug("NATS: " + fmt.Sprintf(format, v...)) }

func (l *logger) Tracef(format string, v ...any) { l.log.Debug("NATS: " + fmt.Sprintf(format, v...)) }

func (l *logger) Warnf(format string, v ...any) { l.log.Warn("NATS: " + fmt.Sprintf(format, v...)) }

func (l *logger) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.failed.Store(&text)
	l.log.Error("NATS: " + text)
}

// Fatalf notes why the server cannot run. It returns, as the server expects of loggers that do not end the process.
func (l *logger) Fatalf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.fatal.Store(&text)
	l.failed.Store(&text)
	l.log.Error("NATS: " + text)
}
