package main

import (
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
)

// A visitor is a browser without scripts that follows redirects.
type visitor struct {
	t *testing.T
	c *http.Client
}

func newVisitor(t *testing.T) visitor {
	t.Helper()
	jar := must.Get(cookiejar.New(nil))(t)
	return visitor{t, &http.Client{Jar: jar}}
}

// page returns where a request led, with which status, and the page.
func (v visitor) page(res *http.Response, err error) (path string, status int, body string) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	var b strings.Builder
	if err := res.Write(&b); err != nil {
		v.t.Fatal(err)
	}
	return res.Request.URL.Path, res.StatusCode, b.String()
}

// signIn uses a sign-in link.
func (v visitor) signIn(link string) (path string, status int) {
	v.t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		v.t.Fatal(err)
	}
	path, status, _ = v.page(v.c.PostForm(u.Scheme+"://"+u.Host+"/signin", u.Query()))
	return path, status
}

// typed runs a command line as a person would who copies it from the screen.
func typed(t *testing.T, dir, line string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

var signInLink = regexp.MustCompile(`http\S+/signin\?token=\S+`)

// TestSignInLinks: the first start prints a link. Later ones print the command that
// makes one, as pages do that turn a researcher away; run as printed it works, while
// the server runs and while it does not.
func TestSignInLinks(t *testing.T) {
	t.Parallel()
	data, addr := filepath.Join(t.TempDir(), "the study's data"), freeAddr(t)
	first := startServer(t, "serve", "--data", data, "--addr", addr)
	link := signInLink.FindString(first.out.String())
	v := newVisitor(t)
	if path, status := v.signIn(link); path != "/sessions" || status != http.StatusOK {
		t.Fatalf("the first link leads to %s, status %d", path, status)
	}
	if path, status, _ := v.page(v.c.Get(link)); path != "/sessions" || status != http.StatusOK {
		t.Errorf("the used link leads a browser that is signed in to %s, status %d", path, status)
	}
	stranger := newVisitor(t)
	printed := regexp.MustCompile(`\S+ user link --data .*`)
	for _, path := range []string{link, "http://" + addr + "/sessions", "http://" + addr + "/"} {
		_, _, body := stranger.page(stranger.c.Get(path))
		if !strings.Contains(body, "user link --data &#39;"+filepath.Dir(data)) {
			t.Errorf("%s names no command:\n%s", path, body)
		}
	}
	first.kill()

	again := startServer(t, "serve", "--data", data, "--addr", addr)
	said := again.out.String()
	if signInLink.MatchString(said) {
		t.Errorf("the second start prints a link:\n%s", said)
	}
	line := printed.FindString(said)
	for _, when := range []string{"while the server runs", "while it does not"} {
		if when == "while it does not" {
			again.kill()
		}
		out := typed(t, filepath.Dir(data), line)
		link = signInLink.FindString(out)
		if !strings.HasPrefix(link, "http://"+addr+"/") || !strings.Contains(out, "an hour") {
			t.Fatalf("%s, %q prints:\n%s", when, line, out)
		}
		if when == "while it does not" {
			startServer(t, "serve", "--data", data, "--addr", addr)
		}
		if path, status := newVisitor(t).signIn(link); path != "/sessions" || status != http.StatusOK {
			t.Errorf("%s: the link leads to %s, status %d", when, path, status)
		}
	}
	if entries, err := os.ReadDir(data); err != nil || len(entries) > 6 {
		t.Errorf("files in the data folder: %v, %v", entries, err)
	}
}

// TestFirstLinks: of the links that starts print before anybody has signed in, the last one works alone.
func TestFirstLinks(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	a := must.Get(openApp(ctx, dir, envs.Catalogue, site{}, slog.New(slog.DiscardHandler), os.Args[0]))(t)
	defer func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	}()
	var tokens []string
	for range 3 {
		entry := must.Get(a.researcherEntry(ctx, "http://x", dir))(t)
		_, token, _ := strings.Cut(entry, "token=")
		token, _, _ = strings.Cut(token, " ")
		tokens = append(tokens, token)
	}
	for i, token := range tokens {
		if _, err := a.auth.PeekResearcher(ctx, token); (err == nil) != (i == 2) {
			t.Errorf("link %d of 3: %v", i+1, err)
		}
	}
}

// TestAccountCommands: accounts are added, restored and revoked, and sessions shared, each with words that say so.
func TestAccountCommands(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	id, _ := newLink(t, data, "127.0.0.1:1")
	user := func(args ...string) string {
		t.Helper()
		return mustCLI(t, append([]string{"user", args[0], "--data", data}, args[1:]...)...)
	}
	refused := func(want string, args ...string) {
		t.Helper()
		status, _, stderr := cli(t, append([]string{"user", args[0], "--data", data}, args[1:]...)...)
		if status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("user %v: status %d, %q; want %q", args, status, stderr, want)
		}
	}
	user("add", "--name", "root", "--role", "viewer") // the first one is an admin
	for name, role := range map[string]string{"ada": "researcher", "vi": "viewer"} {
		if out := user("add", "--name", name, "--role", role); !signInLink.MatchString(out) {
			t.Errorf("no link: %s", out)
		}
	}
	refused("already", "add", "--name", "ada")
	refused("unknown role", "add", "--name", "eve", "--role", "boss")
	refused("stands for something else", "add", "--name", byCommand)
	refused("only admin", "revoke", "--name", "root")
	refused("only admin", "role", "--name", "root", "--role", "viewer")
	refused("no account", "revoke", "--name", "eve")
	refused("--name is missing", "revoke")
	refused("none of", "share", "--session", id, "--name", "ada", "--right", "all")
	refused("no session", "share", "--session", "gone", "--name", "ada")
	refused("cannot own", "share", "--session", id, "--name", "vi", "--right", "own")
	if out := user("list", "--session", id); !strings.Contains(out, "Only admins") {
		t.Errorf("who sees a session that nobody owns: %s", out)
	}
	user("share", "--session", id, "--name", "ada", "--right", "own")
	user("share", "--session", id, "--name", "vi", "--right", "export")
	refused("owns the session", "unshare", "--session", id, "--name", "ada")
	if out := user("list", "--session", id); !regexp.MustCompile(`(?s)ada\s+researcher\s+own\s.*vi\s+viewer\s+export`).MatchString(out) {
		t.Errorf("who sees the session: %s", out)
	}
	user("unshare", "--session", id, "--name", "vi")
	if out := user("list", "--session", id); strings.Contains(out, "vi ") {
		t.Errorf("who sees it without vi: %s", out)
	}
	user("role", "--name", "ada", "--role", "admin")
	user("revoke", "--name", "root")
	refused("revoked", "link", "--name", "root")
	if out := user("list"); !regexp.MustCompile(`root\s+admin\s+revoked`).MatchString(out) || !regexp.MustCompile(`ada\s+admin\s+active`).MatchString(out) {
		t.Errorf("the list: %s", out)
	}
	user("role", "--name", "root", "--role", "viewer")
	user("link", "--name", "root")
}

func TestUserCommands(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if status, _, stderr := cli(t, "user", "link", "--data", data); status != 1 || !strings.Contains(stderr, data) {
		t.Errorf("without data: status %d: %s", status, stderr)
	}
	newLink(t, data, "127.0.0.1:1") // makes the folder
	if _, out, _ := cli(t, "user", "list", "--data", data); !strings.Contains(out, "user link --data") {
		t.Errorf("the empty list says:\n%s", out)
	}
	for origin, want := range map[string]string{"https://study.example.org": "https://study.example.org/signin", "": "http://127.0.0.1:8080/signin"} {
		status, out, stderr := cli(t, "user", "link", "--data", data, "--name", "grace", "--origin", origin)
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("link for origin %q: status %d\n%s%s", origin, status, out, stderr)
		}
	}
	if status, _, stderr := cli(t, "user", "link", "--data", data, "--origin", "study"); status != 1 || !strings.Contains(stderr, "--origin") {
		t.Errorf("bad origin: status %d: %s", status, stderr)
	}
	if _, out, _ := cli(t, "user", "list", "--data", data); !regexp.MustCompile(`grace\s+admin\s+active\s+no\s+\S+ \S+\s+0\s+-`).MatchString(out) {
		t.Errorf("the list says:\n%s", out)
	}
	if status, out, _ := cli(t, "user", "logout", "--data", data, "--name", "grace"); status != 0 || !strings.Contains(out, "0 logins ended, 1 unused links revoked") {
		t.Errorf("logout: status %d: %s", status, out)
	}
	if status, _, stderr := cli(t, "user", "logout", "--data", data, "--name", "eve"); status != 1 || !strings.Contains(stderr, "user list") {
		t.Errorf("logout of somebody else: status %d: %s", status, stderr)
	}
	if status, _, stderr := cli(t, "user", "promote"); status != 2 || !strings.Contains(stderr, "user logout") {
		t.Errorf("unknown command: status %d: %s", status, stderr)
	}
}
