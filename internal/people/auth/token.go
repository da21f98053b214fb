package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"

	"tiebreak/internal/idrl"
)

const tokenBytes = 16 // 128 bits: beyond guessing, so that attempts need no counting

// newToken returns a secret for a link or a cookie, 22 URL-safe characters, and
// the hash under which it is stored.
func newToken() (token string, hash []byte) {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	token = base64.RawURLEncoding.EncodeToString(b[:])
	return token, sum(token)
}

// hashToken returns the hash of a token, or an error of kind NotFound if its form is wrong.
func hashToken(token string) ([]byte, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != tokenBytes {
		return nil, idrl.Errorf(idrl.NotFound, "not a token")
	}
	return sum(token), nil
}

func sum(token string) []byte {
	h := sha256.Sum256([]byte(token))
	return h[:]
}
