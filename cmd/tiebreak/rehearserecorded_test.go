package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestRehearsalOfRecordedPolicies: an arena of policies that acted in imported rollouts is rehearsed by the command and by the form. The arena and the
// list of sessions get nothing of it; the form lists it among the rehearsals.
func TestRehearsalOfRecordedPolicies(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	importReachers(t, data, "reach")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	id, _ := newArenaLink(t, data, "--entrants", "rollouts-reach", "--budget", "8", "--answers-each", "4", "--seed", "11")
	out := simulateRuns(t, "--session", id, "--data", data, "--runs", "2", "--wage", "10")
	if saidOf(t, out, "answers") != 8 || saidOf(t, out, "people") != 2 || !strings.Contains(out, "of 2 rehearsals a winner is found") || !strings.Contains(out, "An arena learns no reward") {
		t.Errorf("the command says:\n%s", out)
	}
	form := url.Values{"title": {"Which?"}, "policy": {"rollouts-reach:secret-act", "rollouts-reach:secret=pi"}, "task_groups": {"open the drawer,doors"}, "budget": {"4"}, "wage": {"3600"}}
	v := newVisitor(t)
	v.signIn(signInLink.FindString(server.out.String()))
	page := v.rehearsedArena("http://"+addr, form)
	if !strings.Contains(page, "4 (4 to 4)") || !strings.Contains(page, "of 2 policies") || !strings.Contains(page, "3600.00 for an hour, for the time above") {
		t.Errorf("the form's rehearsal says:\n%s", page)
	}
	if r := arenaReport(t, data, id); r.Answers != 0 || len(r.People) != 0 {
		t.Errorf("after its rehearsal the arena has %d answers of %d people", r.Answers, len(r.People))
	}
	if list := mustCLI(t, "session", "list", "--all", "--data", data); strings.Count(list, "\n") != 2 || strings.Contains(list, "Rehearsal") {
		t.Errorf("the folder has other sessions:\n%s", list)
	}
	read := func(path string) string {
		_, body := v.patiently(func() (*http.Response, error) { return v.c.Get("http://" + addr + path) })
		return body
	}
	if form := read("/arenas/new"); !strings.Contains(form, "Last rehearsals") || !strings.Contains(form, ">Which?<") {
		t.Error("the form does not list the rehearsal")
	}
	if strings.Contains(read("/sessions"), ">Which?<") {
		t.Error("the rehearsal is listed among the sessions")
	}
	form.Add("policy", "rollouts-reach:nobody")
	form.Set("do", "rehearse")
	if _, status, body := v.page(v.c.PostForm("http://"+addr+"/arenas", form)); status != http.StatusBadRequest || !strings.Contains(body, "No policy of rollouts-reach is called") {
		t.Errorf("an unknown policy: status %d\n%s", status, mainPart.FindString(body))
	}
}
