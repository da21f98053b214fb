package neural_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/neural"
	"tiebreak/internal/nn"
	"tiebreak/internal/rng"
	"tiebreak/internal/safetensors"
)

// evaluate returns what docs/examples/networks.py computes by a network for rows of inputs.
func evaluate(t *testing.T, description string, rows [][]float32) (out [][]float64) {
	t.Helper()
	python, err := filepath.Abs("../tools/python/venv/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(python); err != nil {
		const missing = "no Python with numpy: run go tool task python"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	var in bytes.Buffer
	for _, row := range rows {
		for i, v := range row {
			if i > 0 {
				in.WriteByte(',')
			}
			in.WriteString(strconv.FormatFloat(float64(v), 'g', -1, 32))
		}
		in.WriteByte('\n')
	}
	const script = "../../docs/examples/networks.py"
	if _, err := os.Stat(script); err != nil { // also so that a result is not cached when it changes
		t.Fatal(err)
	}
	cmd := exec.Command(python, script, description)
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = &in, &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	for line := range strings.Lines(string(text)) {
		var row []float64
		for _, word := range strings.Split(strings.TrimSpace(line), ",") {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		out = append(out, row)
	}
	if len(out) != len(rows) {
		t.Fatalf("%d outputs for %d rows", len(out), len(rows))
	}
	return out
}

// save writes the two files of a network, and returns the name of the description.
func save(t *testing.T, weights, description []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "network")
	for ext, content := range map[string][]byte{".safetensors": weights, ".json": description} {
		if err := os.WriteFile(name+ext, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return name + ".json"
}

// What another program computes from the files is what this one computes, to 1e-6.
func TestPythonComputesTheSameReward(t *testing.T) {
	w := newTask(1)
	m := train(t, neural.Config{ObsDim: 5, ActDim: 2, Updates: 300}, w.answers(40), nil, 1)
	text, err := m.Describe()
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float32
	var want []float64
	largest := 0.0
	for range 20 {
		s := w.clip()
		s.Obs[1][2], s.Actions[2][0] = float32(math.NaN()), float32(math.Inf(1))
		for i, a := range s.Actions {
			rows = append(rows, append(append([]float32{}, s.Obs[i]...), a...))
		}
		want = append(want, rewards(m, s)...)
	}
	for i, got := range evaluate(t, save(t, encode(t, m), text), rows) {
		largest = max(largest, math.Abs(want[i]))
		if math.Abs(got[0]-want[i]) > 1e-6 {
			t.Errorf("row %d: %v in Python, %v here", i, got[0], want[i])
		}
	}
	if !(largest > 0.05) {
		t.Errorf("the rewards are at most %v: too small to tell", largest)
	}
}

// The same holds for a policy in the form of docs/networks.md.
func TestPythonComputesTheSameActions(t *testing.T) {
	net, err := nn.New(nn.Config{Sizes: []int{3, 16, 16, 4}, Bias: true})
	if err != nil {
		t.Fatal(err)
	}
	stream := rng.New(1, "policy", 0)
	net.Init(stream)
	var ts []safetensors.Tensor
	var layers []map[string]any
	p, sizes := net.Params(nil), net.Config().Sizes
	for i, out := range sizes[1:] {
		n := out * sizes[i]
		weight, bias := fmt.Sprintf("layers.%d.weight", i), fmt.Sprintf("layers.%d.bias", i)
		ts = append(ts, safetensors.Tensor{Name: weight, Shape: []int{out, sizes[i]}, F32: p[:n]}, safetensors.Tensor{Name: bias, Shape: []int{out}, F32: p[n : n+out]})
		layers = append(layers, map[string]any{"weight": weight, "bias": bias, "shape": []int{out, sizes[i]}, "activation": []string{"leaky_relu", "leaky_relu", "identity"}[i]})
		p = p[n+out:]
	}
	low, high := []float64{-1, 0}, []float64{1, 3}
	text, err := json.Marshal(map[string]any{
		"format": "tiebreak.policy-network", "version": 1, "layers": layers,
		"input":  map[string]any{"observation": 3, "action": 0, "mean": []float64{0, 1, 0}, "scale": []float64{1, 2, 1}},
		"output": map[string]any{"squash": "tanh", "low": low, "high": high},
	})
	if err != nil {
		t.Fatal(err)
	}
	var weights bytes.Buffer
	if err := safetensors.Write(&weights, ts, nil); err != nil {
		t.Fatal(err)
	}
	var rows [][]float32
	for range 50 {
		rows = append(rows, []float32{float32(stream.NormFloat64()), float32(stream.NormFloat64()), float32(stream.NormFloat64())})
	}
	pass := net.NewPass(1)
	for i, got := range evaluate(t, save(t, weights.Bytes(), text), rows) {
		y := pass.Forward([]float32{rows[i][0], (rows[i][1] - 1) * 2, rows[i][2]}, 1)
		for k := range low {
			want := low[k] + (high[k]-low[k])*(math.Tanh(float64(y[k]))+1)/2
			if math.Abs(got[k]-want) > 1e-6 {
				t.Errorf("row %d: action %v in Python, %v here", i, got, want)
			}
		}
	}
}
