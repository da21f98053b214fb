package command

import (
	"strings"
	"testing"
	"time"
)

func TestProgressLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		terminal bool
		want     string
	}{
		{true, "\r" + pad("a") + "\r" + pad("b") + "\r" + pad("c") + "\r" + pad("") + "\rnote 1\n"},
		{false, "a\nc\nnote 1\n"},
	} {
		var out strings.Builder
		now := time.Unix(1000, 0)
		p := &ProgressLine{out: &out, terminal: test.terminal, now: func() time.Time { return now }}
		p.Show("a")
		now = now.Add(progressEvery - 1)
		p.Show("b")
		now = now.Add(1)
		p.Show("c")
		p.Clear()
		p.Say("note %d", 1)
		if got := out.String(); got != test.want {
			t.Errorf("terminal %t: %q, want %q", test.terminal, got, test.want)
		}
	}
	if NewProgressLine(&strings.Builder{}).terminal {
		t.Error("a buffer counts as a terminal")
	}
}

func pad(line string) string { return line + strings.Repeat(" ", 79-len(line)) }
