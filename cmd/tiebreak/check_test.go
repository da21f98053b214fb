package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/installation"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
)

// checked returns what 'tiebreak check' finds, and its status.
func checked(t *testing.T, args ...string) (list []installation.Finding, status int) {
	t.Helper()
	status, out, stderr := cli(t, append([]string{"check", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr)
	}
	return list, status
}

// withoutSpans removes what depends on when it was found.
func withoutSpans(list []installation.Finding) []installation.Finding {
	list = slices.Clone(list)
	return slices.DeleteFunc(list, func(f installation.Finding) bool { return f.Name == "disk space" || f.Name == "clock" })
}

// TestCheck: the command finds what the page of the running server does; with a file, what that would do. The status is 1 while
// something is missing, and 0 when all is done that it says.
func TestCheck(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	must.Do(t, os.Chmod(data, 0o700))
	if list, status := checked(t, "--data", seededFolder(t, data)); status != 1 || find(list, "address").State != installation.Missing || !strings.Contains(find(list, "address").Says, "No server has run") {
		t.Errorf("before the first start: status %d, %+v", status, list)
	}
	a, _ := stuckIn(t, data, 0)
	must.Do(t, a.before.record(t.Context()))
	page := must.Get(a.before.findings(t.Context(), installation.Reach{}))(t)
	list, status := checked(t, "--data", data)
	if diff := cmp.Diff(withoutSpans(page), withoutSpans(list)); diff != "" || status != 1 {
		t.Errorf("status %d, the page and the command differ:\n%s", status, diff)
	}

	files := t.TempDir()
	cert, key := filepath.Join(files, "cert.pem"), filepath.Join(files, "key.pem")
	certify(t, cert, key, 1)
	config := writeConfig(t, "data: "+data+"\norigin: https://127.0.0.1:8443\naddr: 0.0.0.0:8443\ntls-cert: "+cert+"\ntls-key: "+key+"\nbackup-every: 24h\nmetrics: 127.0.0.1:9\nmetrics-anywhere: true\n")
	list, status = checked(t, "--config", config)
	for name, want := range map[string]installation.State{
		"address": installation.Missing, "HTTPS": installation.LookAt, "backups": installation.Missing, "disk of backups": installation.LookAt, "accounts": installation.Missing, "opt-out --metrics-anywhere": installation.LookAt,
		"data folder": installation.OK,
	} {
		if got := find(list, name); got.State != want {
			t.Errorf("by the file, %s: %+v, want %s", name, got, want)
		}
	}
	if status != 1 {
		t.Errorf("status %d", status)
	}
}

// seededFolder makes the database in a data folder.
func seededFolder(t *testing.T, data string) string {
	t.Helper()
	newLink(t, data, "127.0.0.1:1")
	return data
}

func find(list []installation.Finding, name string) installation.Finding {
	for _, f := range list {
		if f.Name == name {
			return f
		}
	}
	return installation.Finding{}
}

// TestCheckIsSatisfied: with an address, backups and a password nothing is missing; a damaged backup is found.
func TestCheckIsSatisfied(t *testing.T) {
	t.Parallel()
	data, into := t.TempDir(), t.TempDir()
	must.Do(t, os.Chmod(data, 0o700))
	seededFolder(t, data)
	config := writeConfig(t, "data: "+data+"\norigin: https://study.example.org\nbackup-every: 24h\nbackup-dir: "+into+"\n")
	must.Do(t, withDatabase(t.Context(), data, func(db *store.DB) error {
		links := auth.New(auth.Config{Store: db, Accounts: db})
		token, err := links.NewLink(t.Context(), "root", identity.Admin)
		if err != nil {
			return err
		}
		if _, _, err = links.RedeemResearcher(t.Context(), token); err != nil {
			return err
		}
		return links.SetPassword(t.Context(), "root", "", "a long enough sentence")
	}))
	backup := filepath.Join(into, "auto-"+time.Now().UTC().Format("20060102T150405.000000000Z")+".tar")
	mustCLI(t, "backup", "--data", data, "--out", backup)
	if list, status := checked(t, "--config", config); status != 0 || find(list, "backups").State != installation.OK || !strings.Contains(find(list, "accounts").Says, "has a password") {
		t.Errorf("status %d, %+v", status, list)
	}
	content := must.Get(os.ReadFile(backup))(t)
	content[len(content)/2] ^= 1
	must.Do(t, os.WriteFile(backup, content, 0o600))
	if list, status := checked(t, "--config", config); status != 1 || find(list, "backups").State != installation.Missing {
		t.Errorf("with a damaged backup: status %d, %+v", status, find(list, "backups"))
	}
	must.Do(t, os.Chmod(data, 0o755))
	if list, _ := checked(t, "--config", config); find(list, "data folder").State != installation.Missing {
		t.Errorf("a folder that others read: %+v", find(list, "data folder"))
	}
	if status, out, stderr := cli(t, "check", "--config", config); status != 1 || !strings.HasPrefix(out, "MISSING ") || !strings.Contains(out, "chmod go-rwx "+data) || !strings.Contains(stderr, " checks say") {
		t.Errorf("status %d:\n%s%s", status, out, stderr)
	}
}

// TestTryAddress: an address is tried by asking for a sign of life.
func TestTryAddress(t *testing.T) {
	t.Parallel()
	says, status := "ok", http.StatusOK
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			t.Errorf("asked for %s", r.URL)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(says))
	}))
	defer server.Close()
	by := server.Client().Transport
	if got := tryAddress(t.Context(), by, server.URL); got.Fault != "" || got.URL != server.URL || !got.Expires.Equal(server.Certificate().NotAfter) {
		t.Errorf("a sound address: %+v", got)
	}
	if got := tryAddress(t.Context(), http.DefaultTransport, server.URL); !strings.Contains(got.Fault, "certificate") {
		t.Errorf("a certificate that nobody trusts: %+v", got)
	}
	if says = "hello"; tryAddress(t.Context(), by, server.URL).Fault != "another program answers there" {
		t.Error("another program is taken for the server")
	}
	if status = http.StatusBadGateway; !strings.Contains(tryAddress(t.Context(), by, server.URL).Fault, "502") {
		t.Error("an error of a proxy is overlooked")
	}
	server.Close()
	if got := tryAddress(t.Context(), by, server.URL); !strings.Contains(got.Fault, "refused") {
		t.Errorf("nothing listens: %+v", got)
	}
	if status, _, stderr := cli(t, "check", "--data", seededFolder(t, t.TempDir()), "--url", "study"); status != 2 || !strings.Contains(stderr, "--url") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestLinksSayRoles: who makes a sign-in link reads the role of the account, and how to make it an admin's.
func TestLinksSayRoles(t *testing.T) {
	t.Parallel()
	data := seededFolder(t, t.TempDir())
	if said := mustCLI(t, "user", "link", "--data", data, "--name", "root"); !strings.Contains(said, "The role of root is admin") {
		t.Errorf("the first account: %s", said)
	}
	said := mustCLI(t, "user", "link", "--data", data, "--name", "ada")
	line := commandLine("user", "role", "--data", data, "--name", "ada", "--role", "admin")
	if !strings.Contains(said, "The role of ada is researcher") || !strings.Contains(said, line) {
		t.Errorf("the second one: %s", said)
	}
}
