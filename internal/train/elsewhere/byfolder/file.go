package byfolder

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"tiebreak/internal/train/elsewhere"
)

// Limits of files of messages.
const (
	batchBytes = 1 << 20 // from which no further message is put into a file
	batchCount = 1024    // messages of a file
	maxFile    = batchBytes + elsewhere.MaxMessage + 8*batchCount + 1024
	maxNames   = 1 << 17 // entries of a folder that are read
)

var magic = []byte("tiebreak-workers 1\n")

// An entry is the name of a file of messages.
type entry struct {
	hash   string // of the subject: 32 hexadecimal digits
	number uint64 // increases with each file of a stream
	stream string // 16 hexadecimal digits
}

func (e entry) String() string { return fmt.Sprintf("%s-%020d-%s", e.hash, e.number, e.stream) }

func parseEntry(name string) (e entry, ok bool) {
	parts := strings.Split(name, "-")
	if len(parts) != 3 || len(parts[0]) != 32 || len(parts[1]) != 20 || len(parts[2]) != 16 {
		return e, false
	}
	n, err := strconv.ParseUint(parts[1], 10, 64)
	e = entry{hash: parts[0], number: n, stream: parts[2]}
	return e, err == nil && e.String() == name && isHex(e.hash) && isHex(e.stream)
}

func isHex(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}

func hashOf(subject string) string {
	sum := sha256.Sum256([]byte(subject))
	return hex.EncodeToString(sum[:16])
}

// boxOf returns the folder for what has a subject.
func boxOf(subject string) string {
	words := strings.Split(subject, ".")
	if words[0] == "to" {
		return words[0] + "." + words[1]
	}
	return words[0]
}

// encode returns the bytes of a file: magic, the SHA-256 of the rest, and the subject and messages with their lengths.
func encode(subject string, messages [][]byte) []byte {
	b := append(bytes.Clone(magic), make([]byte, sha256.Size)...)
	for _, part := range append([][]byte{[]byte(subject)}, messages...) {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(part))), part...) //nolint:gosec // at most MaxMessage
	}
	sum := sha256.Sum256(b[len(magic)+sha256.Size:])
	copy(b[len(magic):], sum[:])
	return b
}

var errTorn = errors.New("it is incomplete or damaged")

// decode returns the subject and the messages of a file.
func decode(b []byte) (subject string, messages [][]byte, err error) {
	b, ok := bytes.CutPrefix(b, magic)
	if !ok || len(b) < sha256.Size || sha256.Sum256(b[sha256.Size:]) != [sha256.Size]byte(b[:sha256.Size]) {
		return "", nil, errTorn
	}
	var parts [][]byte
	for b = b[sha256.Size:]; len(b) > 0; {
		if len(b) < 4 {
			return "", nil, errTorn
		}
		n := binary.BigEndian.Uint32(b)
		if b = b[4:]; n > elsewhere.MaxMessage || int(n) > len(b) || len(parts) > batchCount {
			return "", nil, errTorn
		}
		parts, b = append(parts, b[:n:n]), b[n:]
	}
	if len(parts) == 0 {
		return "", nil, errTorn
	}
	subject = string(parts[0])
	return subject, parts[1:], elsewhere.CheckSubject(subject)
}

// names returns the names in a folder below root, at most maxNames of them.
func names(root *os.Root, dir string) ([]string, error) {
	f, err := root.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO in its place does not block
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := f.Readdirnames(maxNames)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return all, err
}

// readFile returns the bytes of a regular file below root, unless they are more than most.
func readFile(root *os.Root, name string, most int64) ([]byte, error) {
	if info, err := root.Lstat(name); err != nil {
		return nil, err
	} else if err := ordinary(info, most); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat() // of what was opened
	if err != nil {
		return nil, err
	}
	if err := ordinary(info, most); err != nil {
		return nil, err
	}
	b := make([]byte, info.Size())
	_, err = io.ReadFull(f, b)
	return b, err
}

var errOdd = errors.New("it is not a regular file of an allowed size")

func ordinary(info os.FileInfo, most int64) error {
	if !info.Mode().IsRegular() || info.Size() > most {
		return errOdd
	}
	return nil
}
