package main

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/envs/driver"
	"tiebreak/internal/data/recordings"
	"tiebreak/web"

	"github.com/google/go-cmp/cmp"
)

// TestCatalogueOfTheForm: the layout of an environment that cannot be made is
// not asked for.
func TestCatalogueOfTheForm(t *testing.T) {
	t.Parallel()
	entries := envs.List{
		{ID: "ant", Title: "Ant", Description: "Four legs.", Uncaged: "It can use the network.", Unavailable: errors.New("needs the library: install it")},
		envs.Catalogue()[0],
	}
	got := (&choices{list: func() envs.List { return entries }, made: map[string]web.EnvChoice{}}).all()
	want := web.EnvChoice{ID: "ant", Title: "Ant", Description: "Four legs. It can use the network.", Unavailable: "needs the library: install it"}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("an environment that is not available (-want +got):\n%s", diff)
	}
	if got[1].ID != driver.ID || got[1].StillLabel == "" || got[1].Unavailable != "" {
		t.Errorf("an environment that is: %+v", got[1])
	}
}

// TestCatalogueOfRollouts: sets of rollouts come, are opened once, change and go while a program runs.
func TestCatalogueOfRollouts(t *testing.T) {
	t.Parallel()
	data, from := t.TempDir(), walks(t)
	c := must.Get(openCatalogue(own{}.at(data)))(t)
	shown := &choices{list: c.logged(slog.New(slog.DiscardHandler)), made: map[string]web.EnvChoice{}}
	find := func() (envs.Entry, bool) {
		t.Helper()
		list, err := c.now()
		if err != nil {
			t.Fatal(err)
		}
		e, err := list.Find("rollouts-late")
		onForm := slices.ContainsFunc(shown.all(), func(c web.EnvChoice) bool { return c.ID == "rollouts-late" && c.Title == e.Title })
		if (err == nil) != onForm {
			t.Errorf("Find: %v; on the form: %v", err, onForm)
		}
		return e, err == nil
	}
	importThem := func() envs.Entry {
		t.Helper()
		if status, _, stderr := cli(t, "import", "--rollouts", from, "--name", "late", "--data", data); status != 0 {
			t.Fatal(stderr)
		}
		e, ok := find()
		if !ok {
			t.Fatal("rollouts that were imported are not there")
		}
		return e
	}
	if _, ok := find(); ok {
		t.Error("rollouts are there before they are imported")
	}
	first := importThem()
	numbers := filepath.Join(data, recordings.FolderName, "late", "index.json")
	index := must.Get(os.ReadFile(numbers))(t)
	if err := os.WriteFile(numbers, []byte("{"), 0o600); err != nil { // a set is not read again if it was opened
		t.Fatal(err)
	}
	if e, ok := find(); !ok || e.Version != first.Version {
		t.Errorf("a set that was opened is opened again: %+v", e)
	}
	must.Do(t, os.WriteFile(numbers, index, 0o600))
	must.Do(t, os.RemoveAll(filepath.Dir(numbers)))
	if _, ok := find(); ok {
		t.Error("rollouts are there after they are removed")
	}
	b := must.Get(os.ReadFile(filepath.Join(from, recordings.ManifestName)))(t)
	b = bytes.Replace(b, []byte(`"version": 1,`), []byte(`"version": 1, "title": "Other walks",`), 1)
	must.Do(t, os.WriteFile(filepath.Join(from, recordings.ManifestName), b, 0o600))
	if again := importThem(); again.Title != "Other walks" || again.Version == first.Version {
		t.Errorf("another set of that name: %q, version %s, before %s", again.Title, again.Version, first.Version)
	}
}

// TestCatalogueOfUnseenRollouts: of rollouts of which there is nothing to see no session is made by
// the form, which says why.
func TestCatalogueOfUnseenRollouts(t *testing.T) {
	t.Parallel()
	data, _ := importedLabels(t, filepath.Join(labelSample, "rollouts"), filepath.Join(labelSample, "uni_rlhf"))
	list := must.Get(environments(own{}.at(data)))(t)
	for _, c := range (&choices{list: func() envs.List { return list }, made: map[string]web.EnvChoice{}}).all() {
		if unseen := c.ID == "rollouts-sample"; unseen != strings.Contains(c.Unavailable, "no pictures") {
			t.Errorf("%s: %q", c.ID, c.Unavailable)
		}
	}
}

// TestUnavailableEnvironments: of those of this build that cannot be made no
// session is made, and the help says why.
func TestUnavailableEnvironments(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "walk.json")
	must.Do(t, os.WriteFile(path, []byte(`{"connect": "unix:nobody.sock"}`), 0o600))
	p := startServer(t, "serve", "--data", filepath.Join(dir, "data"), "--addr", freeAddr(t), "--outside", path)
	if said := p.out.String(); !strings.Contains(said, `Not available: environment "outside-walk"`) || !strings.Contains(said, "start the program first") {
		t.Errorf("it says:\n%s", said)
	}
}
