package store_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
)

// secretParticipant is Ada's id on a crowd platform, as a3, which is kept as given.
const secretParticipant = "PROLIFIC-5a9d7c-of-ada"

// secrets are the traces of Ada in a data folder, as a1 and, by a crowd link, as a3.
var secrets = [][]byte{
	[]byte(secretName), []byte(secretAnswer), []byte(secretReason), hash("cookie0"), hash("keycookie0"), []byte(secretParticipant), hash("cookie of a3"),
}

// traces returns which files of a data folder hold a secret, and how many each.
func traces(t *testing.T, dir string) (found []string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, s := range secrets {
			if n := bytes.Count(b, s); n > 0 {
				found = append(found, fmt.Sprintf("%d times %q in %s", n, s, path))
			}
		}
		return err
	}))
	return found
}

// haunted returns a study in which Ada left traces in every kind of file: n answers, a backup of this version, one
// of an earlier version, one that is not whole, and what an import that was killed left.
func haunted(t *testing.T, dir string, n int) *store.DB {
	t.Helper()
	db := studied(t, dir, n)
	ctx := t.Context()
	crowd, err := identity.CrowdOf("prolific")
	must.Do(t, err)
	crowd.AsGiven = true
	_, err = db.InviteCrowd(ctx, hash("crowd"), identity.Invitation{Session: "s", Uses: 9, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)}, crowd)
	must.Do(t, err)
	l, err := db.SignInParticipant(ctx, hash("crowd"), hash("cookie of a3"), record.Participant{ID: secretParticipant}, limit, t0)
	must.Do(t, err)
	if l.Annotator != "a3" {
		t.Fatalf("the participant is %s", l.Annotator)
	}
	backups := filepath.Join(dir, "backups")
	_, err = db.Backup(ctx, filepath.Join(backups, "v32-20260101T000000.000000000Z.tar"), false)
	must.Do(t, err)
	old, err := sql.Open("sqlite", filepath.Join(backups, "v3-20250101T000000.000000000Z.db"))
	must.Do(t, err)
	_, err = old.Exec(`CREATE TABLE annotator (session_id TEXT, id TEXT, name TEXT); INSERT INTO annotator VALUES ('s', 'a1', ?)`, secretName)
	must.Do(t, errors.Join(err, old.Close()))
	for _, left := range []string{
		filepath.Join(backups, "v31-20251231T000000.000000000Z.db.partial-123"), filepath.Join(backups, "v30-20251230T000000.000000000Z.db"), filepath.Join(dir, ".import-9", "meta.json"),
	} {
		must.Do(t, os.MkdirAll(filepath.Dir(left), 0o700))
		must.Do(t, os.WriteFile(left, []byte(secretName+secretAnswer), 0o600))
	}
	return db
}

// withdrawAda withdraws the data of a1 and a3.
func withdrawAda(ctx context.Context, db *store.DB) error {
	_, err := db.Withdraw(ctx, "s", "a1", "a1", t0)
	if err == nil {
		_, err = db.Withdraw(ctx, "s", "a3", "grace", t0)
	}
	return err
}

// wantErased checks that what Ada left is erased, and told so, or neither.
func wantErased(t *testing.T, dir string, db *store.DB, want bool) {
	t.Helper()
	for _, who := range []idrl.AnnotatorID{"a1", "a3"} {
		a := must.Get(db.Joined(t.Context(), "s", who))(t)
		if a.WithdrawnAt.IsZero() || !a.ErasedAt.IsZero() != want {
			t.Errorf("%s: %s; erased is to be %v", who, a.State(), want)
		}
	}
	if found := traces(t, dir); len(found) > 0 == want {
		t.Errorf("erased is to be %v, and there are %q", want, found)
	}
}

// Nothing that tells of a person is in any file of the data folder, while the server runs, once it says so. Backups that
// held something are written anew without them, and can be used; those that cannot be read are gone.
func TestErasedIsInNoFile(t *testing.T) {
	dir := t.TempDir()
	db := haunted(t, dir, 600) // without a rewrite of the database, parts of ids stay in free space of pages
	seen := fmt.Sprint(traces(t, dir))
	for _, s := range secrets {
		if !bytes.Contains([]byte(seen), fmt.Appendf(nil, "%q in %s", s, filepath.Join(dir, store.FileName))) {
			t.Errorf("%q is not in the files before: the test sees nothing", s)
		}
	}
	must.Do(t, withdrawAda(t.Context(), db))
	must.Do(t, db.Erase(t.Context()))
	wantErased(t, dir, db, true)
	if b, err := os.ReadFile(filepath.Join(dir, store.FileName)); err != nil || !bytes.Contains(b, []byte(others)) {
		t.Errorf("the name of another is gone too (%v)", err)
	}
	must.Do(t, db.Close())
	left, err := filepath.Glob(filepath.Join(dir, "backups", "*.*[rb]"))
	must.Do(t, err)
	if len(left) != 1 {
		t.Fatalf("backups: %q, want the one that was written anew", left)
	}
	restored := t.TempDir()
	_, forgot, err := store.Restore(t.Context(), left[0], restored, nil)
	if must.Do(t, err); forgot > 0 {
		t.Errorf("%d people were still in the backup", forgot)
	}
	people, err := open(t, restored).Annotators(t.Context(), "s")
	if err != nil || len(people) != 3 || people[1].Name != others || people[0].Name != "" {
		t.Errorf("the backup has the people %+v, %v", people, err)
	}
}

// readEnv names the data folder to the copy of this program that reads it until its input ends.
const readEnv = "TIEBREAK_TEST_READ_DIR"

func readUntilEnd(dir string) error {
	p, err := sql.Open("sqlite", "file:"+filepath.Join(dir, store.FileName)+"?mode=ro")
	if err != nil {
		return err
	}
	read, err := p.Begin()
	if err != nil {
		return err
	}
	var n int
	if err := read.QueryRow(`SELECT count(*) FROM answer`).Scan(&n); err != nil {
		return err
	}
	fmt.Println("reading")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, read.Rollback(), p.Close())
}

// While an earlier snapshot is read, and while an import runs, the data are being erased; once that has ended they
// are erased, and not before.
func TestErasingWaits(t *testing.T) {
	source := t.TempDir()
	must.Do(t, haunted(t, source, 40).Close())
	for name, hold := range map[string]func(*testing.T, string, *store.DB) (end func()){
		"for another process":              holdProcess,
		"for an export of another session": holdExport,
		"for an import":                    holdImport,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must.Do(t, os.CopyFS(dir, os.DirFS(source)))
			db := open(t, dir)
			must.Do(t, db.CreateSession(t.Context(), spec("other")))
			end := hold(t, dir, db)
			must.Do(t, withdrawAda(t.Context(), db))
			for range 2 {
				wantKind(t, db.Erase(t.Context()), idrl.Unavailable)
				wantErased(t, dir, db, false)
			}
			if p := db.Problems(t.Context()); len(p) != 1 || !p[0].Minor {
				t.Errorf("researchers are told %+v", p)
			}
			end()
			must.Do(t, db.Erase(t.Context()))
			wantErased(t, dir, db, true)
			if p := db.Problems(t.Context()); len(p) > 0 {
				t.Errorf("afterwards researchers are told %+v", p)
			}
			must.Do(t, db.Close())
			if found := traces(t, dir); len(found) > 0 {
				t.Errorf("after the end: %q", found)
			}
		})
	}
}

func holdProcess(t *testing.T, dir string, _ *store.DB) func() {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), readEnv+"="+dir)
	in := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	if lines := bufio.NewScanner(out); !lines.Scan() {
		t.Fatal("the reader does not read")
	}
	return func() { must.Do(t, errors.Join(in.Close(), cmd.Wait())) }
}

func holdExport(t *testing.T, _ string, db *store.DB) func() {
	t.Helper()
	began, end, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- db.Read(context.WithoutCancel(t.Context()), "other", func(*store.Reading) error {
			close(began)
			<-end
			return nil
		})
	}()
	waittest.For(t, began, "the other write to begin")
	return func() {
		close(end)
		must.Do(t, <-ended)
	}
}

func holdImport(t *testing.T, _ string, db *store.DB) func() {
	t.Helper()
	dir, remove, err := db.Scratch(t.Context())
	must.Do(t, err)
	must.Do(t, os.WriteFile(filepath.Join(dir, "answers"), []byte(secretAnswer), 0o600))
	return func() { must.Do(t, remove()) }
}

// What could not be erased before the server ended is erased after the next start, by itself.
func TestErasingGoesOnAfterAStart(t *testing.T) {
	dir := t.TempDir()
	db := haunted(t, dir, 40)
	end := holdProcess(t, dir, db)
	must.Do(t, withdrawAda(t.Context(), db))
	wantKind(t, db.Erase(t.Context()), idrl.Unavailable)
	must.Do(t, db.Close())
	end()
	db = open(t, dir)
	for deadline := time.Now().Add(time.Minute); ; {
		a := must.Get(db.Joined(t.Context(), "s", "a3"))(t)
		if !a.ErasedAt.IsZero() {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a minute after a start it has not erased what was owed")
		}
	}
	wantErased(t, dir, db, true)
}

// withdrawEnv names the data folder to the copy of this program that is killed while it withdraws and erases.
const withdrawEnv = "TIEBREAK_TEST_WITHDRAW_DIR"

func withdrawOnce(ctx context.Context, dir string) error {
	db, err := store.Open(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Println("open")
	if err := withdrawAda(ctx, db); err != nil {
		return err
	}
	fmt.Println("withdrawn")
	if err := db.Erase(ctx); err != nil {
		return err
	}
	fmt.Println("erased")
	_, err = io.Copy(io.Discard, os.Stdin) // until it is killed
	return err
}

// Killed at any moment, a withdrawal has not happened or is whole; when it was acknowledged it is whole. Data that are
// told to be erased are in no file then, and those that are not are erased after the next start.
func TestWithdrawalSurvivesKill(t *testing.T) {
	source := t.TempDir()
	must.Do(t, haunted(t, source, 150).Close())
	const rounds = 8
	whole, erased := 0, 0
	var all time.Duration // that it takes, as the first round finds
	for round := range rounds {
		dir := t.TempDir()
		must.Do(t, os.CopyFS(dir, os.DirFS(source)))
		said, took := killed(t, dir, all*time.Duration(round)/rounds)
		if round == 0 {
			all = took
		}
		ro, err := store.OpenReadOnly(t.Context(), dir)
		must.Do(t, err)
		a, err := ro.Joined(t.Context(), "s", "a1")
		must.Do(t, err)
		b, err := ro.Joined(t.Context(), "s", "a3")
		must.Do(t, errors.Join(err, ro.Close()))
		gone, done := !a.WithdrawnAt.IsZero(), !a.ErasedAt.IsZero() && !b.ErasedAt.IsZero()
		if said != "open" && (!gone || b.WithdrawnAt.IsZero()) || said == "erased" && !done {
			t.Errorf("round %d: it said %q; a1: %s, a3: %s", round, said, a.State(), b.State())
		}
		if found := traces(t, dir); done && len(found) > 0 {
			t.Errorf("round %d: told to be erased, and there are %q", round, found)
		}
		if done {
			erased++
		}
		if gone {
			whole++
		}
		wantWhole(t, dir, gone)
	}
	if whole == 0 || erased == 0 || erased == rounds {
		t.Errorf("of %d withdrawals %d were whole and %d erased before the kill: the test says little", rounds, whole, erased)
	}
	t.Logf("of %d: %d were whole and %d erased before the kill", rounds, whole, erased)
}

// killed runs withdrawOnce on dir and kills it at a moment after the database was opened, or when all is done if that comes
// first or the moment is 0. It returns the last that was said, and how long it ran.
func killed(t *testing.T, dir string, moment time.Duration) (said string, took time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), withdrawEnv+"="+dir), os.Stderr
	in := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	var began time.Time
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch said = lines.Text(); said {
		case "open":
			if began = time.Now(); moment > 0 {
				defer time.AfterFunc(moment, func() { _ = cmd.Process.Kill() }).Stop()
			}
		case "erased":
			_ = cmd.Process.Kill()
		}
	}
	took = time.Since(began)
	_ = cmd.Wait()
	_ = in.Close()
	return said, took
}

// wantWhole opens dir, which a killed process left, and checks that a withdrawal is whole if it is gone, and otherwise did
// not happen; then that nothing of it is left once it is erased.
func wantWhole(t *testing.T, dir string, gone bool) {
	t.Helper()
	db := open(t, dir)
	rec := must.Get(db.Load(t.Context(), "s"))(t)
	people := must.Get(db.Annotators(t.Context(), "s"))(t)
	mine, empty := 0, 0
	for _, a := range rec.Log {
		switch {
		case a.Annotator == "a1":
			mine++
		case a.Choice == idrl.Erased:
			empty++
		}
	}
	if gone == (mine > 0) || gone != (empty > 0) || gone != (people[0].Name == "") || gone != (rec.Settings.Withdrawals > 0) {
		t.Errorf("withdrawn %v, %d rows are the person's, %d are empty, the name is %q", gone, mine, empty, people[0].Name)
	}
	if d, err := db.Check(t.Context(), store.Judge{}); err != nil || !d.None() {
		t.Errorf("damage %+v, %v", d, err)
	}
	must.Do(t, withdrawAda(t.Context(), db)) // a3 may not have been reached
	must.Do(t, db.Erase(t.Context()))
	wantErased(t, dir, db, true)
}
