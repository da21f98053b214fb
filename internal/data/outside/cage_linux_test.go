package outside

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
)

// walled returns which walls stand on this machine.
func walled(t *testing.T) map[string]bool {
	t.Helper()
	missing := Missing(os.Args[0], false)
	t.Logf("missing walls: %q", missing)
	stands := map[string]bool{}
	for _, wall := range []string{wallProcesses, wallFiles, wallDisk, wallNetwork} {
		stands[wall] = true
	}
	for _, wall := range missing {
		stands[wall] = false
	}
	return stands
}

// hostile runs a script as an environment, in a cage, in one without namespaces, or in none, until it has written its lines
// to the pipe, and returns these.
func hostile(t *testing.T, what, limits, cage string, write ...string) (said []string) {
	t.Helper()
	path, pipe := scripted(t, what+"\nexec 3>&-; exec sleep 600", limits)
	d, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	d.Launcher, d.bare, d.Network, d.Write = os.Args[0], cage == "bare", cage == "network", write
	if cage == "none" {
		d.Launcher = ""
	}
	p, err := Load(d)
	if err != nil {
		t.Fatal(err)
	}
	lines := holders(t, pipe)
	env, failed := reset(t, p)
	for l := range lines {
		said = append(said, l)
	}
	env.(interface{ Interrupt() }).Interrupt()
	waittest.For(t, failed, "the reset to fail")
	return said
}

// is checks that a program says the same as want.
func is(t *testing.T, what string, said []string, want string) {
	t.Helper()
	if got := strings.Join(said, ","); got != want {
		t.Errorf("%s: it says %q, want %q", what, got, want)
	}
}

// A program of a cage does not see the processes of this user, and thus not their variables; without a cage it does.
func TestCageHidesProcesses(t *testing.T) {
	t.Setenv("TIEBREAK_SECRET", "s3cret")
	secret := exec.Command("sleep", "600") // a process with the secret
	if err := secret.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = secret.Process.Kill()
		_ = secret.Wait()
	}()
	what := fmt.Sprintf(`if tr '\0' '\n' < /proc/%d/environ 2>/dev/null | grep -q s3cret; then echo reads >&3; else echo no >&3; fi
if kill -0 %d 2>/dev/null; then echo ends >&3; else echo no >&3; fi`, secret.Process.Pid, secret.Process.Pid)
	is(t, "without a cage", hostile(t, what, "", "none"), "reads,ends")
	if walled(t)[wallProcesses] {
		is(t, "in a cage", hostile(t, what, "", ""), "no,no")
	}
}

// It reaches nothing over the network, unless the researcher says so.
func TestCageHasNoNetwork(t *testing.T) {
	here, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	port := here.Addr().(*net.TCPAddr).Port
	what := fmt.Sprintf(`if %s -c 'exec 4<>/dev/tcp/127.0.0.1/%d' 2>/dev/null; then echo reached >&3; else echo no >&3; fi`, bash, port)
	is(t, "without a cage", hostile(t, what, "", "none"), "reached")
	is(t, "with --outside-network", hostile(t, what, "", "network"), "reached")
	if walled(t)[wallNetwork] {
		is(t, "in a cage", hostile(t, what, "", ""), "no")
	}
}

// It writes to its own folder alone, and to those of its description, and what it writes is bounded and gone after it.
func TestCageBoundsFiles(t *testing.T) {
	what := `echo x > here 2>/dev/null && echo wrote >&3 || echo no >&3
cd "$HOME" && [ "$HOME" = "$TMPDIR" ] && echo x > there && echo wrote >&3
for i in 1 2 3 4 5 6 7 8; do head -c 1000000 /dev/zero > $i 2>/dev/null || { echo full >&3; break; }; done
[ -d "$HOME" ] && echo "$HOME" >&3`
	stands := walled(t)
	for _, test := range []struct {
		cage   string
		write  []string
		want   string
		stands bool
	}{
		{"bare", nil, "wrote,wrote", true},
		{"", nil, "no,wrote,full", stands[wallFiles] && stands[wallDisk]},
		{"", []string{"."}, "wrote,wrote,full", stands[wallFiles] && stands[wallDisk]},
	} {
		if !test.stands {
			continue
		}
		said := hostile(t, what, `"disk_mb": 4`, test.cage, test.write...)
		home := said[len(said)-1]
		is(t, fmt.Sprintf("cage %q, write %q", test.cage, test.write), said[:len(said)-1], test.want)
		if _, err := os.Stat(home); !os.IsNotExist(err) || home == os.Getenv("HOME") {
			t.Errorf("its folder %s is left: %v", home, err)
		}
	}
}

// Where the system has no namespaces, a program whose files take more than their limit together is ended, and they are gone; one that stays
// below is not.
func TestCageMeasuresFiles(t *testing.T) {
	for _, test := range []struct {
		files int
		over  bool
	}{{12, true}, {2, false}} {
		what := fmt.Sprintf(`cd "$HOME"; echo "$HOME" >&3; mkdir deep; for i in $(seq %d); do head -c 1000000 /dev/zero > deep/$i; done
sleep 1.2; echo done >&3; exec sleep 600`, test.files) // longer than two measurements
		path, pipe := scripted(t, what, `"disk_mb": 8`)
		d, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		d.Launcher, d.bare = os.Args[0], true
		p, err := Load(d)
		if err != nil {
			t.Fatal(err)
		}
		lines := holders(t, pipe)
		env, failed := reset(t, p)
		home := waittest.For(t, lines, "the folder of the program")
		if !test.over {
			if said := waittest.For(t, lines, "the program to have written"); said != "done" {
				t.Fatalf("it says %q", said)
			}
			if _, err := os.Stat(home); err != nil {
				t.Errorf("a program within its limit was ended: %v", err)
			}
			env.(interface{ Interrupt() }).Interrupt()
		}
		drained(t, lines)
		if err := waittest.For(t, failed, "the reset to fail"); test.over != (err != nil && strings.Contains(err.Error(), "MiB; the limit is 8")) {
			t.Errorf("%d files: %v", test.files, err)
		}
		if _, err := os.Stat(home); !os.IsNotExist(err) {
			t.Errorf("its folder is left: %v", err)
		}
	}
}

// It has no rights of an administrator and gains none.
func TestCageTakesRights(t *testing.T) {
	what := `grep -E '^(CapEff|CapBnd|NoNewPrivs):' /proc/self/status | tr -d '\t' >&3`
	for _, cage := range []string{"", "bare"} {
		said := strings.Join(hostile(t, what, "", cage), ",")
		if !strings.Contains(said, "NoNewPrivs:1") || !strings.Contains(said, "CapEff:0000000000000000") {
			t.Errorf("in a cage %q it has %s", cage, said)
		}
		if os.Getuid() == 0 && !strings.Contains(said, "CapBnd:0000000000000000") {
			t.Errorf("in a cage %q it may gain %s", cage, said)
		}
	}
	if said := strings.Join(hostile(t, what, "", "none"), ","); !strings.Contains(said, "NoNewPrivs:0") && !strings.Contains(said, "NoNewPrivs:1") {
		t.Errorf("the rights of a program without a cage are not told: %s", said)
	}
}

// A program that takes a processor for itself is ended after its time.
func TestCageBoundsProcessorTime(t *testing.T) {
	for _, bare := range []bool{false, true} {
		path, pipe := scripted(t, `echo x >&3; exec 3>&-; while :; do :; done`, `"cpu_seconds": 1`)
		d, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		d.Launcher, d.bare = os.Args[0], bare
		p, err := Load(d)
		if err != nil {
			t.Fatal(err)
		}
		drainedLater := holders(t, pipe)
		_, failed := reset(t, p)
		drained(t, drainedLater)
		if err := waittest.For(t, failed, "the reset to fail"); err == nil || !strings.Contains(err.Error(), string(CodeExited)) {
			t.Errorf("bare %v: %v", bare, err)
		}
	}
}

// One that writes without end to either of its outputs is ended, with an error, and takes little memory of this program.
func TestFloodIsBounded(t *testing.T) {
	for _, test := range []struct{ what, want string }{
		{`exec 3>&-; exec head -c 2000000000 /dev/zero`, string(CodeLine)},
		{`exec 3>&-; head -c 100000000 /dev/zero | tr '\0' x >&2; exit 6`, "exit status 6"},
	} {
		path, pipe := scripted(t, test.what, "")
		p := launchedProgram(t, path)
		lines := holders(t, pipe)
		_, failed := reset(t, p)
		drained(t, lines)
		err := waittest.For(t, failed, "the reset to fail")
		if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 4000 {
			t.Errorf("%.500v, want %q", err, test.want)
		}
	}
}

// Escapes end and limits hold also where the system allows no namespaces.
func TestCageWithoutNamespaces(t *testing.T) {
	for name, what := range escapes {
		t.Run(name, func(t *testing.T) {
			path, pipe := scripted(t, what, "")
			d, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			d.Launcher, d.bare = os.Args[0], true
			p, err := Load(d)
			if err != nil {
				t.Fatal(err)
			}
			lines := holders(t, pipe)
			env, failed := reset(t, p)
			line(t, lines)
			env.(interface{ Interrupt() }).Interrupt()
			drained(t, lines)
			waittest.For(t, failed, "the reset to fail")
		})
	}
}

// Others go on while a hostile program does its worst.
func TestOthersGoOnBesideAHostileProgram(t *testing.T) {
	path, pipe := scripted(t, `trap "" TERM; bomb() { echo x >&3; [ $1 = 8 ] && exec sleep 600; bomb $(($1+1)) & bomb $(($1+1)) & wait; }; bomb 0`, `"processes": 10`)
	bad := launchedProgram(t, path)
	lines := holders(t, pipe)
	_, failed := reset(t, bad)
	good := write(t, "good.json", fmt.Sprintf(`{"command": [%q], "environment": {%q: "scene"}}`, os.Args[0], childVariable))
	d, err := Read(good)
	if err != nil {
		t.Fatal(err)
	}
	d.Launcher = os.Args[0]
	p, err := Load(d)
	if err != nil {
		t.Fatal(err)
	}
	env := start(t, p)
	env.Reset(rng.New(1, "env", 0))
	for range 5 {
		env.Step(make(idrl.Action, env.Spec().Actions.Dim()))
	}
	if err := idrl.Err(env); err != nil {
		t.Error(err)
	}
	drained(t, lines)
	if err := waittest.For(t, failed, "the reset to fail"); err == nil || !strings.Contains(err.Error(), "processes; the limit is 10") {
		t.Error(err)
	}
}

// The walls that are reported missing are those that the system refuses; without a launcher these are all.
func TestMissingWalls(t *testing.T) {
	if got := Missing("", false); len(got) != 5 {
		t.Errorf("without a launcher %q are missing", got)
	}
	if got := Missing(filepath.Join(t.TempDir(), "none"), false); len(got) != 4 {
		t.Errorf("with a launcher that does not start %q are missing", got)
	}
	if got := Missing(os.Args[0], true); !strings.Contains(WithoutWalls(got), wallNetwork) {
		t.Errorf("with the network %q are missing", got)
	}
	b, err := exec.Command(os.Args[0], LaunchCommand, launchWalls, `{"Bare":true,"disk_mb":1}`).Output()
	if err == nil || bytes.Contains(b, []byte("[")) {
		t.Errorf("without namespaces it says %q, error %v", b, err)
	}
	if WithoutWalls(nil) != "" {
		t.Error("a sentence says that nothing is missing")
	}
}
