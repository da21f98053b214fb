package command

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestSecondSignal: the first signal asks a program to stop, the second ends it.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancelCause(t.Context())
	signals, ended := make(chan os.Signal), make(chan int)
	go heed(signals, stop, func(status int) { ended <- status })
	signals <- syscall.SIGTERM
	<-ctx.Done()
	if s := (Stop{}); !errors.As(context.Cause(ctx), &s) || s.Signal != syscall.SIGTERM {
		t.Errorf("stopped by %v", context.Cause(ctx))
	}
	select {
	case status := <-ended:
		t.Errorf("the first signal ends the program, status %d", status)
	default:
	}
	signals <- os.Interrupt
	if status := <-ended; status != 130 {
		t.Errorf("exit status %d, want 130", status)
	}
}
