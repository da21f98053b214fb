package recordings_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/envs/envtest"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/train/trainer"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const (
	steps  = 30
	wide   = 96 // pixels
	high   = 32
	perBit = 12
)

// shown is the picture of frame i of rollout k: above, bars that are the bits of i, and below a
// grey that says which rollout it is.
func shown(k, i int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, wide, high))
	for y := range high {
		for x := range wide {
			c := color.RGBA{A: 255}
			if y >= high/2 {
				c = color.RGBA{uint8(30 * k), uint8(30 * k), uint8(30 * k), 255}
			} else if i>>(x/perBit)&1 == 1 {
				c = color.RGBA{255, 255, 255, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

// read returns which frame of which rollout a picture shows.
func read(img image.Image) (k, i int) {
	for b := range wide / perBit {
		if r, _, _, _ := img.At(perBit*b+perBit/2, high/4).RGBA(); r > 0x8000 {
			i |= 1 << b
		}
	}
	r, _, _, _ := img.At(wide/2, 3*high/4).RGBA()
	return int(math.Round(float64(r>>8) / 30)), i
}

// npy returns an array in NumPy's format.
func npy(kind string, data any, shape ...int) []byte {
	var out bytes.Buffer
	dims := ""
	for _, n := range shape {
		dims += fmt.Sprintf("%d, ", n)
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", kind, strings.TrimSuffix(dims, " "))
	out.WriteString("\x93NUMPY\x01\x00")
	_ = binary.Write(&out, binary.LittleEndian, uint16(len(head)))
	out.WriteString(head)
	_ = binary.Write(&out, binary.LittleEndian, data)
	return out.Bytes()
}

// numbers of rollout k.
func obs(k, t, j int) float64 { return float64(k) + 0.1*float64(t)*float64(j+1) }

func act(k, t, j int) float64 { return math.Sin(float64(k + t*j)) }

func phi(k, t, j int) float64 { return float64(k*(j+1)) + math.Cos(float64(t*(j+2))) }

func rows(f func(k, t, j int) float64, k, n, d int) (out []float64) {
	for t := range n {
		for j := range d {
			out = append(out, f(k, t, j))
		}
	}
	return out
}

// A sample is the files of a folder of rollouts, by name.
type sample map[string][]byte

func (s sample) json(t testing.TB, change func(map[string]any)) sample {
	t.Helper()
	m := map[string]any{}
	must(t, json.Unmarshal(s["rollouts.json"], &m))
	change(m)
	b, err := json.Marshal(m)
	must(t, err)
	s["rollouts.json"] = b
	return s
}

func (s sample) folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range s {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, b, 0o600))
	}
	return dir
}

// made returns four rollouts of two policies with everything that may be given: arrays in
// NPZ files, or one by one; pictures as an array, as files, or as scenes. A test may change what it got.
func made(t testing.TB, form string) sample {
	t.Helper()
	s, is := samples.Load(form)
	if !is {
		s, _ = samples.LoadOrStore(form, encoded(t, form))
	}
	return maps.Clone(s.(sample))
}

// samples are those that made has encoded, by their forms.
var samples sync.Map

func encoded(t testing.TB, form string) sample {
	t.Helper()
	s := sample{"rollouts.json": []byte(`{"format": "tiebreak.rollouts", "version": 1, "step_seconds": 0.05, "clip_steps": 10, "discount": 0.9, "features": ["one", "two"], "rollouts": [
		{"name": "a0", "policy": "alpha", "happens": "rises"}, {"name": "b0", "policy": "beta", "terminated": true, "happens": "falls", "useless": true},
		{"name": "a1", "policy": "alpha", "happens": "rises"}, {"name": "b1", "policy": "beta", "happens": "sways"}]}`)}
	for k, name := range []string{"a0", "b0", "a1", "b1"} {
		arrays := map[string][]byte{
			"observations": npy("<f8", rows(obs, k, steps+1, 3), steps+1, 3),
			"actions":      npy("<f8", rows(act, k, steps, 2), steps, 2),
			"features":     npy("<f8", rows(phi, k, steps, 2), steps, 2),
		}
		switch form {
		case "arrays":
			var pixels []byte
			for i := range steps + 1 {
				img := shown(k, i)
				for p := 0; p < len(img.Pix); p += 4 {
					pixels = append(pixels, img.Pix[p:p+3]...)
				}
			}
			arrays["frames"] = npy("|u1", pixels, steps+1, high, wide, 3)
		case "scenes":
			var list []string
			for i := range steps + 1 {
				list = append(list, fmt.Sprintf(`{"camera":{"x":0,"y":0,"w":40,"h":10},"static":[],"moving":[{"kind":"circle","paint":"agent","size":1,"points":[%d,0]}]}`, i))
			}
			s[name+".scene.json"] = []byte("[" + strings.Join(list, ",") + "]")
		case "files":
			for i := range steps + 1 {
				var out bytes.Buffer
				must(t, png.Encode(&out, shown(k, i)))
				s[fmt.Sprintf("%s/frames/%d.png", name, i)] = out.Bytes() // 10.png comes after 9.png
			}
		}
		if form == "arrays" {
			s[name+".npz"] = zipped(t, arrays)
			continue
		}
		for array, b := range arrays {
			s[name+"/"+array+".npy"] = b
		}
	}
	return s
}

func zipped(t testing.TB, arrays map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, b := range arrays {
		w, err := z.Create(name + ".npy")
		must(t, err)
		_, err = w.Write(b)
		must(t, err)
	}
	must(t, z.Close())
	return out.Bytes()
}

func imported(t testing.TB, from string) (*recordings.Set, error) {
	t.Helper()
	return recordings.Import(t.Context(), recordings.Config{From: from, Into: filepath.Join(t.TempDir(), "kept"), Name: "sample"})
}

// Files of the same picture are decoded once, and each is a frame.
func TestRepeatedFiles(t *testing.T) {
	const side = 1024
	s := made(t, "files").json(t, func(m map[string]any) { m["rollouts"] = m["rollouts"].([]any)[:2] })
	var out bytes.Buffer
	must(t, png.Encode(&out, image.NewGray(image.Rect(0, 0, side, side))))
	for name := range s {
		if strings.HasSuffix(name, ".png") {
			s[name] = out.Bytes()
		}
	}
	from := s.folder(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	set, err := imported(t, from)
	runtime.ReadMemStats(&after)
	must(t, err)
	if took := after.TotalAlloc - before.TotalAlloc; took > 200<<20 { // a copy of a picture takes 4 MB
		t.Errorf("two rollouts of %d files of one picture took %d MB", steps+1, took>>20)
	}
	env := set.New()
	env.Reset(rng.New(1, "env", 0))
	reel, _, _, err := env.(clip.Filmed).Reel(env.(idrl.Snapshotter).Snapshot(nil))
	must(t, err)
	if len(reel.Files) != 1 || len(reel.Show) != steps+1 {
		t.Errorf("%d pictures for %d frames", len(reel.Files), len(reel.Show))
	}
}

// What is played is what was given: observations, actions and features exactly, and the
// picture of every state, in clips from any step on. The features of a policy are the mean
// of the discounted sums over its rollouts.
func TestRolloutsAreAsGiven(t *testing.T) {
	for _, form := range []string{"arrays", "files", "scenes"} {
		s, err := imported(t, made(t, form).folder(t))
		must(t, err)
		env := s.New()
		if spec := env.Spec(); spec.ID != "rollouts-sample" || spec.Horizon != steps || spec.ClipSteps != 10 || spec.Discount != 0.9 || !slices.Equal(spec.FeatureNames, []string{"one", "two"}) {
			t.Fatalf("%+v", spec)
		}
		for p, policy := range s.Policies() {
			acted, ok := s.Policy(p)
			if !ok || acted.Name() != []string{"alpha", "beta"}[p] || len(acted.Rollouts()) != 2 {
				t.Errorf("policy %d is called %s, and acted in %q", p, acted.Name(), acted.Rollouts())
			}
			mu := make([]float64, 2)
			for n, k := range []int{p, p + 2} { // rollouts of the policy
				acting, ok := policy.(trainer.Recorded).Episode(env, n)
				if !ok {
					t.Fatalf("policy %d has no episode %d", p, n)
				}
				at, weight := 0, 1.0
				var last idrl.StepKind
				for action, step := range idrl.EpisodeOf(env, acting, rng.New(1, "env", 0)) {
					for j, v := range step.Obs {
						if v != obs(k, at, j) {
							t.Fatalf("%s: observation %d of rollout %d is %v", form, at, k, step.Obs)
						}
					}
					if step.Kind != idrl.First {
						for j := range 2 {
							if action[j] != act(k, at-1, j) || step.Phi[j] != phi(k, at-1, j) {
								t.Fatalf("%s: step %d of rollout %d: %v %v", form, at, k, action, step.Phi)
							}
							mu[j] += weight * step.Phi[j] / 2
						}
						weight *= 0.9
					}
					at, last = at+1, step.Kind
				}
				if at != steps+1 || (last == idrl.Terminated) != (k == 1) {
					t.Errorf("%s: rollout %d has %d states and ends with %v", form, k, at, last)
				}
				clipped(t, form, env, k)
			}
			if _, ok := policy.(trainer.Recorded).Episode(env, 2); ok {
				t.Error("there is a third episode")
			}
			for j, v := range policy.(recordings.Policy).Mu() {
				if math.Abs(v-mu[j]) > 1e-12 {
					t.Errorf("%s: μ of policy %d is %v, want %v", form, p, policy.(recordings.Policy).Mu(), mu)
				}
			}
		}
	}
}

// clipped checks the pictures of a clip from step 7 on, and what it says of them.
func clipped(t *testing.T, form string, env idrl.Environment, k int) {
	t.Helper()
	c := idrl.Clip{Start: 7, Steps: 10, Phi: []float64{1, 2}}
	for at := 7; at <= 17; at++ {
		c.Snapshots = append(c.Snapshots, []float64{float64(k), float64(at)})
	}
	media, err := clip.Encode(env, c)
	must(t, err)
	got, err := clip.Decode(media)
	must(t, err)
	if want := []string{"rises", "falls", "rises", "sways"}[k]; got.Header.Happens != want || got.Header.Useless != (want == "falls") {
		t.Errorf("%s: a clip of rollout %d says %q, useless %v; want %q", form, k, got.Header.Happens, got.Header.Useless, want)
	}
	for i := range 11 {
		if form == "scenes" {
			if x := got.Frames[i][2]; math.Abs(x-float64(7+i)) > 0.05 {
				t.Errorf("scene %d of rollout %d is at %v", i, k, x)
			}
			continue
		}
		img, err := got.Picture(i)
		must(t, err)
		if rollout, frame := read(img); rollout != k || frame != 7+i {
			t.Errorf("%s: frame %d of the clip of rollout %d shows frame %d of rollout %d", form, i, k, frame, rollout)
		}
	}
}

// Environments of rollouts keep the contract of environments.
func TestContract(t *testing.T) {
	for _, form := range []string{"files", "scenes"} {
		s, err := imported(t, made(t, form).folder(t))
		must(t, err)
		t.Run(form, func(t *testing.T) { envtest.Run(t, s.New) })
	}
}

// Without features the observations are standardised: their mean over all steps is 0 and their
// standard deviation 1. A column that never changes is left out.
func TestFeaturesOfObservations(t *testing.T) {
	s := made(t, "files").json(t, func(m map[string]any) { delete(m, "features") })
	for k, name := range []string{"a0", "b0", "a1", "b1"} {
		delete(s, name+"/features.npy")
		flat := func(k, t, j int) float64 {
			if j == 1 {
				return 123456.7
			}
			return obs(k, t, j)
		}
		s[name+"/observations.npy"] = npy("<f8", rows(flat, k, steps+1, 3), steps+1, 3)
	}
	set, err := imported(t, s.folder(t))
	must(t, err)
	env := set.New()
	if names := env.Spec().FeatureNames; !slices.Equal(names, []string{"Observation 0", "Observation 2"}) {
		t.Fatalf("features %q", names)
	}
	sum, sq, n := make([]float64, 2), make([]float64, 2), 0.0
	for _, p := range set.Policies() {
		for k := range 2 {
			acting, _ := p.(trainer.Recorded).Episode(env, k)
			for _, step := range idrl.EpisodeOf(env, acting, rng.New(1, "env", 0)) {
				for j, v := range step.Phi {
					sum[j], sq[j] = sum[j]+v, sq[j]+v*v
				}
				n++
			}
		}
	}
	n -= 4 // first steps
	for j := range sum {
		if mean, std := sum[j]/n, math.Sqrt(sq[j]/n); math.Abs(mean) > 1e-9 || math.Abs(std-1) > 1e-9 {
			t.Errorf("feature %d has mean %v and standard deviation %v", j, mean, std)
		}
	}
}

// What is wrong is refused with a code that stays and the name of the file, and nothing is kept.
func TestBadRollouts(t *testing.T) {
	manifest := func(key string, v any) func(testing.TB, sample) {
		return func(t testing.TB, s sample) { s.json(t, func(m map[string]any) { m[key] = v }) }
	}
	file := func(name string, b []byte) func(testing.TB, sample) {
		return func(_ testing.TB, s sample) { s[name] = b }
	}
	for _, test := range []struct {
		name, says string
		change     func(testing.TB, sample)
	}{
		{"no manifest", "rollouts-missing", func(_ testing.TB, s sample) { delete(s, "rollouts.json") }},
		{"not JSON", "rollouts-manifest", file("rollouts.json", []byte("{"))},
		{"a million rollouts", "rollouts-manifest: rollouts.json is not valid: there are more than 10000", file("rollouts.json", []byte(`{"rollouts": [`+strings.Repeat("{},", 1e6)+`{}]}`))},
		{"unknown key", "rollouts-manifest", manifest("fps", 30)},
		{"newer", "rollouts-manifest", manifest("version", 2)},
		{"no step_seconds", "rollouts-manifest", manifest("step_seconds", 0)},
		{"long clips", "rollouts-manifest", manifest("clip_steps", 100000)},
		{"one rollout", "rollouts-manifest", manifest("rollouts", []any{map[string]any{"name": "a0"}})},
		{"a path", "rollouts-manifest", manifest("rollouts", []any{map[string]any{"name": "../a0"}, map[string]any{"name": "b0"}})},
		{"the same twice", "rollouts-manifest", manifest("rollouts", []any{map[string]any{"name": "a0"}, map[string]any{"name": "a0"}})},
		{"a long happening", "rollouts-manifest: rollouts.json: a0: what happens", manifest("rollouts", []any{map[string]any{"name": "a0", "happens": strings.Repeat("x", 61)}, map[string]any{"name": "b0"}})},
		{"one policy", "rollouts-manifest", manifest("rollouts", []any{map[string]any{"name": "a0", "policy": "p"}, map[string]any{"name": "b0", "policy": "p"}})},
		{"policies of some", "rollouts-manifest", manifest("rollouts", []any{map[string]any{"name": "a0", "policy": "p"}, map[string]any{"name": "b0"}})},
		{"no features", "rollouts-missing: b0", func(_ testing.TB, s sample) { delete(s, "b0/features.npy") }},
		{"features without names", "rollouts-array: a0", func(t testing.TB, s sample) { s.json(t, func(m map[string]any) { delete(m, "features") }) }},
		{"fewer names", "rollouts-array: a0", manifest("features", []any{"one"})},
		{"not a number", "rollouts-array: actions of a1: the number in row 3, column 1 is NaN", func(_ testing.TB, s sample) {
			v := rows(act, 2, steps, 2)
			v[7] = math.NaN()
			s["a1/actions.npy"] = npy("<f8", v, steps, 2)
		}},
		{"infinite", "rollouts-array: features of a1", func(_ testing.TB, s sample) {
			v := rows(phi, 2, steps, 2)
			v[7] = math.Inf(1)
			s["a1/features.npy"] = npy("<f8", v, steps, 2)
		}},
		{"fewer actions", "rollouts-length: b1", file("b1/actions.npy", npy("<f8", rows(act, 3, steps-1, 2), steps-1, 2))},
		{"no last observation", "rollouts-length: b1", file("b1/observations.npy", npy("<f8", rows(obs, 3, steps, 3), steps, 3))},
		{"other observations", "rollouts-array: b1", file("b1/observations.npy", npy("<f8", rows(obs, 3, steps+1, 2), steps+1, 2))},
		{"array that ends", "rollouts-array: actions of b1", func(_ testing.TB, s sample) { s["b1/actions.npy"] = s["b1/actions.npy"][:300] }},
		{"huge array", "rollouts-array: actions of b1", file("b1/actions.npy", npy("<f8", []float64{}, 1<<30, 1<<30))},
		{"many rows of nothing", "rollouts-array: actions of b1", file("b1/actions.npy", npy("<f8", []float64{}, 1<<30, 0))},
		{"objects", "rollouts-array: actions of b1", file("b1/actions.npy", npy("|O", []float64{}, 3))},
		{"pickle", "rollouts-array: actions of b1", file("b1/actions.npy", []byte("\x80\x04\x95"))},
		{"not a zip", "rollouts-array", file("b1.npz", []byte("PK"))},
		{"other arrays", "rollouts-array", func(t testing.TB, s sample) { s["b1.npz"] = zipped(t, map[string][]byte{"rewards": nil}) }},
		{"nothing to see", "rollouts-frames: b1", func(_ testing.TB, s sample) {
			for i := range steps + 1 {
				delete(s, fmt.Sprintf("b1/frames/%d.png", i))
			}
		}},
		{"two things to see", "rollouts-frames: b1", file("b1.mp4", nil)},
		{"too few pictures", "rollouts-length: b1", func(_ testing.TB, s sample) { delete(s, "b1/frames/1.png"); delete(s, "b1/frames/2.png") }},
		{"not a picture", "b1/frames: rollouts-frames: 4.png", file("b1/frames/4.png", []byte("GIF89a"))},
		{"other size", "b1/frames: 4.png: rollouts-frames", func(t testing.TB, s sample) {
			var out bytes.Buffer
			must(t, png.Encode(&out, image.NewRGBA(image.Rect(0, 0, 20, 20))))
			s["b1/frames/4.png"] = out.Bytes()
		}},
		{"row of some", "rollouts-manifest: rollouts.json: b0 has \"row\"", func(t testing.TB, s sample) { withRows(t, s, 0, -1, 60, 90) }},
		{"row that is not later", "rollouts-manifest: rollouts.json: \"row\" of a1", func(t testing.TB, s sample) { withRows(t, s, 0, 30, 30, 90) }},
		{"row within the one before", "rollouts-length: a1 begins in row 59", func(t testing.TB, s sample) { withRows(t, s, 0, 30, 59, 90) }},
		{"pictures of what is not shown", "rollouts-frames: a0: there are pictures", manifest("shown", false)},
		{"feature that says nothing", "rollouts-features", func(_ testing.TB, s sample) {
			for _, name := range []string{"a0", "b0", "a1", "b1"} {
				s[name+"/features.npy"] = npy("<f8", rows(func(_, _, _ int) float64 { return 1 }, 0, steps, 2), steps, 2)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := made(t, "files")
			test.change(t, s)
			into := filepath.Join(t.TempDir(), "kept")
			_, err := recordings.Import(t.Context(), recordings.Config{From: s.folder(t), Into: into, Name: "sample"})
			if idrl.KindOf(err) != idrl.Invalid || !strings.HasPrefix(err.Error(), test.says) {
				t.Errorf("%v, want %s", err, test.says)
			}
			if left, _ := os.ReadDir(into); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// withRows has rollouts say in which rows they begin; a negative one says nothing.
func withRows(t testing.TB, s sample, rows ...int) {
	t.Helper()
	s.json(t, func(m map[string]any) {
		for i, r := range m["rollouts"].([]any) {
			if rows[i] >= 0 {
				r.(map[string]any)["row"] = rows[i]
			}
		}
	})
}

// What is kept and was changed is not played; a name is taken once.
func TestKept(t *testing.T) {
	from, into := made(t, "files").folder(t), filepath.Join(t.TempDir(), "kept")
	cfg := recordings.Config{From: from, Into: into, Name: "sample"}
	_, err := recordings.Import(t.Context(), cfg)
	must(t, err)
	if _, err := recordings.Import(t.Context(), cfg); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("again: %v", err)
	}
	for _, name := range []string{"", "../x", "A", "a.b", strings.Repeat("a", 65)} {
		cfg.Name = name
		if _, err := recordings.Import(t.Context(), cfg); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("name %q: %v", name, err)
		}
	}
	path := filepath.Join(into, "sample", "0.numbers")
	b, err := os.ReadFile(path)
	must(t, err)
	b[len(b)/2] ^= 1
	must(t, os.WriteFile(path, b, 0o600))
	s, err := recordings.Open(filepath.Join(into, "sample"))
	must(t, err)
	env := s.New()
	acting, _ := s.Policies()[0].(trainer.Recorded).Episode(env, 0)
	for _, step := range idrl.EpisodeOf(env, acting, rng.New(1, "env", 0)) {
		if !step.Broken {
			t.Fatal("a damaged rollout is played")
		}
	}
	if err := idrl.Err(env); idrl.KindOf(err) != idrl.Damaged || !strings.Contains(err.Error(), "a0") {
		t.Errorf("%v", err)
	}
}

// What a killed import left is removed, and not what another import is making.
func TestImportsAtOnce(t *testing.T) {
	into := filepath.Join(t.TempDir(), "data [1]")
	must(t, os.Mkdir(into, 0o700))
	running, killed := filepath.Join(into, ".new-running"), filepath.Join(into, ".new-killed")
	must(t, os.Mkdir(running, 0o700))
	must(t, os.Mkdir(killed, 0o700))
	must(t, os.Chtimes(killed, time.Time{}, time.Now().Add(-2*time.Hour)))
	_, err := recordings.Import(t.Context(), recordings.Config{From: made(t, "arrays").folder(t), Into: into, Name: "sample"})
	must(t, err)
	if _, err := os.Stat(running); err != nil {
		t.Errorf("the folder of an import that runs: %v", err)
	}
	if _, err := os.Stat(killed); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of an import that was killed: %v", err)
	}
}
