package rehearsal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"

	"github.com/google/go-cmp/cmp"
)

// aRun returns a finished run with as many comparisons as regrets, one an answer.
func aRun(seed uint64, regrets ...float64) Run {
	r := Run{Seed: seed, Session: "session, with a comma", Seconds: 1.25}
	for i, v := range regrets {
		r.Rows = append(r.Rows, Comparison{
			Given: i + 1, Seq: int64(i + 2), BasedOn: 1, Policies: 7, Recommended: "g1.p3", Return: 1.0 / 3, Best: 2, BestKnown: 1.5,
			Against: AgainstSearch, Span: 4, Regret: v, RegretKnown: v / 2, Cosine: -0.1, ResponseS: 2.5,
			Shown: idrl.Regret{Tolerance: 0.05, Within: 0.9, Bound: 0.2, Mean: 0.1, Unbeaten: 0.5, Span: 3},
		})
	}
	return r
}

func mustOpen(t *testing.T, file string, settings []Setting) *files {
	t.Helper()
	f := must.Get(openFiles(file, settings))(t)
	return f
}

// What is written is read again, bit for bit; what an interruption cut off is not.
func TestFilesKeepRuns(t *testing.T) {
	file, settings := filepath.Join(t.TempDir(), "runs.csv"), []Setting{{Name: "env", Value: "driver"}, {Name: "answers", Value: "3"}}
	f := mustOpen(t, file, settings)
	want := []Run{aRun(4, 0.5, 0.25, 0), aRun(2, 0.125)}
	for _, r := range want {
		must.Do(t, f.add(r))
	}
	whole := must.Get(os.ReadFile(file))(t)
	for _, left := range []string{"", "9,sess", encoded(aRun(9, 0.5)), encoded(aRun(9, 0.5, 0.25)) + "9,sess"} {
		must.Do(t, extend(file, []byte(left)))
		if diff := cmp.Diff(want, mustOpen(t, file, settings).runs); diff != "" {
			t.Errorf("with %q left by an interruption (-want +got):\n%s", left, diff)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != string(whole) {
			t.Errorf("with %q left the file is not as it was: %v\n%s", left, err, b)
		}
	}
	if err := extend(RunsFile(file), []byte("9,sess,1")); err != nil { // its comparisons are there, but not all of this
		t.Fatal(err)
	}
	if got := mustOpen(t, file, settings).runs; len(got) != len(want) {
		t.Errorf("a run that was cut off counts: %d runs", len(got))
	}
}

func encoded(r Run) string {
	var lines [][]string
	for _, c := range r.Rows {
		lines = append(lines, row{r.Seed, r.Session, c}.write())
	}
	return string(encode(lines))
}

func TestFilesRefuseWhatIsNotTheirs(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "runs.csv")
	must.Do(t, mustOpen(t, file, []Setting{{Name: "env", Value: "driver"}}).add(aRun(1, 0.5)))
	damaged := filepath.Join(dir, "damaged.csv")
	must.Do(t, mustOpen(t, damaged, nil).add(aRun(1, 0.5, 0.25)))
	must.Do(t, os.WriteFile(damaged, encode([][]string{header()}), 0o600))
	other := filepath.Join(dir, "letter.csv")
	must.Do(t, os.WriteFile(other, []byte("Dear Sir,\n"), 0o600))
	for _, test := range []struct {
		name, file string
		settings   []Setting
		kind       idrl.Kind
		says       string
	}{
		{"another setting", file, []Setting{{Name: "env", Value: "chain"}}, idrl.Conflict, "env = driver and not chain"},
		{"a setting more", file, []Setting{{Name: "env", Value: "driver"}, {Name: "kind", Value: "x"}}, idrl.Invalid, "another file"},
		{"comparisons are missing", damaged, nil, idrl.Invalid, "0 comparisons and not 2"},
		{"something else", other, nil, idrl.Invalid, "letter.csv"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := openFiles(test.file, test.settings); idrl.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error = %v, want %q", err, test.says)
			}
		})
	}
	if b, err := os.ReadFile(other); err != nil || string(b) != "Dear Sir,\n" {
		t.Errorf("the other file was changed: %q, %v", b, err)
	}
}

// A file that lacks settings of a later version goes on where they are what its runs had.
func TestFilesOfEarlierVersions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.csv")
	env := Setting{Name: "env", Value: "driver"}
	must.Do(t, mustOpen(t, file, []Setting{env}).add(aRun(1, 0.5)))
	if _, err := openFiles(file, []Setting{env, {Name: "ahead", Value: "4", Later: true, Before: "3"}}); idrl.KindOf(err) != idrl.Conflict || !strings.Contains(err.Error(), "ahead = 3 and not 4") {
		t.Errorf("runs with another value: error %v", err)
	}
	same := []Setting{env, {Name: "ahead", Value: "3", Later: true, Before: "3"}}
	f := mustOpen(t, file, same)
	if diff := cmp.Diff([]Run{aRun(1, 0.5)}, f.runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	must.Do(t, f.add(aRun(2, 0.25)))
	if got := mustOpen(t, file, same).runs; len(got) != 2 {
		t.Errorf("%d runs after one more", len(got))
	}
}

func TestNothingIsKeptWithoutAFile(t *testing.T) {
	if err := mustOpen(t, "", nil).add(aRun(1, 0.5)); err != nil {
		t.Error(err)
	}
}
