//go:build mujoco

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
)

// TestLibraryOfYourOwn: one command makes the library of a model of one's own, beside it,
// the same whenever it is made. It is found there, until the model changes.
func TestLibraryOfYourOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"cart.json", "cart.xml"} {
		b := must.Get(os.ReadFile(filepath.Join("../../docs/models/cart", name)))(t)
		must.Do(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	found := func() ([]library.Behaviour, error) {
		t.Helper()
		list := must.Get(envs.LoadCustomModels(dir))(t)
		if len(list) != 1 || list[0].Unavailable != nil {
			t.Fatalf("models %v, want the cart alone", list)
		}
		return list[0].Library()
	}
	if b, err := found(); b != nil || err != nil {
		t.Errorf("before it is made there are %d behaviours, error %v", len(b), err)
	}
	out := mustCLI(t, "library", "own-cart", "--models", dir, "--ends=false", "--workers", "1")
	path := filepath.Join(dir, "cart.library.json")
	if !strings.HasPrefix(out, path) {
		t.Errorf("printed %q, want the path %s", out, path)
	}
	once, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mustCLI(t, "library", "own-cart", "--models", dir, "--ends=false", "--workers", "3")
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, once) {
		t.Errorf("made again with more workers it is another file of %d bytes, was %d; error %v", len(again), len(once), err)
	}
	made, err := found()
	if err != nil || len(made) < 8 || len(made[0].Mus) != 3 {
		t.Fatalf("%d behaviours, error %v", len(made), err)
	}
	model := filepath.Join(dir, "cart.xml")
	b, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.WriteFile(model, append(b, '\n'), 0o600))
	if b, err := found(); b != nil || idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "tiebreak-lab library own-cart") {
		t.Errorf("of a changed model: %d behaviours, error %v", len(b), err)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "cart.library.json"), []byte("{"), 0o600))
	if b, err := found(); b != nil || idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("of a damaged file: %d behaviours, error %v", len(b), err)
	}
}

func TestLibraryRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want string }{
		{"library", "name a robot"},
		{"library nosuch", "unknown environment"},
		{"library gridworld", "is not a robot"},
	} {
		status, _, stderr := cli(t, strings.Fields(test.args)...)
		if status == 0 || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: status %d, %q, want %q", test.args, status, stderr, test.want)
		}
	}
}
