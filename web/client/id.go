package client

import (
	"fmt"
	"math/rand/v2"

	"tiebreak/internal/idrl"
)

// NewAnswerID returns a version 4 UUID made from the stream. Equal streams give equal
// ids.
func NewAnswerID(stream *rand.Rand) idrl.AnswerID {
	hi := stream.Uint64()&^uint64(0xf000) | 0x4000
	lo := stream.Uint64()&^(uint64(3)<<62) | 1<<63
	return idrl.AnswerID(fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&(1<<48-1)))
}
