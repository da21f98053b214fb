package main

import (
	"bytes"
	"strings"
	"testing"

	"tiebreak/internal/base/command"
)

// cli runs the program in this process and returns its status and output.
func cli(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), command.IO{In: strings.NewReader(""), Out: &out, Err: &errs}, args)
	return status, out.String(), errs.String()
}

// mustCLI is cli for command lines that must work. It returns the output.
func mustCLI(t *testing.T, args ...string) string {
	t.Helper()
	status, out, errs := cli(t, args...)
	if status != 0 {
		t.Fatalf("tiebreak-lab %v: status %d, said\n%s", args, status, errs)
	}
	return out
}

func TestHelpTeaches(t *testing.T) {
	t.Parallel()
	var teaches func(c command.Command)
	teaches = func(c command.Command) {
		help := mustCLI(t, append(strings.Fields(c.Name), "--help")...)
		if !strings.Contains(help, "Example:\n  tiebreak-lab "+c.Name) || len(c.About) < 40 {
			t.Errorf("tiebreak-lab %s --help does not teach:\n%s", c.Name, help)
		}
		for _, sub := range c.Subs {
			teaches(sub)
		}
	}
	for _, c := range lab().Commands {
		teaches(c)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if said := mustCLI(t, "version"); !strings.HasPrefix(said, "tiebreak-lab ") || !strings.Contains(said, "\nMuJoCo ") {
		t.Errorf("it says\n%s", said)
	}
	if said := mustCLI(t, "version", "--licences"); !strings.Contains(said, "gonum.org/v1/plot ") || !strings.Contains(said, "Redistribution and use") {
		t.Errorf("the licences have %d bytes", len(said))
	}
}
