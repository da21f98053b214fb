package outside

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	path := write(t, "cart-pole.json", `{"title":"Cart","command":["python3","cart.py"],"environment":{"MUJOCO_GL":"egl"},"answer_seconds":5}`)
	d, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if d.ID != "outside-cart-pole" || d.Folder != filepath.Dir(path) || d.StartSec != 60 || d.AnswerSec != 5 {
		t.Errorf("read %+v", d)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, test := range []struct{ name, content, says string }{
		{"Cart Pole.json", `{}`, "lower case"},
		{"cart.json", `{`, "not a description"},
		{"cart.json", `{}`, "either"},
		{"cart.json", `{"command":["a"],"connect":"unix:b"}`, "either"},
		{"cart.json", `{"command":["a"],"reward":1}`, "reward"},
		{"cart.json", `{"command":["a",""]}`, "empty"},
		{"cart.json", `{"command":["a"],"answer_seconds":-1}`, "above 0"},
		{"cart.json", `{"command":["a"],"environment":{"A=B":"c"}}`, "A=B"},
		{"cart.json", `{"command":["a"],"title":"two\nlines"}`, "one line"},
		{"cart.json", `{"command":["a"],"view":[0,0,10]}`, "left, top, width and height"},
		{"cart.json", `{"command":["a"],"view":[-1,0,10,10]}`, "0 to 4096"},
		{"cart.json", `{"command":["a"],"view":[0,0,10,7]}`, "8 to 4096"},
		{"cart.json", `{"connect":"tcp:192.168.1.2:80"}`, "127.0.0.1"},
		{"cart.json", `{"connect":"tcp:localhost"}`, "127.0.0.1"},
		{"cart.json", `{"connect":"http://x"}`, "unix:PATH"},
		{"cart.json", `{"command":["` + strings.Repeat("a", maxDescription) + `"]}`, "more than"},
	} {
		if _, err := Read(write(t, test.name, test.content)); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s %.60s: error %v, want kind Invalid with %q", test.name, test.content, err, test.says)
		}
	}
	if _, err := Read("/nonexistent/cart.json"); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("error %v for a file that is not there", err)
	}
}

func TestHelloRefuses(t *testing.T) {
	good := func() Hello {
		return Hello{
			Protocol: 1, Name: "cart", Version: "1", Observation: 1, Action: Actions{Num: 2}, Features: []string{"a", "b"},
			Horizon: 10, StepSec: 0.1, Draws: "scene",
		}
	}
	h := good()
	if f := h.check(); f != nil {
		t.Fatal(f.text)
	}
	for _, test := range []struct {
		says   string
		change func(*Hello)
	}{
		{"version 2", func(h *Hello) { h.Protocol = 2 }},
		{"name", func(h *Hello) { h.Name = "../x" }},
		{"version", func(h *Hello) { h.Version = "a@b" }},
		{"observations have 0", func(h *Hello) { h.Observation = 0 }},
		{"observations have 5000", func(h *Hello) { h.Observation = 5000 }},
		{"1 discrete", func(h *Hello) { h.Action.Num = 1 }},
		{"discrete", func(h *Hello) { h.Action.Low = []float64{1} }},
		{"0 low", func(h *Hello) { h.Action = Actions{} }},
		{"1 low and 2 high", func(h *Hello) { h.Action = Actions{Low: []float64{0}, High: []float64{1, 2}} }},
		{"between 1 and 1", func(h *Hello) { h.Action = Actions{Low: []float64{1}, High: []float64{1}} }},
		{"0 features", func(h *Hello) { h.Features = nil }},
		{"there twice", func(h *Hello) { h.Features = []string{"a", "a"} }},
		{"prior_scale has 1", func(h *Hello) { h.PriorScale = []float64{1} }},
		{"must be above 0", func(h *Hello) { h.PriorScale = []float64{1, 0} }},
		{"0 steps", func(h *Hello) { h.Horizon = 0 }},
		{"takes 0 s", func(h *Hello) { h.StepSec = 0 }},
		{"discount", func(h *Hello) { h.Discount = 1.5 }},
		{"clips have 11", func(h *Hello) { h.ClipSteps = 11 }},
		{"playback", func(h *Hello) { h.Playback = -1 }},
		{"draws", func(h *Hello) { h.Draws = "video" }},
		{"state", func(h *Hello) { h.State = -1 }},
		{"33 things that happen", func(h *Hello) { h.Happens = make([]foreign.Happening, 33) }},
		{"number 0 of what happens has no name", func(h *Hello) { h.Happens = []foreign.Happening{{Useless: true}} }},
		{"number 1: what happens must be one line of at most 60 bytes", func(h *Hello) {
			h.Happens = []foreign.Happening{{Happens: "falls"}, {Happens: strings.Repeat("x", 61)}}
		}},
		{"one line", func(h *Hello) { h.Happens = []foreign.Happening{{Happens: "falls\nover"}} }},
		{`twice that "falls"`, func(h *Hello) { h.Happens = []foreign.Happening{{Happens: "falls"}, {Happens: "falls", Useless: true}} }},
	} {
		h := good()
		test.change(&h)
		if f := h.check(); f == nil || f.code != CodeHello || !strings.Contains(f.text, test.says) {
			t.Errorf("%+v: %v, want %q", h, f, test.says)
		}
	}
}

// The version of an environment changes with its files and with what it says, and not with
// where its interpreter is.
func TestVersion(t *testing.T) {
	d := describe(t, "good")
	d.Command = []string{"/usr/bin/python3", "cart.py"}
	path := filepath.Join(d.Folder, "cart.py")
	save := func(content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save("one")
	first := d.hash([]byte("hello"))
	d.Command[0] = "/opt/python3"
	if d.hash([]byte("hello")) != first {
		t.Error("another place of the interpreter is another environment")
	}
	if d.hash([]byte("hi")) == first {
		t.Error("another hello is the same environment")
	}
	save("two")
	if d.hash([]byte("hello")) == first {
		t.Error("another file is the same environment")
	}
}
