package main

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

// TestKindsOfExpertOverSockets asks for what only a working flag can bring
// about, and looks for it in the log.
func TestKindsOfExpertOverSockets(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	link := startServer(t, "demo", "--data", data, "--addr", freeAddr(t)).find(t, `Annotator:\s+(\S+)`)
	var want []string
	for _, test := range []struct {
		args []string
		says string // choice and reason of every answer
	}{
		{[]string{"--expert", "b-pref", "--skip-below", "1e9"}, "skip other"},
		{[]string{"--expert", "b-pref", "--tie-band", "9", "--mistake", "1"}, "equal "},
		{[]string{"--expert", "tie-band", "--tie-band", "99"}, "equal "},
		{[]string{"--expert", "deterministic", "--tie-band", "99"}, "equal "},
	} {
		status, said, errs := cli(t, append([]string{"simulate", "--url", link, "--answers", "2"}, test.args...)...)
		if status != 0 {
			t.Fatalf("simulate %v: status %d\n%s%s", test.args, status, said, errs)
		}
		want = append(want, test.says, test.says)
	}
	_, list, _ := cli(t, "export", "--data", data)
	_, table, _ := cli(t, "export", "--data", data, "--session", strings.Fields(list)[0], "--format", "csv")
	rows := must.Get(csv.NewReader(strings.NewReader(table)).ReadAll())(t)
	choice, reason := slices.Index(rows[0], "choice"), slices.Index(rows[0], "reason")
	var got []string
	for _, row := range rows[1:] {
		got = append(got, row[choice]+" "+row[reason])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the log says %q, want %q", got, want)
	}
}
