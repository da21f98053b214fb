package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/envs"
	"tiebreak/internal/base/networks/networkstest"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/neural"
	"tiebreak/internal/plan/sac"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

// A learntSession holds the records of a session with a reward network.
type learntSession struct {
	record.Record
	env   idrl.EnvSpec
	steps []idrl.Steps // of trajectories of which clips were answered
}

func readLearnt(t *testing.T, dir string) (out learntSession) {
	t.Helper()
	db, err := store.OpenReadOnly(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list, err := db.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if out.Record, err = db.Load(t.Context(), list[0].Spec.ID); err != nil {
		t.Fatal(err)
	}
	env, err := training.Environment(envs.Catalogue(), out.Spec)
	if err != nil {
		t.Fatal(err)
	}
	out.env = env.Spec()
	var names []idrl.StepsID
	err = db.AnsweredSteps(t.Context(), out.Spec.ID, func(name idrl.StepsID) error {
		names = append(names, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b := must.Get(db.Steps(t.Context(), out.Spec.ID, name))(t)
		s := must.Get(steps.Decode(name, b))(t)
		out.steps = append(out.steps, s)
	}
	return out
}

// reward returns the reward network that was learnt last, under the belief after the last
// answer.
func (l *learntSession) reward(t *testing.T) *neural.Evaluator {
	t.Helper()
	learner, err := training.Learner(envs.Catalogue(), l.Spec)
	if err != nil {
		t.Fatal(err)
	}
	fit, last := l.Fits[len(l.Fits)-1], l.Snapshots[len(l.Snapshots)-1]
	rep, model, err := learner.Open(fit.Version, fit.Content)
	if err != nil {
		t.Fatal(err)
	}
	if last.Representation != fit.Version || last.Seq != int64(len(l.Log)) {
		t.Fatalf("the last belief is of row %d of %d and network %d; the last network is %d", last.Seq, len(l.Log), last.Representation, fit.Version)
	}
	p, err := model.Decode(last.Belief)
	if err != nil {
		t.Fatal(err)
	}
	return rep.(neural.Representation).Model.Evaluator(p.Mean(nil))
}

// asDouble returns rows of single precision, one after another, as a row.
func asDouble(rows ...[]float32) (out []float64) {
	for _, v := range slices.Concat(rows...) {
		out = append(out, float64(v))
	}
	return out
}

// same holds that got is want, to 1e-6 and to 1e-6 of the range of want.
func same(t *testing.T, what string, got, want [][]float64) {
	t.Helper()
	worst, low, high := 0.0, math.Inf(1), math.Inf(-1)
	for i, row := range want {
		if len(got[i]) != len(row) {
			t.Fatalf("%s: %d numbers in Python, %d here", what, len(got[i]), len(row))
		}
		for k, v := range row {
			worst, low, high = max(worst, math.Abs(got[i][k]-v)), min(low, v), max(high, v)
		}
	}
	t.Logf("%s: %d rows, from %.3g to %.3g, at most %.2g apart", what, len(want), low, high, worst)
	if !(worst <= 1e-6*min(1, high-low)) {
		t.Errorf("%s, from %v to %v: Python differs by %v", what, low, high, worst)
	}
}

// compare holds that Python computes from exported files what the program computes from
// its records, on the steps that were shown.
func (l *learntSession) compare(t *testing.T, dir string) {
	t.Helper()
	var rows, want [][]float64
	if len(l.Fits) > 0 {
		e := l.reward(t)
		for _, s := range l.steps {
			for i, a := range s.Actions {
				r := make([]float64, 1)
				e.Reward(r, s.Obs[i], a, 1)
				rows, want = append(rows, asDouble(s.Obs[i], a)), append(want, r)
			}
		}
		same(t, "reward", networkstest.Evaluate(t, filepath.Join(dir, "reward.json"), rows), want)
	}
	for _, c := range l.Generation.Candidates {
		p := must.Get(sac.NewPolicy(l.env, c.Params))(t)
		rows, want = nil, nil
		for _, s := range l.steps {
			for i := range s.Actions {
				obs := asDouble(s.Obs[i])
				rows, want = append(rows, append(obs, float64(i))), append(want, p.ActAt(make(idrl.Action, l.env.Actions.Dim()), obs, i, nil))
			}
		}
		same(t, string(c.ID), networkstest.Evaluate(t, filepath.Join(dir, "policy-"+string(c.ID)+".json"), rows), want)
	}
}

// exportArgs are those of the command that exports what session "s" has learnt.
func exportArgs(data, out string) []string {
	return []string{"export", "--data", data, "--session", "s", "--format", "networks", "--out", out}
}

// TestExportOfNetworks labels a session on a reward network until that was learnt twice
// and policies were trained for it, exports both by the command, and has Python compute
// rewards and actions from the files. The page hands over the same files. What is there is
// not overwritten, and a network that is damaged is named.
func TestExportOfNetworks(t *testing.T) {
	t.Parallel()
	data := labelledData(t, networkSpec())
	l := readLearnt(t, data)
	out := filepath.Join(t.TempDir(), "new", "learnt")
	if status, said, stderr := cli(t, exportArgs(data, out)...); status != 0 || !strings.Contains(said, out) {
		t.Fatalf("status %d: %s%s", status, said, stderr)
	}
	files := folder(t, out)
	var index struct {
		Seq, Network      int64
		Recommended, Main string
		Policies          []struct{ ID, File string }
	}
	must.Do(t, json.Unmarshal(files["index.json"], &index))
	if index.Seq != networkRows || index.Network != 2 || index.Main != string(l.Generation.Candidates[0].ID) || len(index.Policies) < 3 || index.Recommended == "" {
		t.Errorf("%s; want row %d and network 2", files["index.json"], networkRows)
	}
	l.compare(t, out)

	if status, _, stderr := cli(t, exportArgs(data, out)...); status != 1 || !strings.Contains(stderr, "are not overwritten") {
		t.Errorf("a second time: status %d, %s", status, stderr)
	}
	again := t.TempDir() // an empty folder will do
	if status, _, stderr := cli(t, exportArgs(data, again)...); status != 0 {
		t.Errorf("into an empty folder: status %d, %s", status, stderr)
	}
	if d := cmp.Diff(files, folder(t, again)); d != "" {
		t.Errorf("exported again (-first +second):\n%s", d)
	}
	s := labelledFolder{dir: data, session: "s"}
	s.serve(t, envs.Catalogue(), func(a *app, base string) {
		_, header, body := get(t, researcher(t, a, base), base+"/sessions/s/export?format=networks")
		z, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
		if err != nil || len(z.File) != len(files) {
			t.Fatalf("error %v, headers %v", err, header)
		}
		for name, want := range files {
			if got, err := fs.ReadFile(z, "tiebreak-s/"+name); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s from the page is another file, error %v", name, err)
			}
		}
	})

	part := l.Fits[1].Content[len(l.Fits[1].Content)/2:][:32]
	if n := s.damage(t, part, make([]byte, len(part))); n == 0 {
		t.Fatal("the network is not in the database file")
	}
	gone := filepath.Join(t.TempDir(), "gone")
	if status, _, stderr := cli(t, exportArgs(data, gone)...); status != 1 || !strings.Contains(stderr, "version 2 are damaged") {
		t.Errorf("a damaged network: status %d, %s", status, stderr)
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("a damaged network leaves a folder")
	}
}

// folder returns the files of a folder.
func folder(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, e := range entries {
		if out[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestExportOfAgentsUnderFeatures exports a session of hand-made features whose policies
// are trained by soft actor-critic.
func TestExportOfAgentsUnderFeatures(t *testing.T) {
	t.Parallel()
	spec := networkSpec()
	spec.Model, spec.Solver = idrl.FeaturesModel, idrl.ActorCritic
	data := labelledData(t, spec)
	l := readLearnt(t, data)
	out := filepath.Join(t.TempDir(), "learnt")
	if status, _, stderr := cli(t, exportArgs(data, out)...); status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var reward struct {
		Features  []string
		Posterior struct{ Mean []float64 }
	}
	must.Do(t, json.Unmarshal(folder(t, out)["reward.json"], &reward))
	model := must.Get(training.Model(envs.Catalogue(), l.Spec))(t)
	p := must.Get(model.Decode(l.Snapshots[len(l.Snapshots)-1].Belief))(t)
	if !slices.Equal(reward.Posterior.Mean, p.Mean(nil)) || len(reward.Features) != p.Dim() {
		t.Errorf("reward %+v, want the weights %v", reward, p.Mean(nil))
	}
	l.compare(t, out)
}

// The command says what is missing before it touches anything.
func TestExportOfNetworksRefuses(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	db := must.Get(store.Open(t.Context(), data))(t)
	must.Do(t, db.CreateSession(t.Context(), networkSpec()))
	must.Do(t, db.Close())
	out, file := filepath.Join(t.TempDir(), "learnt"), filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, []byte("mine"), 0o600))
	for _, test := range []struct {
		name   string
		args   []string
		status int
		says   string
	}{
		{"nothing learnt yet", exportArgs(data, out), 1, "no reward network yet: the first is learnt from 10 answers"},
		{"no folder", exportArgs(data, ""), 2, "name a new folder for them with --out"},
		{"a folder that is a file", exportArgs(data, file), 1, "are not overwritten"},
		{"a folder for answers", []string{"export", "--data", data, "--session", "s", "--out", out}, 2, "--out is for the formats networks, bundle and lerobot"},
		{"another format", []string{"export", "--data", data, "--format", "onnx"}, 2, "networks"},
		{"another session", append(exportArgs(data, out), "--session", "t"), 1, "lists the sessions"},
	} {
		if status, _, stderr := cli(t, test.args...); status != test.status || !strings.Contains(stderr, test.says) {
			t.Errorf("%s: status %d, %s", test.name, status, stderr)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refusal leaves a folder")
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "mine" {
		t.Errorf("a file that was there is %q, error %v", b, err)
	}
}
