package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed" // for the list of common passwords
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"tiebreak/internal/idrl"
)

// Lengths of a password, in characters.
const (
	MinPassword = 12
	MaxPassword = 128
)

// Costs of argon2id, of those that OWASP recommends. They are recorded with each hash, so that they
// can be raised.
const (
	hashMemory  = 46 << 10 // KiB
	hashTime    = 1
	hashThreads = 1
	hashBytes   = 32
	saltBytes   = 16

	hashers = 2 // passwords that are hashed at once; further ones wait, so that they cannot fill the memory
)

//go:embed common.txt
var commonList string

// common reports whether a password is in the list of common passwords.
func common(password string) bool {
	password = strings.ToLower(password)
	for line := range strings.Lines(commonList) {
		if strings.TrimSpace(line) == password {
			return true
		}
	}
	return false
}

// checkPassword returns an error of kind Invalid that says what to change in a new password.
func checkPassword(user, password string) error {
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return idrl.Errorf(idrl.Invalid, "the password must be text")
	case n < MinPassword || n > MaxPassword:
		return idrl.Errorf(idrl.Invalid, "a password has %d to %d characters; this one has %d", MinPassword, MaxPassword, n)
	case common(password) || strings.Count(password, password[:1]) == len(password) || strings.EqualFold(strings.TrimSpace(password), user):
		return idrl.Errorf(idrl.Invalid, "this password is among the first that others would try; choose another, such as four words that have nothing to do with each other")
	}
	return nil
}

var errPassword = idrl.Errorf(idrl.Forbidden, "the name or the password is not right; a sign-in link works without a password")

// SetPassword changes the password of an account. old must be right if there is one already; else it
// is ignored. Errors are of kind Invalid and Forbidden, in words for people.
func (a *Auth) SetPassword(ctx context.Context, user, old, password string) error {
	if err := checkPassword(user, password); err != nil {
		return err
	}
	hash, err := a.accounts.Password(ctx, user)
	if err != nil {
		return err
	}
	if hash != "" {
		if right, err := a.verify(ctx, hash, old); err != nil || !right {
			return orElse(err, idrl.Errorf(idrl.Forbidden, "the present password is not right; if you have forgotten it, ask an admin to revoke and restore your account"))
		}
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails: it ends the process instead
	sum, err := a.hash(ctx, password, salt, hashMemory, hashTime, hashThreads, hashBytes)
	if err != nil {
		return err
	}
	return a.accounts.SetPassword(ctx, user, writeHash(salt, sum), a.now())
}

// SignInByPassword signs an account in and returns it with the token of its cookie. It returns an
// error of kind Forbidden, with one text and after the same work, if the password is wrong, if there
// is none, and if there is no such account.
func (a *Auth) SignInByPassword(ctx context.Context, user, password string) (Actor, string, error) {
	hash, err := a.accounts.Password(ctx, user)
	if err != nil {
		return Actor{}, "", err
	}
	right, err := a.verify(ctx, hash, password)
	if err != nil || !right {
		return Actor{}, "", orElse(err, errPassword)
	}
	cookie, login := newToken()
	l, err := a.accounts.SignInAccount(ctx, user, hash, login, limits(Researcher), a.now())
	if err != nil {
		return Actor{}, "", err
	}
	return actor(l), cookie, nil
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// dummy is verified in place of the hash of an account that has no password.
var dummy = writeHash(make([]byte, saltBytes), make([]byte, hashBytes))

// verify reports whether a password has a hash; an empty one costs the same work as any other.
func (a *Auth) verify(ctx context.Context, hash, password string) (bool, error) {
	real := hash != ""
	if !real {
		hash = dummy
	}
	if len(password) > utf8.UTFMax*MaxPassword {
		password, real = "", false
	}
	memory, time, threads, salt, want, err := readHash(hash)
	if err != nil {
		return false, err
	}
	got, err := a.hash(ctx, password, salt, memory, time, threads, uint32(len(want)))
	return real && subtle.ConstantTimeCompare(got, want) == 1, err
}

// hash computes argon2id, for at most hashers passwords at once.
func (a *Auth) hash(ctx context.Context, password string, salt []byte, memory, time uint32, threads uint8, bytes uint32) ([]byte, error) {
	select {
	case a.hashing <- struct{}{}:
		defer func() { <-a.hashing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return argon2.IDKey([]byte(password), salt, time, memory, threads, bytes), nil
}

// writeHash writes a hash as a PHC string.
func writeHash(salt, sum []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashMemory, hashTime, hashThreads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum))
}

// readHash reads such a string. It returns an error of kind Damaged if it is none, or asks for more
// than a server can give.
func readHash(text string) (memory, time uint32, threads uint8, salt, sum []byte, err error) {
	damaged := idrl.Errorf(idrl.Damaged, "the recorded hash of the password cannot be read; set a new password")
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return 0, 0, 0, nil, nil, damaged
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &time, &threads); n != 3 || err != nil || memory > 1<<20 || time < 1 || time > 100 || threads < 1 {
		return 0, 0, 0, nil, nil, damaged
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[4])
	sum, err2 := base64.RawStdEncoding.DecodeString(parts[5])
	if err1 != nil || err2 != nil || len(salt) < 8 || len(sum) < 16 || len(sum) > 1<<10 {
		return 0, 0, 0, nil, nil, damaged
	}
	return memory, time, threads, salt, sum, nil
}
