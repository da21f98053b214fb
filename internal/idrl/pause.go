package idrl

import "context"

type pauseKey struct{}

// WithPause returns a context for long work that gives way to more urgent work: Pause(ctx) calls
// pause. Goroutines may call it at once.
func WithPause(ctx context.Context, pause func()) context.Context {
	return context.WithValue(ctx, pauseKey{}, pause)
}

// Pause is called by long work between pieces of less than a millisecond. It lets more urgent work
// go first, if ctx says so, and returns when the work may continue.
func Pause(ctx context.Context) {
	if pause, ok := ctx.Value(pauseKey{}).(func()); ok {
		pause()
	}
}
