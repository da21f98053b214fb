package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// TestExportOfRawSteps: every clip of the export is a part of a line of raw steps, and
// its features are the sum of theirs. Damage is named, and labels are exported still.
func TestExportOfRawSteps(t *testing.T) {
	t.Parallel()
	s := newLabelledFolder(t)
	raw := func() (int, string, string) {
		return cli(t, "export", "--data", s.dir, "--session", string(s.session), "--format", "steps")
	}
	status, text, stderr := raw()
	if status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	type line struct {
		ID           string `json:"steps_id"`
		Observations [][]float64
		Actions      [][]float64
		Features     [][]float64
	}
	lines := map[string]line{}
	for l := range strings.Lines(text) {
		var one line
		must.Do(t, json.Unmarshal([]byte(l), &one))
		if n := len(one.Actions); n == 0 || len(one.Observations) != n+1 || len(one.Features) != n {
			t.Errorf("%s: %d observations, %d actions, %d features", one.ID, len(one.Observations), n, len(one.Features))
		}
		lines[one.ID] = one
	}
	for l := range strings.Lines(s.export) {
		var label map[string]any
		must.Do(t, json.Unmarshal([]byte(l), &label))
		for _, side := range []string{"a", "b"} {
			id, _ := label["steps_"+side].(string)
			start, length := int(label["start_"+side].(float64)), int(label["length_"+side].(float64))
			sum := map[int]float64{}
			for _, row := range lines[id].Features[start : start+length] {
				for k, v := range row {
					sum[k] += v
				}
			}
			k := 0
			for _, v := range label["features_"+side].(map[string]any) {
				near := false
				for _, have := range sum {
					near = near || math.Abs(have-v.(float64)) < 1e-9
				}
				if !near {
					t.Errorf("clip %s: feature %v is none of the sums %v of its raw steps", side, v, sum)
				}
				k++
			}
			if k != len(sum) {
				t.Errorf("clip %s has %d features, its raw steps %d", side, k, len(sum))
			}
		}
	}

	db, err := store.OpenReadOnly(t.Context(), s.dir)
	if err != nil {
		t.Fatal(err)
	}
	var content []byte
	for id := range lines {
		if content, err = db.Steps(t.Context(), s.session, idrl.StepsID(id)); err != nil {
			t.Fatal(err)
		}
	}
	must.Do(t, db.Close())
	if n := s.damage(t, content[:24], make([]byte, 24)); n == 0 {
		t.Fatal("the content is not in the database file")
	}
	if status, _, stderr := raw(); status != 1 || !strings.Contains(stderr, "are damaged") {
		t.Errorf("export of damaged steps: status %d, %s", status, stderr)
	}
	if status, text, _ := cli(t, "doctor", "--data", s.dir); status != 1 || !strings.Contains(text, "Steps     DAMAGED") {
		t.Errorf("doctor: status %d\n%s", status, text)
	}
	if _, again, _ := cli(t, "export", "--data", s.dir, "--session", string(s.session)); again != s.export {
		t.Error("the labels are exported otherwise")
	}
}
