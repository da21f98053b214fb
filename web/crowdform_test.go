package web_test

import (
	"net/url"
	"strings"
	"testing"
)

// The session's page makes a crowd link, shows it once with the parameters as the platform
// fills them in, and refuses forms that do not fit.
func TestCrowdForm(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	form := func(more ...string) url.Values {
		v := url.Values{"uses": {"5"}, "days": {"7"}}
		for i := 0; i < len(more); i += 2 {
			v.Set(more[i], more[i+1])
		}
		return v
	}
	for want, v := range map[string]url.Values{
		"?PROLIFIC_PID={{%PROLIFIC_PID%}}&amp;STUDY_ID={{%STUDY_ID%}}&amp;SESSION_ID={{%SESSION_ID%}}&#34;": form("platform", "prolific", "participant", "ignored"),
		"?workerId=${workerId}&amp;hitId=${hitId}&amp;assignmentId=${assignmentId}&#34;":                    form("platform", "mturk", "as_given", "yes"),
		"?pid=…&amp;sid=…&#34;":              form("platform", "own", "participant", " pid ", "submission", "sid"),
		"has no completion code":             form("platform", "prolific", "return", "https://example.org/?cc={code}"),
		"Enter this address on the platform": form("platform", "prolific"),
	} {
		if r := b.post(c, "/sessions/s1/invitations", v); r.status != 303 || strings.Contains(r.header.Get("Location"), "join") {
			t.Fatalf("%v: status %d to %q", v, r.status, r.header.Get("Location"))
		}
		want = strings.ReplaceAll(want, "&#34;", `"`)
		if r := b.get(c, "/sessions/s1"); r.lacks(want) != nil {
			t.Errorf("%v: the page lacks %q", v, want)
		}
		if r := b.get(c, "/sessions/s1"); r.lacks("/join/") == nil {
			t.Errorf("%v: the link is shown twice", v)
		}
	}
	for _, v := range []url.Values{
		form("platform", "other"),
		form("platform", "own"),
		form("platform", "own", "participant", "a b"),
		form("platform", "own", "participant", "a", "study", "a"),
		form("platform", "prolific", "return", "http://example.org"),
		form("platform", "prolific", "return", "javascript:alert(1)"),
		form("platform", "prolific", "uses", "0"),
	} {
		if r := b.post(c, "/sessions/s1/invitations", v); r.status != 400 || r.lacks("/join/") == nil {
			t.Errorf("%v: status %d", v, r.status)
		}
	}
	v := form("platform", "own", "participant", "pid")
	b.post(c, "/sessions/s1/invitations", v)
	page := b.get(c, "/sessions/s1").body
	_, token, _ := strings.Cut(page, "/join/")
	token, _, _ = strings.Cut(token, "?")
	if r := b.get(b.browser(), "/join/"+token+"?pid=p1"); r.status != 200 || r.lacks("Start") != nil {
		t.Errorf("the link that was made: status %d", r.status)
	}
	if r := b.get(b.browser(), "/join/"+token); r.status != 400 {
		t.Errorf("the link without an id: status %d", r.status)
	}
	if r := b.post(b.browser(), "/sessions/s1/invitations", v); r.status == 303 {
		t.Error("somebody else makes a link")
	}
}
