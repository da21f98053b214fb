package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

// Tags that the command sets are in the list of sessions, on the page and in the API, of a server that runs beside it; so is
// that there are none any more.
func TestSessionSetTags(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	id, _ := newLink(t, data, addr, "--env", "gridworld", "--title", "Tagged")
	mustCLI(t, "session", "create", "--data", data, "--env", "gridworld", "--title", "Other")
	token := regexp.MustCompile(`Token:\s+(\S+)`).FindStringSubmatch(mustCLI(t, "token", "new", "--data", data, "--scope", "read"))
	if token == nil {
		t.Fatal("there is no token")
	}
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	base := "http://" + addr
	jar := must.Get(cookiejar.New(nil))(t)
	c := &http.Client{Jar: jar}
	res := must.Get(c.PostForm(base+"/signin", url.Values{"token": {p.find(t, `Researcher\S*.*?http\S+token=(\S+)`)}}))(t)
	res.Body.Close()
	tags := func() (out []string) {
		t.Helper()
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/v1/sessions", nil))(t)
		req.Header.Set("Authorization", "Bearer "+token[1])
		res := must.Get(http.DefaultClient.Do(req))(t)
		defer res.Body.Close()
		b := must.Get(io.ReadAll(res.Body))(t)
		var list struct {
			Sessions []struct {
				ID   string
				Tags []string
			}
		}
		if err := json.Unmarshal(b, &list); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		for _, s := range list.Sessions {
			if s.ID == id {
				return s.Tags
			}
		}
		t.Fatalf("the API does not list the session: %s", b)
		return nil
	}
	if out := mustCLI(t, "session", "set", "--data", data, "--session", id, "--tags", "pilot, two words"); !strings.Contains(out, "now has the tags pilot, two words; before it had no tags") {
		t.Errorf("the command says %q", out)
	}
	if got := tags(); !slices.Equal(got, []string{"pilot", "two words"}) {
		t.Errorf("the API lists the tags %q", got)
	}
	for query, found := range map[string]bool{"": true, "?tag=pilot": true, "?tag=two+words": true, "?tag=other": false} {
		status, _, body := get(t, c, base+"/sessions"+query)
		if status != 200 || strings.Contains(body, `data-session="`+id+`"`) != found {
			t.Errorf("the list with %q: status %d, has the session: %v, want %v", query, status, !found, found)
		}
	}
	mustCLI(t, "session", "set", "--data", data, "--session", id, "--tags", "")
	if got := tags(); len(got) != 0 {
		t.Errorf("emptied, the API lists the tags %q", got)
	}
}
