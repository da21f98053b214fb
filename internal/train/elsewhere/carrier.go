package elsewhere

import (
	"context"
	"crypto/sha256"
)

// MaxMessage is the length in bytes that a message may have. What is longer is Put, and its hash is sent.
const MaxMessage = 128 << 10

// MaxBlob is the length in bytes that a blob may have.
const MaxBlob = 64 << 20

// A Message was told or sent under a subject.
type Message struct {
	Subject string
	Data    []byte // not to be changed
}

// A Hash names a blob: the SHA-256 of its bytes.
type Hash [sha256.Size]byte

// A Carrier carries messages between servers and workers on different machines. It may lose what it was given, at
// any time and also after it has returned nil; it never changes it, and it hands over what one process sends under one
// subject in the order of sending, each at most once.
//
// A subject is words of the letters A to Z, a to z, the digits, "_" and "-", of at most 64 bytes each, at least two and
// at most six, with dots between them. In a pattern a word may be "*", which stands for any one word, and the last may
// be ">", which stands for one or more words at the end. Servers alone publish under "servers" and "to"; a worker of
// the name W publishes under "offers.W" and "from.W", and reads under "servers" and "to.W"; several processes may have one name. A carrier that knows
// who publishes enforces that.
//
// Methods may be called from any goroutine.
type Carrier interface {
	// Tell replaces what was told under a subject before. Watch may hand over only the last of it. data has at most
	// MaxMessage bytes.
	Tell(ctx context.Context, subject string, data []byte) error

	// Watch hands over what is told under the subjects of a pattern from now on; it may begin with what was told last.
	// The channel is closed when ctx is done or the carrier is closed. It may be slow to be read: what
	// does not fit in is left out.
	Watch(ctx context.Context, pattern string) (<-chan Message, error)

	// Send sends a message to the receiver of its subject. It returns nil when the carrier has it. The receiver may get
	// it later, or never. data has at most MaxMessage bytes.
	Send(ctx context.Context, subject string, data []byte) error

	// Receive hands over what is sent under the subjects of a pattern after Receive has returned. Each message of a
	// subject has one receiver. The channel is closed when ctx is done or the carrier is closed, and its reader may be slow.
	Receive(ctx context.Context, pattern string) (<-chan Message, error)

	// Put keeps a blob of at most MaxBlob bytes, for an hour at least, unless it is lost. One that is kept already is not
	// carried again.
	Put(ctx context.Context, blob []byte) (Hash, error)

	// Get returns a blob. It returns an error of kind NotFound if there is none, and Damaged if it does not have
	// the hash.
	Get(ctx context.Context, name Hash) ([]byte, error)

	// Close ends all channels, and frees what the carrier holds.
	Close() error
}
