package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// The labels of both releases, and arrays of NumPy, become the same answers: each in its place, of
// the two segments that begin in its rows, equal where they are equal. The posterior points where
// the reward does by which they were given.
//
// In three dimensions a random direction has a cosine above 0.98 with a given one in 1 % of cases,
// and 240 answers without noise leave less than that; a swapped polarity gives -0.98.
func TestLabelsAreLearnt(t *testing.T) {
	t.Parallel()
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
		if counts[-1] < 10 || !strings.Contains(stdout, fmt.Sprintf("%d imported: %d first is better, %d second, %d equal\n", len(given), counts[0], counts[1], counts[-1])) {
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
	if out := mustCLI(t, "questions", "--data", data, "--session", string(learntIn(t, data).rec.Spec.ID), "--out", filepath.Join(t.TempDir(), "asked"), "--to", "3"); !strings.Contains(out, "do not include 3 questions whose clips cannot be measured") {
		t.Errorf("questions of rollouts without pictures: %s", out)
	}
	if c := cosine(learntIn(t, data).mean, labelWeights); c > -0.98 {
		t.Errorf("with the polarity swapped, the cosine is %v", c)
	}
}

// Data sets of D4RL and Minari become rollouts whose steps are, one after another, the rows that
// labels count: of D4RL those of its qlearning_dataset.
func TestLabelsConverted(t *testing.T) {
	t.Parallel()
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
		"d4rl":    {"qlearning", []int{8, 4, 11, 1, 6, 5}, []int{1, 3}}, // the last row of the file is left out
		"minari":  {"all", []int{9, 4, 12, 1, 7, 6}, []int{1, 3, 5}},
		"flat":    {"all", []int{9, 4, 12, 1, 7, 6}, []int{1, 3, 5}},
		"counted": {"qlearning", []int{3, 3, 3}, nil},
	} {
		folder := filepath.Join(dir, name)
		said := do("../../docs/examples/labels/convert.py", filepath.Join(dir, name+".hdf5"), folder, "--rows", test.rows, "--clip-steps", "4", "--max-episode-steps", "4")
		set := must.Get(recordings.Import(t.Context(), recordings.Config{From: folder, Into: t.TempDir(), Name: "x"}))(t)
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
			if want := arrayOf(t, filepath.Join(dir, name+"-"+kind+".npy")); !slices.Equal(got, want) {
				t.Errorf("%s: the %s of the rollouts are not those of the rows", name, kind)
			}
		}
		if want := fmt.Sprintf("%d rollouts, %d rows\n", len(test.rollouts), rows); said != want {
			t.Errorf("%s: %q, want %q", name, said, want)
		}
	}
	refused := exec.CommandContext(t.Context(), python, "../../docs/examples/labels/convert.py", filepath.Join(dir, "shifted.hdf5"), filepath.Join(dir, "shifted"))
	if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out), "have terminals and no timeouts") || strings.Contains(string(out), "Traceback") {
		t.Errorf("data without timeouts: %v %s", err, out)
	}
}

// Released pickles are refused with the command that converts them, and what it writes is read. What
// Python with NumPy writes now is learnt from as what is committed, which an older NumPy wrote.
func TestLabelsOfPython(t *testing.T) {
	t.Parallel()
	python, dir := pythonOf(t), t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, filepath.Join(labelSample, "make.py"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	converted := func(folder string) string {
		status, _, stderr := cli(t, "import", "--labels", folder, "--env", "rollouts-sample", "--data", importedRollouts(t, filepath.Join(dir, "rollouts")))
		_, command, _ := strings.Cut(stderr, " with ")
		command, into, _ := strings.Cut(strings.TrimSpace(command), ", and import ")
		if status == 0 || !strings.Contains(stderr, "labels-pickle: ") || into == "" {
			t.Fatalf("%d %s", status, stderr)
		}
		convert := exec.CommandContext(t.Context(), "sh", "-c", command)
		convert.Dir = "../.."
		convert.Env = append(os.Environ(), "PATH="+filepath.Dir(python)+string(os.PathListSeparator)+os.Getenv("PATH"))
		if out, err := convert.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return strings.Trim(into, `"`)
	}
	data, _ := importedLabels(t, filepath.Join(dir, "rollouts"), converted(filepath.Join(dir, "uni_rlhf")))
	other, _ := importedLabels(t, filepath.Join(dir, "rollouts"), converted(filepath.Join(dir, "preference_transformer")), "--segment-steps", "10")
	got := learntIn(t, data)
	if c := cosine(got.mean, labelWeights); c < 0.98 || len(got.rows) != 240 || !slices.Equal(got.mean, learntIn(t, other).mean) {
		t.Errorf("%d answers, posterior mean %v", len(got.rows), got.mean)
	}
}

// The program that converts pickles has tests of its own.
func TestLabelArrays(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), pythonOf(t), "-W", "error", filepath.Join(labelSample, "test_arrays.py")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// playedBy returns the name of the rollout that raw steps are of.
func playedBy(t *testing.T, set *recordings.Set, raw *idrl.Steps) string {
	t.Helper()
	n, _ := set.Size()
	for i := range n {
		tr, _, err := set.Trajectory(i)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Equal(slices.Concat(tr.Phi...), slices.Concat(raw.Phi...)) {
			return set.RolloutName(i)
		}
	}
	t.Fatal("raw steps are of no rollout")
	return ""
}

// The arrays of a bundle are imported back with the same choices about the same steps.
func TestLabelsOfABundle(t *testing.T) {
	t.Parallel()
	data, _ := importedLabels(t, filepath.Join(labelSample, "rollouts"), filepath.Join(labelSample, "uni_rlhf"))
	before := learntIn(t, data)
	whole := exportedBundle(t, data, before.rec.Spec.ID)
	if _, err := os.Stat(filepath.Join(whole, "learnt", "reward.json")); err != nil {
		t.Errorf("the bundle has no reward: %v", err)
	}
	arrays := filepath.Join(whole, "adapters", "uni_rlhf")

	set := must.Get(recordings.Open(filepath.Join(data, recordings.FolderName, "sample")))(t)
	into := map[int]string{} // rollouts, by the rows in which they begin in the arrays
	db := must.Get(store.Open(t.Context(), data))(t)
	defer db.Close()
	row := 0
	must.Do(t, db.Read(t.Context(), before.rec.Spec.ID, func(r *store.Reading) error {
		return r.Episodes(t.Context(), record.Part{}, func(name idrl.StepsID, content []byte) error {
			raw, err := steps.Decode(name, content)
			if err != nil {
				return err
			}
			into[row] = playedBy(t, set, &raw)
			row += raw.Len()
			return nil
		})
	}))
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
