package foreign_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
)

func TestWorld(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*foreign.World)
		says   string // empty: nothing is wrong
	}{
		{"as it must be", func(*foreign.World) {}, ""},
		{"all that may be said", func(w *foreign.World) { w.Discount, w.Playback, w.PriorScale = 1, 1000, []float64{1, 2} }, ""},
		{"two lines", func(w *foreign.World) { w.About = "a\nb" }, "more than one line"},
		{"long title", func(w *foreign.World) { w.Title = strings.Repeat("é", foreign.MaxTitle+1) }, "longer than 80"},
		{"no time", func(w *foreign.World) { w.StepSec = 0 }, "takes 0 s"},
		{"no number", func(w *foreign.World) { w.StepSec = math.NaN() }, "takes NaN s"},
		{"discount", func(w *foreign.World) { w.Discount = 1.5 }, "discount 1.5"},
		{"playback", func(w *foreign.World) { w.Playback = 1001 }, "playback 1001"},
		{"one name twice", func(w *foreign.World) { w.Features = []string{"a", "a"} }, "feature 1"},
		{"empty name", func(w *foreign.World) { w.Features[0] = "" }, "feature 0"},
		{"many features", func(w *foreign.World) { w.Features = slices.Repeat([]string{"a"}, foreign.MaxFeatures+1) }, "65 features"},
		{"scale", func(w *foreign.World) { w.PriorScale = []float64{1} }, "1 numbers for 2 features"},
		{"scale of nothing", func(w *foreign.World) { w.PriorScale = []float64{1, 0} }, "the number 0"},
	} {
		w := foreign.World{Title: "T", StepSec: 0.1, Features: []string{"a", "b"}}
		test.change(&w)
		if err := w.Check(); (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.name, err, test.says)
		}
	}
}

func TestClipSteps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stepSec float64
		most    int
		want    int
	}{{0.05, 60, 40}, {0.01, 60, 60}, {1, 60, 10}, {1, 7, 7}, {1e-6, 600, 600}} {
		if got := foreign.ClipSteps(test.stepSec, test.most); got != test.want {
			t.Errorf("clips of steps of %v s, at most %d: %d, want %d", test.stepSec, test.most, got, test.want)
		}
	}
}

func TestEpisode(t *testing.T) {
	t.Parallel()
	rows := func(n, d int) [][]float64 { return slices.Repeat([][]float64{make([]float64, d)}, n) }
	whole := foreign.Episode{Obs: rows(4, 3), Actions: rows(3, 1), Phi: rows(3, 2)}
	for _, test := range []struct {
		name   string
		e      foreign.Episode
		frames int
		steps  int    // 0: none
		says   string // of Check
	}{
		{"whole", whole, -1, 3, ""},
		{"whole, of other pictures", whole, 7, 3, ""},
		{"pictures alone", foreign.Episode{}, 5, 5, ""},
		{"nothing", foreign.Episode{}, -1, 0, ""},
		{"observations alone", foreign.Episode{Obs: rows(4, 3)}, -1, 3, ""},
		{"long", foreign.Episode{Actions: rows(11, 1)}, -1, 0, ""},
		{"an observation too few", foreign.Episode{Obs: rows(3, 3), Actions: rows(3, 1)}, -1, 0, ""},
		{"wide actions", foreign.Episode{Actions: rows(3, foreign.MaxAction+1)}, -1, 3, "row 0 of actions has 65 numbers; it must have 1 to 64"},
		{"features that are not named", foreign.Episode{Phi: rows(3, 3)}, -1, 3, "row 0 of features has 3 numbers; it must have 2"},
		{"ragged", foreign.Episode{Obs: append(rows(3, 2), rows(1, 1)...)}, -1, 3, "row 3 of observations has 1 numbers, and row 0 has 2"},
		{"infinite", foreign.Episode{Actions: [][]float64{{1}, {math.Inf(1)}}}, -1, 2, "row 1 of actions"},
	} {
		n, err := test.e.Steps(test.frames, 10)
		if (err != nil) != (test.steps == 0) || err == nil && n != test.steps {
			t.Errorf("%s: %d steps, %v; want %d", test.name, n, err, test.steps)
		}
		if err := test.e.Check(2); (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.name, err, test.says)
		}
	}
	got := whole.Trajectory("e", true, 7)
	if got.Env != "e" || got.End != idrl.Terminated || got.Len() != 3 || !slices.EqualFunc(got.Snapshots, [][]float64{{7, 0}, {7, 1}, {7, 2}, {7, 3}}, slices.Equal) {
		t.Errorf("trajectory %+v", got)
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "five"), []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, test := range []struct {
		name string
		most int64
		says string
	}{{"five", 5, ""}, {"five", 4, "of-limit: five has more than 4 bytes"}, {"six", 5, "of-missing: six"}, {".", 5, "of-missing: . is not a plain file"}, {"../x", 5, "of-missing: ../x"}} {
		b, err := foreign.Refusal("of").ReadFile(root, test.name, test.most)
		if (err == nil) != (test.says == "") || err == nil && string(b) != "12345" || err != nil && (!strings.HasPrefix(err.Error(), test.says) || idrl.KindOf(err) != idrl.Invalid) {
			t.Errorf("%s: %q, %v; want %q", test.name, b, err, test.says)
		}
	}
	if err := foreign.Refusal("").Errorf("limit", "too %s", "much"); err.Error() != "too much" {
		t.Errorf("without codes: %v", err)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{`{"a":1}`: true, " {} \n": true, `{"b":1}`: false, `{"a":1}{}`: false, `{"a":1}}`: false, `{"a":1}]`: false, `{"a":`: false} {
		var v struct{ A int }
		if err := foreign.Decode(bytes.NewReader([]byte(text)), nil, &v); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestIsName(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"cart-2": true, "abcdef": true, "": false, "-a": false, "Cart": false, "a_b": false, "a.b": false, "abcdefg": false, "é": false} {
		if foreign.IsName(name, 6) != ok {
			t.Errorf("%q is a name: %t, want %t", name, !ok, ok)
		}
	}
}
