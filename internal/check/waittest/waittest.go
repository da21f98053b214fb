package waittest

import (
	"testing"
	"time"
)

// Limit is longer than anything takes that tests wait for, also on a machine with much other work. Only a
// failure uses it up.
const Limit = 4 * time.Minute

// For returns what comes from a channel, or the zero value once that is closed. The test, whose goroutine calls
// it, fails if nothing has come after Limit.
func For[T any](t testing.TB, from <-chan T, what string) T {
	t.Helper()
	late := time.NewTimer(Limit)
	defer late.Stop()
	select {
	case got := <-from:
		return got
	case <-late.C:
		t.Fatalf("waited %v for %s", Limit, what)
		panic("not reached")
	}
}

// Until returns when is says so. It asks again and again, for what gives no sign when it changes: another process, a page, a counter. The
// test, whose goroutine calls it, fails if that takes longer than Limit.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(Limit); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", Limit, what)
		}
	}
}
