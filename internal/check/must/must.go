package must

import "testing"

// Do ends the test, whose goroutine calls it, if err is not nil.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns a function that returns v, or ends the test, whose goroutine calls it, if err is not nil:
//
//	db := must.Get(store.Open(ctx, path))(t)
func Get[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return v
	}
}
