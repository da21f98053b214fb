package web_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/base/live"
	"tiebreak/internal/check/must"
	"tiebreak/internal/check/prepared"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/study/settings"
	"tiebreak/store"
	"tiebreak/web"
)

// bench is a server on loopback with a real database and fake sessions s1 (clip
// comparisons) and s2 (clip ratings).
type bench struct {
	t        *testing.T
	hub      live.Hub
	db       *store.DB
	auth     *auth.Auth
	sessions *fakeSessions
	s1       *fakeSession
	web      *web.Server
	server   *httptest.Server
	url      string
	logs     *buffer
	arena    idrl.SessionSpec // that was to be made last
	entrants []web.Entrant    // of it
	uploaded []string         // policies of what was uploaded
}

// buffer is written by the server's goroutines.
type buffer struct {
	mu    sync.Mutex
	text  strings.Builder // guarded by mu
	wrote chan struct{}   // guarded by mu: closed with the next Write; nil if nobody waits
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wrote != nil {
		close(b.wrote)
		b.wrote = nil
	}
	return b.text.Write(p)
}

// wait returns when text was written.
func (b *buffer) wait(t *testing.T, text string) {
	t.Helper()
	for {
		b.mu.Lock()
		if strings.Contains(b.text.String(), text) {
			b.mu.Unlock()
			return
		}
		if b.wrote == nil {
			b.wrote = make(chan struct{})
		}
		wrote := b.wrote
		b.mu.Unlock()
		select {
		case <-wrote:
		case <-time.After(patience):
			t.Fatalf("the log never said %q:\n%s", text, b)
		}
	}
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

var catalogue = []web.EnvChoice{
	{ID: "driver", Title: "Driver", Description: "A car on a road.", StillLabel: "this moment"},
	{ID: "gridworld", Title: "Gridworld", Description: "A grid.", StillLabel: "this tile"},
}

// emptyStudy is a new data folder, which under the race detector takes longer to make than most tests.
var emptyStudy = prepared.Folder{Make: func(dir string) error {
	db, err := store.Open(context.Background(), dir)
	if err != nil {
		return err
	}
	return db.Close()
}}

// newStudy returns a new data folder with an empty database.
func newStudy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	emptyStudy.Copy(t, dir)
	return dir
}

// newBench starts a server; change, if not nil, alters its configuration.
func newBench(t *testing.T, change func(*web.Config)) *bench {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // lasts until after the clean-up
	b := &bench{t: t, sessions: &fakeSessions{byID: map[idrl.SessionID]*fakeSession{}}, logs: &buffer{}}
	db := must.Get(store.Open(ctx, newStudy(t)))(t)
	b.db, b.auth = db, auth.New(auth.Config{Store: db, Accounts: db, Crowd: db, Tokens: db})
	for id, kind := range map[idrl.SessionID]idrl.QueryKind{"s1": idrl.CompareClips, "s2": idrl.RateClip} {
		spec := settings.Complete(idrl.SessionSpec{
			ID: id, Title: "Session " + string(id), Env: "driver", Kind: kind, Budget: 40, Instructions: "Look.\n\nChoose.", Seed: 7, Return: idrl.SumReturn,
			Features: []string{"Lane", "Speed"}, CreatedAt: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		})

		must.Do(t, db.CreateSession(ctx, spec))
		b.sessions.byID[id] = newFakeSession(&b.hub, spec)
	}
	b.s1 = b.sessions.byID["s1"]
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b.web.ServeHTTP(w, r) }))
	cfg := web.Config{
		Base:     "http://" + server.Listener.Addr().String(),
		Sessions: b.sessions, Hub: &b.hub, Auth: b.auth, Clips: db, Exports: db, Learnt: fakeLearnt{}, Bundles: fakeBundles{}, People: db, Accounts: db, Settings: db, Pictures: db, Known: db, Flags: db, Tokens: db, Quality: fakeQuality{db}, Arenas: fakeArenas{b}, Health: db, Presets: db, Importer: new(fakeImporter),
		Catalogue: func() []web.EnvChoice { return catalogue }, Log: slog.New(slog.NewTextHandler(b.logs, nil)),
	}
	if change != nil {
		change(&cfg)
	}
	b.web = web.New(cfg)
	server.Start()
	b.server, b.url = server, server.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		if err := b.web.Drain(ctx); err != nil {
			t.Errorf("drain: %v", err)
		}
		server.Close()
		if err := db.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return b
}

// browser is a client with cookies that does not follow redirects.
func (b *bench) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// researcher is a browser that is signed in.
func (b *bench) researcher() *http.Client {
	b.t.Helper()
	token, err := b.auth.NewResearcherLink(b.t.Context(), "Ada")
	if err != nil {
		b.t.Fatal(err)
	}
	c := b.browser()
	if r := b.post(c, "/signin", url.Values{"token": {token}}); r.status != http.StatusSeeOther {
		b.t.Fatalf("sign-in: status %d", r.status)
	}
	return c
}

// link makes an annotator link of a session.
func (b *bench) link(id idrl.SessionID) string {
	b.t.Helper()
	token, err := b.auth.NewInvitation(b.t.Context(), id, 10, time.Hour)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.url + "/join/" + token
}

// annotator is a browser that has joined a session.
func (b *bench) annotator(id idrl.SessionID) *http.Client {
	b.t.Helper()
	c := b.browser()
	if r := b.post(c, b.link(id), url.Values{"name": {secretOther}}); r.status != http.StatusSeeOther {
		b.t.Fatalf("join: status %d", r.status)
	}
	return c
}

// reply is what a request brought.
type reply struct {
	status int
	header http.Header
	body   string
}

func (b *bench) get(c *http.Client, path string) reply {
	b.t.Helper()
	return b.send(c, http.MethodGet, path, nil, nil)
}

func (b *bench) post(c *http.Client, path string, form url.Values) reply {
	b.t.Helper()
	return b.send(c, http.MethodPost, path, strings.NewReader(form.Encode()), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
}

func (b *bench) send(c *http.Client, method, path string, body io.Reader, header http.Header) reply {
	b.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = b.url + path
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	return b.sendRequest(c, req)
}

func (b *bench) sendRequest(c *http.Client, req *http.Request) reply {
	b.t.Helper()
	res, err := c.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return reply{status: res.StatusCode, header: res.Header, body: string(text)}
}

// has reports what of the texts r lacks.
func (r reply) lacks(texts ...string) (out []string) {
	for _, s := range texts {
		if !strings.Contains(r.body, s) {
			out = append(out, s)
		}
	}
	return out
}
