package main

import (
	"bytes"
	bytesof "encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/numpy"
	"tiebreak/internal/recordings"
	"tiebreak/internal/training"
	"tiebreak/store"
	"tiebreak/web/client"

	"gonum.org/v1/gonum/floats"
)

// labelSample is the sample that testdata/labels/make.py writes: twelve rollouts, and comparisons of
// segments of ten steps by the reward labelWeights, equal where it differs by less than 1.
const labelSample = "testdata/labels"

var labelWeights = []float64{2, -1, 0.5}

// importedLabels imports rollouts, and labels of them, into a new folder.
func importedLabels(t *testing.T, rollouts, labels string, args ...string) (data string, stdout string) {
	t.Helper()
	data = t.TempDir()
	if status, _, stderr := cli(t, "import", "--rollouts", rollouts, "--name", "sample", "--data", data); status != 0 {
		t.Fatal(stderr)
	}
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
		b, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		a, err := numpy.Read(b, 1000)
		if err != nil {
			t.Fatal(err)
		}
		return a.Numbers
	}
	return read("indices_1*"), read("indices_2*"), read("human_label*")
}

// npyFile writes an array of numbers as numpy.save does.
func npyFile(t *testing.T, path string, v []float64) {
	t.Helper()
	head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }\n", len(v))
	out := bytes.NewBufferString("\x93NUMPY\x01\x00")
	for _, part := range []any{uint16(len(head)), []byte(head), v} {
		if err := bytesof.Write(out, bytesof.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
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
	rec     idrl.Record
	mean    []float64 // of the last belief
	rows    []idrl.Labelled
	members []idrl.Annotator
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
	if err := db.Rows(t.Context(), id, func(r idrl.Labelled) error {
		out.rows = append(out.rows, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
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
	set, err := recordings.Open(filepath.Join(data, recordings.FolderName, "sample"))
	if err != nil {
		t.Fatal(err)
	}
	out, row := map[string]int{}, 0
	n, _, _ := set.Size()
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

// The labels of both releases, and arrays of NumPy, become the same answers: each in its place, of
// the two segments that begin in its rows, equal where they are equal. The posterior points where
// the reward does by which they were given.
//
// In three dimensions a random direction has a cosine above 0.98 with a given one in 1 % of cases,
// and 240 answers without noise leave less than that; a swapped polarity gives -0.98.
func TestLabelsAreLearnt(t *testing.T) {
	first, second, given := released(t, filepath.Join(labelSample, "uni_rlhf"))
	var before labelsLearnt
	for _, test := range []struct {
		name, labels string
		args         []string
	}{
		{"Uni-RLHF", filepath.Join(labelSample, "uni_rlhf"), nil},
		{"Preference Transformer", filepath.Join(labelSample, "preference_transformer"), []string{"--segment-steps", "10"}},
		{"arrays", anArrayFolder(t, first, second, given), []string{"--segment-steps", "10", "--title", "Arrays", "--seed", "7"}},
	} {
		data, stdout := importedLabels(t, filepath.Join(labelSample, "rollouts"), test.labels, test.args...)
		got := learntIn(t, data)
		counts := map[float64]int{}
		for _, v := range given {
			counts[v]++
		}
		if counts[-1] < 10 || !strings.Contains(stdout, fmt.Sprintf("%d taken in: %d first is better, %d second, %d equal\n", len(given), counts[0], counts[1], counts[-1])) {
			t.Errorf("%s: %s", test.name, stdout)
		}
		if len(got.rows) != len(given) || len(got.rec.Snapshots) != len(given) || len(got.members) != 1 || got.members[0].Name != importer {
			t.Fatalf("%s: %d answers, %d beliefs, annotators %+v", test.name, len(got.rows), len(got.rec.Snapshots), got.members)
		}
		begin := begins(t, data)
		rows := slices.Sorted(maps.Values(begin))
		for i, r := range got.rows {
			want := map[float64]idrl.Choice{0: idrl.ChoseA, 1: idrl.ChoseB, -1: idrl.Equal}[given[i]]
			if r.Answer.ID != idrl.AnswerID(fmt.Sprintf("label-%d", i)) || r.Answer.Choice != want || r.Answer.Input != idrl.ImportedInput || r.Answer.Left != "" || r.Answer.Doubts != 0 {
				t.Fatalf("%s: answer %d is %+v, want %s", test.name, i, r.Answer, want)
			}
			for side, row := range []float64{first[i], second[i]} {
				k, found := slices.BinarySearch(rows, int(row))
				if !found {
					k--
				}
				if c := r.Clips[side]; c.Start != int(row)-rows[k] || c.Steps != 10 {
					t.Fatalf("%s: segment %d of comparison %d begins in step %d, want %d of %d", test.name, side, i, c.Start, int(row)-rows[k], rows[k])
				}
			}
		}
		c := cosine(got.mean, labelWeights)
		t.Logf("%s: cosine %.4f", test.name, c)
		if c < 0.98 {
			t.Errorf("%s: the posterior mean is %v, its cosine with %v is %v", test.name, got.mean, labelWeights, c)
		}
		if before.mean != nil && test.name != "arrays" && !slices.Equal(got.mean, before.mean) { // another seed has other candidates, and the same posterior
			t.Errorf("%s: the posterior mean is %v, and %v of the other form", test.name, got.mean, before.mean)
		}
		before = got
		if status, stdout, stderr := cli(t, "doctor", "--data", data); status != 0 || strings.Count(stdout, " sound\n") != 4 {
			t.Errorf("doctor: %s%s", stdout, stderr)
		}
	}
	for i, v := range given {
		given[i] = map[float64]float64{0: 1, 1: 0, -1: -1}[v]
	}
	data, _ := importedLabels(t, filepath.Join(labelSample, "rollouts"), anArrayFolder(t, first, second, given), "--segment-steps", "10")
	if c := cosine(learntIn(t, data).mean, labelWeights); c > -0.98 {
		t.Errorf("with the polarity swapped, the cosine is %v", c)
	}
}

// pythonOf returns Python with numpy and h5py.
func pythonOf(t *testing.T) string {
	t.Helper()
	python, err := filepath.Abs("../../internal/tools/python/venv/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(python); err != nil {
		const missing = "no Python with numpy: run go tool task python"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return python
}

// Data sets of D4RL and Minari become rollouts whose steps are, one after another, the rows that
// labels count: of D4RL those of its qlearning_dataset.
func TestLabelsConverted(t *testing.T) {
	python, dir := pythonOf(t), t.TempDir()
	do := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	do(filepath.Join(labelSample, "hdf5.py"), dir)
	for name, test := range map[string]struct {
		rows     string
		rollouts []int // steps of each
		ended    []int // rollouts that reached a terminal state
	}{
		"d4rl":   {"qlearning", []int{8, 4, 11, 1, 6, 5}, []int{1, 3}}, // the last row of the file is left out
		"minari": {"all", []int{9, 4, 12, 1, 7, 6}, []int{1, 3, 5}},
		"flat":   {"all", []int{9, 4, 12, 1, 7, 6}, []int{1, 3, 5}},
	} {
		folder := filepath.Join(dir, name)
		said := do("../../docs/examples/labels/convert.py", filepath.Join(dir, name+".hdf5"), folder, "--rows", test.rows, "--clip-steps", "4")
		set, err := recordings.Import(t.Context(), recordings.Config{From: folder, Into: t.TempDir(), Name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		var observations, actions []float64
		rows := 0
		for i, n := range test.rollouts {
			tr, _, err := set.Trajectory(i)
			if err != nil {
				t.Fatal(err)
			}
			if tr.Len() != n || (tr.End == idrl.Terminated) != slices.Contains(test.ended, i) {
				t.Errorf("%s: rollout %d has %d steps and ends with %v, want %d", name, i, tr.Len(), tr.End, n)
			}
			rows += tr.Len()
			observations, actions = append(observations, slices.Concat(tr.Obs[:tr.Len()]...)...), append(actions, slices.Concat(tr.Actions...)...)
		}
		for kind, got := range map[string][]float64{"observations": observations, "actions": actions} {
			b, err := os.ReadFile(filepath.Join(dir, name+"-"+kind+".npy"))
			if err != nil {
				t.Fatal(err)
			}
			want, err := numpy.Read(b, 1000)
			if err != nil || !slices.Equal(got, want.Numbers) {
				t.Errorf("%s: the %s of the rollouts are not those of the rows, %v", name, kind, err)
			}
		}
		if want := fmt.Sprintf("%d rollouts, %d rows\n", len(test.rollouts), rows); said != want {
			t.Errorf("%s: %q, want %q", name, said, want)
		}
	}
}

// What Python with NumPy writes now is read as what is committed, which an older NumPy wrote.
func TestLabelsOfPython(t *testing.T) {
	python := pythonOf(t)
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, filepath.Join(labelSample, "make.py"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, _ := importedLabels(t, filepath.Join(dir, "rollouts"), filepath.Join(dir, "uni_rlhf"))
	other, _ := importedLabels(t, filepath.Join(dir, "rollouts"), filepath.Join(dir, "preference_transformer"), "--segment-steps", "10")
	got := learntIn(t, data)
	if c := cosine(got.mean, labelWeights); c < 0.98 || len(got.rows) != 240 || !slices.Equal(got.mean, learntIn(t, other).mean) {
		t.Errorf("%d answers, posterior mean %v", len(got.rows), got.mean)
	}
}

// The arrays of a bundle are imported back with the same choices about the same steps.
func TestLabelsOfABundle(t *testing.T) {
	data, _ := importedLabels(t, filepath.Join(labelSample, "rollouts"), filepath.Join(labelSample, "uni_rlhf"))
	before := learntIn(t, data)
	arrays := filepath.Join(exportedBundle(t, data, before.rec.Spec.ID), "adapters", "uni_rlhf")

	set, err := recordings.Open(filepath.Join(data, recordings.FolderName, "sample"))
	if err != nil {
		t.Fatal(err)
	}
	where, into := map[string]int{}, map[int]string{} // rows of trajectories in the arrays
	db, err := store.Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	row := 0
	if err := db.Read(t.Context(), before.rec.Spec.ID, func(r *store.Reading) error {
		lengths := map[idrl.StepsID]string{}
		if err := r.Clips(t.Context(), idrl.Part{}, func(c idrl.Clip, _ bool) error {
			if strings.HasPrefix(string(c.From), "episode-") {
				lengths[c.Raw] = string(c.From)
			}
			return nil
		}); err != nil {
			return err
		}
		return r.Episodes(t.Context(), idrl.Part{}, func(name idrl.StepsID, _ []byte) error {
			where[lengths[name]], into[row] = row, lengths[name]
			for i := range 12 {
				if set.RolloutName(i) == lengths[name] {
					tr, _, err := set.Trajectory(i)
					if err != nil {
						return err
					}
					row += tr.Len()
				}
			}
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	again := t.TempDir() // the rollouts in the order of the arrays
	var list []map[string]any
	for _, at := range slices.Sorted(maps.Keys(into)) {
		list = append(list, map[string]any{"name": into[at], "row": at})
		b, err := os.ReadFile(filepath.Join(labelSample, "rollouts", into[at]+".npz"))
		if err == nil {
			err = os.WriteFile(filepath.Join(again, into[at]+".npz"), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	withManifest(t, again, func(m map[string]any) { m["rollouts"] = list })
	other, _ := importedLabels(t, again, arrays, "--segment-steps", "10")
	after := learntIn(t, other)
	if len(after.rows) != len(before.rows) || len(before.rows) != 240 {
		t.Fatalf("%d answers, %d before", len(after.rows), len(before.rows))
	}
	for i, r := range after.rows {
		b := before.rows[i]
		if r.Answer.Choice != b.Answer.Choice || !slices.Equal(r.Clips[0].Phi, b.Clips[0].Phi) || !slices.Equal(r.Clips[1].Phi, b.Clips[1].Phi) {
			t.Fatalf("answer %d is %s about %v, and was %s about %v", i, r.Answer.Choice, r.Clips, b.Answer.Choice, b.Clips)
		}
	}
	if !floats.EqualApprox(after.mean, before.mean, 1e-9) {
		t.Errorf("the posterior mean is %v, and was %v", after.mean, before.mean)
	}
}

// withManifest writes the manifest of the sample, changed, into a folder.
func withManifest(t *testing.T, dir string, change func(map[string]any)) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(labelSample, "rollouts", recordings.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]any{}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
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
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(labelSample, "rollouts"))); err != nil {
		t.Fatal(err)
	}
	withManifest(t, dir, func(m map[string]any) { delete(m, "shown") })
	set, err := recordings.Import(t.Context(), recordings.Config{From: filepath.Join(labelSample, "rollouts"), Into: t.TempDir(), Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		tr, _, err := set.Trajectory(i)
		if err != nil {
			t.Fatal(err)
		}
		frames := filepath.Join(dir, fmt.Sprintf("episode-%d", i), "frames")
		if err := os.MkdirAll(frames, 0o700); err != nil {
			t.Fatal(err)
		}
		for k := range tr.Len() + 1 {
			img := image.NewGray(image.Rect(0, 0, 64, 48))
			for y := range 8 {
				for x := range 8 {
					img.SetGray((k+x)%64, 4*(i%10)+y, color.Gray{255})
				}
			}
			var out bytes.Buffer
			if err := png.Encode(&out, img); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(frames, fmt.Sprintf("%d.png", k)), out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// People go on where the labels end: they are asked about clips of the rollouts, and what they answer
// is learnt with the labels. Where there is nothing to see the session is closed, and people are told
// so if a researcher opens it again.
func TestLabelsGoOn(t *testing.T) {
	for _, seen := range []bool{true, false} {
		rollouts := filepath.Join(labelSample, "rollouts")
		if seen {
			rollouts = filmedSample(t)
		}
		data, stdout := importedLabels(t, rollouts, filepath.Join(labelSample, "uni_rlhf"))
		if seen != strings.Contains(stdout, "both clips of 240 comparisons") {
			t.Errorf("seen %v: %s", seen, stdout)
		}
		list, err := environments(own{}.at(data))
		if err != nil {
			t.Fatal(err)
		}
		rec := learntIn(t, data).rec
		id := rec.Spec.ID
		if rec.Settings.State.Ended() == seen {
			t.Errorf("seen %v: the session is %s", seen, rec.Settings.State)
		}
		labelledFolder{dir: data, worker: []string{"sh", "-c", "cat > /dev/null"}}.serve(t, list, func(a *app, base string) {
			s, err := a.manager.Session(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if seen {
				token, err := a.auth.NewInvitation(t.Context(), id, 1, time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				conn, err := client.Dial(t.Context(), base+"/join/"+token)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if err := newLabeller(conn, 3).label(3); err != nil {
					t.Fatal(err)
				}
			} else {
				if _, _, err := a.db.Control(t.Context(), id, idrl.ActResume, "test", time.Now()); err != nil {
					t.Fatal(err)
				}
				if err := s.Follow(t.Context()); err != nil {
					t.Fatal(err)
				}
				offer, err := s.Claim(t.Context(), "a2")
				if err != nil || !offer.Done || len(offer.Open) != 0 || !strings.Contains(offer.Waiting, "nothing to see") {
					t.Errorf("%+v, %v", offer, err)
				}
			}
			status, err := s.Status(t.Context())
			if want := map[bool]int{true: 243, false: 240}[seen]; err != nil || status.Answers != want || len(status.Weights) != 3 || len(status.Regret) == 0 {
				t.Errorf("%d answers, want %d; weights %v; %v", status.Answers, want, status.Weights, err)
			}
			for _, r := range status.Recent {
				if (len(r.Clips) == 2) != seen {
					t.Errorf("answer %d shows the clips %q", r.Answer.Seq, r.Clips)
				}
			}
			for _, who := range status.Annotators {
				if imported := who.Annotator == "a1"; imported && (who.MedianTime != 0 || who.Sided != 0 || who.Answers != 240) {
					t.Errorf("%+v", who)
				}
			}
			media, err := a.db.ClipMedia(t.Context(), id, a.rowClip(t, id))
			if seen != (err == nil && len(media) > 0) {
				t.Errorf("seen %v: the clip of a label has %d bytes, %v", seen, len(media), err)
			}
		})
		if seen {
			continue
		}
		if status, _, stderr := cli(t, "session", "create", "--data", data, "--env", "rollouts-sample", "--acquisition", "igr"); status == 0 || !strings.Contains(stderr, "nobody can be asked") {
			t.Errorf("a session of what cannot be seen: %d %s", status, stderr)
		}
	}
}

// rowClip returns the first clip of the first answer.
func (a *app) rowClip(t *testing.T, id idrl.SessionID) (clip idrl.ClipID) {
	t.Helper()
	if err := a.db.Rows(t.Context(), id, func(r idrl.Labelled) error {
		if clip == "" {
			clip = r.Clips[0].ID
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return clip
}

// An import of labels that is killed, or refused, leaves nothing behind, and can be run again; also
// beside a server.
func TestLabelsAreWhole(t *testing.T) {
	data := t.TempDir()
	if status, _, stderr := cli(t, "import", "--rollouts", filepath.Join(labelSample, "rollouts"), "--name", "sample", "--data", data); status != 0 {
		t.Fatal(stderr)
	}
	args := []string{"import", "--labels", filepath.Join(labelSample, "uni_rlhf"), "--env", "rollouts-sample", "--data", data}
	sessions := func() string {
		_, stdout, _ := cli(t, "export", "--data", data)
		return stdout
	}
	whole := func() int {
		list := sessions()
		if n := strings.Count(list, "\n"); n != strings.Count(list, "  240 answers") {
			t.Fatalf("half an import: %s", list)
		}
		return strings.Count(list, "\n")
	}
	for _, after := range []time.Duration{5, 40, 80, 120, 160, 240, 320} {
		cmd := exec.Command(program(t), args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(after * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		whole()
	}
	n := whole()
	first, second, given := released(t, filepath.Join(labelSample, "uni_rlhf"))
	change := func(list []float64, i int, v float64) []float64 {
		out := slices.Clone(list)
		out[i] = v
		return out
	}
	good := anArrayFolder(t, first, second, given)
	for _, test := range []struct{ says, labels, args string }{
		{"labels-steps: the names", good, ""},
		{"labels-steps: --segment-steps is 9, and", args[2], "--segment-steps 9"},
		{"labels-steps", good, "--segment-steps -1"},
		{"labels-across: ", good, "--segment-steps 11"},
		{"labels-range: comparison 3", anArrayFolder(t, change(first, 3, 5000), second, given), "--segment-steps 10"},
		{"labels-length", anArrayFolder(t, first[1:], second, given), "--segment-steps 10"},
		{"labels-value: label 7", anArrayFolder(t, first, second, change(given, 7, 2)), "--segment-steps 10"},
		{"labels-row: number 7", anArrayFolder(t, change(first, 7, 0.5), second, given), "--segment-steps 10"},
		{"labels-missing", t.TempDir(), ""},
		{"labels-env: gridworld", good, "--env gridworld --segment-steps 10"},
		{"there is no", filepath.Join(data, "none"), ""},
		{"unknown environment", good, "--env rollouts-none --segment-steps 10"},
		{"with --labels give", good, "--name x"},
		{"with --labels give", good, "--rollouts x"},
	} {
		line := append([]string{"import", "--data", data, "--labels", test.labels, "--env", "rollouts-sample"}, strings.Fields(test.args)...)
		if status, _, stderr := cli(t, line...); status == 0 || !strings.Contains(stderr, test.says) {
			t.Errorf("%s: %d %s, want %q", test.args, status, stderr, test.says)
		}
	}
	if status, _, stderr := cli(t, "import", "--data", data, "--title", "x", "b.zip"); status == 0 || !strings.Contains(stderr, "are for --labels") {
		t.Errorf("%d %s", status, stderr)
	}
	if whole() != n {
		t.Errorf("what was refused is there: %s", sessions())
	}
	if status, _, stderr := cli(t, args...); status != 0 {
		t.Fatal(stderr)
	}
	status, stdout, stderr := cli(t, "import", "--data", data, "--labels", good, "--env", "rollouts-sample", "--segment-steps", "14", "--leave-out")
	if status != 0 || !strings.Contains(stdout, "across the end of a rollout") || strings.Contains(stdout, "Left out:    0 ") {
		t.Errorf("%d %s%s", status, stdout, stderr)
	}
	labelledFolder{dir: data}.serve(t, envs.Catalogue(), func(a *app, base string) {
		before, err := a.db.Sessions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if status, _, stderr := cli(t, args...); status != 0 {
			t.Errorf("beside a server: %s", stderr)
		}
		if list, err := a.db.Sessions(t.Context()); err != nil || len(list) != len(before)+1 {
			t.Errorf("the server has %v, %v", list, err)
		}
	})
	if left, _ := filepath.Glob(filepath.Join(data, "import-*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}
