package labels_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/data/labels"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// npy returns an array of float64 in NumPy's format.
func npy(v []float64, shape ...int) []byte {
	dims := fmt.Sprintf("%d,", len(v))
	if len(shape) > 0 {
		dims = strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]") + ","
	}
	head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }\n", dims)
	out := bytes.NewBufferString("\x93NUMPY\x01\x00")
	_ = binary.Write(out, binary.LittleEndian, uint16(len(head)))
	out.WriteString(head)
	_ = binary.Write(out, binary.LittleEndian, v)
	return out.Bytes()
}

type files map[string][]byte

func (f files) folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range f {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	return dir
}

func good() files {
	return files{
		"human_label_num_3_len_5_x.npy": npy([]float64{0, 1, -1}), "indices_1_num_3_len_5_x.npy": npy([]float64{0, 7, 12}), "indices_2_num_3_len_5_x.npy": npy([]float64{20, 30, 40}),
		"readme.txt": []byte("not looked at"), "label_dummy": []byte("nor this"),
	}
}

// The names of each release are known, and what they say of the length of segments; labels may be
// numbers or probabilities.
func TestRead(t *testing.T) {
	three, rows := npy([]float64{0, 1, -1}), npy([]float64{20, 30, 40}, 3, 1)
	for name, test := range map[string]struct {
		files
		steps int
	}{
		"Uni-RLHF":               {good(), 5},
		"Uni-RLHF, scripted":     {files{"fake_label_num_3_len_200_u.npy": npy([]float64{1, 0, 0, 1, 0.5, 0.5}, 3, 2), "indices_1_num_3_len_200_u.npy": npy([]float64{0, 7, 12}), "indices_2_num_3_len_200_u.npy": rows}, 200},
		"Preference Transformer": {files{"label_human": three, "indices_num3": npy([]float64{0, 7, 12}), "indices_2_num3": rows}, 0},
		"robosuite":              {files{"label_human": three, "indices_num3_q50": npy([]float64{0, 7, 12}), "indices_2_num3_q50": rows}, 50},
		"bundle":                 {files{"human_label.npy": three, "indices_1.npy": npy([]float64{0, 7, 12}), "indices_2.npy": rows, "observations.npy": nil, "comparison.npy": nil}, 0},
	} {
		s, err := labels.Read(test.folder(t))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(s.First, []int{0, 7, 12}) || !slices.Equal(s.Second, []int{20, 30, 40}) || !slices.Equal(s.Choices, []idrl.Choice{"a", "b", "equal"}) || s.Steps != test.steps {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// What is wrong is refused with a code that stays.
func TestReadRefuses(t *testing.T) {
	put := func(name string, b []byte) func(files) { return func(f files) { f[name] = b } }
	const label, first, second = "human_label_num_3_len_5_x.npy", "indices_1_num_3_len_5_x.npy", "indices_2_num_3_len_5_x.npy"
	for _, test := range []struct {
		says   string
		change func(files)
	}{
		{"labels-missing: there is no file of the labels", func(f files) { delete(f, label) }},
		{"labels-missing: there is no file of the segments shown second", func(f files) { delete(f, second) }},
		{"labels-two: human_label_num_3_len_5_x.npy and label_human", put("label_human", npy([]float64{0, 1, 1}))},
		{"labels-two: indices_1_num_3_len_5_x.npy and indices_1_num_3_len_5_y.npy", put("indices_1_num_3_len_5_y.npy", nil)},
		{"labels-names", func(f files) { f["indices_2_num_3_len_5_y.npy"] = f[second]; delete(f, second) }},
		{"labels-length: human_label", put(label, npy([]float64{0, 1}))},
		{"labels-length: there are 2 comparisons, but the names of the files say 3", func(f files) {
			f[label], f[first], f[second] = npy([]float64{0, 1}), npy([]float64{0, 1}), npy([]float64{0, 1})
		}},
		{"labels-length: human_label_num_3_len_5_x.npy is empty", func(f files) { f[label], f[first], f[second] = npy(nil), npy(nil), npy(nil) }},
		{"labels-value: label 1 in human_label_num_3_len_5_x.npy is 2: 0 says", put(label, npy([]float64{0, 2, 1}))},
		{"labels-value: label 1 in", put(label, npy([]float64{0, 0.5, 1}))},
		{"labels-value: label 2 in human_label_num_3_len_5_x.npy is 1 1: (1, 0) says", put(label, npy([]float64{1, 0, 0, 1, 1, 1}, 3, 2))},
		{"labels-array: human_label_num_3_len_5_x.npy has 3 numbers", put(label, npy([]float64{1, 0, 0, 1, 0, 1, 1, 0, 0}, 3, 3))},
		{"labels-array: indices_1_num_3_len_5_x.npy has 2 numbers", put(first, npy([]float64{0, 7, 12, 1, 1, 1}, 3, 2))},
		{"labels-array: indices_1_num_3_len_5_x.npy cannot be read: it goes on", put(first, append(good()[first], 0))},
		{"labels-array", put(first, []byte("text"))},
		{"labels-array", put(first, good()[first][:90])},
		{"labels-row: number 2 of indices_1", put(first, npy([]float64{0, 7, -1}))},
		{"labels-row: number 0 of indices_1", put(first, npy([]float64{0.5, 7, 1}))},
		{"labels-limit", put(first, make([]byte, 9<<20))},
		{"labels-limit: there are 150000 comparisons", func(f files) { // in the labels alone: that they are many comes first
			f[label] = npy(make([]float64, 150_000))
			f[first], f[second] = f[label], f[label]
		}},
		{"labels-limit: human_label", put(label, npy(make([]float64, 250_000)))},
		{"labels-limit: human_label", put(label, npy(make([]float64, 300_000), 150_000, 2))},
	} {
		f := good()
		test.change(f)
		if _, err := labels.Read(f.folder(t)); idrl.KindOf(err) != idrl.Invalid || !strings.HasPrefix(err.Error(), test.says) {
			t.Errorf("%v, want %s", err, test.says)
		}
	}
	if _, err := labels.Read(filepath.Join(t.TempDir(), "none")); idrl.KindOf(err) != idrl.Invalid {
		t.Error(err)
	}
	for name, content := range map[string][]byte{ // by its name alone, or by its content alone
		"human_label_num_3_len_5_x.pkl": []byte("I0\n."), "human_label_num_3_len_5_x.pickle": nil, "human_label_num_3_len_5_x": []byte("\x80\x04]."), label: []byte("\x80\x04]."),
	} {
		f := good()
		delete(f, label)
		f[name] = content
		dir := f.folder(t)
		want := fmt.Sprintf("labels-pickle: %q is a pickle, which can run code and is therefore not read: convert the folder with python docs/examples/labels/arrays.py %q %[3]q, and import %[3]q", name, dir, dir+"-arrays")
		if _, err := labels.Read(dir + "/"); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	f := good()
	delete(f, label)
	f["human_label_num_3_len_5_x.pkl"] = good()[label]
	if _, err := labels.Read(f.folder(t)); err != nil {
		t.Errorf("an array that is called like a pickle: %v", err)
	}
	f = good()
	delete(f, label)
	dir := f.folder(t)
	must.Do(t, os.Symlink("/etc/hostname", filepath.Join(dir, label)))
	if _, err := labels.Read(dir); err == nil || !strings.HasPrefix(err.Error(), "labels-missing") {
		t.Errorf("a link out of the folder: %v", err)
	}
}

// rollouts returns four of ten steps each, in the given rows or one after another.
func rollouts(t *testing.T, begin ...int) *recordings.Set {
	t.Helper()
	dir, into := t.TempDir(), t.TempDir()
	var list []map[string]any
	for i := range 4 {
		v := make([]float64, 20)
		for k := range v {
			v[k] = float64(k * (i + 1) % 7)
		}
		name := fmt.Sprintf("r%d", i)
		must.Do(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(dir, name, "features.npy"), npy(v, 10, 2), 0o600))
		r := map[string]any{"name": name}
		if begin != nil {
			r["row"] = begin[i]
		}
		list = append(list, r)
	}
	b := must.Get(json.Marshal(map[string]any{"format": "tiebreak.rollouts", "version": 1, "shown": false, "step_seconds": 0.1, "clip_steps": 4, "features": []string{"one", "two"}, "rollouts": list}))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, recordings.ManifestName), b, 0o600))
	set := must.Get(recordings.Import(t.Context(), recordings.Config{From: dir, Into: into, Name: "r"}))(t)
	return set
}

// Segments are found by their rows; what goes across the end of a rollout, or is of none, is refused
// or counted, and a comparison of a segment with itself is left out.
func TestJoin(t *testing.T) {
	s := &labels.Set{
		First: []int{0, 10, 29, 36, 7, 5}, Second: []int{16, 0, 2, 26, 0, 5},
		Choices: []idrl.Choice{"a", "b", "equal", "a", "b", "a"},
	}
	all := rollouts(t).Rows()
	if _, _, err := s.Join(all, 4, false); idrl.KindOf(err) != idrl.Invalid || !strings.HasPrefix(err.Error(), "labels-across: 2 of 6") || !strings.Contains(err.Error(), "comparison 2") {
		t.Error(err)
	}
	pairs, counts, err := s.Join(all, 4, true)
	want := []labels.Pair{
		{0, [2]labels.Segment{{0, 0}, {1, 6}}, "a"}, {1, [2]labels.Segment{{1, 0}, {0, 0}}, "b"}, {3, [2]labels.Segment{{3, 6}, {2, 6}}, "a"},
	}
	if err != nil || !slices.Equal(pairs, want) || counts != (labels.Counts{Comparisons: 6, First: 2, Second: 1, Across: 2, Same: 1}) {
		t.Errorf("%v %+v %v", pairs, counts, err)
	}
	beyond := &labels.Set{First: []int{0}, Second: []int{40}, Choices: []idrl.Choice{"a"}}
	if _, _, err := beyond.Join(all, 4, true); err == nil || !strings.HasPrefix(err.Error(), "labels-range: comparison 0 begins in row 40, and the rollouts have 40 steps") {
		t.Error(err)
	}
	some := rollouts(t, 5, 100, 110, 1000).Rows() // the rows 0 to 4, 15 to 99, and so on were not imported
	s = &labels.Set{First: []int{5, 100, 20, 1006, 4}, Second: []int{11, 1000, 5, 110, 5}, Choices: []idrl.Choice{"equal", "a", "a", "b", "a"}}
	if _, _, err := s.Join(some, 4, false); err == nil || !strings.HasPrefix(err.Error(), "labels-rollout: 2 of 5") {
		t.Error(err)
	}
	pairs, counts, err = s.Join(some, 4, true)
	want = []labels.Pair{{0, [2]labels.Segment{{0, 0}, {0, 6}}, "equal"}, {1, [2]labels.Segment{{1, 0}, {3, 0}}, "a"}, {3, [2]labels.Segment{{3, 6}, {2, 0}}, "b"}}
	if err != nil || !slices.Equal(pairs, want) || counts != (labels.Counts{Comparisons: 5, First: 1, Second: 1, Equal: 1, Missing: 2}) {
		t.Errorf("%v %+v %v", pairs, counts, err)
	}
	if _, _, err := s.Join(some, 11, true); err == nil || !strings.Contains(err.Error(), "all 5 are left out") {
		t.Error(err)
	}
}

// Segments are cut from one rollout after another, each of which is kept once.
func TestCut(t *testing.T) {
	set := rollouts(t)
	pairs := []labels.Pair{{0, [2]labels.Segment{{2, 3}, {0, 0}}, "a"}, {1, [2]labels.Segment{{0, 6}, {2, 3}}, "b"}}
	var kept []idrl.StepsID
	clips, err := labels.Cut(t.Context(), set, pairs, 4, func(tr *idrl.Trajectory, episode int) (idrl.StepsID, error) {
		kept = append(kept, idrl.StepsID(fmt.Sprintf("%s.%d", tr.ID, episode)))
		return kept[len(kept)-1], nil
	})
	if want := []idrl.StepsID{"r0.0", "r2.0"}; err != nil || !slices.Equal(kept, want) || len(clips) != 3 {
		t.Fatalf("%d clips; %q, want %q; %v", len(clips), kept, want, err)
	}
	if c := clips[labels.Segment{Rollout: 2, Start: 3}]; c.Raw != kept[1] || c.From != "r2" || c.Start != 3 || c.Steps != 4 {
		t.Errorf("%+v", c)
	}
	broken := errors.New("broken")
	if _, err := labels.Cut(t.Context(), set, pairs, 4, func(*idrl.Trajectory, int) (idrl.StepsID, error) { return "", broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}
