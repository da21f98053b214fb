package main

import (
	"bufio"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// simulateRuns runs the real program, whose workers are processes of its own.
func simulateRuns(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program(t), append([]string{"simulate"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("simulate %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// readColumns returns the columns of a CSV file by their names.
func readColumns(t *testing.T, file string) map[string][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]string{}
	for i, name := range rows[0] {
		columns[name] = []string{}
		for _, row := range rows[1:] {
			columns[name] = append(columns[name], row[i])
		}
	}
	return columns
}

func TestRuns(t *testing.T) {
	dir := t.TempDir()
	file, data := filepath.Join(dir, "runs.csv"), filepath.Join(dir, "data")
	args := []string{"--parallel", "2", "--env", "gridworld", "--matched", "--answers", "5", "--seed", "7", "--csv", file, "--data", data}
	said := simulateRuns(t, append(args, "--runs", "2")...)
	for _, want := range []string{"2 runs (seeds 7 to 8), 10 comparisons", "true regret within the bound", file, "runs-summary.csv"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in:\n%s", want, said)
		}
	}
	rows := readColumns(t, file)
	slices.Sort(rows["answers"])
	if !slices.Equal(rows["answers"], []string{"1", "1", "2", "2", "3", "3", "4", "4", "5", "5"}) {
		t.Errorf("compared after %v", rows["answers"])
	}
	if _, list, _ := cli(t, "export", "--data", data); strings.Count(list, "5 answers") != 2 {
		t.Errorf("the sessions that are kept:\n%s", list)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	simulateRuns(t, append(args, "--runs", "3")...)
	if after, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(after), string(before)) {
		t.Errorf("a third run changed the first two: %v", err)
	}
	if got := readColumns(t, filepath.Join(dir, "runs-runs.csv"))["seed"]; len(got) != 3 || got[2] != "9" {
		t.Errorf("runs %v, want seeds 7, 8 and then 9", got)
	}
	status, _, errs := cli(t, append([]string{"simulate", "--runs", "3"}, append(args, "--kind", "state_comparison")...)...)
	if status != 1 || !strings.Contains(errs, "kind = clip_comparison and not state_comparison") {
		t.Errorf("runs of another kind into the same file: status %d, %s", status, errs)
	}
}

// With --skip-idle a generation that takes less than the response times arrives a few
// answers after its training began, as it would with a person, and the run takes
// less than the 36 s or so that a person takes.
func TestRunsAtAPersonsPace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.csv")
	simulateRuns(t, "--runs", "1", "--env", "gridworld", "--kind", "state_rating", "--answers", "12", "--pace", "3s", "--skip-idle", "--csv", file)
	rows := readColumns(t, file)
	for i := range rows["answers"] {
		answers, err := strconv.Atoi(rows["answers"][i])
		if err != nil {
			t.Fatal(err)
		}
		trained, err := strconv.Atoi(rows["trained_after"][i])
		if took, _ := strconv.ParseFloat(rows["response_s"][i], 64); err != nil || answers-trained > 6 || !(took > 0.3) {
			t.Errorf("after answer %d the candidates in use were trained after %d, %v; the answer took %v s", answers, trained, err, took)
		}
	}
}

// An interruption is no fault; it says what is kept.
func TestRunsCanBeStopped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.csv")
	cmd := exec.CommandContext(t.Context(), program(t), "simulate", "--runs", "1000", "--env", "gridworld", "--csv", file)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	if !lines.Scan() || !strings.Contains(lines.Text(), "of 1000 runs, ") {
		t.Errorf("the first line is %q", lines.Text())
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	said := ""
	for lines.Scan() {
		said += lines.Text() + "\n"
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said, "of 1000 runs are kept in "+file) {
		t.Errorf("it ended with %v and said:\n%s", err, said)
	}
}
