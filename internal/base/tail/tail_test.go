package tail_test

import (
	"fmt"
	"strings"
	"testing"

	"tiebreak/internal/base/tail"
)

func TestWriter(t *testing.T) {
	t.Parallel()
	var w tail.Writer
	if w.String() != "" {
		t.Errorf("an empty one has %q", w.String())
	}
	fmt.Fprint(&w, " some ", "text\n")
	if got := w.String(); got != "some text" {
		t.Errorf("%q, want what was written", got)
	}
	for _, size := range []int{1, 1999, 2000, 5000} {
		fmt.Fprint(&w, strings.Repeat("-", size-1), "x")
		if got := w.String(); len(got) > 2000 || !strings.HasSuffix(got, "x") || size >= 2000 && got != strings.Repeat("-", 1999)+"x" {
			t.Errorf("after %d bytes it has %d: %.40q", size, len(got), got)
		}
	}
}
