package rng

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// New returns the stream for (seed, purpose, n). Equal arguments give equal
// streams; different arguments give independent ones. The caller owns the
// stream and must not share it between goroutines.
func New(seed uint64, purpose string, n uint64) *rand.Rand {
	return rand.New(Source(seed, purpose, n))
}

// Source returns the source of the stream that New returns. Its state can be
// saved and restored (MarshalBinary, UnmarshalBinary); a *rand.Rand has no other.
func Source(seed uint64, purpose string, n uint64) *rand.ChaCha8 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], seed)
	binary.LittleEndian.PutUint64(b[8:], n)
	return rand.NewChaCha8(sha256.Sum256(append(b[:], purpose...)))
}
