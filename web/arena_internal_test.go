package web

import (
	"strings"
	"testing"

	"tiebreak/internal/people/bradley"
)

// An arena whose test has ended asks nobody any more, and says so.
func TestArenaSaysUntilWhenItAsks(t *testing.T) {
	for over, want := range map[bool]string{false: "until the test for a winner ends", true: "no more questions are asked"} {
		if said := untilText(bradley.ReportTest{Over: over}); !strings.Contains(said, want) {
			t.Errorf("over: %v: %q", over, said)
		}
	}
}
