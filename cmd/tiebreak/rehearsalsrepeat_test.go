package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/study/rehearsed"
)

// keptCommand is the command of docs/study.md, section 6, for runs of a row from a seed on, with --csv in place of --keep.
func keptCommand(r rehearsed.Row, seed uint64, runs int, csv string) []string {
	return []string{
		"--runs", strconv.Itoa(runs), "--env", r.Env, "--kind", string(r.Kind), "--matched", "--right", fmt.Sprint(r.Right), "--pace", fmt.Sprint(r.PaceS, "s"), "--skip-idle", "--await-training",
		"--answers", strconv.Itoa(r.Most()), "--every", strconv.Itoa(r.Answers[0]), "--seed", strconv.FormatUint(seed, 10), "--csv", csv,
	}
}

// regretsAgain has the simulator make runs of a row again, and returns their regrets, rounded as in the row.
func regretsAgain(t *testing.T, r rehearsed.Row, seed uint64, runs int) [][]float64 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "runs.csv")
	simulateRuns(t, keptCommand(r, seed, runs, file)...)
	columns, out := readColumns(t, file), make([][]float64, runs)
	for i, text := range columns["true_regret"] {
		v, err := strconv.ParseFloat(text, 64)
		of, seedErr := strconv.ParseUint(columns["seed"][i], 10, 64)
		if err != nil || seedErr != nil {
			t.Fatal(err, seedErr)
		}
		out[of-seed] = append(out[of-seed], math.Round(1e4*v)/1e4)
	}
	return out
}

// checkKept makes the first runs of a row of the program again.
func checkKept(t *testing.T, env string, kind idrl.QueryKind, runs int) {
	t.Helper()
	row, there := rehearsed.Kept().Find(env, kind)
	if !there || row.Runs() < runs {
		t.Fatalf("there are not %d rehearsals of %s, %s", runs, env, kind)
	}
	for i, got := range regretsAgain(t, row, row.First, runs) {
		if want := row.Regret[i]; !slices.Equal(got, want) {
			t.Errorf("%s, %s, seed %d: the simulator has the regrets %v, kept are %v: make the row again (docs/study.md, section 6)", env, kind, row.First+uint64(i), got, want) //nolint:gosec // few
		}
	}
}

// The rehearsals that the form shows are what the simulator gives: the first ones of two rows.
func TestKeptRehearsalsRepeat(t *testing.T) {
	t.Parallel()
	checkKept(t, "gridworld", idrl.CompareClips, 2)
	checkKept(t, "chain", idrl.CompareStates, 2)
}
