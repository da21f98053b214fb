package store

import (
	"fmt"
	"io/fs"
	"maps"
	"testing"
	"testing/fstest"

	"tiebreak/internal/check/must"

	"tiebreak/internal/people/identity"
)

// TestAccountsOfEarlierFormats: a researcher who was alone is an admin; several keep what they saw.
// Tokens follow who made them.
func TestAccountsOfEarlierFormats(t *testing.T) {
	before := fstest.MapFS{}
	for name, file := range steps(t, nil).(fstest.MapFS) {
		if name < "0041" {
			before[name] = file
		}
	}
	for _, users := range [][]string{{"grace"}, {"grace", "hopper"}} {
		t.Run(fmt.Sprint(len(users)), func(t *testing.T) {
			dir := t.TempDir()
			db, err := open(t.Context(), dir, fs.FS(before))
			if err != nil {
				t.Fatal(err)
			}
			err = earlierSession(t.Context(), db)
			if err == nil {
				err = db.do(t.Context(), func(t *tx) error { return fillAccounts(t, users) })
			}
			must.Do(t, db.Close())
			if err != nil {
				t.Fatal(err)
			}
			if db, err = Open(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			checkAccounts(t, db, users)
		})
	}
}

// fillAccounts adds users, the first of whom has made token 1; token 2 was made by a command.
func fillAccounts(t *tx, users []string) error {
	for _, user := range users {
		if _, err := t.exec(`INSERT INTO user (id, created_at) VALUES (?, '2026-01-02T03:04:05.000000000Z')`, user); err != nil {
			return err
		}
	}
	for id, maker := range map[int]string{1: users[0], 2: "command line"} {
		const token = `
			INSERT INTO token (id, hash, name, scope, created_at, expires_at)
			VALUES (?, randomblob(32), '', 'read', '2026-01-02T03:04:05.000000000Z', '2036-01-02T03:04:05.000000000Z')`
		if _, err := t.exec(token, id); err != nil {
			return err
		}
		const made = `INSERT INTO audit (at, actor, action, object) VALUES ('2026-01-02T03:04:05.000000000Z', ?, 'make token', ?)`
		if _, err := t.exec(made, maker, tokenName(int64(id))); err != nil {
			return err
		}
	}
	return nil
}

func checkAccounts(t *testing.T, db *DB, users []string) {
	t.Helper()
	list, err := db.Users(t.Context())
	if err != nil || len(list) != len(users) {
		t.Fatalf("users %+v, %v", list, err)
	}
	role, right := identity.Admin, identity.NoRight
	if len(users) > 1 {
		role, right = identity.Researcher, identity.RightChange
	}
	for _, u := range list {
		if got, err := db.Right(t.Context(), "s", u.Name); u.Role != role || got != right || err != nil {
			t.Errorf("%s has role %s and right %q, %v; want %s and %q", u.Name, u.Role, got, err, role, right)
		}
	}
	tokens, err := db.Tokens(t.Context())
	got := map[int64]string{}
	for _, k := range tokens {
		got[k.ID] = k.User
	}
	if want := map[int64]string{1: users[0], 2: ""}; err != nil || !maps.Equal(got, want) {
		t.Errorf("accounts of tokens %v, %v; want %v", got, err, want)
	}
}
