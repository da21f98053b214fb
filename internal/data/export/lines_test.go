package export_test

import (
	"bytes"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/data/export"
)

// Lines are those of Write, and a line takes little memory: programs ask for a thousand at a time.
func TestLines(t *testing.T) {
	lines := export.Lines(spec)
	var out bytes.Buffer
	put := func(line []byte) error { _, err := out.Write(line); return err }
	list := rows()
	for _, r := range list {
		must.Do(t, lines(r, put))
	}
	if want := write(t, "jsonl", list); out.String() != string(want) {
		t.Errorf("lines\n%s\nwant\n%s", out.String(), want)
	}
	nothing := func([]byte) error { return nil }
	if n := testing.AllocsPerRun(20, func() { must.Do(t, lines(list[0], nothing)) }); n > 60 {
		t.Errorf("a line takes %v allocations", n)
	}
}
