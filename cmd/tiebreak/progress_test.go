package main

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
		p := &progressLine{out: &out, terminal: test.terminal, now: func() time.Time { return now }}
		p.show("a")
		now = now.Add(progressEvery - 1)
		p.show("b")
		now = now.Add(1)
		p.show("c")
		p.clear()
		p.say("note %d", 1)
		if got := out.String(); got != test.want {
			t.Errorf("terminal %t: %q, want %q", test.terminal, got, test.want)
		}
	}
	if newProgressLine(&strings.Builder{}).terminal {
		t.Error("a buffer counts as a terminal")
	}
}

func pad(line string) string { return line + strings.Repeat(" ", 79-len(line)) }
