package networkstest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/base/networks"
)

// Save writes the two files of a network, and returns the path of the description.
func Save(t *testing.T, n networks.Network) string {
	t.Helper()
	weights, text, err := n.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return SaveFiles(t, weights, text)
}

// SaveFiles is Save for contents that are encoded already.
func SaveFiles(t *testing.T, weights, description []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "network")
	for ext, content := range map[string][]byte{".safetensors": weights, ".json": description} {
		if err := os.WriteFile(name+ext, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return name + ".json"
}

// Evaluate returns what docs/examples/networks.py computes for rows of inputs by the
// network of a description. It fails in continuous integration, and skips elsewhere, if
// Python with numpy is not installed.
func Evaluate(t *testing.T, description string, rows [][]float64) (out [][]float64) {
	t.Helper()
	top := root(t)
	python, script := filepath.Join(top, "internal/check/tools/python/venv/bin/python"), filepath.Join(top, "docs/examples/networks.py")
	if _, err := os.Stat(python); err != nil {
		const missing = "no Python with numpy: run go tool task python"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	if _, err := os.Stat(script); err != nil { // also so that a result is not cached when it changes
		t.Fatal(err)
	}
	cmd := exec.Command(python, script, description)
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = lines(rows), &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	for line := range strings.Lines(string(text)) {
		out = append(out, numbers(t, line))
	}
	if len(out) != len(rows) {
		t.Fatalf("%d outputs for %d rows", len(out), len(rows))
	}
	return out
}

// root returns the folder of the module that the working directory is in.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("the test does not run in the module")
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal(err)
	return ""
}

func lines(rows [][]float64) *bytes.Buffer {
	var out bytes.Buffer
	for _, row := range rows {
		for i, v := range row {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		}
		out.WriteByte('\n')
	}
	return &out
}

func numbers(t *testing.T, line string) (out []float64) {
	t.Helper()
	for _, word := range strings.Split(strings.TrimSpace(line), ",") {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}
