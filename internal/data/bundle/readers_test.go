package bundle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/gif"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// pythonEnv names the Python that has the libraries of .ci/readers.txt.
const pythonEnv = "TIEBREAK_READERS"

// accuracies are what the examples must reach at least on comparisons that they were not
// trained on, whose answers follow a reward that is nearly linear in what they are trained
// with. Chance is 0.5.
var accuracies = map[string]float64{"comparisons": 0.95, "imitation": 0.95, "ipl": 0.9, "uni_rlhf": 0.9, "trl": 0.95}

// maxExample is the length of an example, in lines.
const maxExample = 20

// The real libraries load a bundle, agree with what was answered, and learn the reward
// from each of its forms.
func TestReaders(t *testing.T) {
	python := os.Getenv(pythonEnv)
	if python == "" {
		t.Skipf("%s is not set: 'go tool task test:readers' does this", pythonEnv)
	}
	db, dir := studied(t, 600), t.TempDir()
	cfg := configured(db)
	cfg.Clips = "gif"
	cfg.Clip = func(_ context.Context, w io.Writer, id idrl.ClipID, _ string) error {
		return gif.Encode(w, image.NewPaletted(image.Rect(0, 0, 4, 4), color.Palette{color.White, color.Gray{id[0]}}), nil)
	}
	must(t, bundle.Write(t.Context(), bundle.Folder(dir), cfg))
	known, err := json.Marshal(knownAnswers(t, db))
	must(t, err)
	list := filepath.Join(t.TempDir(), "known.json")
	must(t, os.WriteFile(list, known, 0o600))
	stubs, err := filepath.Abs("readers/stubs")
	must(t, err)
	run := func(library, script string, args ...string) string {
		args = append([]string{script}, args...)
		if library == "minari" || library == "datasets" { // what they expect of a data set is there, so that they warn of nothing
			args = append([]string{"-W", "error"}, args...)
		}
		cmd := exec.CommandContext(t.Context(), python, args...)
		cmd.Env = append(os.Environ(), "HF_HOME="+t.TempDir(), "HF_HUB_OFFLINE=1")
		if library == "imitation" { // which loads PyTorch, of which its types need two names
			cmd.Env = append(cmd.Env, "PYTHONPATH="+stubs)
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
		if (library == "minari" || library == "datasets") && bytes.Contains(bytes.ToLower(out), []byte("warn")) {
			t.Errorf("%s warns:\n%s", library, out)
		}
		return string(out)
	}
	for _, library := range []string{"files", "pandas", "pyarrow", "duckdb", "datasets", "minari", "imitation", "ipl", "uni_rlhf", "trl"} {
		if out := run(library, "readers/check.py", dir, list, library); !strings.Contains(out, "ok "+library) {
			t.Errorf("%s was not tried:\n%s", library, out)
		}
	}
	for name, least := range accuracies {
		script := filepath.Join("../../../docs/examples/bundle", "learn_"+name+".py")
		text, err := os.ReadFile(script)
		must(t, err)
		if n := bytes.Count(text, []byte("\n")); n > maxExample {
			t.Errorf("%s has %d lines, at most %d are wanted", script, n, maxExample)
		}
		out := run(name, script, dir)
		t.Logf("%s: %s", name, out)
		m := regexp.MustCompile(`accuracy (\S+) of (\d+)`).FindStringSubmatch(out)
		if m == nil {
			continue
		}
		if got, err := strconv.ParseFloat(m[1], 64); err != nil || !(got >= least) || len(m[2]) < 2 {
			t.Errorf("%s: accuracy %v of %s comparisons, want %v of ten or more", name, got, m[2], least)
		}
	}
}

// knownAnswers are the choices of the clearest comparisons, and of some ties, by the reward
// of the study and not by what is exported.
func knownAnswers(t *testing.T, db *store.DB) map[idrl.AnswerID]string {
	t.Helper()
	out, ties := map[idrl.AnswerID]string{}, 0
	must(t, db.Rows(t.Context(), study, func(r record.Labelled) error {
		if r.Withdrawn || !r.Answer.Informative() {
			return nil
		}
		u := 0.0
		for k, w := range weights {
			u += w * (r.Clips[0].Phi[k] - r.Clips[1].Phi[k])
		}
		switch {
		case u > 2:
			out[r.Answer.ID] = "a"
		case u < -2:
			out[r.Answer.ID] = "b"
		case math.Abs(u) < 0.1 && ties < 5:
			ties++
			out[r.Answer.ID] = "equal"
		}
		return nil
	}))
	if len(out) < 50 || ties < 5 {
		t.Fatalf("%d known answers, %d ties", len(out), ties)
	}
	return out
}
