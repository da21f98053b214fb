package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/web/client"
)

// folderFiles returns the files of a folder by name.
func folderFiles(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		out[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// exportedBundle exports a session as a bundle into a new folder.
func exportedBundle(t *testing.T, data string, session idrl.SessionID, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "bundle")
	if status, _, stderr := cli(t, append([]string{"export", "--data", data, "--session", string(session), "--format", "bundle", "--out", out}, args...)...); status != 0 {
		t.Fatal(stderr)
	}
	return out
}

// A session that was imported exports the bundle that it is from, with its learnt reward and
// the pictures of its clips; and it goes on as the other does: who joins is asked the same, and
// after the same answers the beliefs are the same.
func TestImportGoesOn(t *testing.T) {
	t.Parallel()
	s := newLabelledFolder(t)
	from := exportedBundle(t, s.dir, s.session, "--clips", "gif")
	other := labelledFolder{dir: t.TempDir(), session: s.session}
	status, stdout, stderr := cli(t, "import", from, "--data", other.dir)
	if status != 0 || !strings.Contains(stdout, string(s.session)) || !strings.Contains(stdout, "invite new --data") {
		t.Fatalf("%d %s%s", status, stdout, stderr)
	}
	want, got := folderFiles(t, from), folderFiles(t, exportedBundle(t, other.dir, s.session, "--clips", "gif"))
	for name := range want {
		if !bytes.Equal(got[name], want[name]) {
			t.Errorf("%s is another", name)
		}
	}
	if len(got) != len(want) || len(want) < 40 {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	if status, stdout, stderr := cli(t, "doctor", "--data", other.dir); status != 0 || strings.Count(stdout, " sound\n") != 4 {
		t.Errorf("doctor: %s%s", stdout, stderr)
	}
	asked, beliefs := goOn(t, s)
	askedToo, beliefsToo := goOn(t, other)
	if !slices.Equal(asked, askedToo) || len(asked) != 5 {
		t.Errorf("asked %q here and %q there", asked, askedToo)
	}
	if len(beliefs) != 12 || !slices.EqualFunc(beliefs, beliefsToo, func(a, b record.Snapshot) bool { return bytes.Equal(a.Belief, b.Belief) && a.Regret == b.Regret }) {
		t.Errorf("%d beliefs here, %d there, or they differ", len(beliefs), len(beliefsToo))
	}
}

// goOn has somebody join and answer five questions, with workers that train nothing.
func goOn(t *testing.T, s labelledFolder) (asked []idrl.QueryID, beliefs []record.Snapshot) {
	t.Helper()
	s.worker = []string{"sh", "-c", "cat > /dev/null"}
	s.serve(t, envs.Catalogue(), func(a *app, base string) {
		token, err := a.auth.NewInvitation(t.Context(), s.session, 1, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := client.Dial(t.Context(), base+"/join/"+token)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		l := loadtest.New(conn, 5)
		l.Heeds = true // as in study
		if err := l.Label(5); err != nil {
			t.Fatal(err)
		}
		rec, err := a.db.Load(t.Context(), s.session)
		if err != nil {
			t.Fatal(err)
		}
		asked, beliefs = l.Asked, rec.Snapshots
	})
	return asked, beliefs
}

// An import that is killed leaves nothing behind that is half done, and can be run again; what
// is there already is refused, and the server may be running.
func TestImportIsWhole(t *testing.T) {
	t.Parallel()
	s := newLabelledFolder(t)
	from, data := exportedBundle(t, s.dir, s.session), t.TempDir()
	sessions := func() string {
		_, stdout, _ := cli(t, "export", "--data", data)
		return stdout
	}
	for _, after := range []time.Duration{5, 40, 80, 160} {
		cmd := exec.Command(program(t), "import", from, "--data", data)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(after * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if list := sessions(); list != "" && !strings.Contains(list, "    7 answers") {
			t.Fatalf("half an import: %s", list)
		}
	}
	if sessions() == "" {
		if status, _, stderr := cli(t, "import", from, "--data", data); status != 0 {
			t.Fatal(stderr)
		}
	}
	for _, test := range []struct{ says, args string }{
		{"exists already", from},
		{"not both", from + " --as x --new-id"},
		{"name a bundle", ""},
		{"there is no", filepath.Join(data, "nothing")},
		{"is not a bundle", data},
		{"cannot be the id", from + " --as a/b"},
		{"unexpected argument", from + " --new-id " + from},
	} {
		if status, _, stderr := cli(t, append([]string{"import", "--data", data}, strings.Fields(test.args)...)...); status == 0 || !strings.Contains(stderr, test.says) {
			t.Errorf("%s: %d %s, want %q", test.args, status, stderr, test.says)
		}
	}
	labelledFolder{dir: data}.serve(t, envs.Catalogue(), func(a *app, base string) {
		if status, _, stderr := cli(t, "import", "--data", data, "--as", "beside", from); status != 0 {
			t.Errorf("beside a server: %s", stderr)
		}
		if list, err := a.db.Sessions(t.Context()); err != nil || len(list) != 2 || list[0].Answers != list[1].Answers {
			t.Errorf("the server has %v, %v", list, err)
		}
	})
	if left, _ := filepath.Glob(filepath.Join(data, ".import-*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}
