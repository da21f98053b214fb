package steps

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"

	"tiebreak/internal/idrl"
)

// Limits of what Decode takes, far above what environments give.
const (
	maxLen     = 1 << 17  // steps
	maxWidth   = 1 << 12  // numbers of a row
	maxContent = 64 << 20 // bytes before compression
)

const magic = "TBS1"

// Encode returns the name and the compressed form of s. It returns an error of kind
// Invalid if the lengths of s disagree or exceed the limits.
func Encode(s idrl.Steps) (idrl.StepsID, []byte, error) {
	content, err := appendContent(nil, s)
	if err != nil {
		return "", nil, err
	}
	return name(content), compress(content), nil
}

func compress(content []byte) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("steps: " + err.Error()) // the level is a constant, and memory takes all that is written
	}
	return out.Bytes()
}

// Decode is the inverse of Encode. It returns an error of kind Damaged if b is not
// what Encode returned with the name id.
func Decode(id idrl.StepsID, b []byte) (idrl.Steps, error) {
	content, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), maxContent+1))
	switch {
	case err != nil:
		return idrl.Steps{}, damaged(id, "%v", err)
	case len(content) > maxContent:
		return idrl.Steps{}, damaged(id, "they have more than %d MiB", maxContent>>20)
	case name(content) != id:
		return idrl.Steps{}, damaged(id, "they are not what was recorded")
	}
	d := decoder{rest: content}
	s := d.steps()
	if d.err == nil && len(d.rest) > 0 {
		d.err = fmt.Errorf("%d bytes are left over", len(d.rest))
	}
	if d.err != nil {
		return idrl.Steps{}, damaged(id, "%v", d.err)
	}
	return s, nil
}

func damaged(id idrl.StepsID, format string, args ...any) error {
	return idrl.Errorf(idrl.Damaged, "the raw steps %s are damaged: %s", id, fmt.Sprintf(format, args...))
}

func name(content []byte) idrl.StepsID {
	sum := sha256.Sum256(content)
	return idrl.StepsID(hex.EncodeToString(sum[:16]))
}

// appendContent appends what is compressed and hashed.
func appendContent(b []byte, s idrl.Steps) ([]byte, error) {
	n := s.Len()
	if n == 0 || n > maxLen || len(s.Obs) != n+1 || len(s.Phi) != n {
		return nil, idrl.Errorf(idrl.Invalid, "%d observations and %d rows of features for %d actions", len(s.Obs), len(s.Phi), n)
	}
	b = append(b, magic...)
	b = binary.AppendUvarint(b, uint64(len(s.Env)))
	b = append(b, s.Env...)
	b = binary.AppendUvarint(b, uint64(s.Version))
	b = binary.LittleEndian.AppendUint64(b, s.Seed)
	b = binary.LittleEndian.AppendUint64(b, s.Episode)
	b = append(b, byte(s.End))
	b = binary.AppendUvarint(b, uint64(n))
	var err error
	for _, rows := range [][][]float32{s.Obs, s.Actions} {
		if b, err = appendRows(b, rows, 4, func(v float32) uint64 { return uint64(math.Float32bits(v)) }); err != nil {
			return nil, err
		}
	}
	return appendRows(b, s.Phi, 8, math.Float64bits)
}

// appendRows appends the number of columns of rows, then each column: the exclusive
// or of every number, of size bytes, with the one before it, the lowest bytes first.
func appendRows[F float32 | float64](b []byte, rows [][]F, size int, bits func(F) uint64) ([]byte, error) {
	width := len(rows[0])
	if width > maxWidth {
		return nil, idrl.Errorf(idrl.Invalid, "a row of %d numbers; at most %d are kept", width, maxWidth)
	}
	b = binary.AppendUvarint(b, uint64(width))
	for k := range width {
		start, last := len(b), uint64(0)
		b = append(b, make([]byte, size*len(rows))...)
		for i, row := range rows {
			if len(row) != width {
				return nil, idrl.Errorf(idrl.Invalid, "row %d has %d numbers, and row 0 has %d", i, len(row), width)
			}
			v := bits(row[k])
			for j := range size {
				b[start+j*len(rows)+i] = byte((v ^ last) >> (8 * j))
			}
			last = v
		}
	}
	return b, nil
}

// A decoder reads content. After an error it reads zeros.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) take(n int) []byte {
	if d.err == nil && n > len(d.rest) {
		d.err = io.ErrUnexpectedEOF
	}
	if d.err != nil {
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// uvarint reads a number of at most limit.
func (d *decoder) uvarint(limit int) int {
	v, n := binary.Uvarint(d.rest)
	if d.err == nil && (n <= 0 || v > uint64(limit)) {
		d.err = fmt.Errorf("a number is missing or above %d", limit)
	}
	if d.err != nil {
		return 0
	}
	d.rest = d.rest[n:]
	return int(v)
}

func (d *decoder) uint64() uint64 {
	b := d.take(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

func (d *decoder) steps() (s idrl.Steps) {
	if string(d.take(len(magic))) != magic && d.err == nil {
		d.err = fmt.Errorf("they are of another format")
	}
	s.Env = string(d.take(d.uvarint(maxWidth)))
	s.Version = d.uvarint(math.MaxInt32)
	s.Seed, s.Episode = d.uint64(), d.uint64()
	if b := d.take(1); b != nil {
		s.End = idrl.StepKind(b[0])
	}
	n := d.uvarint(maxLen)
	s.Obs = rows(d, n+1, 4, func(v uint64) float32 { return math.Float32frombits(uint32(v)) })
	s.Actions = rows(d, n, 4, func(v uint64) float32 { return math.Float32frombits(uint32(v)) })
	s.Phi = rows(d, n, 8, math.Float64frombits)
	return s
}

// rows is the inverse of appendRows, for n rows.
func rows[F float32 | float64](d *decoder, n, size int, value func(uint64) F) [][]F {
	width := d.uvarint(maxWidth)
	planes := d.take(n * width * size) // before memory is taken for the rows
	if d.err != nil {
		return nil
	}
	out, all := make([][]F, n), make([]F, n*width)
	for i := range out {
		out[i] = all[i*width : (i+1)*width : (i+1)*width]
	}
	for k := range width {
		column, v := planes[k*n*size:(k+1)*n*size], uint64(0)
		for i := range n {
			for j := range size {
				v ^= uint64(column[j*n+i]) << (8 * j)
			}
			out[i][k] = value(v)
		}
	}
	return out
}

// Of returns the raw steps of t, with the fields of meta that t does not tell: Env,
// Version, Seed and Episode.
func Of(t *idrl.Trajectory, meta idrl.Steps) idrl.Steps {
	s := meta
	s.Obs, s.Actions, s.Phi, s.End = single(t.Obs), single(t.Actions), t.Phi, t.End
	return s
}

// single returns rows in single precision.
func single[R ~[]float64](rows []R) [][]float32 {
	out := make([][]float32, len(rows))
	for i, row := range rows {
		out[i] = make([]float32, len(row))
		for k, v := range row {
			out[i][k] = float32(v)
		}
	}
	return out
}
