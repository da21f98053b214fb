package main

import (
	"strings"
	"testing"
)

// A link says where its address comes from, where neither a server nor a flag has said it.
func TestLinksBeforeAServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	const says = "so the link has the default address"
	for _, test := range []struct {
		args []string
		says bool
	}{
		{[]string{"session", "--env", "gridworld"}, true},
		{[]string{"invite", "new"}, true},
		{[]string{"invite", "new", "--addr", "127.0.0.1:9000"}, false},
		{[]string{"invite", "new", "--origin", "https://study.example.org"}, false},
	} {
		if out := mustCLI(t, append(test.args, "--data", data)...); strings.Contains(out, says) != test.says {
			t.Errorf("%v prints %q", test.args, out)
		}
	}
	if out := mustCLI(t, "session", "known", "--data", data); !strings.Contains(out, "No right answer has been given") {
		t.Errorf("what is known of a new session: %q", out)
	}
}

// Crowd links are printed with the parameters as their platform fills them in; flags that
// do not fit are refused.
func TestInviteCrowd(t *testing.T) {
	t.Parallel()
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
