package report_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"

	"github.com/google/go-cmp/cmp"
)

// A kept is a store with one run in it.
type kept struct {
	*report.Folder
	dir, path string
	e         experiment.Experiment
	run       experiment.Run
	warnings  []string
}

// keep saves a run of idrl on seed 7, with numbers that are hard to write.
func keep(t *testing.T) *kept {
	t.Helper()
	k := &kept{dir: filepath.Join(t.TempDir(), "runs")}
	k.e = validated(t, experiment.Config{Figure: "chain", Methods: []string{"idrl", "uniform"}, Seeds: 2, FirstSeed: 7, Answers: 2})
	k.run = experiment.Run{
		Regret: []float64{1.0 / 3, math.SmallestNonzeroFloat64, math.Copysign(0, -1)},
		MSE:    []float64{math.MaxFloat64, 1e21, 123456789.123456789},
		Cosine: []float64{-0.1, math.Nextafter(1, 0), math.Pi},
		Solves: 3, SelectNS: []int64{math.MaxInt64, 0},
	}
	k.Folder = report.FolderStore(k.dir, func(s string) { k.warnings = append(k.warnings, s) })
	k.path = filepath.Join(k.dir, "chain-state-corrected", "idrl", "7.json")
	must.Do(t, k.Save(k.e, "idrl", 7, k.run))
	return k
}

func TestFolderKeepsRuns(t *testing.T) {
	k := keep(t)
	got, ok := k.Load(k.e, "idrl", 7)
	bits := cmp.Transformer("bits", math.Float64bits) // −0 is not 0
	if d := cmp.Diff(k.run, got, bits); !ok || d != "" {
		t.Errorf("loaded %v:\n%s", ok, d)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(k.path), "*"))
	hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(k.path), ".*"))
	if err != nil || len(files) != 1 || len(hidden) != 0 {
		t.Errorf("files %v, %v, error %v", files, hidden, err)
	}
	for _, other := range []struct {
		method string
		seed   uint64
	}{{"uniform", 7}, {"idrl", 8}} {
		if _, ok := k.Load(k.e, other.method, other.seed); ok {
			t.Errorf("a run of %s on seed %d that nobody saved", other.method, other.seed)
		}
	}
	if k.warnings != nil {
		t.Errorf("warned of what is not there: %q", k.warnings)
	}
}

// What does not determine the run does not matter: how many seeds, which, and
// the other methods.
func TestFolderIsForAnyNumberOfSeeds(t *testing.T) {
	k := keep(t)
	e := validated(t, experiment.Config{Figure: "chain", Methods: []string{"igr", "idrl"}, Seeds: 50, FirstSeed: 0, Answers: 2})
	if _, ok := k.Load(e, "idrl", 7); !ok {
		t.Error("not found")
	}
}

// A file is used whole or not at all, wherever writing it stopped.
func TestFolderIgnoresDamage(t *testing.T) {
	k := keep(t)
	whole := must.Get(os.ReadFile(k.path))(t)
	damaged := map[string][]byte{
		"a digit":  bytes.Replace(whole, []byte("0.3333333333333333"), []byte("0.3333333333333334"), 1),
		"an array": bytes.Replace(whole, []byte(`"regret"`), []byte(`"rewards"`), 1),
		"zeros":    make([]byte, len(whole)),
	}
	for n := range len(whole) - 1 { // the last byte is a line feed
		damaged["cut "+string(whole[:n])] = whole[:n]
	}
	for name, data := range damaged {
		must.Do(t, os.WriteFile(k.path, data, 0o600))
		if _, ok := k.Load(k.e, "idrl", 7); ok {
			t.Errorf("%s: used", name)
		}
	}
	if len(k.warnings) != 1 || !strings.Contains(k.warnings[0], k.path+" is damaged") {
		t.Errorf("warnings %q, want one about %s", k.warnings, k.path)
	}
	must.Do(t, k.Save(k.e, "idrl", 7, k.run))
	if _, ok := k.Load(k.e, "idrl", 7); !ok {
		t.Error("not found after it was computed again")
	}
}

// A file of other settings is not used, nor one in the place of another.
func TestFolderIgnoresOtherRuns(t *testing.T) {
	k := keep(t)
	longer := validated(t, experiment.Config{Figure: "chain", Methods: []string{"idrl"}, Seeds: 1, Answers: 3})
	if _, ok := k.Load(longer, "idrl", 7); ok {
		t.Error("a run of two answers for one of three")
	}
	whole := must.Get(os.ReadFile(k.path))(t)
	for _, place := range []string{"chain-state-corrected/idrl/8.json", "chain-state-corrected/uniform/7.json", "chain-state-paper/idrl/7.json"} {
		path := filepath.Join(k.dir, filepath.FromSlash(place))
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, whole, 0o600))
	}
	paper := validated(t, experiment.Config{Figure: "chain", Mode: experiment.Paper, Seeds: 1, Answers: 2})
	_, seed := k.Load(k.e, "idrl", 8)
	_, method := k.Load(k.e, "uniform", 7)
	_, mode := k.Load(paper, "idrl", 7)
	if seed || method || mode {
		t.Errorf("used for another seed %v, method %v, mode %v", seed, method, mode)
	}
	if len(k.warnings) != 2 || !strings.Contains(k.warnings[0], "other settings") || !strings.Contains(k.warnings[1], "chain-state-paper") {
		t.Errorf("warnings %q, want one for each experiment", k.warnings)
	}
}

func TestFolderSaveFails(t *testing.T) {
	k := keep(t)
	bad := k.run
	bad.Regret = []float64{math.NaN(), 0, 0}
	if err := k.Save(k.e, "idrl", 7, bad); err == nil {
		t.Error("saved a NaN")
	}
	if _, ok := k.Load(k.e, "idrl", 7); !ok {
		t.Error("a failed save took the run that was there")
	}
	must.Do(t, os.WriteFile(filepath.Join(k.dir, "chain-state-paper"), nil, 0o600))
	paper := validated(t, experiment.Config{Figure: "chain", Mode: experiment.Paper, Seeds: 1, Answers: 2})
	if err := k.Save(paper, "idrl", 7, k.run); err == nil {
		t.Error("a file in place of the folder: no error")
	}
}

// Methods may be named with a treatment, which no file system need know.
func TestFolderTreatments(t *testing.T) {
	k := keep(t)
	e := validated(t, experiment.Config{Figure: "ties", Seeds: 1, Answers: 2})
	method := e.Methods[0]
	must.Do(t, k.Save(e, method, 1, k.run))
	_, ok := k.Load(e, method, 1)
	found, err := filepath.Glob(filepath.Join(k.dir, "*", strings.ReplaceAll(method, ":", "-"), "1.json"))
	if !ok || err != nil || len(found) != 1 {
		t.Errorf("%s: found %v, files %v, error %v", method, ok, found, err)
	}
}
