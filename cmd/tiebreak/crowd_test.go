package main

import (
	"strings"
	"testing"
)

// Crowd links are printed with the parameters as their platform fills them in; flags that
// do not fit are refused.
func TestInviteCrowd(t *testing.T) {
	data, addr := t.TempDir(), freeAddr(t)
	newLink(t, data, addr, "--env", "gridworld")
	for want, args := range map[string][]string{
		"?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}\n": {"--crowd", "prolific"},
		"?workerId=${workerId}&hitId=${hitId}&assignmentId=${assignmentId}\n":                    {"--crowd", "mturk"},
		"?pid=…&sid=…\n":         {"--crowd", "own", "--participant-parameter", "pid", "--submission-parameter", "sid"},
		"has no completion code": {"--crowd", "prolific", "--return", "https://example.org/?cc={code}"},
	} {
		if out := mustCLI(t, append([]string{"invite", "new", "--data", data, "--addr", addr}, args...)...); !strings.Contains(out, want) {
			t.Errorf("%v prints %q, want %q", args, out, want)
		}
	}
	for _, args := range [][]string{
		{"--crowd", "other"},
		{"--crowd", "own"},
		{"--crowd", "prolific", "--return", "http://example.org"},
		{"--return", "https://example.org"},
		{"--crowd", "mturk", "--participant-parameter", "x"},
		{"--ids-as-given"},
	} {
		if status, out, _ := cli(t, append([]string{"invite", "new", "--data", data, "--addr", addr}, args...)...); status == 0 {
			t.Errorf("%v is taken: %s", args, out)
		}
	}
}
