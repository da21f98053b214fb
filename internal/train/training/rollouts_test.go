package training

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/trainer"

	"gonum.org/v1/gonum/floats"
)

// pastOf imports rollouts of n policies, two of each: policy k has the features k and -k²/n in
// every step. They are named or not.
func pastOf(t *testing.T, n int, named bool) envs.List {
	t.Helper()
	dir, into := t.TempDir(), t.TempDir()
	var list []string
	for i := range 2 * n {
		k := float64(i % n)
		name := fmt.Sprintf("r%d", i)
		folder := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Join(folder, "frames"), 0o700))
		head := "{'descr': '<f8', 'fortran_order': False, 'shape': (20, 2), }\n"
		b := append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head))), head...)
		for range 20 {
			for _, v := range []float64{k, -k * k / float64(n)} {
				var err error
				if b, err = binary.Append(b, binary.LittleEndian, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		must.Do(t, os.WriteFile(filepath.Join(folder, "features.npy"), b, 0o600))
		for frame := range 21 {
			img := image.NewGray(image.Rect(0, 0, 16, 16))
			img.SetGray(frame%16, i%16, color.Gray{255})
			f := must.Get(os.Create(filepath.Join(folder, "frames", fmt.Sprintf("%d.png", frame))))(t)
			must.Do(t, png.Encode(f, img))
			_ = f.Close()
		}
		policy := ""
		if named {
			policy = fmt.Sprintf(`, "policy": "p%d"`, i%n)
		}
		list = append(list, fmt.Sprintf(`{"name": "%s"%s}`, name, policy))
	}
	m := `{"format": "tiebreak.rollouts", "version": 1, "step_seconds": 0.1, "clip_steps": 10, "features": ["one", "two"], "rollouts": [` + strings.Join(list, ",") + "]}"
	must.Do(t, os.WriteFile(filepath.Join(dir, recordings.ManifestName), []byte(m), 0o600))
	must.Get(recordings.Import(t.Context(), recordings.Config{From: dir, Into: into, Name: "past"}))(t)
	past, err := envs.NewRollouts(into).List()
	if err != nil || len(past) != 1 || past[0].Unavailable != nil {
		t.Fatalf("%+v, %v", past, err)
	}
	return past
}

// The pool is every policy that acted, with what it did; candidates are the best of them for
// draws of the weights; and all questions are about clips of the rollouts.
func TestGenerationsOfRollouts(t *testing.T) {
	for by, steps := range map[string]float64{idrl.AutoReturn: 1, idrl.MeanReturn: 1, idrl.SumReturn: 20} {
		t.Run(by, func(t *testing.T) { generationsOfRollouts(t, by, steps) })
	}
}

// generationsOfRollouts compares policies by a return, which is that of so many steps.
func generationsOfRollouts(t *testing.T, by string, steps float64) {
	t.Helper()
	const n = 6
	list := pastOf(t, n, true)
	spec, err := Complete(list, settings.Complete(idrl.SessionSpec{ID: "s", Title: "Past", Env: list[0].Ref(), Seed: 3, Return: by}))
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, CheckSpec(list, spec))
	m, err := Model(list, spec)
	if err != nil {
		t.Fatal(err)
	}
	trains := &Local{Handler: &Handler{Envs: func() envs.List { return list }}, Spec: spec, Model: m}
	g, err := trains.Train(t.Context(), idrl.TrainJob{Posterior: m.Prior(), Seed: spec.Seed, First: true})
	if err != nil {
		t.Fatal(err)
	}
	mu := func(k int) []float64 { return []float64{steps * float64(k), -steps * float64(k*k) / n} }
	if len(g.Pool) != n {
		t.Fatalf("a pool of %d", len(g.Pool))
	}
	for k, c := range g.Pool {
		if c.Origin != idrl.FromGiven || !floats.EqualApprox(c.Mu, mu(k), 1e-9) || len(c.Rollouts) != 2 {
			t.Errorf("policy %d: %+v", k, c)
		}
	}
	for _, c := range g.Candidates {
		for k := range n {
			if floats.Dot(c.Theta, mu(k)) > floats.Dot(c.Theta, c.Mu)+1e-9 {
				t.Errorf("candidate %s is policy %v, but %d is better for its weights", c.ID, c.Params, k)
			}
		}
	}
	if len(g.Candidates) != learning.OfSession(spec).Samples+1 || len(g.Queries) == 0 {
		t.Errorf("%d candidates, %d questions", len(g.Candidates), len(g.Queries))
	}
	set, err := Recorded(list, spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range slices.Concat(g.Pool, g.Candidates) {
		p, ok := Acted(set, c)
		if k, pooled := trainer.PoolPlace(c.ID); !ok || !floats.EqualApprox(p.Mu(), floats.ScaleTo(make([]float64, 2), 20/steps, c.Mu), 1e-9) || p.Length() != 20 || pooled && p.Name() != fmt.Sprintf("p%d", k) {
			t.Errorf("policy %s is %v %s, %v", c.ID, ok, p.Name(), c.Mu)
		}
	}
	for _, c := range []idrl.Candidate{{ID: "pool.p6"}, {ID: "pool.p-1"}, {ID: "pool.px"}, {ID: "g3.p1"}, {ID: "g3.p1", Params: []float64{6}}, {ID: "g3.p1", Params: []float64{1, 2}}} {
		if p, ok := Acted(set, c); ok {
			t.Errorf("%+v is said to be %s", c, p.Name())
		}
	}
	if _, ok := Acted(nil, g.Pool[0]); ok {
		t.Error("a policy acted in no rollouts")
	}
	for id, c := range g.Clips {
		if len(c.Media) < 4 || string(c.Media[:4]) != "TBF1" || c.Steps != 10 || c.Raw == "" {
			t.Errorf("clip %s of %d steps: %.4q", id, c.Steps, c.Media)
		}
	}
	again, err := (&Local{Handler: &Handler{Envs: func() envs.List { return list }}, Spec: spec, Model: m}).Train(t.Context(), idrl.TrainJob{Posterior: m.Prior(), Seed: spec.Seed, First: true})
	if err != nil || !slices.EqualFunc(again.Queries, g.Queries, func(a, b idrl.Query) bool { return a.ID == b.ID }) {
		t.Errorf("other questions the second time, %v", err)
	}
}

// The mean reward of a step is for rollouts: policies that are trained have the sum.
func TestReturnOfTrainedPolicies(t *testing.T) {
	spec, err := Complete(envs.Catalogue(), settings.Complete(idrl.SessionSpec{Title: "T", Env: "driver"}))
	if err != nil || spec.Return != idrl.SumReturn || CheckSpec(envs.Catalogue(), spec) != nil {
		t.Errorf("return %q, %v, %v", spec.Return, err, CheckSpec(envs.Catalogue(), spec))
	}
	spec.Return = idrl.MeanReturn
	if err := CheckSpec(envs.Catalogue(), spec); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "rollouts that were imported") {
		t.Errorf("error = %v, want one that says what the mean is for", err)
	}
}

// What needs a simulator, or to know who acted, is refused with what to do instead.
func TestRefusedOfRollouts(t *testing.T) {
	named, unnamed := pastOf(t, 3, true), pastOf(t, 3, false)
	for _, test := range []struct {
		list   envs.List
		change func(*idrl.SessionSpec)
		says   string
	}{
		{named, func(s *idrl.SessionSpec) { s.Acquisition = "idrl" }, ""},
		{named, func(s *idrl.SessionSpec) { s.Model = idrl.NetworkModel }, "rollouts have none"},
		{named, func(s *idrl.SessionSpec) { s.Solver = idrl.GaitSolver }, "rollouts have none"},
		{unnamed, func(*idrl.SessionSpec) {}, "which policy acted"},
		{unnamed, func(s *idrl.SessionSpec) { s.Acquisition = "idrl" }, "which policy acted"},
		{unnamed, func(s *idrl.SessionSpec) { s.Acquisition = "igr" }, ""},
	} {
		spec := idrl.SessionSpec{ID: "s", Title: "Past", Env: test.list[0].Ref(), Seed: 1}
		test.change(&spec)
		err := CheckSpec(test.list, settings.Complete(spec))
		if (test.says == "") != (err == nil) || err != nil && (idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: %v, want %q", spec.Acquisition, err, test.says)
		}
	}
}
