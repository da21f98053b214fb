package web

import (
	"strings"
	"testing"

	"tiebreak/internal/people/bradley"
)

// TestArenaSaysUntilWhenItAsks: the page of a running arena says whether its test has ended.
func TestArenaSaysUntilWhenItAsks(t *testing.T) {
	for over, want := range map[bool]string{false: "until the test for a winner ends", true: "no more questions are asked"} {
		if said := untilText(bradley.ReportTest{Over: over}); !strings.Contains(said, want) {
			t.Errorf("over: %v: %q", over, said)
		}
	}
}
