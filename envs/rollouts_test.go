package envs_test

import (
	"os"
	"path/filepath"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/data/recordings"
)

// importedRollouts imports two rollouts of one step each under a name, and returns the folder in
// which they are kept.
func importedRollouts(t *testing.T, name string) (into string) {
	t.Helper()
	from, into := t.TempDir(), t.TempDir()
	for file, content := range map[string]string{
		recordings.ManifestName: `{"format": "tiebreak.rollouts", "version": 1, "shown": false, "step_seconds": 1, "clip_steps": 1,
			"features": ["one"], "rollouts": [{"name": "r0"}, {"name": "r1"}]}`,
		"r0/features.npy": "\x93NUMPY\x01\x00\x3c\x00{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1), }\n\x01",
		"r1/features.npy": "\x93NUMPY\x01\x00\x3c\x00{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1), }\n\x02",
	} {
		path := filepath.Join(from, file)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	must.Get(recordings.Import(t.Context(), recordings.Config{From: from, Into: into, Name: name}))(t)
	return into
}

// A set that could not be opened is opened again when it is asked for again: what was wrong with it
// may be past, though its folder has not changed.
func TestRolloutsOpenedAgain(t *testing.T) {
	into := importedRollouts(t, "late")
	index := filepath.Join(into, "late", "index.json")
	whole := must.Get(os.ReadFile(index))(t)
	r := envs.NewRollouts(into)
	for _, test := range []struct {
		content   string
		available bool
	}{{"{", false}, {string(whole), true}, {"{", true}} { // what was opened once is kept
		must.Do(t, os.WriteFile(index, []byte(test.content), 0o600))
		list, err := r.List()
		if err != nil || len(list) != 1 || (list[0].Unavailable == nil) != test.available {
			t.Errorf("%.20q: %+v, %v; want available %v", test.content, list, err, test.available)
		}
	}
}
