package auth

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// passwords are accounts with the hash of a password each, empty for none.
type passwords map[string]string

func (p passwords) Password(_ context.Context, user string) (string, error) { return p[user], nil }

func (p passwords) SetPassword(_ context.Context, user, hash string, _ time.Time) error {
	p[user] = hash
	return nil
}

func (p passwords) SignInAccount(_ context.Context, user, _ string, _ []byte, _ identity.LoginLimit, now time.Time) (identity.Login, error) {
	return identity.Login{User: user, Role: identity.Viewer, Since: now, SeenAt: now}, nil
}

func (p passwords) Right(context.Context, idrl.SessionID, string) (identity.Right, error) {
	return identity.NoRight, nil
}

func (p passwords) Shared(context.Context, string) (map[idrl.SessionID]identity.Right, error) {
	return nil, nil
}

func newPasswords(p passwords) *Auth {
	return &Auth{accounts: p, hashing: make(chan struct{}, hashers), now: time.Now}
}

func TestCheckPassword(t *testing.T) {
	for password, ok := range map[string]bool{
		"": false, "eleven char": false, "twelve chars": true, "four wholly other words": true, "ÄÖÜäöüßéèêàç": true, "éèêàçéèêàçé": false,
		"aaaaaaaaaaaaaaaa": false, "Password1234": false, "correct horse battery staple": false, "ADA LOVELACE": false, "passwort für montag": true,
		strings.Repeat("ab", 64): true, strings.Repeat("ab", 64) + "c": false, "twelve chars\xff": false, "            ": false,
	} {
		if err := checkPassword("ada lovelace", password); (err == nil) != ok || err != nil && idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("password %q: %v, want allowed: %t", password, err, ok)
		}
	}
	seen := map[string]bool{}
	for line := range strings.Lines(commonList) {
		line = strings.TrimSpace(line)
		if utf8.RuneCountInString(line) < MinPassword || line != strings.ToLower(line) || seen[line] {
			t.Errorf("the common password %q is too short to matter, not in lower case, or there twice", line)
		}
		seen[line] = true
	}
}

// TestPasswords: the hash says how it was made, and lets in by that password alone. Whatever is wrong,
// the error is the same.
func TestPasswords(t *testing.T) {
	ctx, p := t.Context(), passwords{"none": ""}
	a := newPasswords(p)
	const first, second = "a first password", "a second password"
	must.Do(t, a.SetPassword(ctx, "ada", "ignored", first))
	if !strings.HasPrefix(p["ada"], "$argon2id$v=19$m=47104,t=1,p=1$") || strings.Contains(p["ada"], first) {
		t.Errorf("hash %q", p["ada"])
	}
	if err := a.SetPassword(ctx, "ada", second, second); idrl.KindOf(err) != idrl.Forbidden {
		t.Errorf("a change without the present password: %v", err)
	}
	if err := a.SetPassword(ctx, "ada", first, "short"); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a short one: %v", err)
	}
	if who, cookie, err := a.SignInByPassword(ctx, "ada", first); err != nil || who.User != "ada" || who.Role != Viewer || cookie == "" {
		t.Errorf("sign-in: %+v, %v", who, err)
	}
	old := p["ada"]
	if err := a.SetPassword(ctx, "ada", first, first); err != nil || p["ada"] == old {
		t.Errorf("the same password has the same hash twice, without a salt: %v", err)
	}
	for user, password := range map[string]string{"ada": second, "none": first, "nobody": first, "Ada": first} {
		if _, _, err := a.SignInByPassword(ctx, user, password); !errors.Is(err, errPassword) {
			t.Errorf("%s with %q: %v, want the error for all", user, password, err)
		}
	}
	for _, password := range []string{"", strings.Repeat("x", 1<<20)} {
		if _, _, err := a.SignInByPassword(ctx, "ada", password); !errors.Is(err, errPassword) {
			t.Errorf("a password of %d bytes: %v", len(password), err)
		}
	}
}

// TestUnknownAccountsCostTheSame: a name without a password is hashed as any other, in turn with
// others. Here no turn comes.
func TestUnknownAccountsCostTheSame(t *testing.T) {
	a := newPasswords(passwords{"none": ""})
	for range hashers {
		a.hashing <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, user := range []string{"none", "nobody"} {
		if _, _, err := a.SignInByPassword(ctx, user, "any password"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v; nothing was hashed", user, err)
		}
	}
	memory, time, threads, salt, sum, err := readHash(dummy)
	if err != nil || memory != hashMemory || time != hashTime || threads != hashThreads || len(salt) != saltBytes || len(sum) != hashBytes {
		t.Errorf("the dummy costs other work than a new hash: %d, %d, %d, %v", memory, time, threads, err)
	}
}

func TestDamagedHashes(t *testing.T) {
	good := writeHash(make([]byte, saltBytes), make([]byte, hashBytes))
	for _, hash := range []string{
		"x", "$argon2id", strings.Replace(good, "argon2id", "argon2i", 1), strings.Replace(good, "v=19", "v=18", 1), strings.Replace(good, "m=47104", "m=99999999", 1),
		strings.Replace(good, "t=1", "t=0", 1), strings.Replace(good, "p=1", "p=0", 1), good[:len(good)-30], good + "$",
	} {
		a := newPasswords(passwords{"ada": hash})
		if _, _, err := a.SignInByPassword(t.Context(), "ada", "any password"); idrl.KindOf(err) != idrl.Damaged {
			t.Errorf("hash %q: %v, want kind Damaged", hash, err)
		}
	}
}
