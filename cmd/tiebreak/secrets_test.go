package main

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
)

func noBackup(context.Context) (time.Time, error) { return time.Time{}, nil }

// secretsIn returns the secrets that a text contains.
func secretsIn(text string, secrets map[string]string) (out []string) {
	for what, s := range secrets {
		if strings.Contains(text, s) || strings.Contains(text, url.QueryEscape(s)) || strings.Contains(text, url.PathEscape(s)) {
			out = append(out, what)
		}
	}
	return out
}

// TestLogHoldsNoSecret: a server that logs all it can is used in every way that brings it a secret, rightly and wrongly; its log then holds
// none of them.
func TestLogHoldsNoSecret(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"json", "text"} {
		t.Run(form, func(t *testing.T) { t.Parallel(); useSecrets(t, form) })
	}
}

func useSecrets(t *testing.T, form string) {
	t.Helper()
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "gridworld", "--withdraw-days", "30")
	p := startServer(t, "serve", "--data", data, "--addr", addr, "-v", "--log", form)
	base := "http://" + addr
	last := func(text string) string { return text[strings.LastIndexAny(text, "/=")+1:] }
	secrets := map[string]string{
		"a person's name": "Zebulon Quist", "a person's address": "zq@secret.example", "a wrong sign-in link": "wrongsignin7Hq", "a wrong link": "wrongjoin8Kw",
		"a wrong token": "tbwrong9Lp", "a wrong cookie": "wrongcookie5Tz", "a researcher's name": "Dr Ottoline Vex", "a search": "searchedfor4Yx",
		"the link of annotators": last(link),
	}
	printed := mustCLI(t, "user", "add", "--data", data, "--role", "admin", "--name", secrets["a researcher's name"])
	secrets["the sign-in link"] = last(signInLink.FindString(printed))
	made := mustCLI(t, "token", "new", "--data", data, "--scope", "read")
	token := regexp.MustCompile(`Token:\s+(\S+)`).FindStringSubmatch(made)
	if token == nil {
		t.Fatalf("no token in\n%s", made)
	}
	secrets["the API token"] = token[1]
	browser := func() *http.Client {
		jar := must.Get(cookiejar.New(nil))(t)
		return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	send := func(c *http.Client, method, path string, form url.Values, header ...string) int {
		t.Helper()
		req := must.Get(http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(form.Encode())))(t)
		if form != nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		for k := 0; k+1 < len(header); k += 2 {
			req.Header.Set(header[k], header[k+1])
		}
		res := must.Get(c.Do(req))(t)
		defer res.Body.Close()
		return res.StatusCode
	}
	keep := func(what string, c *http.Client) {
		t.Helper()
		at := must.Get(url.Parse(base))(t)
		list := c.Jar.Cookies(at)
		if len(list) == 0 {
			t.Fatalf("no cookie: %s", what)
		}
		secrets[what] = list[0].Value
	}
	want := func(what string, got, status int) {
		t.Helper()
		if got != status {
			t.Errorf("%s: status %d, want %d", what, got, status)
		}
	}
	ada, eve, nobody := browser(), browser(), browser()
	want("sign in", send(ada, "POST", "/signin", url.Values{"token": {secrets["the sign-in link"]}}), 303)
	keep("the researcher's cookie", ada)
	want("the list", send(ada, "GET", "/sessions?q="+secrets["a search"], nil), 200)
	want("the trail", send(ada, "GET", "/audit?actor="+url.QueryEscape(secrets["a researcher's name"]), nil), 200)
	send(nobody, "POST", "/signin", url.Values{"token": {secrets["the sign-in link"]}}) // it is used up
	send(nobody, "GET", "/signin?token="+secrets["a wrong sign-in link"], nil)
	send(nobody, "POST", "/signin", url.Values{"token": {secrets["a wrong sign-in link"]}})
	want("a wrong link", send(nobody, "GET", "/join/"+secrets["a wrong link"], nil), 404)
	want("no page", send(nobody, "GET", "/"+secrets["a wrong link"]+"?x="+secrets["a search"], nil), 404)
	want("the API", send(nobody, "GET", "/api/v1/sessions", nil, "Authorization", "Bearer "+secrets["the API token"]), 200)
	send(nobody, "GET", "/api/v1/sessions", nil, "Authorization", "Bearer "+secrets["a wrong token"])
	send(nobody, "GET", "/sessions", nil, "Cookie", "tb_user="+secrets["a wrong cookie"])
	name := secrets["a person's name"] + " " + secrets["a person's address"]
	want("join", send(eve, "POST", strings.TrimPrefix(link, base), url.Values{"name": {name}}), 303)
	keep("the annotator's cookie", eve)
	want("label", send(eve, "GET", "/sessions/"+id+"/label", nil), 200)
	want("a form of another site", send(eve, "POST", "/sessions/"+id+"/withdraw", url.Values{"sure": {"yes"}}, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"), 403)
	must.Do(t, join(t, link, 1).Label(2))
	_, _, withdraw := get(t, eve, base+"/sessions/"+id+"/withdraw")
	if m := regexp.MustCompile(`name="receipt" value="([^"]+)"`).FindStringSubmatch(withdraw); m != nil {
		secrets["the receipt"] = m[1]
		want("withdraw", send(eve, "POST", "/sessions/"+id+"/withdraw", url.Values{"sure": {"yes"}, "annotator": {"a1"}, "receipt": {m[1]}}), 303)
		send(eve, "GET", "/sessions/"+id+"/withdrawn/a1/"+m[1], nil)
	} else {
		t.Error("the page to withdraw has no receipt")
	}
	send(ada, "POST", "/sessions/"+id+"/budget", url.Values{"budget": {secrets["a search"]}})
	want("sign out", send(ada, "POST", "/signout", url.Values{}), 303)

	waittest.Until(t, "the line of the last request, which comes after the reply", func() bool { return strings.Contains(p.out.String(), "/signout") })
	p.kill()
	var log []string
	ids := 0
	for line := range strings.Lines(p.out.String()) {
		if strings.HasPrefix(line, "  Researcher:") {
			continue // what serve prints for its operator, and not a line of the log
		}
		log = append(log, line)
		if regexp.MustCompile(`"id":"[0-9a-f]{16}"|\bid=[0-9a-f]{16}\b`).MatchString(line) {
			ids++
		}
	}
	text := strings.Join(log, "")
	if ids < 20 {
		t.Errorf("%d lines have the id of a request:\n%s", ids, text)
	}
	for _, what := range secretsIn(text, secrets) {
		t.Errorf("the log holds %s:\n%s", what, text)
	}
	for what, s := range secrets { // the search finds what is there
		if len(s) < 8 {
			t.Errorf("%s is %q", what, s)
		}
		if got := secretsIn(text+"level=INFO msg=x v="+s+"\n", secrets); len(got) != 1 || got[0] != what {
			t.Errorf("a planted line with %s is found as %v", what, got)
		}
	}
}
