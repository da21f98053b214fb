package main

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// With generations that come at fixed answers, a seed decides a rehearsal: two of them, whose sessions have other ids, ask the
// same questions, get the same answers, and recommend the same.
func TestSimulateRepeats(t *testing.T) {
	t.Parallel()
	for _, people := range [][]string{{"--expert", "seeing"}, {"--matched"}} {
		run := func() map[string][]string {
			file := filepath.Join(t.TempDir(), "runs.csv")
			simulateRuns(t, append([]string{"--runs", "1", "--env", "driver", "--answers", "12", "--every", "1", "--adopt-after", "3", "--seed", "7", "--csv", file}, people...)...)
			out := readColumns(t, file)
			delete(out, "session")    // an id
			delete(out, "response_s") // a time
			return out
		}
		first, second := run(), run()
		if len(first["answers"]) != 12 || !maps.EqualFunc(first, second, slices.Equal[[]string]) {
			t.Errorf("%q: runs of one seed differ:\n%q\n%q", people, first, second)
		}
	}
}
