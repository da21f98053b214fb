package mujoco

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
)

// cart is the example, which the manual teaches by.
const cart = "../../docs/models/cart/cart.json"

func readCart(t testing.TB) string {
	t.Helper()
	b := must.Get(os.ReadFile(cart))(t)
	return string(b)
}

// TestBadFiles changes one place of the example and wants it named.
func TestBadFiles(t *testing.T) {
	good := readCart(t)
	must.Get(parseCustom([]byte(good)))(t)
	many := strings.Repeat(`{"name": "x", "quantity": "constant"},`, 70)
	for _, test := range []struct {
		name, old, new string
		want           []string // parts of the message
	}{
		{"no JSON", `"name"`, `name`, []string{"line 2", "not JSON"}},
		{"cut short", good[100:], ``, []string{"line 4", "too early"}},
		{"empty", good, ``, []string{"line 1", "too early"}},
		{"unknown field", `"frame_skip"`, `"frameskip"`, []string{`unknown field "frameskip"`, "remove it"}},
		{"unknown field of a feature", `"site": "nose"`, `"place": "nose"`, []string{`unknown field "place"`}},
		{"a text for a number", `"horizon": 300`, `"horizon": "300"`, []string{"line 7", "horizon", "whole number"}},
		{"half a step", `"horizon": 300`, `"horizon": 0.5`, []string{"line 7", "horizon", "whole number"}},
		{"a number out of all bounds", `"scale": 0.1}`, `"scale": 1e999}`, []string{"line 12", "scale", "number"}},
		{"something behind", "}\n}\n", "}\n} {}\n", []string{"something follows", "remove"}},
		{"name in capitals", `"name": "cart"`, `"name": "Cart"`, []string{"name must be", "lower-case"}},
		{"name of two words", `"name": "cart"`, `"name": "my cart"`, []string{"name must be", "dashes"}},
		{"no title", `"Cart with a lever"`, `""`, []string{"title must be", "80"}},
		{"a title that moves the cursor", `"Cart with a lever"`, `"a\u001b[2J"`, []string{"title must be"}},
		{"no description", `Two driven wheels and a heavy lever: it can drive, brake, stand on its rear wheel and hop.`, ``, []string{"description must be"}},
		{"model outside", `"model": "cart.xml"`, `"model": "../cart.xml"`, []string{"model must be", "folder"}},
		{"model at the root", `"model": "cart.xml"`, `"model": "/etc/passwd"`, []string{"model must be", "relative"}},
		{"no frame skip", `"frame_skip": 8`, `"frame_skip": 0`, []string{"frame_skip must be from 1 to 100, but is 0"}},
		{"large frame skip", `"frame_skip": 8`, `"frame_skip": 101`, []string{"frame_skip must be from 1 to 100, but is 101"}},
		{"long horizon", `"horizon": 300`, `"horizon": 10001`, []string{"horizon must be from 1 to 10000, but is 10001"}},
		{"negative noise", `"position": 0.02`, `"position": -1`, []string{"reset_noise.position must be from 0 to 10, but is -1"}},
		{"large noise", `"velocity": 0.02`, `"velocity": 11`, []string{"reset_noise.velocity"}},
		{"unknown noise", `"kind": "uniform"`, `"kind": "cauchy"`, []string{"reset_noise.kind must be", `"normal"`}},
		{"no features", `"features": [`, `"features": [], "hide": [`, []string{"line 11", "hide"}},
		{"too many features", `"features": [`, `"features": [` + many, []string{"features must be a list of 1 to 64"}},
		{"two names", `"name": "Upright"`, `"name": "Effort"`, []string{"features[6].name", `"Effort" is used twice`}},
		{"unknown quantity", `"quantity": "upright"`, `"quantity": "up"`, []string{"features[3].quantity must be one of x, y, z, vx, vy, vz, upright", `"up"`}},
		{"quantity of another source", `"joint": "lever", "quantity": "position"`, `"joint": "lever", "quantity": "z"`, []string{"features[4].quantity", "position, velocity"}},
		{"quantity of nothing", `"quantity": "effort"`, `"quantity": "z"`, []string{"features[6].quantity", "effort, constant"}},
		{"two sources", `"site": "nose",`, `"site": "nose", "body": "cart",`, []string{"features[1] must be about one thing"}},
		{"sensor with a quantity", `"index": 1`, `"index": 1, "quantity": "x"`, []string{"features[5].quantity must be left out"}},
		{"index without a sensor", `"site": "nose"`, `"site": "nose", "index": 1`, []string{"features[1].index must be left out"}},
		{"negative index", `"index": 1`, `"index": -1`, []string{"features[5].index must be from 0"}},
		{"no scale left", `"scale": -0.04`, `"scale": 0`, []string{"features[5].scale must be a number other than 0"}},
		{"large scale", `"scale": -0.04`, `"scale": 1e7`, []string{"features[5].scale must be from"}},
		{"a fall of nothing", `"clip_steps": 50`, `"clip_steps": 50, "fallen": {"height_below": 1}`, []string{"fallen.body must be"}},
		{"a fall without a mark", `"clip_steps": 50`, `"clip_steps": 50, "fallen": {"body": "cart"}`, []string{"fallen must be with upright_below, height_below or both"}},
		{"a fall beyond upright", `"clip_steps": 50`, `"clip_steps": 50, "fallen": {"body": "cart", "upright_below": 2}`, []string{"fallen.upright_below must be from -1 to 1"}},
		{"no weight at all", `"scale": -0.04`, `"scale": -0.04, "prior_scale": 0`, []string{"features[5].prior_scale must be from 1e-06"}},
		{"clip beyond the episode", `"clip_steps": 50`, `"clip_steps": 301`, []string{"clip_steps must be from 1 to 300"}},
		{"clip of many frames", `"clip_steps": 50`, `"horizon": 9999, "clip_steps": 1250`, []string{"clip_steps must be less than 10000/frame_skip"}},
		{"no playback", `"playback": 1`, `"playback": 0`, []string{"playback must be from 0.01 to 100"}},
		{"no camera", `"camera": {"body": "cart",`, `"camera": {"body": "",`, []string{"camera.body must be"}},
		{"camera at the body", `"width": 3.2`, `"width": 0`, []string{"camera.width must be from 0.01"}},
		{"camera too near", `"distance": 8`, `"distance": 0.5`, []string{"camera.distance must be from half the width"}},
		{"camera turned round and round", `"azimuth_deg": -15`, `"azimuth_deg": 400`, []string{"camera.azimuth_deg"}},
		{"camera overhead", `"elevation_deg": 12`, `"elevation_deg": 90`, []string{"camera.elevation_deg must be from 0 to 80"}},
		{"unknown paint", `"paint": "focus"`, `"paint": "pink"`, []string{"paints[2].paint must be one of", "object9", `"pink"`}},
		{"search that steps back", `"step_size": 0.02`, `"step_size": -1`, []string{"search.step_size must be from 0"}},
		{"more top directions than there are", `"top": 8`, `"top": 17`, []string{"search.top must be at most search.directions"}},
		{"endless search", `"live_steps": 60000`, `"live_steps": 99999999`, []string{"search.live_steps"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad := strings.Replace(good, test.old, test.new, 1)
			if bad == good {
				t.Fatalf("the example has no %s", test.old)
			}
			_, err := parseCustom([]byte(bad))
			if idrl.KindOf(err) != idrl.Invalid || err == nil {
				t.Fatalf("error is %v, want one of kind Invalid", err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error is %q, want %q in it", err, part)
				}
			}
		})
	}
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	good := readCart(t)
	must.Do(t, os.Mkdir(filepath.Join(dir, "inner"), 0o700))
	write("outer.xml", "<mujoco/>")
	must.Do(t, os.Symlink("../outer.xml", filepath.Join(dir, "inner", "cart.xml")))
	write("huge.xml", strings.Repeat(" ", maxFileBytes+1))
	for _, test := range []struct {
		name, path string
		want       string
	}{
		{"no file", filepath.Join(dir, "none.json"), "none.json: cannot be opened"},
		{"no folder", filepath.Join(dir, "none", "cart.json"), "cart.json: cannot be opened"},
		{"a folder", filepath.Join(dir, "inner"), "cannot be read"},
		{"no model", write("alone.json", good), "alone.json: model: cannot be opened"},
		{"a link out of the folder", write("inner/cart.json", good), "cart.json: model: cannot be opened"},
		{"a large model", write("large.json", strings.Replace(good, "cart.xml", "huge.xml", 1)), "large.json: model: huge.xml has more than 1048576 bytes"},
		{"a large file", write("long.json", good+strings.Repeat(" ", maxFileBytes)), "long.json: long.json has more than 1048576 bytes"},
		{"a bad field", write("bad.json", strings.Replace(good, `"horizon": 300`, `"horizon": 0`, 1)), "bad.json: horizon must be"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := LoadCustom(test.path)
			if err == nil || idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %q in it", err, test.want)
			}
		})
	}
}

// FuzzCustomFile reads any bytes. What is accepted keeps the limits and says the
// same when it is written and read again.
func FuzzCustomFile(f *testing.F) {
	good := readCart(f)
	f.Add([]byte(good))
	f.Add([]byte(strings.Replace(good, `"scale": 0.1`, `"scale": 1e400`, 1)))
	f.Add([]byte(`{"name": "a", "features": [{}], "hide": null}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"camera": {"width": -0}}{`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := parseCustom(data)
		if err != nil {
			if idrl.KindOf(err) != idrl.Invalid || err.Error() == "" {
				t.Fatalf("error %q has kind %v", err, idrl.KindOf(err))
			}
			return
		}
		if file.Horizon > maxHorizon || file.ClipSteps*file.FrameSkip >= maxFrames || len(file.Features) > maxFeatures || !filepath.IsLocal(file.Model) {
			t.Fatalf("accepted: %+v", file)
		}
		for _, c := range file.Features {
			if v := c.scale(); v == 0 || math.Abs(v) > 1e6 {
				t.Fatalf("accepted scale %v", v)
			}
		}
		b, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseCustom(b)
		if err != nil || !reflect.DeepEqual(file, again) {
			t.Fatalf("written and read again: %+v, %v; was %+v", again, err, file)
		}
	})
}
