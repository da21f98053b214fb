package outside

import (
	"bytes"
	"slices"
	"testing"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/measure"
)

// What a program says that happens is in the clip, whether its states are saved or played again and whether
// it is drawn or shown in pictures: of what happens in the steps of the clip, what the hello lists first. So
// questions know it: two clips of one useless name are not compared.
func TestWhatHappensIsInTheClip(t *testing.T) {
	for _, mode := range []string{"scene names", "scene state names", "picture names", "picture state names", "scene"} {
		t.Run(mode, func(t *testing.T) {
			p := program(t, mode)
			var left []*measure.View
			for seed := range uint64(2) { // of places where the cart begins
				states := toTheRight(t, start(t, p), seed)
				last := len(states) - 1
				for _, test := range []struct {
					name     string
					from, to int
					want     drawing.Happening
				}{
					{"the first moment", 0, 0, drawing.Happening{}},
					{"ahead", 0, last - 1, drawing.Happening{Name: "gets ahead"}},
					{"all", 0, last, drawing.Happening{Name: "leaves the line", Useless: true}},
					{"the last moment", last, last, drawing.Happening{Name: "leaves the line", Useless: true}},
				} {
					view := viewed(t, start(t, p), states[test.from:test.to+1])
					if mode == "scene" {
						test.want = drawing.Happening{}
					}
					if got := view.Happens(); got != test.want {
						t.Errorf("%s: the clip says %+v, want %+v", test.name, got, test.want)
					}
					if test.name == "all" {
						left = append(left, view)
					}
				}
			}
			if got, want := measure.SameUseless(left[0], left[1]), mode != "scene"; got != want {
				t.Errorf("both clips are useless in the same way: %v, want %v", got, want)
			}
		})
	}
}

// toTheRight returns the states of an episode in which the cart goes to the right until it leaves the line.
func toTheRight(t *testing.T, env idrl.Environment, seed uint64) (states [][]float64) {
	t.Helper()
	for _, step := range idrl.Episode(env, func([]float64) idrl.Action { return idrl.Action{0.6} }, rng.New(seed, "env", 0)) {
		states = append(states, env.(idrl.Snapshotter).Snapshot(nil))
		if step.Kind == idrl.Truncated {
			t.Fatalf("the cart does not leave the line: %v", idrl.Err(env))
		}
	}
	return states
}

// viewed returns what can be seen in the clip of states.
func viewed(t *testing.T, env idrl.Environment, states [][]float64) *measure.View {
	t.Helper()
	b, err := clip.Encode(env, idrl.Clip{ID: "c", Steps: len(states) - 1, Phi: make([]float64, env.Spec().FeatureDim()), Snapshots: states})
	if err != nil {
		t.Fatal(err)
	}
	c, err := clip.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	view, err := measure.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// Any bytes are refused as a hello, or are one within limits.
func FuzzHello(f *testing.F) {
	const head = `{"protocol":1,"name":"cart","version":"1","observation":4,"action":{"n":2},"features":["a"],"horizon":500,"step_seconds":0.02,"draws":"picture"`
	f.Add([]byte(head + `}`))
	f.Add([]byte(head + `,"happens":[{"happens":"falls over","useless":true},{"happens":"gets ahead"}]}`))
	f.Add([]byte(head + `,"happens":[{"happens":"falls"},{"happens":"falls"}]}`))
	f.Add([]byte(head + `,"happens":[{"useless":true}],"state":7,"prior_scale":[1e-300]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Hello
		if foreign.Decode(bytes.NewReader(b), nil, &h) != nil || h.check() != nil {
			return
		}
		s := h.spec("x")
		if s.Horizon < 1 || s.ClipSteps < 1 || s.ClipSteps > s.Horizon || !(s.Playback > 0) || s.Actions.Dim() < 1 || s.FeatureDim() < 1 {
			t.Errorf("%+v", s)
		}
		for i, is := range h.Happens {
			if n := len(is.Happens); n < 1 || n > drawing.MaxHappening || h.happening(is.Happens) != i+1 {
				t.Errorf("number %d of what happens is %q", i, is.Happens)
			}
		}
		if len(h.Happens) > maxHappenings || slices.Contains(h.Features, "") {
			t.Errorf("%+v", h)
		}
	})
}
