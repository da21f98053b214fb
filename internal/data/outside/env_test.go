package outside

import (
	"image"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tiebreak/envs/envtest"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// describe returns a description of a child in a mode.
func describe(t testing.TB, mode string) *Description {
	t.Helper()
	d := &Description{
		ID: "outside-cart", Title: "Cart", Command: []string{os.Args[0]}, Folder: t.TempDir(),
		Environment: childEnvironment(mode), StartSec: 60, AnswerSec: 60,
	}
	if err := d.check(); err != nil {
		t.Fatal(err)
	}
	return d
}

// childEnvironment has a child be in a mode, and end without the second for which programs that
// the race detector watches wait.
func childEnvironment(mode string) map[string]string {
	return map[string]string{childVariable: mode, "GORACE": "atexit_sleep_ms=0"}
}

// program returns that of a child in a mode, which says of itself what one that behaves does.
func program(t testing.TB, mode string) *Program {
	t.Helper()
	d := describe(t, mode)
	good := *d
	good.Environment = childEnvironment(strings.Join(slices.DeleteFunc(strings.Fields(mode), func(w string) bool {
		return !slices.Contains([]string{"scene", "picture", "state", "discrete", "names"}, w)
	}), " ") + " good")
	p, err := Load(&good)
	if err != nil {
		t.Fatal(err)
	}
	p.Description = *d
	return p
}

// start returns an environment that does not wait between its tries and is closed at the end.
func start(t testing.TB, p *Program) idrl.Environment {
	t.Helper()
	env := p.New()
	inner(env).pause = func(time.Duration) {}
	t.Cleanup(func() {
		if err := idrl.Close(env); err != nil {
			t.Error(err)
		}
	})
	return env
}

func inner(env idrl.Environment) *Env {
	switch env := env.(type) {
	case *scenic:
		return env.Env
	case *pictured:
		return env.Env
	}
	panic("no environment of outside")
}

// children returns the processes that this one has started and that have not ended. It skips the
// test where there is no /proc.
func children(t *testing.T) (out []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(files) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatalf("there are no processes in /proc: %v", err)
		}
		t.Skip("this system has no /proc")
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(b), ") ") // state and parent stand behind the name
		if f := strings.Fields(after); len(f) > 1 && f[1] == strconv.Itoa(os.Getpid()) && f[0] != "Z" {
			out = append(out, filepath.Base(filepath.Dir(path)))
		}
	}
	return out
}

// Every kind of outside environment keeps the contract of environments, and its clips can be
// drawn. No process is left.
func TestContract(t *testing.T) {
	for _, mode := range []string{"scene", "scene state", "picture", "picture state discrete", "scene discrete", "scene names", "picture state names"} {
		t.Run(mode, func(t *testing.T) {
			p := program(t, mode)
			envtest.Run(t, func() idrl.Environment { return start(t, p) })
			env := start(t, p)
			traj := &idrl.Trajectory{ID: "t", Env: env.Spec().ID}
			a := make(idrl.Action, env.Spec().Actions.Dim())
			a[len(a)/2] = 0.05 // of three actions the one that does nothing
			for a, step := range idrl.Episode(env, func([]float64) idrl.Action { return a }, rng.New(1, "env", 0)) {
				if step.Kind != idrl.First {
					traj.Actions, traj.Phi = append(traj.Actions, slices.Clone(a)), append(traj.Phi, slices.Clone(step.Phi))
				}
				traj.Snapshots = append(traj.Snapshots, env.(idrl.Snapshotter).Snapshot(nil))
			}
			shot := idrl.Segment(traj, 2, 4)
			one, err := clip.Encode(env, shot)
			if err != nil {
				t.Fatal(err)
			}
			other, err := clip.Encode(start(t, p), shot)
			if err != nil || !slices.Equal(one, other) {
				t.Errorf("a fresh process draws the clip otherwise, error %v", err)
			}
			c, err := clip.Decode(one)
			if err != nil || (c.Pictures != nil) != strings.Contains(mode, "picture") || c.Header.Steps != 4 {
				t.Errorf("a clip of %d steps with %d pictures, error %v", c.Header.Steps, len(c.Pictures), err)
			}
		})
	}
	if left := children(t); len(left) != 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// A picture that comes again is decoded once: it is the same image, which clips copy once.
func TestPictureThatStandsStill(t *testing.T) {
	env := start(t, program(t, "picture"))
	env.Reset(rng.New(1, "env", 0))
	var pictures [3]image.Image
	for i := range pictures {
		if i == 2 {
			env.Step(idrl.Action{1})
		}
		var err error
		if pictures[i], err = env.(drawing.Pictured).Picture(); err != nil {
			t.Fatal(err)
		}
	}
	if pictures[0] != pictures[1] || pictures[2] == pictures[0] {
		t.Error("the same picture is two images, or another picture is the same image")
	}
}

// A small file of very many scenes or shapes is refused at the cost of its bytes.
func TestReadScenesOfVeryMany(t *testing.T) {
	many := strings.Repeat("{},", 999_999) + "{}"
	for _, test := range []struct{ text, want string }{
		{"[" + many + "]", "more than 10001 scenes"},
		{`[{"static":[` + many + `]}]`, "shapes"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := foreign.ReadScenes([]byte(test.text))
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
			t.Errorf("%q in %d KB took %d MB", test.want, len(test.text)>>10, took>>20)
		}
	}
}

// What a child does wrong becomes an error with a code. Steps are broken from then on, their
// numbers are zeros, and nothing panics, hangs or stays.
func TestHostile(t *testing.T) {
	for _, test := range []struct {
		mode string
		code Code
		says string
	}{
		{"dies:3", CodeExited, "exit status 4"},
		{"prose", CodeLine, "hello there"},
		{"nan", CodeLine, "not JSON"},
		{"list", CodeLine, "not JSON"},
		{"null", CodeReply, "another request"},
		{"inf", CodeReply, "cannot be read"},
		{"huge", CodeReply, "1e+300 in observation 0"},
		{"short", CodeReply, "1 numbers as observation; by its hello there are 2"},
		{"features", CodeReply, "3 numbers as features"},
		{"text", CodeReply, "cannot be read"},
		{"extra", CodeReply, "reward"},
		{"other", CodeReply, "another request"},
		{"nobody", CodeReply, "another request"},
		{"neither", CodeReply, "neither result nor error"},
		{"sorry", CodeError, "bug: list index out of range"},
		{"rumour", CodeReply, `"flies" happens, which its hello does not list`},
		{"rumour names", CodeReply, `"flies" happens, which its hello does not list`},
		{"verdict names", CodeReply, "useless"},
		{"cut", CodeReply, "after 1 steps; its horizon is 12"},
		{"endless", CodeLine, "more than"},
		{"chatter", CodeLine, "not JSON"},
		{"hangs:2", CodeTimeout, "step within"},
		{"paint", CodeScene, "url(x)"},
		{"kind", CodeScene, "script"},
		{"camera", CodeScene, "camera"},
		{"points", CodeScene, "half a point"},
		{"words", CodeScene, "text"},
		{"crowd", CodeScene, "shapes in"},
		{"unscened", CodeReply, "sketch"},
		{"smudge picture", CodePicture, "neither PNG nor JPEG"},
		{"growing picture", CodePicture, "61x30"},
	} {
		t.Run(test.mode, func(t *testing.T) {
			p := program(t, test.mode)
			if test.code == CodeTimeout {
				p.AnswerSec = 0.5
			}
			env := start(t, p)
			var last idrl.TimeStep
			for _, last = range idrl.Episode(env, func([]float64) idrl.Action { return idrl.Action{0.1} }, rng.New(1, "env", 0)) {
				if last.Broken {
					break
				}
				switch env := env.(type) {
				case drawing.Drawer:
					env.Draw(&drawing.Scene{})
				case drawing.Pictured:
					_, _ = env.Picture() // Err tells too
				}
			}
			err := idrl.Err(env)
			if idrl.KindOf(err) != idrl.Unavailable || !strings.Contains(err.Error(), "("+string(test.code)+")") || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want %s with %q", err, test.code, test.says)
			}
			if !last.Broken || last.Kind != idrl.Truncated || len(last.Obs) != 2 || slices.Max(last.Obs) != 0 || len(last.Phi) != 2 || slices.Max(last.Phi) != 0 {
				t.Errorf("the last step is %+v", last)
			}
			if again := env.Reset(rng.New(1, "env", 1)); !again.Broken {
				t.Error("an episode begins after the failure")
			}
		})
	}
	if left := children(t); len(left) != 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// Children that are a nuisance in other ways do not matter.
func TestNuisance(t *testing.T) {
	for _, mode := range []string{"shouts", "family", "stays"} {
		t.Run(mode, func(t *testing.T) {
			env := start(t, program(t, mode))
			steps := 0
			for range idrl.Episode(env, func([]float64) idrl.Action { return idrl.Action{0} }, rng.New(1, "env", 0)) {
				steps++
			}
			if err := idrl.Close(env); err != nil || idrl.Err(env) != nil || steps != 13 {
				t.Errorf("%d steps, errors %v and %v", steps, err, idrl.Err(env))
			}
		})
	}
	if left := children(t); len(left) != 0 {
		t.Errorf("processes are left: %v", left)
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Description)
		code   Code
		says   string
	}{
		{"no program", func(d *Description) { d.Command[0] = "/nonexistent/python" }, CodeStart, "/nonexistent/python"},
		{"it dies", func(d *Description) { d.Environment[childVariable] = "dies" }, CodeExited, "exit status 3 instead of answering to hello; it wrote last: no module named cart"},
		{"it is mute", func(d *Description) { d.Environment[childVariable], d.StartSec = "mute", 0.5 }, CodeTimeout, "hello within 500ms"},
		{"it is another program", func(d *Description) { d.Command = []string{"sh", "-c", "read line; echo hello; sleep 5"} }, CodeLine, "not JSON"},
		{"nobody listens", func(d *Description) { d.Command, d.Connect = nil, "unix:nobody.sock" }, CodeStart, "nothing answers"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := describe(t, "good")
			test.change(d)
			_, err := Load(d)
			if idrl.KindOf(err) != idrl.Unavailable || !strings.Contains(err.Error(), "("+string(test.code)+")") || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want %s with %q", err, test.code, test.says)
			}
		})
	}
	if left := children(t); len(left) != 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// record plays an episode and returns its numbers.
func record(env idrl.Environment, seed uint64, visit func(step int)) (out [][]float64) {
	act := rng.New(seed, "act", 0)
	n := 0
	for _, step := range idrl.Episode(env, func([]float64) idrl.Action { return idrl.Action{2*act.Float64() - 1} }, rng.New(seed, "env", 0)) {
		out = append(out, slices.Clone(step.Obs), slices.Clone(step.Phi))
		visit(n)
		n++
	}
	return out
}

// A process that is killed, or dies once, is started again and brought to where it was: the
// episode is the same.
func TestRecovers(t *testing.T) {
	for _, mode := range []string{"scene", "scene state"} {
		want := record(start(t, program(t, mode)), 3, func(int) {})
		killed := start(t, program(t, mode))
		got := record(killed, 3, func(step int) {
			if step%5 == 2 {
				inner(killed).link.kill()
			}
		})
		if diff := cmp.Diff(want, got); diff != "" || idrl.Err(killed) != nil {
			t.Errorf("%s: another episode, error %v (-want +got):\n%s", mode, idrl.Err(killed), diff)
		}
	}
	p := program(t, "scene dies-once:4")
	p.Environment["TIEBREAK_TEST_MARK"] = filepath.Join(t.TempDir(), "died")
	env := start(t, p)
	if diff := cmp.Diff(record(start(t, program(t, "scene")), 3, func(int) {}), record(env, 3, func(int) {})); diff != "" || idrl.Err(env) != nil {
		t.Errorf("another episode, error %v (-want +got):\n%s", idrl.Err(env), diff)
	}
}

// One whose randomness does not come from the seed cannot be played again, which is found.
func TestReplayThatDiffers(t *testing.T) {
	env := start(t, program(t, "restless"))
	var states [][]float64
	record(env, 1, func(int) { states = append(states, env.(idrl.Snapshotter).Snapshot(nil)) })
	env.(idrl.Snapshotter).Restore(states[3])
	env.(drawing.Drawer).Draw(&drawing.Scene{})
	if err := idrl.Err(env); err == nil || !strings.Contains(err.Error(), string(CodeReplay)) {
		t.Errorf("error %v, want %s", err, CodeReplay)
	}
}

// An environment that says something else than when it was loaded is refused.
func TestChangedHello(t *testing.T) {
	p := program(t, "scene")
	p.Environment = childEnvironment("picture")
	env := start(t, p)
	env.Reset(rng.New(1, "env", 0))
	if err := idrl.Err(env); err == nil || !strings.Contains(err.Error(), string(CodeHello)) {
		t.Errorf("error %v, want %s", err, CodeHello)
	}
}

// A program that listens serves as one that is started does, and an environment whose connection
// breaks goes on over a new one.
func TestSocket(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		t.Run(network, func(t *testing.T) {
			d := describe(t, "scene")
			d.Command, d.Environment, d.Connect = nil, nil, network+":"+serveChild(t, network)
			p, err := Load(d)
			if err != nil {
				t.Fatal(err)
			}
			envtest.Run(t, func() idrl.Environment { return start(t, p) })
			env := start(t, p)
			want := record(start(t, program(t, "scene")), 3, func(int) {})
			if diff := cmp.Diff(want, record(env, 3, func(step int) {
				if step == 4 {
					inner(env).link.kill()
				}
			})); diff != "" || idrl.Err(env) != nil {
				t.Errorf("another episode, error %v (-want +got):\n%s", idrl.Err(env), diff)
			}
		})
	}
}

// serveChild lets the child "scene" serve every connection to the address that it returns.
func serveChild(t *testing.T, network string) (address string) {
	t.Helper()
	address = "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "s")
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				newChild("scene").serve(conn, conn)
			}()
		}
	}()
	return listener.Addr().String()
}
