package report_test

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/lab/experiment/deep"
	"tiebreak/internal/lab/experiment/report"
	"tiebreak/internal/learn/neural"
)

func deepConfig() deep.Config {
	return deep.Config{Task: "hopper", Method: "idrl:main", Mode: neural.Corrected, Budget: deep.Small(), Seed: 3}
}

// What is kept comes back; another budget, and a file that was changed, count as missing.
func TestDeepStore(t *testing.T) {
	dir, said := t.TempDir(), 0
	s := report.DeepStore{Folder: report.FolderStore(dir, func(string) { said++ })}
	c := deepConfig()
	r := deep.Run{Points: []deep.Point{{Labels: 75, Return: -1.5}, {Labels: 152, Steps: 5000, Return: 1. / 3}}, Answers: 3, LogLoss: 0.1}
	if _, ok := s.Load(c); ok || s.LoadState(c) != nil {
		t.Error("an empty store has a run")
	}
	must.Do(t, s.SaveState(c, []byte("state")))
	if got := s.LoadState(c); string(got) != "state" {
		t.Errorf("checkpoint %q", got)
	}
	other := c
	other.Budget.Labels++
	if s.LoadState(other) != nil {
		t.Error("a checkpoint of other settings is used")
	}
	must.Do(t, s.Save(c, r))
	got, ok := s.Load(c)
	if !ok || got.Points[1] != r.Points[1] || got.LogLoss != r.LogLoss {
		t.Errorf("kept %v, %v", got, ok)
	}
	if s.LoadState(c) != nil {
		t.Error("the checkpoint of a finished run is kept")
	}
	if _, ok := s.Load(other); ok {
		t.Error("a run of other settings is used")
	}
	file := filepath.Join(dir, c.Name(), "idrl-main", "3.json")
	b := must.Get(os.ReadFile(file))(t)
	must.Do(t, os.WriteFile(file, bytes.Replace(b, []byte("-1.5"), []byte("-2.5"), 1), 0o600))
	if _, ok := s.Load(c); ok || said != 3 {
		t.Errorf("a run that was changed is used, or %d warnings are not 3", said)
	}
}

// deepResult has two tasks, two methods and two seeds; scores are known.
func deepResult() deep.Result {
	plan := deep.Plan{Tasks: []string{"hopper", "ant"}, Methods: []string{"idrl", "uniform"}, Mode: neural.Corrected, Budget: deep.Small(), Seeds: 2, FirstSeed: 1}
	r := deep.Result{Plan: plan, Random: []float64{0, -100}, Expert: []float64{200, 300}}
	run := func(values ...float64) deep.Run {
		var out deep.Run
		for i, v := range values {
			out.Points = append(out.Points, deep.Point{Labels: 75 + 10*min(i, 2), Steps: 1000 * i, Return: v})
		}
		return out
	}
	r.Experts = [][]deep.Run{{run(200)}, {run(300)}}
	r.Runs = [][][]deep.Run{
		{{run(0, 20, 40, 60), run(0, 40, 80, 120)}, {run(0, 0, 0, 0), run(0, 20, 20, 20)}},
		{{run(-100, 100, 100, 100), run(-100, 300, 300, 300)}, {run(-100, -100, -100, -100), run(-100, -100, -100, -100)}},
	}
	return r
}

func TestWriteDeep(t *testing.T) {
	dir, again := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, again} {
		must.Do(t, report.WriteDeep(d, "tiebreak-lab bench deep", deepResult()))
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 3+3*2*2 {
		t.Errorf("%d files, %v", len(names), err)
	}
	for _, n := range names {
		a, _ := os.ReadFile(filepath.Join(dir, n.Name()))
		b, _ := os.ReadFile(filepath.Join(again, n.Name()))
		if !bytes.Equal(a, b) || len(a) == 0 {
			t.Errorf("%s differs from one time to the next, or is empty", n.Name())
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "summary.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{} // mean of the last three scores
	for _, row := range rows[1:] {
		got[row[0]+" "+row[1]] = row[3]
	}
	for name, want := range map[string]string{
		"hopper idrl": "30", "hopper uniform": "5", "ant idrl": "75", "ant uniform": "0", "all idrl": "52.5", "all uniform": "2.5",
	} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Mean over tasks", "IDRL", "Uniform", "52.50\u00a0±", "300 comparisons, 100000 steps", "tiebreak-lab bench deep"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
