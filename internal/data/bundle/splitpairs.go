package bundle

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"tiebreak/internal/base/record"
)

const validation = "validation"

// Shares of the parts of the split by pairs, in hundredths; the rest is for training.
const (
	pairTest       = 10
	pairValidation = 10
)

// pairOf returns the part of a comparison in the split by pairs, once of has been called. It is empty where tests are by design, which are
// of trajectories that no other comparison is about.
func (s *splits) pairOf(r *record.Labelled, seed uint64) string {
	if s.designed {
		return ""
	}
	return pairPart(r, seed)
}

// pairPart returns the part of a comparison in the split by pairs: a hash of the seed of the session and of the pair, in any order of
// its clips, decides. So every answer to a pair is in one part, in every export, and all comparisons that the answer to a group implies
// are in that of the group. A clip may be in several parts.
func pairPart(r *record.Labelled, seed uint64) string {
	pair := fmt.Sprintf("group %s", r.Query.ID)
	if r.Part == 0 {
		a, b := r.Query.Clips[0], r.Query.Clips[1]
		pair = fmt.Sprintf("%q %q", min(a, b), max(a, b))
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, pair))
	switch at := binary.BigEndian.Uint64(sum[:]) % 100; { // the remainder favours no part by more than 1 in 10^17
	case at < pairTest:
		return test
	case at < pairTest+pairValidation:
		return validation
	}
	return train
}
