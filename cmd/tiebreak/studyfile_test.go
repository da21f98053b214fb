package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/study/studyfile"
	"tiebreak/store"
	"tiebreak/web"

	"github.com/google/go-cmp/cmp"
)

// Every setting of the table is in the file, the form, the flags and the documents, and those that
// may change are in session set: there is no other list of them. (That the file, the form and the
// API take what the table takes is tested beside them.)
func TestSettingsAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	var made sessionFlags
	fs := flag.NewFlagSet("session", flag.ContinueOnError)
	made.declare(fs)
	var set setFlags
	changes := flag.NewFlagSet("session set", flag.ContinueOnError)
	set.declare(changes)
	files := map[string]string{"instructions": "instructions-file", "instructions_format": "instructions-file", "consent": "consent-file"} // texts are long
	form, template := web.FormFields(), string(studyfile.Template())
	document := must.Get(os.ReadFile("../../docs/study.md"))(t)
	for _, s := range settings.All() {
		name := s.Flag()
		if s.Key == "instructions_format" || s.Key == "consent" {
			name = files[s.Key]
		}
		if fs.Lookup(name) == nil {
			t.Errorf("%s has no flag", s.Key)
		}
		if (changes.Lookup(name) != nil || changes.Lookup(files[s.Key]) != nil) != s.Changes {
			t.Errorf("%s may change: %v; session set knows otherwise", s.Key, s.Changes)
		}
		if !slices.Contains(form, s.Key) && s.Key != "instructions_format" { // Markdown always
			t.Errorf("%s is not on the form", s.Key)
		}
		if !strings.Contains(template, "\n# "+s.Key+": ") || !strings.Contains(string(document), "| `"+s.Key+"` | ") {
			t.Errorf("%s is not in the template, or not in docs/study.md", s.Key)
		}
	}
	want := settings.Defaults()
	want.InstructionsFormat = idrl.PlainText
	if d := cmp.Diff(settings.Complete(want), settings.Complete(made.spec)); d != "" {
		t.Errorf("defaults of the file (-) and of flags (+):\n%s", d)
	}
}

// A session made of a file has its settings, and gives the same file back.
func TestStudyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, path := filepath.Join(dir, "data"), filepath.Join(dir, "study.yaml")
	write := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("title: \"Walk: the grid\"\nenv: gridworld\nkind: state_comparison\nbudget: 12\nseed: 18446744073709551615\nnoise_std: 0.7\nmin_dwell: 0.5\n" +
		"rating_model: gaussian\nstrength: true\ninstructions: |\n  Look *closely*.\n\n  # Then choose\nconsent: I agree\n")
	mustCLI(t, "session", "create", "-f", path, "--data", data, "--max-rate", "30")
	first := mustCLI(t, "session", "show", "--yaml", "--data", data)
	write(first)
	made := strings.Fields(mustCLI(t, "session", "create", "--data", data, "-f", path))[1]
	if again := mustCLI(t, "session", "show", made, "--yaml", "--data", data); again != first {
		t.Errorf("a session of the file that show writes has other settings:\n%s", cmp.Diff(first, again))
	}
	db, err := store.OpenReadOnly(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list, err := db.Sessions(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	a, b := list[0].Spec, list[1].Spec
	if a.Seed != 1<<64-1 || a.NoiseStd != 0.7 || a.MaxRate != 30 || a.Instructions != "Look *closely*.\n\n# Then choose\n" || a.InstructionsFormat != idrl.Markdown || a.Consent != "I agree" {
		t.Errorf("settings: %+v", a)
	}
	a.ID, a.CreatedAt = b.ID, b.CreatedAt
	if d := cmp.Diff(a, b); d != "" {
		t.Error(d)
	}
	nowhere := filepath.Join(dir, "nowhere")
	for text, want := range map[string]string{
		"title: x\nbudget: 0\n":          path + ":2: budget is 0",
		"title: x\ncolour: red\n":        path + ":2: unknown key \"colour\"",
		"env: mars\n":                    path + ":1: env: unknown environment",
		"title: x\nacquisition: guess\n": path + ":2: acquisition: ",
		"prior: kernel\n":                path + ":1: prior: ",
		"env: gridworld\nbudget: many\n": path + ":2: budget must be",
	} {
		write(text)
		if status, _, stderr := cli(t, "session", "create", "-f", path, "--data", nowhere); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d, %s; want %s", text, status, stderr, want)
		}
	}
	if _, err := os.Stat(nowhere); !os.IsNotExist(err) {
		t.Errorf("a wrong file made a data folder: %v", err)
	}
	write(mustCLI(t, "session", "create", "--template"))
	mustCLI(t, "session", "create", "-f", path, "--data", data)
}
