package web_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/web"
)

// needs say what each route of the pages needs. A route that is missing here fails TestRightsOfPages.
//
//	open        nothing, or a secret in the request
//	list, create, accounts, workers, own    an account that may do this
//	watch, export, change, share            an account with this right in the session
//	clip        watch, or an annotator of the session
//	annotator   an annotator of the session
var needs = map[string]string{
	"GET /": "open", "GET /healthz": "open", "GET /readyz": "open", "GET /static/*": "open",
	"GET /signin": "open", "POST /signin": "open", "POST /signout": "open",
	"GET /join/:token": "open", "POST /join/:token": "open", "GET /join/:token/example": "open", "GET /join/:token/declined": "open",

	"GET /account": "own", "POST /account": "own",
	"GET /users": "accounts", "POST /users": "accounts", "GET /before": "accounts", "GET /audit": "accounts", "GET /audit/:format": "accounts",
	"GET /tokens": "create", "POST /tokens": "create", "POST /tokens/:token/revoke": "create", "GET /tokens/:token/revoke": "open",
	"GET /workers": "list", "POST /workers": "workers",
	"GET /sessions": "list", "GET /compare": "list", "GET /compare/:file": "list", "GET /sessions/new": "create", "POST /sessions": "create", "GET /environments/:env/clips/:n": "create",
	"GET /presets": "open", "POST /presets": "create", "GET /presets/delete": "open", "POST /presets/delete": "create",
	"GET /recordings": "create", "POST /recordings": "create", "POST /recordings/upload": "create",
	"GET /rehearsals/:name": "create", "POST /rehearsals/:name": "create",
	"GET /arenas": "open", "GET /arenas/new": "create", "POST /arenas": "create",

	"GET /sessions/:id": "watch", "GET /sessions/:id/learning": "watch", "GET /sessions/:id/learnt": "watch", "GET /sessions/:id/asked": "watch", "GET /sessions/:id/people": "watch",
	"GET /sessions/:id/training": "watch", "GET /sessions/:id/data": "watch", "GET /sessions/:id/settings": "watch",
	"GET /sessions/:id/arena": "watch", "GET /sessions/:id/quality": "watch", "GET /sessions/:id/questions": "watch",
	"GET /sessions/:id/charts": "watch", "GET /sessions/:id/charts/:table": "watch", "GET /sessions/:id/watch": "watch", "GET /sessions/:id/conditions.csv": "watch", "GET /sessions/:id/report": "watch",
	"GET /sessions/:id/export": "export", "GET /sessions/:id/arena?format=answers": "export",
	"POST /sessions/:id/clone":  "clone",
	"POST /sessions/:id/budget": "change", "POST /sessions/:id/control": "change", "POST /sessions/:id/title": "change", "POST /sessions/:id/tags": "change", "POST /sessions/:id/card": "change", "POST /sessions/:id/training/cancel": "change",
	"POST /sessions/:id/invitations": "change", "POST /sessions/:id/invitations/:link/revoke": "change",
	"POST /sessions/:id/annotators/:annotator/remove": "change", "POST /sessions/:id/annotators/:annotator/answers": "change", "POST /sessions/:id/annotators/:annotator/withdraw": "change",
	"GET /sessions/:id/instructions": "change", "POST /sessions/:id/instructions": "change",
	"GET /sessions/:id/known": "change", "POST /sessions/:id/known": "change", "POST /sessions/:id/gold": "change",
	"GET /sessions/:id/sharing": "share", "POST /sessions/:id/sharing": "share",

	// Addresses of forms lead back to the session's page, which then asks for the right.
	"GET /sessions/:id/budget": "open", "GET /sessions/:id/control": "open", "GET /sessions/:id/title": "open", "GET /sessions/:id/tags": "open", "GET /sessions/:id/card": "open", "GET /sessions/:id/clone": "open",
	"GET /sessions/:id/training/cancel": "open", "GET /sessions/:id/invitations": "open", "GET /sessions/:id/invitations/:link/revoke": "open", "GET /sessions/:id/gold": "open",
	"GET /sessions/:id/annotators/:annotator/remove": "open", "GET /sessions/:id/annotators/:annotator/answers": "open", "GET /sessions/:id/annotators/:annotator/withdraw": "open",

	"GET /sessions/:id/clips/:clip": "clip", "GET /sessions/:id/pictures/:picture": "clip",
	"GET /sessions/:id/label": "annotator", "GET /sessions/:id/ws": "annotator", "GET /sessions/:id/practice": "annotator", "POST /sessions/:id/practice": "annotator",
	"POST /sessions/:id/flags": "annotator", "POST /sessions/:id/instructions/acknowledge": "annotator", "GET /sessions/:id/consent": "annotator", "POST /sessions/:id/consent": "annotator",
	"GET /sessions/:id/withdraw": "annotator", "POST /sessions/:id/withdraw": "annotator", "POST /sessions/:id/key": "annotator",
	"GET /sessions/:id/learnt/:when": "annotator", "GET /sessions/:id/answers": "annotator", "GET /sessions/:id/telling": "annotator",
	"GET /sessions/:id/declined": "annotator", "GET /sessions/:id/withdrawn/:annotator/:receipt": "open", "POST /sessions/:id/rejoin": "open",
}

// apiNeeds are the needs of programs.
var apiNeeds = map[string]string{
	"GET /api/v1/openapi.json": "open",
	"GET /api/v1/sessions":     "list", "POST /api/v1/sessions": "create", "POST /api/v1/arenas": "create", "GET /api/v1/workers": "list",
	"GET /api/v1/recordings": "create", "POST /api/v1/recordings": "create", "POST /api/v1/recordings/stop": "create", "POST /api/v1/recordings/uploads/:name": "create", "DELETE /api/v1/recordings/uploads/:name": "create",
	"GET /api/v1/sessions/:id": "watch", "GET /api/v1/sessions/:id/questions": "watch", "GET /api/v1/sessions/:id/posterior": "watch",
	"GET /api/v1/sessions/:id/policies": "watch", "GET /api/v1/sessions/:id/scores": "watch", "POST /api/v1/sessions/:id/reward": "watch",
	"GET /api/v1/sessions/:id/answers": "export", "GET /api/v1/sessions/:id/answers/stream": "export", "GET /api/v1/sessions/:id/export": "export",
	"POST /api/v1/sessions/:id/control": "change", "POST /api/v1/sessions/:id/trajectories": "upload",
	"POST /api/v1/sessions/:id/claim": "label", "POST /api/v1/sessions/:id/answers": "label", "GET /api/v1/sessions/:id/clips/:clip": "clip",
}

// An account of the matrix: a role, and what it was given in session s1.
type account struct {
	role  identity.Role
	right identity.Right
}

func (a account) name() string { return fmt.Sprintf("%s with %q", a.role, a.right) }

// may is the policy in other words than auth.Can: of the needs that are not of a session, and of
// those that are.
func (a account) may(need string) bool {
	level := map[identity.Right]int{identity.NoRight: 0, identity.RightView: 1, identity.RightExport: 2, identity.RightChange: 3, identity.RightOwn: 4}[a.right]
	switch a.role {
	case identity.Admin:
		level = 5
	case identity.Viewer:
		level = min(level, 2)
	case identity.Researcher:
	}
	switch need {
	case "open", "list", "own":
		return true
	case "create":
		return a.role != identity.Viewer
	case "accounts", "workers":
		return a.role == identity.Admin
	case "watch", "clip":
		return level >= 1
	case "clone":
		return level >= 1 && a.role != identity.Viewer
	case "export":
		return level >= 2
	case "change", "upload", "label": // a program answers as an annotator that its account has made
		return level >= 3
	case "share":
		return level >= 4
	}
	return false
}

// everyAccount makes the accounts of the matrix, the admin first.
func everyAccount(t *testing.T, b *bench) (out []account) {
	t.Helper()
	out = []account{{identity.Admin, identity.NoRight}}
	for _, right := range append([]identity.Right{identity.NoRight}, identity.Rights()...) {
		out = append(out, account{identity.Researcher, right})
		if right != identity.RightOwn {
			out = append(out, account{identity.Viewer, right})
		}
	}
	for _, a := range out {
		must.Do(t, b.db.AddUser(t.Context(), a.name(), a.role, time.Now()))
		if a.right != identity.NoRight {
			b.give(a.name(), a.right)
		}
	}
	return out
}

// give gives an account a right in session s1.
func (b *bench) give(user string, right identity.Right) {
	b.t.Helper()
	if err := b.db.Share(b.t.Context(), identity.Share{Session: "s1", User: user, Right: right}, "test", time.Now()); err != nil {
		b.t.Fatal(err)
	}
}

// account is a browser in which an account is signed in.
func (b *bench) account(user string, role identity.Role) *http.Client {
	b.t.Helper()
	token, err := b.auth.NewLink(b.t.Context(), user, role)
	if err != nil {
		b.t.Fatal(err)
	}
	c := b.browser()
	if r := b.post(c, "/signin", map[string][]string{"token": {token}}); r.status != http.StatusSeeOther {
		b.t.Fatalf("sign-in of %s: status %d", user, r.status)
	}
	return c
}

// A matrix sends requests from another address each, so that limits of addresses do not matter.
type matrix struct {
	*bench
	sent int
}

func newMatrix(t *testing.T) *matrix {
	return &matrix{bench: newBench(t, func(c *web.Config) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })}
}

// ask sends a request without a body, in session id, and returns the reply.
func (m *matrix) ask(c *http.Client, route string, id idrl.SessionID, header http.Header) reply {
	m.t.Helper()
	m.sent++
	method, path, _ := strings.Cut(route, " ")
	path = strings.NewReplacer(":id", string(id), ":link", "99", ":annotator", "a9", ":clip", "c0ffee", ":picture", "none", ":table", "calibration",
		":token", "99", ":when", "now", ":receipt", "none", "*", "none.js").Replace(path)
	h := http.Header{"X-Forwarded-For": {fmt.Sprintf("10.1.%d.%d", m.sent/250, m.sent%250)}}
	for k, v := range header {
		h[k] = v
	}
	if method == http.MethodPost && header == nil {
		h.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return m.send(c, method, path, nil, h)
}

// Refusals, by what their pages say.
var refusals = map[string]struct {
	text   string
	status int
}{
	"not signed in": {"This page is for researchers who are signed in", 403},
	"not allowed":   {"Your account may not do this", 403},
	"no session":    {"This session does not exist", 404},
	"no annotator":  {"This page is for annotators of the session", 403},
	"no token":      {"this address needs the header", 401},
	"scope":         {"the scope of this token, or the account that it belongs to, does not allow this", 403},
}

// refusal names the refusal of a reply; empty if it is none.
func (m *matrix) refusal(r reply) string {
	m.t.Helper()
	for name, is := range refusals {
		if strings.Contains(strings.ToLower(r.body), strings.ToLower(is.text)) {
			if r.status != is.status {
				m.t.Errorf("refusal %q has status %d, want %d", name, r.status, is.status)
			}
			return name
		}
	}
	return ""
}

// ofSession reports whether a need concerns a session.
func ofSession(need string) bool {
	return !slices.Contains([]string{"open", "list", "own", "create", "accounts", "workers"}, need)
}

// TestRightsOfPages is the matrix role × right × route, and it knows every route.
func TestRightsOfPages(t *testing.T) {
	m := newMatrix(t)
	m.adoptClip("s1")
	accounts := everyAccount(t, m.bench)
	browsers := map[account]*http.Client{}
	for _, a := range accounts {
		browsers[a] = m.account(a.name(), a.role)
	}
	nobody, annotator, other := m.browser(), m.annotator("s1"), m.annotator("s2")
	routes := append(web.Routes(), "GET /sessions/:id/arena?format=answers")
	for _, route := range routes {
		need, known := needs[route]
		if strings.Contains(route, " /api/") {
			continue
		}
		if !known {
			t.Errorf("route %s: the table of needs does not say who may use it", route)
			continue
		}
		if need == "open" {
			if got := m.refusal(m.ask(m.browser(), route, "s1", nil)); got != "" {
				t.Errorf("%s by nobody: refused as %q, want open", route, got)
			}
			continue
		}
		check := func(name string, c *http.Client, want string) {
			t.Helper()
			if got := m.refusal(m.ask(c, route, "s1", nil)); got != want {
				t.Errorf("%s (%s) by %s: refusal %q, want %q", route, need, name, got, want)
			}
		}
		stranger := "not signed in"
		if need == "annotator" || need == "clip" {
			stranger = "no annotator"
		}
		check("nobody", nobody, stranger)
		check("an annotator of another session", other, stranger)
		if need == "annotator" || need == "clip" {
			check("an annotator", annotator, "")
		} else {
			check("an annotator", annotator, "not signed in")
		}
		for _, a := range accounts {
			want := ""
			switch {
			case a.may(need):
			case need == "annotator":
				want = "no annotator"
			case ofSession(need) && !a.may("watch"):
				want = "no session"
			default:
				want = "not allowed"
			}
			check(a.name(), browsers[a], want)
		}
	}
	for route := range needs {
		if !slices.Contains(routes, route) {
			t.Errorf("the table of needs has %s, which is no route", route)
		}
	}
}

// TestHiddenSessionsDoNotShow: whoever may not see a session gets the same replies as for one that
// does not exist.
func TestHiddenSessionsDoNotShow(t *testing.T) {
	m := newMatrix(t)
	m.adoptClip("s1")
	m.account("Ada", identity.Admin)
	for _, role := range []identity.Role{identity.Researcher, identity.Viewer} {
		c := m.account(string(role), role)
		for route, need := range needs {
			if need == "open" || !strings.Contains(route, ":id") {
				continue
			}
			hidden, gone := m.ask(c, route, "s1", nil), m.ask(c, route, "gone", nil)
			if hidden.status != gone.status || strings.ReplaceAll(hidden.body, "s1", "") != strings.ReplaceAll(gone.body, "gone", "") {
				t.Errorf("%s by a %s: status %d where it is hidden, %d where there is none:\n%s\n%s", route, role, hidden.status, gone.status, hidden.body, gone.body)
			}
		}
	}
}

// TestRightsOfPrograms is the matrix scope × account × route of the HTTP API, and it knows every route.
func TestRightsOfPrograms(t *testing.T) {
	m := newMatrix(t)
	m.adoptClip("s1")
	m.web.Drain(t.Context()) // ends streams at once
	scopes := map[identity.Scope][]string{
		identity.ScopeRead: {"list", "watch", "export", "clip"}, identity.ScopeWrite: {"list", "watch", "export", "clip", "change"},
		identity.ScopeUpload: {"list", "watch", "export", "clip", "create", "upload"}, identity.ScopeLabel: {"label", "clip"},
	}
	owners := append([]account{{}}, everyAccount(t, m.bench)...) // the first one: no account
	for _, route := range web.Routes() {
		need, known := apiNeeds[route]
		if !strings.Contains(route, " /api/") {
			continue
		}
		if !known {
			t.Errorf("route %s: the table of needs does not say who may use it", route)
		}
		want := "no token"
		if need == "open" {
			want = ""
		}
		if got := m.refusal(m.ask(m.browser(), route, "s1", http.Header{})); got != want {
			t.Errorf("%s without a token: refusal %q, want %q", route, got, want)
		}
	}
	for _, owner := range owners {
		may := func(need string) bool { return owner.role == "" || owner.may(need) }
		for scope, allows := range scopes {
			k := identity.Token{Scope: scope}
			if scope == identity.ScopeLabel {
				k.Session = "s1"
			}
			if owner.role != "" {
				k.User = owner.name()
			}
			token, _, err := m.auth.NewToken(t.Context(), k, time.Hour, "test")
			if err != nil {
				t.Fatal(err)
			}
			for route, need := range apiNeeds {
				want := ""
				accountNeed := need
				if scope == identity.ScopeLabel && need == "clip" {
					accountNeed = "label"
				}
				switch {
				case need == "open" || slices.Contains(allows, need) && may(accountNeed):
				case ofSession(need) && scope != identity.ScopeLabel && !may("watch"):
					want = "no session"
				default:
					want = "scope"
				}
				got := m.refusal(m.ask(m.browser(), route, "s1", http.Header{"Authorization": {"Bearer " + token}}))
				if got != want {
					t.Errorf("%s (%s) with scope %s of %s: refusal %q, want %q", route, need, scope, owner.name(), got, want)
				}
			}
		}
	}
}
