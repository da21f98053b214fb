package main

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/internal/study/rehearsed"
	"tiebreak/store"
)

// TestRestoreDrill: while people answer, a backup is made beside the server; what had been acknowledged before is in it, row by
// row. The folder that is restored is sound, and a server goes on from it.
func TestRestoreDrill(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "gridworld", "--kind", "clip_comparison", "--budget", "10000")
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	made := mustCLI(t, "invite", "new", "--data", data, "--session", id, "--uses", "1")
	people := []*loadtest.Labeller{join(t, link, 1), join(t, strings.Fields(made)[1], 2)}
	const first, then = 10, 60
	var began, ended sync.WaitGroup
	began.Add(len(people))
	for _, l := range people {
		ended.Go(func() {
			err := l.Label(first)
			began.Done()
			if err == nil {
				err = l.GoOn(then)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	began.Wait()
	file, restored := filepath.Join(t.TempDir(), "drill.tar"), filepath.Join(t.TempDir(), "restored")
	if said := mustCLI(t, "backup", "--data", data, "--out", file); !strings.Contains(said, "1 file, ") || !strings.Contains(said, "checked") {
		t.Errorf("backup says %q", said)
	}
	ended.Wait()
	p.kill()
	if said := mustCLI(t, "restore", file, "--verify"); !strings.Contains(said, "is sound: 1 file, ") {
		t.Errorf("verify says %q", said)
	}
	if said := mustCLI(t, "restore", file, "--data", restored); !strings.Contains(said, "doctor --data "+restored) {
		t.Errorf("restore says %q", said)
	}
	then1, now := mustCLI(t, "export", "--data", restored, "--session", id), mustCLI(t, "export", "--data", data, "--session", id)
	if n := strings.Count(then1, "\n"); n < first*len(people) || !strings.HasPrefix(now, then1) {
		t.Errorf("the backup has %d answers, of which %d had been acknowledged; they are not the first of:\n%s", n, first*len(people), now)
	}
	for _, row := range strings.Split(strings.TrimSpace(then1), "\n") {
		if !json.Valid([]byte(row)) {
			t.Errorf("row %q", row)
		}
	}
	if text := mustCLI(t, "doctor", "--data", restored); strings.Count(text, " sound\n") != 4 {
		t.Errorf("doctor:\n%s", text)
	}
	next := startServer(t, "serve", "--data", restored, "--addr", freeAddr(t))
	l := join(t, strings.Fields(mustCLI(t, "invite", "new", "--data", restored, "--session", id))[1], 3)
	if err := l.Label(2); err != nil {
		t.Errorf("on the restored folder: %v\n%s", err, next.out)
	}
	if status, _, said := cli(t, "restore", file, "--data", restored); status != 1 || !strings.Contains(said, "server is running") {
		t.Errorf("over a running server: status %d, %s", status, said)
	}
}

func TestBackupAndRestoreCommands(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	id, _ := newLink(t, data, "127.0.0.1:1")
	db, err := store.Open(t.Context(), data) // as a server does
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	out := filepath.Join(t.TempDir(), "study.tar")
	mustCLI(t, "backup", "--data", data, "--out", out)
	damaged := filepath.Join(t.TempDir(), "damaged.tar")
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	must.Do(t, os.WriteFile(damaged, b, 0o600))
	for _, test := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"backup", "--data", data, "--out", out}, 1, "exists"},
		{[]string{"backup", "--data", data}, 2, "--out"},
		{[]string{"backup", "--data", t.TempDir(), "--out", out + "2"}, 1, "--data"},
		{[]string{"restore"}, 2, "name the backup file"},
		{[]string{"restore", out}, 2, "--data"},
		{[]string{"restore", out, "--data", data}, 1, "server is running"},
		{[]string{"restore", damaged, "--verify"}, 1, "the file tiebreak.db does not have the SHA-256"},
		{[]string{"restore", damaged, "--data", filepath.Join(t.TempDir(), "x")}, 1, "the file tiebreak.db does not have the SHA-256"},
		{[]string{"restore", filepath.Join(data, "server.lock"), "--verify"}, 1, "no backup of tiebreak"},
		{[]string{"restore", "nowhere.tar", "--verify"}, 1, "cannot be read"},
		{[]string{"restore", out, "--data", t.TempDir(), "--forgotten", "nowhere"}, 1, "--forgotten"},
	} {
		status, _, said := cli(t, test.args...)
		if status != test.status || !strings.Contains(said, test.says) {
			t.Errorf("%q: status %d, want %d; want %q in %q", test.args, status, test.status, test.says, said)
		}
	}
	restored := filepath.Join(t.TempDir(), "restored")
	mustCLI(t, "restore", out, "--data", restored)
	if said := mustCLI(t, "session", "show", "--data", restored); !strings.Contains(said, id) {
		t.Errorf("the copy holds %s", said)
	}
	must.Do(t, db.Close())
	if _, _, err := store.Restore(t.Context(), out, data, nil); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("over the folder of a stopped server: %v", err)
	}
}

// TestScheduledBackupOfAServer: the server makes a backup when it starts, which can be restored.
func TestScheduledBackupOfAServer(t *testing.T) {
	t.Parallel()
	data, into := t.TempDir(), t.TempDir()
	id, _ := newLink(t, data, "127.0.0.1:1")
	p := startServer(t, "serve", "--data", data, "--addr", freeAddr(t), "--backup-every", "24h", "--backup-keep", "2", "--backup-dir", into)
	var made []string
	for late, again := time.Now().Add(waittest.Limit), time.Tick(50*time.Millisecond); len(made) == 0; <-again {
		made, _ = filepath.Glob(filepath.Join(into, "auto-*.tar"))
		if time.Now().After(late) {
			t.Fatalf("no backup was made:\n%s", p.out)
		}
	}
	p.kill()
	restored := t.TempDir()
	mustCLI(t, "restore", made[0], "--data", restored)
	if said := mustCLI(t, "session", "show", "--data", restored); !strings.Contains(said, id) {
		t.Errorf("the copy holds %s", said)
	}
	for _, test := range []struct{ args, says string }{
		{"--backup-every 3s", "a minute or more"}, {"--backup-every 24h --backup-keep 0", "at least 1"}, {"--backup-dir x", "--backup-every"},
	} {
		status, _, said := cli(t, append([]string{"serve", "--data", t.TempDir(), "--addr", "127.0.0.1:0"}, strings.Fields(test.args)...)...)
		if status != 2 || !strings.Contains(said, test.says) {
			t.Errorf("%s: status %d, %q", test.args, status, said)
		}
	}
}

// TestRecoverCommand: of a folder with a damaged page of answers the others are saved, and it says what was lost.
func TestRecoverCommand(t *testing.T) {
	t.Parallel()
	s := newLabelledFolder(t)
	var second struct {
		ID string `json:"label_id"`
	}
	if err := json.Unmarshal([]byte(strings.Split(s.export, "\n")[1]), &second); err != nil || second.ID == "" {
		t.Fatalf("no id in %s (%v)", s.export, err)
	}
	s.damagePage(t, string(s.session)+"\x02"+second.ID) // as SQLite writes (session, 2, id): a row of the table and not of an index
	out := filepath.Join(t.TempDir(), "saved")
	said := mustCLI(t, "recover", "--data", s.dir, "--out", out)
	for _, says := range []string{"Read ", "rows by table:", "Lost, or not certain:", "table answer: damaged pages: 1", "doctor --data " + out} {
		if !strings.Contains(said, says) {
			t.Errorf("no %q in:\n%s", says, said)
		}
	}
	if text := mustCLI(t, "doctor", "--data", out); !strings.Contains(text, "Database  sound") {
		t.Errorf("doctor:\n%s", text)
	}
	if status, _, said := cli(t, "recover", "--data", s.dir); status != 2 || !strings.Contains(said, "--out") {
		t.Errorf("without --out: status %d, %q", status, said)
	}
}

// A backup carries the rehearsals that were kept on this machine, which are beside the database.
func TestBackupOfRehearsals(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	newLink(t, data, addr, "--env", "chain", "--kind", "state_comparison")
	own := rehearsed.Kept().Rows[0]
	own.Env = "own:maze"
	kept, err := json.Marshal(rehearsed.Table{Rows: []rehearsed.Row{own}})
	if err == nil {
		err = os.WriteFile(filepath.Join(data, rehearsalsFile), kept, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	file, restored := filepath.Join(t.TempDir(), "b.tar"), filepath.Join(t.TempDir(), "restored")
	mustCLI(t, "backup", "--data", data, "--out", file)
	mustCLI(t, "restore", file, "--data", restored)
	rows := rehearsals(restored, slog.New(slog.DiscardHandler))().Rows
	if !slices.ContainsFunc(rows, func(r rehearsed.Row) bool { return r.Env == own.Env && slices.Equal(r.Answers, own.Answers) }) {
		t.Error("the rehearsals of the data folder are not in its backup")
	}
}
