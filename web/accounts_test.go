package web_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tiebreak/internal/people/identity"
	"tiebreak/store"
	"tiebreak/web"
)

// refusedRows notes the wrong passwords that are recorded.
type refusedRows struct {
	*store.DB
	mu    sync.Mutex
	names []string // guarded by mu
}

func (r *refusedRows) Refused(_ context.Context, user string, _ time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, user)
	return nil
}

const goodPassword = "four wholly other words"

// setPassword sets a password on the page of an account.
func (b *bench) setPassword(c *http.Client, old, password string) reply {
	b.t.Helper()
	return b.post(c, "/account", url.Values{"do": {"password"}, "old": {old}, "password": {password}})
}

func (b *bench) signInBy(c *http.Client, name, password string) reply {
	b.t.Helper()
	return b.post(c, "/signin", url.Values{"name": {name}, "password": {password}})
}

// TestPasswordPages: an account sets a password on its page and signs in by it, in any browser. What
// is wrong with a sign-in shows nowhere.
func TestPasswordPages(t *testing.T) {
	b := newBench(t, nil)
	ada := b.account("Ada", identity.Admin)
	if r := b.get(ada, "/account"); r.lacks("You are an admin", "Set a password", "1 browser signed in") != nil {
		t.Errorf("the page lacks %q", r.lacks("You are an admin", "Set a password", "1 browser signed in"))
	}
	if r := b.setPassword(ada, "", "password1234"); r.status != 400 || r.lacks("first that others would try") != nil {
		t.Errorf("a common password: status %d", r.status)
	}
	if r := b.setPassword(ada, "", goodPassword); r.status != 200 || r.lacks("The password is set", "Present password") != nil {
		t.Errorf("a good password: status %d, lacks %q", r.status, r.lacks("The password is set", "Present password"))
	}
	if r := b.setPassword(ada, "wrong", goodPassword+"2"); r.status != 403 {
		t.Errorf("a change without the present password: status %d", r.status)
	}
	elsewhere := b.browser()
	if r := b.get(elsewhere, "/signin"); r.status != 200 || r.lacks(`name="password"`) != nil {
		t.Errorf("the form: status %d", r.status)
	}
	wrong, unknown := b.signInBy(elsewhere, "Ada", "wrong"), b.signInBy(elsewhere, "Eve", "wrong")
	if wrong.status != 403 || unknown.status != 403 || strings.ReplaceAll(wrong.body, "Ada", "") != strings.ReplaceAll(unknown.body, "Eve", "") {
		t.Errorf("a wrong password and an unknown name differ: %d %s\n%d %s", wrong.status, wrong.body, unknown.status, unknown.body)
	}
	if r := b.signInBy(elsewhere, " Ada ", goodPassword); r.status != 303 || r.header.Get("Location") != "/sessions" {
		t.Errorf("sign-in: status %d", r.status)
	}
	if r := b.get(elsewhere, "/sessions"); r.status != 200 {
		t.Errorf("signed in: status %d", r.status)
	}
	if strings.Contains(b.logs.String(), goodPassword) {
		t.Error("the log holds the password")
	}
	tab := b.open(ada, "/sessions/s1/watch")
	tab.hear()
	if r := b.post(elsewhere, "/account", url.Values{"do": {"logout"}}); r.status != 303 {
		t.Errorf("log out: status %d", r.status)
	}
	if code := tab.closed(); code != websocket.ClosePolicyViolation {
		t.Errorf("the other browser's page: close code %d", code)
	}
	for _, c := range []*http.Client{ada, elsewhere} {
		if r := b.get(c, "/sessions"); r.status != 403 {
			t.Errorf("after logging out: status %d", r.status)
		}
	}
}

// TestPasswordsCannotBeGuessed: after ten wrong passwords the right one does not let in either for a
// while, but a link does. Rows about it do not hold what strangers type.
func TestPasswordsCannotBeGuessed(t *testing.T) {
	rows := &refusedRows{}
	b := newBench(t, func(c *web.Config) {
		rows.DB = c.Accounts.(*store.DB)
		c.Accounts = rows
	})
	b.setPassword(b.account("Ada", identity.Admin), "", goodPassword)
	c := b.browser()
	for range 3 { // right ones are not counted
		if r := b.signInBy(b.browser(), "Ada", goodPassword); r.status != 303 {
			t.Fatalf("sign-in: status %d", r.status)
		}
	}
	b.signInBy(c, "SECRET-PASSWORD-AS-NAME", "wrong")
	for k := range 10 {
		if r := b.signInBy(c, "Ada", "wrong"); r.status != 403 {
			t.Fatalf("wrong password %d: status %d", k, r.status)
		}
	}
	if r := b.signInBy(c, "Ada", goodPassword); r.status != 429 || r.lacks("use a sign-in link") != nil {
		t.Errorf("after ten wrong ones: status %d", r.status)
	}
	if r := b.signInBy(c, "Bo", "wrong"); r.status != 403 {
		t.Errorf("another account: status %d", r.status)
	}
	b.account("Ada", identity.Admin)
	rows.mu.Lock()
	defer rows.mu.Unlock()
	if want := append(append([]string{""}, slices.Repeat([]string{"Ada"}, 10)...), ""); !slices.Equal(rows.names, want) {
		t.Errorf("recorded %q, want %q", rows.names, want)
	}
}

// TestUsersPage: an admin adds accounts, changes their roles and revokes them; their pages end.
func TestUsersPage(t *testing.T) {
	b := newBench(t, nil)
	ada := b.account("Ada", identity.Admin)
	do := func(form url.Values) reply { return b.post(ada, "/users", form) }
	r := do(url.Values{"do": {"add"}, "name": {"Vi"}, "role": {"viewer"}})
	_, rest, _ := strings.Cut(r.body, b.url+"/signin?token=")
	token, _, _ := strings.Cut(rest, `"`)
	vi := b.browser()
	if in := b.post(vi, "/signin", url.Values{"token": {token}}); r.status != 200 || in.status != 303 {
		t.Fatalf("a new account: status %d; its link: %d", r.status, in.status)
	}
	if r := do(url.Values{"do": {"add"}, "name": {"Vi"}, "role": {"viewer"}}); r.status != 409 || r.lacks("already", `value="Vi"`) != nil {
		t.Errorf("the same name: status %d", r.status)
	}
	if r := do(url.Values{"do": {"revoke"}, "name": {"Ada"}}); r.status != 409 || r.lacks("only admin") != nil {
		t.Errorf("the last admin: status %d", r.status)
	}
	if r := do(url.Values{"do": {"link"}, "name": {"Eve"}}); r.status != 404 {
		t.Errorf("a link for nobody: status %d", r.status)
	}
	if r := do(url.Values{"do": {"role"}, "name": {"Vi"}, "role": {"boss"}}); r.status != 400 {
		t.Errorf("an unknown role: status %d", r.status)
	}
	b.give("Vi", identity.RightView)
	tab := b.open(vi, "/sessions/s1/watch")
	tab.hear()
	if r := do(url.Values{"do": {"revoke"}, "name": {"Vi"}}); r.status != 303 {
		t.Errorf("revoke: status %d", r.status)
	}
	if code := tab.closed(); code != websocket.ClosePolicyViolation {
		t.Errorf("the page of a revoked account: close code %d", code)
	}
	if r := b.get(ada, "/users"); r.lacks(`data-user="Vi" class="dim"`, "Restore with this role") != nil {
		t.Errorf("the list lacks %q", r.lacks(`data-user="Vi" class="dim"`, "Restore with this role"))
	}
	do(url.Values{"do": {"role"}, "name": {"Vi"}, "role": {"researcher"}})
	if r := do(url.Values{"do": {"link"}, "name": {"Vi"}}); r.status != 200 || r.lacks("Sign-in link for Vi") != nil {
		t.Errorf("a link for a restored account: status %d", r.status)
	}
}

// TestSharing: a session shows to those to whom it is given, as far as they may, and no longer than
// that: lists, pages, sockets, streams and tokens.
func TestSharing(t *testing.T) {
	b := newBench(t, nil)
	web.Stream(b.web, 20*time.Millisecond, time.Hour)
	b.account("Ada", identity.Admin)
	owner, reader := b.account("Olga", identity.Researcher), b.account("Rex", identity.Researcher)
	b.give("Olga", identity.RightOwn)
	if r := b.get(owner, "/sessions"); r.lacks(`data-session="s1"`) != nil || r.lacks(`data-session="s2"`) == nil {
		t.Error("the owner's list does not hold their session alone")
	}
	token, _, err := b.auth.NewToken(t.Context(), identity.Token{Scope: identity.ScopeRead, User: "Rex"}, time.Hour, "test")
	if err != nil {
		t.Fatal(err)
	}
	program := func(path string) reply {
		return b.send(b.browser(), http.MethodGet, path, nil, http.Header{"Authorization": {"Bearer " + token}})
	}
	share := func(right identity.Right) {
		t.Helper()
		if r := b.post(owner, "/sessions/s1/sharing", url.Values{"name": {"Rex"}, "right": {string(right)}}); r.status != 303 {
			t.Fatalf("share %q: status %d: %s", right, r.status, r.body)
		}
	}
	if r := program("/api/v1/sessions"); r.lacks(`"s1"`) == nil {
		t.Errorf("a program lists what its account may not see: %s", r.body)
	}
	share(identity.RightView)
	for page, offers := range map[string][]string{
		"": {"data-export", "data-invite", "data-do"}, "/learning": nil, "/asked": nil, "/people": {"data-new-link", "data-known-link"}, "/training": {"data-cancel"},
		"/data": {"data-export"}, "/settings": {"data-budget-form", "data-sharing-link", "data-rename"},
	} {
		r := b.get(reader, "/sessions/s1"+page)
		if more := slices.DeleteFunc(offers, func(o string) bool { return !strings.Contains(r.body, o) }); r.status != 200 || len(more) > 0 {
			t.Errorf("the page %q offers %q to one who may look: status %d", page, more, r.status)
		}
		if r := b.get(owner, "/sessions/s1"+page); r.status != 200 || r.lacks(offers...) != nil {
			t.Errorf("the owner's page %q lacks %q: status %d", page, r.lacks(offers...), r.status)
		}
	}
	if r := program("/api/v1/sessions"); r.lacks(`"s1"`) != nil || r.lacks(`"s2"`) == nil {
		t.Errorf("a program's list: %s", r.body)
	}
	share(identity.RightExport)
	tab := b.open(reader, "/sessions/s1/watch")
	tab.hear()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+"/api/v1/sessions/s1/answers/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	stream, err := http.DefaultClient.Do(req)
	if err != nil || stream.StatusCode != 200 {
		t.Fatalf("stream: %v, %v", stream, err)
	}
	defer stream.Body.Close()
	share(identity.NoRight)
	if code := tab.closed(); code != websocket.ClosePolicyViolation {
		t.Errorf("the page of one who lost the right: close code %d", code)
	}
	if _, err := io.Copy(io.Discard, stream.Body); err != nil { // it ends
		t.Errorf("the stream of one who lost the right: %v", err)
	}
	if r := b.get(reader, "/sessions/s1"); r.status != 404 {
		t.Errorf("the page afterwards: status %d", r.status)
	}
	if r := program("/api/v1/sessions/s1"); r.status != 404 {
		t.Errorf("the program afterwards: status %d", r.status)
	}
	share(identity.RightOwn)
	if r := b.get(owner, "/sessions/s1/sharing"); r.status != 403 {
		t.Errorf("the former owner may still share: status %d", r.status)
	}
	if r := b.get(reader, "/sessions/s1/sharing"); r.lacks(`data-share="Olga"`, "the owner", "view, export and change") != nil {
		t.Errorf("the new owner's page lacks %q", r.lacks(`data-share="Olga"`, "the owner", "view, export and change"))
	}
}
