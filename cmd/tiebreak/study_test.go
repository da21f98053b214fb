package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/study/settings"
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
	f := must.Get(os.Open(file))(t)
	defer f.Close()
	rows := must.Get(csv.NewReader(f).ReadAll())(t)
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
	t.Parallel()
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
	before := must.Get(os.ReadFile(file))(t)

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

// runsOf returns the settings of runs as a command line has them.
func runsOf(t *testing.T, args ...string) *simulateFlags {
	t.Helper()
	f := new(simulateFlags)
	fs := flag.NewFlagSet("simulate", flag.ContinueOnError)
	f.declare(fs)
	must.Do(t, fs.Parse(args))
	f.annotator.Every = 1 // without --study
	return f
}

// change sets a field of a spec to another value, which need not make sense.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.125)
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Slice:
		v.Set(reflect.ValueOf(idrl.Controls{{Strategy: "uniform", Share: 0.125}}))
	default:
		t.Fatalf("a setting is a %v", v.Kind())
	}
}

// Runs with any other setting are refused for a file, and the refusal names the setting; also
// for a file of an earlier version, in whose runs all settings that it lacks have their defaults.
func TestRunsOfOtherSettings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.csv")
	args := []string{"--runs", "1", "--env", "gridworld", "--answers", "1", "--train-every", "3", "--csv", file}
	simulateRuns(t, args...)
	if status, _, errs := cli(t, append([]string{"simulate", "--questions", "everything"}, args...)...); status != 1 || !strings.Contains(errs, "holds runs with questions = answerable and not everything") {
		t.Errorf("--questions: status %d, %s", status, errs)
	}

	list := filepath.Join(filepath.Dir(file), "runs-runs.csv")
	now := must.Get(os.ReadFile(list))(t)
	records := must.Get(csv.NewReader(bytes.NewReader(now)).ReadAll())(t)
	var earlier bytes.Buffer
	w := csv.NewWriter(&earlier)
	last, rare := slices.Index(records[0], "threshold"), slices.Index(records[0], "conditions")
	for _, r := range records {
		if err := w.Write(slices.Concat(r[:rare], r[rare+2:last+1])); err != nil { // the columns of earlier versions
			t.Fatal(err)
		}
	}
	w.Flush()

	begun := errors.New("a run has begun")
	open := func(f *simulateFlags) (kept int, err error) {
		runs, err := rehearsal.Study{
			Runs: 1, First: 1, Parallel: 1, Settings: f.settings(), File: file,
			Open: func(context.Context, uint64) (rehearsal.Config, error) { return rehearsal.Config{}, begun },
		}.Do(t.Context())
		return len(runs), err
	}
	for version, content := range map[string][]byte{"this": now, "an earlier": earlier.Bytes()} {
		for _, field := range settings.All() {
			must.Do(t, os.WriteFile(list, content, 0o600))
			f := runsOf(t, args...)
			change(t, reflect.ValueOf(field.At(&f.study.spec)).Elem())
			kept, err := open(f)
			if slices.Contains([]string{"title", "seed", "instructions", "instructions_format", "purpose", "consent", "completion_code"}, field.Key) {
				if kept != 1 || err != nil {
					t.Errorf("a file of %s version is refused for another %s: %v", version, field.Key, err)
				}
				continue
			}
			if field.Key == "tie_band" {
				field.Key = "session_tie_band" // a column says that of the annotator
			}
			if idrl.KindOf(err) != idrl.Conflict || !strings.Contains(err.Error(), "holds runs with "+field.Key+" = ") {
				t.Errorf("a file of %s version, another %s: error %v", version, field.Key, err)
			}
		}
		if kept, err := open(runsOf(t, args...)); kept != 1 || err != nil {
			t.Errorf("a file of %s version is not gone on with: %v", version, err)
		}
		if got, err := os.ReadFile(list); err != nil || string(got) != string(now) {
			t.Errorf("the file of %s version is now, with error %v,\n%s", version, err, got)
		}
	}
}

// With --skip-idle a generation that takes less than the response times arrives a few
// answers after its training began, as it would with a person, and the run takes
// less than the 36 s or so that a person takes.
func TestRunsAtAPersonsPace(t *testing.T) {
	t.Parallel()
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

// Runs that are interrupted say what is kept, and the exit status tells it from their end.
func TestRunsCanBeStopped(t *testing.T) {
	t.Parallel()
	for signal, status := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		file := filepath.Join(t.TempDir(), "runs.csv")
		cmd := exec.CommandContext(t.Context(), program(t), "simulate", "--runs", "1000", "--env", "gridworld", "--csv", file)
		stderr := must.Get(cmd.StderrPipe())(t)
		must.Do(t, cmd.Start())
		lines := bufio.NewScanner(stderr)
		if !lines.Scan() || !strings.Contains(lines.Text(), "of 1000 runs, ") {
			t.Errorf("the first line is %q", lines.Text())
		}
		must.Do(t, cmd.Process.Signal(signal))
		said := ""
		for lines.Scan() {
			said += lines.Text() + "\n"
		}
		_ = cmd.Wait() // the status says it
		if got := cmd.ProcessState.ExitCode(); got != status || !strings.Contains(said, "of 1000 runs are kept in "+file) {
			t.Errorf("after %v the exit status is %d, want %d; it said:\n%s", signal, got, status, said)
		}
	}
}
