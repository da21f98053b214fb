package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/people/identity"

	bytesof "encoding/binary"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/data/numpy"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

// labelSample is the sample that testdata/labels/make.py makes: twelve rollouts, and comparisons of
// segments of ten steps by the reward labelWeights, equal where it differs by less than 1.
const labelSample = "testdata/labels"

var labelWeights = []float64{2, -1, 0.5}

// importedRollouts imports rollouts into a new folder.
func importedRollouts(t *testing.T, rollouts string) (data string) {
	t.Helper()
	data = t.TempDir()
	if status, _, stderr := cli(t, "import", "--rollouts", rollouts, "--name", "sample", "--data", data); status != 0 {
		t.Fatal(stderr)
	}
	return data
}

// importedLabels imports rollouts, and labels of them, into a new folder.
func importedLabels(t *testing.T, rollouts, labels string, args ...string) (data string, stdout string) {
	t.Helper()
	data = importedRollouts(t, rollouts)
	status, stdout, stderr := cli(t, append([]string{"import", "--labels", labels, "--env", "rollouts-sample", "--data", data}, args...)...)
	if status != 0 {
		t.Fatal(stderr)
	}
	return data, stdout
}

// released returns what the files of the sample say, in their order.
func released(t *testing.T, folder string) (first, second, labels []float64) {
	t.Helper()
	read := func(pattern string) []float64 {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %q, %v", pattern, found, err)
		}
		return arrayOf(t, found[0])
	}
	return read("indices_1*"), read("indices_2*"), read("human_label*")
}

// arrayOf returns the numbers of an array, one row after another.
func arrayOf(t *testing.T, path string) []float64 {
	t.Helper()
	file := must.Get(os.Open(path))(t)
	defer file.Close()
	array := must.Get(numpy.Open(file, 1000))(t)
	rows := must.Get(array.Rows(1000))(t)
	return slices.Concat(rows...)
}

// npyFile writes an array of numbers as numpy.save does.
func npyFile(t *testing.T, path string, v []float64) {
	t.Helper()
	head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }\n", len(v))
	out := bytes.NewBufferString("\x93NUMPY\x01\x00")
	for _, part := range []any{uint16(len(head)), []byte(head), v} {
		must.Do(t, bytesof.Write(out, bytesof.LittleEndian, part))
	}
	must.Do(t, os.WriteFile(path, out.Bytes(), 0o600))
}

// anArrayFolder writes labels as .npy files whose names say nothing.
func anArrayFolder(t *testing.T, first, second, labels []float64) string {
	t.Helper()
	dir := t.TempDir()
	for name, v := range map[string][]float64{"indices_1": first, "indices_2": second, "human_label": labels} {
		npyFile(t, filepath.Join(dir, name+".npy"), v)
	}
	return dir
}

// labelsLearnt is what a data folder holds of its only session.
type labelsLearnt struct {
	rec     record.Record
	mean    []float64 // of the last belief
	rows    []record.Labelled
	members []identity.Annotator
}

func learntIn(t *testing.T, data string) (out labelsLearnt) {
	t.Helper()
	list, err := environments(own{}.at(data))
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	sessions, err := db.Sessions(t.Context())
	if err != nil || len(sessions) != 1 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	id := sessions[0].Spec.ID
	if out.rec, err = db.Load(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	m, err := training.Model(list, out.rec.Spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Decode(out.rec.Snapshots[len(out.rec.Snapshots)-1].Belief)
	if err != nil {
		t.Fatal(err)
	}
	out.mean = p.Mean(nil)
	must.Do(t, db.Rows(t.Context(), id, func(r record.Labelled) error {
		out.rows = append(out.rows, r)
		return nil
	}))
	if out.members, err = db.Annotators(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return out
}

func cosine(a, b []float64) float64 {
	return floats.Dot(a, b) / math.Sqrt(floats.Dot(a, a)*floats.Dot(b, b))
}

// begins are the rows in which the rollouts of the sample begin, by name.
func begins(t *testing.T, data string) map[string]int {
	t.Helper()
	set := must.Get(recordings.Open(filepath.Join(data, recordings.FolderName, "sample")))(t)
	out, row := map[string]int{}, 0
	n, _ := set.Size()
	for i := range n {
		tr, _, err := set.Trajectory(i)
		if err != nil {
			t.Fatal(err)
		}
		out[set.RolloutName(i)] = row
		row += tr.Len()
	}
	return out
}

// pythonOf returns Python with numpy and h5py.
func pythonOf(t *testing.T) string {
	t.Helper()
	python := must.Get(filepath.Abs("../../internal/check/tools/python/venv/bin/python"))(t)
	if _, err := os.Stat(python); err != nil {
		const missing = "no Python with numpy: run go tool task python"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return python
}

// withManifest writes the manifest of the sample, changed, into a folder.
func withManifest(t *testing.T, dir string, change func(map[string]any)) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(labelSample, "rollouts", recordings.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]any{}
	must.Do(t, json.Unmarshal(b, &m))
	change(m)
	if b, err = json.Marshal(m); err == nil {
		err = os.WriteFile(filepath.Join(dir, recordings.ManifestName), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// filmedSample is the rollouts of the sample with pictures.
func filmedSample(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, os.DirFS(filepath.Join(labelSample, "rollouts"))))
	withManifest(t, dir, func(m map[string]any) { delete(m, "shown") })
	set := must.Get(recordings.Import(t.Context(), recordings.Config{From: filepath.Join(labelSample, "rollouts"), Into: t.TempDir(), Name: "x"}))(t)
	for i := range 12 {
		tr, _, err := set.Trajectory(i)
		if err != nil {
			t.Fatal(err)
		}
		frames := filepath.Join(dir, fmt.Sprintf("episode-%d", i), "frames")
		must.Do(t, os.MkdirAll(frames, 0o700))
		for k := range tr.Len() + 1 {
			img := image.NewGray(image.Rect(0, 0, 64, 48))
			for y := range 8 {
				for x := range 8 {
					img.SetGray((k+x)%64, 4*(i%10)+y, color.Gray{255})
				}
			}
			var out bytes.Buffer
			must.Do(t, png.Encode(&out, img))
			must.Do(t, os.WriteFile(filepath.Join(frames, fmt.Sprintf("%d.png", k)), out.Bytes(), 0o600))
		}
	}
	return dir
}

// rowClip returns the first clip of the first answer.
func (a *app) rowClip(t *testing.T, id idrl.SessionID) (clip idrl.ClipID) {
	t.Helper()
	must.Do(t, a.db.Rows(t.Context(), id, func(r record.Labelled) error {
		if clip == "" {
			clip = r.Clips[0].ID
		}
		return nil
	}))
	return clip
}
