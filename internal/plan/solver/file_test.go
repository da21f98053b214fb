package solver_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"github.com/google/go-cmp/cmp"
)

func smallTable() *solver.Table {
	return &solver.Table{
		Params: [][]float64{{1, -0.1, math.Copysign(0, -1)}, {math.SmallestNonzeroFloat64, 1e300, 1.0 / 3}},
		Mu:     [][]float64{{4, 5}, {math.Inf(1), 7}},
	}
}

func TestTableFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	if _, err := solver.LoadTable(path, "key"); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("before it is saved: error = %v, want one of kind NotFound", err)
	}
	for _, key := range []string{"first", "", "key"} { // later ones replace earlier ones
		must.Do(t, solver.SaveTable(path, key, smallTable()))
		got := must.Get(solver.LoadTable(path, key))(t)
		if diff := cmp.Diff(smallTable(), got); diff != "" {
			t.Errorf("table read back (-want +got):\n%s", diff)
		}
		if !math.Signbit(got.Params[0][2]) {
			t.Error("−0 came back as 0")
		}
	}
	if _, err := solver.LoadTable(path, "first"); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("another key: error = %v, want one of kind NotFound", err)
	}
	if names, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(names) != 1 {
		t.Errorf("the folder holds %v, error %v; want the table alone", names, err)
	}
}

// TestTableFileDamaged changes every byte in turn, and cuts the file at every
// length.
func TestTableFileDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	must.Do(t, solver.SaveTable(path, "key", smallTable()))
	whole := must.Get(os.ReadFile(path))(t)
	check := func(what string, at int, b []byte) {
		t.Helper()
		must.Do(t, os.WriteFile(path, b, 0o600))
		if _, err := solver.LoadTable(path, "key"); err == nil || idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s at %d: error = %v, want one of kind Invalid", what, at, err)
		}
	}
	for i := range whole {
		b := slices.Clone(whole)
		b[i] ^= 4
		check("flipped a bit", i, b)
		check("cut", i, whole[:i])
	}
	check("one byte more", len(whole), append(slices.Clone(whole), 0))
}

func TestSaveTableRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	for name, table := range map[string]*solver.Table{
		"empty":         {},
		"half":          {Params: [][]float64{{1}}},
		"ragged params": {Params: [][]float64{{1}, {1, 2}}, Mu: [][]float64{{1}, {1}}},
		"ragged μ":      {Params: [][]float64{{1}, {1}}, Mu: [][]float64{{1}, {}}},
	} {
		if err := solver.SaveTable(path, "key", table); err == nil || idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error = %v, want one of kind Invalid", name, err)
		}
	}
	nowhere := filepath.Join(t.TempDir(), "missing", "table")
	if err := solver.SaveTable(nowhere, "key", smallTable()); err == nil || idrl.KindOf(err) != idrl.Internal {
		t.Errorf("no folder: error = %v, want one of kind Internal", err)
	}
	folder := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(folder, "taken"), 0o700))
	if err := solver.SaveTable(filepath.Join(folder, "taken"), "key", smallTable()); err == nil {
		t.Error("a folder was replaced by a table")
	}
	if names, err := filepath.Glob(filepath.Join(folder, ".table-*")); err != nil || len(names) > 0 {
		t.Errorf("a failed save left %v behind, error %v", names, err)
	}
}
