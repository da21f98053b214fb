//go:build mujoco

package mujoco_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// listed returns an environment of the catalogue.
func listed(t testing.TB, id string) *mujoco.Env {
	t.Helper()
	for _, l := range mujoco.Catalogue() {
		if l.ID == id {
			e := must.Get(l.New())(t)
			return e
		}
	}
	t.Fatalf("no environment %q", id)
	return nil
}

// turned returns the quaternion of a turn about the x axis.
func turned(angle float64) []float64 {
	sin, cos := math.Sincos(angle / 2)
	return []float64{cos, sin, 0, 0}
}

// Robots that can fall lie where they are tilted or low; the positions of a snapshot
// begin at its third number.
func TestFallen(t *testing.T) {
	for _, test := range []struct {
		id   string
		at   int       // position that is changed
		pose []float64 // to these
		want bool
	}{
		{"half-cheetah", 2, []float64{0}, false},
		{"half-cheetah", 2, []float64{1.3}, false}, // cos 1.3 = 0.27
		{"half-cheetah", 2, []float64{-1.4}, true},
		{"half-cheetah", 2, []float64{math.Pi}, true},
		{"half-cheetah", 2, []float64{2 * math.Pi}, false}, // a somersault, landed
		{"hopper", 1, []float64{1.25, 0.1}, false},
		{"hopper", 1, []float64{0.65, 0.1}, true},
		{"hopper", 1, []float64{1.25, 0.25}, true},
		{"hopper", 1, []float64{1.25, 2*math.Pi + 0.1}, false}, // landed on its foot
		{"hopper", 1, []float64{1.25, 2*math.Pi + 0.25}, true},
		{"walker2d", 1, []float64{1.2, -0.9}, false},
		{"walker2d", 1, []float64{1.2, 0.9 - 2*math.Pi}, false},
		{"walker2d", 1, []float64{0.7, 0}, true},
		{"walker2d", 1, []float64{1.2, -1.1}, true},
		{"ant", 3, turned(0), false},
		{"ant", 3, turned(1.3), false},
		{"ant", 3, turned(1.4), true},
		{"ant", 3, turned(math.Pi), true},
		{"ant-corridor", 3, turned(math.Pi), true},
		{"swimmer", 2, []float64{math.Pi}, false},
		{"reacher", 0, []float64{math.Pi}, false},
	} {
		e := listed(t, test.id)
		e.Reset(rng.New(1, "env", 0))
		s := e.Snapshot(nil)
		copy(s[2+test.at:], test.pose)
		e.Restore(s)
		if got := e.Fallen(); got != test.want {
			t.Errorf("%s with positions %v from %d on: fallen %v, want %v", test.id, test.pose, test.at, got, test.want)
		}
	}
}

// An episode that ends at a fall is that which goes on, up to the fall.
func TestEpisodesUntilAFall(t *testing.T) {
	shove := func([]float64) idrl.Action { return idrl.Action{0.3, -0.4, 0.2} }
	short := map[int]float64{}
	n := 0
	for _, s := range idrl.Episode(idrl.UntilFall(listed(t, "hopper")), shove, rng.New(1, "env", 0)) {
		if s.Kind != idrl.First {
			short[n] = s.Phi[0]
		}
		n++
		if s.Kind.Last() && s.Kind != idrl.Terminated {
			t.Errorf("the episode ends as %v after %d steps, want a fall", s.Kind, n-1)
		}
	}
	e := listed(t, "hopper")
	k := 0
	for _, s := range idrl.Episode(e, shove, rng.New(1, "env", 0)) {
		if s.Kind != idrl.First && s.Phi[0] != short[k] {
			t.Fatalf("step %d goes %v, and with an end at the fall %v", k, s.Phi[0], short[k])
		}
		if e.Fallen() {
			break
		}
		k++
	}
	if k != n-1 || k < 10 {
		t.Errorf("the first fallen state is %d, and the episode ended with %d", k, n-1)
	}
}

// The file of a user's model may say when the robot lies.
func TestFallenCart(t *testing.T) {
	const folder = "../../docs/models/cart"
	data := must.Get(os.ReadFile(filepath.Join(folder, "cart.json")))(t)
	load := func(fallen map[string]any) *mujoco.Env {
		var file map[string]any
		must.Do(t, json.Unmarshal(data, &file))
		if fallen != nil {
			file["fallen"] = fallen
		}
		dir := t.TempDir()
		must.Do(t, os.CopyFS(dir, os.DirFS(folder)))
		b := must.Get(json.Marshal(file))(t)
		path := filepath.Join(dir, "cart.json")
		must.Do(t, os.WriteFile(path, b, 0o600))
		c := must.Get(mujoco.LoadCustom(path))(t)
		return newCustom(t, c)
	}
	for _, test := range []struct {
		name     string
		fallen   map[string]any
		z, pitch float64
		want     bool
	}{
		{"says nothing", nil, 0, math.Pi, false},
		{"upright", map[string]any{"body": "cart", "upright_below": 0.5}, 0, 1, false}, // cos 1 = 0.54
		{"tilted", map[string]any{"body": "cart", "upright_below": 0.5}, 0, 1.1, true},
		{"high", map[string]any{"body": "cart", "height_below": 0.2}, 0, 3, false}, // at 0.28 m
		{"low", map[string]any{"body": "cart", "height_below": 0.2}, -0.1, 0, true},
		{"one of both", map[string]any{"body": "cart", "height_below": 0.2, "upright_below": 0}, 0, 2, true},
	} {
		e := load(test.fallen)
		e.Reset(rng.New(1, "env", 0))
		s := e.Snapshot(nil)
		s[3], s[4] = test.z, test.pitch
		e.Restore(s)
		if got := e.Fallen(); got != test.want {
			t.Errorf("%s: fallen %v, want %v", test.name, got, test.want)
		}
	}
}
