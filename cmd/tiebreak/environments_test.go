package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/envs"
	"tiebreak/envs/driver"
	"tiebreak/web"

	"github.com/google/go-cmp/cmp"
)

// TestCatalogueOfTheForm: the layout of an environment that cannot be made is
// not asked for.
func TestCatalogueOfTheForm(t *testing.T) {
	entries := envs.List{
		{ID: "ant", Title: "Ant", Description: "Four legs.", Unavailable: errors.New("needs the library: install it")},
		envs.Catalogue()[0],
	}
	got := catalogue(entries)
	want := web.EnvChoice{ID: "ant", Title: "Ant", Description: "Four legs.", Unavailable: "needs the library: install it"}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("an environment that is not available (-want +got):\n%s", diff)
	}
	if got[1].ID != driver.ID || got[1].StillLabel == "" || got[1].Unavailable != "" {
		t.Errorf("an environment that is: %+v", got[1])
	}
}

// TestUnavailableEnvironments: of those of this build that cannot be made no
// session is made, and the help says why.
func TestUnavailableEnvironments(t *testing.T) {
	_, help, _ := cli(t, "session", "--help")
	dir := t.TempDir()
	for _, e := range envs.Catalogue() {
		if !strings.Contains(help, e.ID) {
			t.Errorf("session --help does not name %s", e.ID)
		}
		if e.Unavailable == nil {
			continue
		}
		why := e.Unavailable.Error()
		status, _, errs := cli(t, "session", "--data", dir, "--env", e.ID)
		if status != 2 || !strings.Contains(errs, why) || !strings.Contains(strings.Join(strings.Fields(help), " "), why) {
			t.Errorf("session --env %s: status %d, %s; or its help does not say why", e.ID, status, errs)
		}
	}
}

// A server names the environments of the user that do not work, and runs without them.
func TestServeNamesWhatDoesNotWork(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "walk.json")
	if err := os.WriteFile(path, []byte(`{"connect": "unix:nobody.sock"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startServer(t, "serve", "--data", filepath.Join(dir, "data"), "--addr", freeAddr(t), "--outside", path)
	if said := p.out.String(); !strings.Contains(said, `Left out: environment "outside-walk"`) || !strings.Contains(said, "start the program first") {
		t.Errorf("it says:\n%s", said)
	}
}
