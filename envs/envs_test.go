package envs_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/envs/envtest"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/draw"
)

// available returns the entries of the catalogue that can be made here.
func available() []envs.Entry {
	return slices.DeleteFunc(envs.Catalogue(), func(e envs.Entry) bool { return e.Unavailable != nil })
}

func TestEntries(t *testing.T) {
	seen := map[string]bool{}
	for i, e := range envs.Catalogue() {
		if seen[e.ID] || e.Title == "" || e.Description == "" || e.New == nil && e.Unavailable == nil {
			t.Errorf("entry %q has a repeated id, no title, no description, or neither New nor a reason", e.ID)
		}
		if i == 0 && e.Unavailable != nil {
			t.Errorf("the default, %s, is not available", e.ID)
		}
		seen[e.ID] = true
	}
}

// TestCatalogue runs the contract on every entry, so that none is forgotten.
func TestCatalogue(t *testing.T) {
	for _, e := range available() {
		t.Run(e.ID, func(t *testing.T) {
			newEnv := func() idrl.Environment { return e.New(rng.New(7, "layout", 0)) }
			if got := newEnv().Spec().ID; got != e.ID {
				t.Errorf("the environment calls itself %q", got)
			}
			envtest.Run(t, newEnv)
		})
	}
}

func TestFind(t *testing.T) {
	for _, e := range available() {
		if got, err := envs.Catalogue().Find(e.ID); err != nil || got.ID != e.ID {
			t.Errorf("Find(%q) = %q, %v", e.ID, got.ID, err)
		}
	}
	_, err := envs.Catalogue().Find("drver")
	if idrl.KindOf(err) != idrl.Invalid || err == nil {
		t.Fatalf("Find of an unknown id returns %v, want an error of kind Invalid", err)
	}
	for _, want := range []string{`"drver"`, "driver", "gridworld", "gridworld-code", "chain", "junction"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not mention %s", err, want)
		}
	}
	for id, want := range map[string]string{"rollouts-walks@1a": "tiebreak import --rollouts", "own-cart@1a": "--models", "outside-cart": "--outside"} {
		if _, err := envs.Catalogue().Find(id); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("Find(%q): %v, want an error that mentions %s", id, err, want)
		}
	}
}

// TestUnavailable: an environment that cannot be made here is listed and said to
// be missing, with the reason, and is not found.
func TestUnavailable(t *testing.T) {
	lib, disk := errors.New("needs the library: install it"), errors.New("needs a larger disk")
	entries := envs.List{
		{ID: "ant", Unavailable: lib},
		{ID: "driver"},
		{ID: "moon", Unavailable: disk},
		{ID: "chain"},
		{ID: "hopper", Unavailable: lib},
	}
	const all = "driver, chain; not available: ant, hopper (needs the library: install it); not available: moon (needs a larger disk)"
	if got := entries.Names(); got != all {
		t.Errorf("Names = %q, want %q", got, all)
	}
	if got := entries[1:2].Names(); got != "driver" {
		t.Errorf("Names of one entry = %q", got)
	}
	for _, test := range []struct{ id, want string }{
		{"hopper", `environment "hopper" needs the library: install it`},
		{"mars", `unknown environment "mars"; use one of ` + all + "; a model of your own is called own-NAME, and its files are named with --models"},
		{"chain", ""},
	} {
		e, err := entries.Find(test.id)
		if test.want == "" {
			if err != nil || e.ID != test.id {
				t.Errorf("find %q: %q, %v", test.id, e.ID, err)
			}
			continue
		}
		if err == nil || idrl.KindOf(err) != idrl.Invalid || err.Error() != test.want {
			t.Errorf("find %q: error %v, want one of kind Invalid that says %q", test.id, err, test.want)
		}
	}
}

// TestNothingIsCutOff draws every state of the tabular environments, whose view
// does not move: every shape lies within it, and no two labels overlap. Text is
// at most 0.75 of its height wide a letter.
func TestNothingIsCutOff(t *testing.T) {
	for _, e := range available() {
		env, ok := e.New(rng.New(7, "layout", 0)).(idrl.Tabular)
		if !ok {
			continue
		}
		t.Run(e.ID, func(t *testing.T) {
			var scene drawing.Scene
			for s := range env.NumStates() {
				env.Restore([]float64{float64(s), 0})
				env.(drawing.Drawer).Draw(&scene)
				for _, shape := range slices.Concat(scene.Static, scene.Moving) {
					if !within(shape, scene.Camera) {
						t.Fatalf("in state %d, %+v is cut off by the view %+v", s, shape, scene.Camera)
					}
				}
			}
			labels := slices.DeleteFunc(slices.Clone(scene.Static), func(s drawing.Shape) bool { return s.Kind != drawing.Text })
			for i, a := range labels {
				for _, b := range labels[:i] {
					if math.Abs(a.Pts[0]-b.Pts[0]) < reach(a)+reach(b) && math.Abs(a.Pts[1]-b.Pts[1]) < (a.Size+b.Size)/2 {
						t.Errorf("labels %q and %q overlap", a.Text, b.Text)
					}
				}
			}
		})
	}
}

// reach is how far a shape extends to the sides of its points.
func reach(s drawing.Shape) float64 {
	switch s.Kind {
	case drawing.Circle:
		return s.Size
	case drawing.Text:
		return 0.75 * s.Size * float64(len(s.Text)) / 2
	default:
		return s.Size / 2 // of a stroke; 0 for a polygon
	}
}

func within(s drawing.Shape, c drawing.Camera) bool {
	for i := 0; i < len(s.Pts); i += 2 {
		if math.Abs(s.Pts[i]-c.X)+reach(s) > c.W/2 || math.Abs(s.Pts[i+1]-c.Y)+reach(s) > c.H/2 {
			return false
		}
	}
	return true
}

// What a clip may weigh, bytes: a flat one, and 40 steps of a solid one, with every
// engine step. Two of them are on their way for each of three questions ahead. The largest, of
// ant-corridor, has 5163, of which 44 are the name of what happens.
const maxFlat, maxSolid, solidSteps = 4096, 5120 + 64, 40

// TestClipsAreSmall encodes clips of uniformly random held actions, which move
// less regularly than those of any policy that optimises something.
func TestClipsAreSmall(t *testing.T) {
	for _, e := range available() {
		t.Run(e.ID, func(t *testing.T) {
			sizes, limit := make([]int, 20), maxFlat
			for n := range sizes {
				env := e.New(rng.New(uint64(n), "layout", 0))
				steps := env.Spec().ClipSteps
				if _, ok := env.(drawing.Substepper); ok {
					steps, limit = solidSteps, maxSolid
				}
				b := must.Get(clip.Encode(env, idrl.Segment(drive(env, steps, uint64(n)), 0, steps)))(t)
				sizes[n] = len(b)
			}
			slices.Sort(sizes)
			t.Logf("bytes: least %d, median %d, most %d", sizes[0], sizes[len(sizes)/2], sizes[len(sizes)-1])
			if most := sizes[len(sizes)-1]; most > limit {
				t.Errorf("a clip has %d bytes, more than %d", most, limit)
			}
		})
	}
}

// TestClipsHaveNames: every environment that comes with the program says what happens in its clips, and what its
// states show.
func TestClipsHaveNames(t *testing.T) {
	for _, e := range available() {
		t.Run(e.ID, func(t *testing.T) {
			for n := range uint64(20) {
				env := e.New(rng.New(n, "layout", 0))
				states := drive(env, env.Spec().ClipSteps, n).Snapshots
				for _, shown := range [][][]float64{states, states[len(states)-1:]} {
					if env.(drawing.Namer).Name(shown).Name == "" {
						t.Errorf("a clip of %d states has no name", len(shown))
					}
				}
			}
		})
	}
}

// drive records that many steps of an episode of random held actions.
func drive(env idrl.Environment, steps int, n uint64) *idrl.Trajectory {
	spec := env.Spec()
	stream := rng.New(8, "drive", n)
	keeper := env.(idrl.Snapshotter)
	tr := &idrl.Trajectory{Env: spec.ID}
	step := env.Reset(stream)
	tr.Snapshots = append(tr.Snapshots, keeper.Snapshot(nil))
	var a idrl.Action
	for k := range steps {
		if k%max(1, spec.Actions.Hold) == 0 {
			a = make(idrl.Action, spec.Actions.Dim())
			for i := range a {
				if spec.Actions.Num > 0 {
					a[i] = float64(stream.IntN(spec.Actions.Num))
				} else {
					a[i] = spec.Actions.Low[i] + (spec.Actions.High[i]-spec.Actions.Low[i])*stream.Float64()
				}
			}
		}
		step = env.Step(a)
		tr.Actions = append(tr.Actions, a)
		tr.Phi = append(tr.Phi, slices.Clone(step.Phi))
		tr.Snapshots = append(tr.Snapshots, keeper.Snapshot(nil))
		tr.End = step.Kind
	}
	return tr
}

// TestGuides: every environment explains itself, and what it shows can be drawn on a page.
func TestGuides(t *testing.T) {
	for _, e := range available() {
		t.Run(e.ID, func(t *testing.T) {
			env, ok := e.New(rng.New(7, "layout", 0)).(drawing.Guided)
			if !ok {
				t.Fatal("the environment has no guide")
			}
			drawings := map[string]string{}
			for _, entry := range env.Guide().Legend {
				svg := draw.SVG(&entry.Scene)
				if n := elements(t, svg); n < 3 || len(svg) > 12<<10 {
					t.Errorf("the picture of %q has %d elements and %d bytes, want 3 or more in at most 12 KiB", entry.Name, n, len(svg))
				}
				if same := drawings[svg]; same != "" {
					t.Errorf("the pictures of %q and %q are the same", entry.Name, same)
				}
				drawings[svg] = entry.Name
			}
		})
	}
}

// TestReadyPurposes: every environment has two to four ready purposes, which the documents list with their
// words in the row of the environment and of its variants.
func TestReadyPurposes(t *testing.T) {
	b := must.Get(os.ReadFile("../docs/study.md"))(t)
	for _, e := range available() {
		t.Run(e.ID, func(t *testing.T) {
			guide := e.New(rng.New(7, "layout", 0)).(drawing.Guided).Guide()
			if n := len(guide.Purposes); n < 2 || n > 4 {
				t.Errorf("%d ready purposes, want 2 to 4", n)
			}
			title, _, _ := strings.Cut(e.Title, " ")
			for _, p := range guide.Purposes {
				row := regexp.MustCompile(`(?m)^\| ` + title + " .*`" + p.Name + "`.*" + regexp.QuoteMeta(": "+p.Text))
				if !row.Match(b) {
					t.Errorf("docs/study.md does not say of %s `%s`: %s", e.Title, p.Name, p.Text)
				}
			}
		})
	}
}

// elements returns how many elements an SVG has, which must be well formed.
func elements(t *testing.T, svg string) (n int) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		switch token, err := d.Token(); {
		case errors.Is(err, io.EOF):
			return n
		case err != nil:
			t.Fatalf("a picture is not well formed: %v", err)
		default:
			if _, ok := token.(xml.StartElement); ok {
				n++
			}
		}
	}
}
