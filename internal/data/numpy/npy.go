package numpy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A File is the header of an array in NumPy's format NPY (versions 1 to 3), and what follows
// it. Libraries for it read a whole array at once, whatever its header says, and stop the
// program at headers that are malformed.
type File struct {
	Shape []int
	Kind  string // "f4", "u1": what a number is, without the order of its bytes

	order binary.ByteOrder
	r     *bufio.Reader
}

// Magic begins every file in the format NPY.
const Magic = "\x93NUMPY"

const maxNpyHead = 64 << 10 // bytes

// ErrMany says that there are more numbers than are to be read.
var ErrMany = errors.New("there are too many numbers")

var npyHead = regexp.MustCompile(`^\{'descr': '([<>|=])([a-z]\d{1,2})', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\),? ?\}\s*$`)

// Open reads the header of an array. The numbers of Shape are at least 0, and their
// product is at most most; if it is more, the error is ErrMany.
func Open(r io.Reader, most int64) (*File, error) {
	a := &File{r: bufio.NewReaderSize(r, 1<<16), order: binary.LittleEndian}
	var head [8]byte
	if _, err := io.ReadFull(a.r, head[:]); err != nil || string(head[:6]) != Magic {
		return nil, fmt.Errorf("it is not an array in NumPy's format .npy")
	}
	length := make([]byte, 2)
	if head[6] >= 2 {
		length = make([]byte, 4)
	}
	if _, err := io.ReadFull(a.r, length); err != nil || head[6] < 1 || head[6] > 3 {
		return nil, fmt.Errorf("it has version %d of NumPy's format; 1 to 3 can be read", head[6])
	}
	n := uint32(binary.LittleEndian.Uint16(length))
	if len(length) == 4 {
		n = binary.LittleEndian.Uint32(length)
	}
	if n > maxNpyHead {
		return nil, fmt.Errorf("its header has %d bytes", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(a.r, text); err != nil {
		return nil, fmt.Errorf("it ends within its header")
	}
	return a, a.parse(string(text), most)
}

func (a *File) parse(head string, most int64) error {
	m := npyHead.FindStringSubmatch(head)
	if m == nil {
		return fmt.Errorf("its header cannot be read: %.100q (arrays of records and of objects cannot be)", head)
	}
	if m[1] == ">" {
		a.order = binary.BigEndian
	}
	a.Kind = m[2]
	if width(a.Kind) == 0 {
		return fmt.Errorf("its numbers are of the type %s; use float32, float64, int or uint8", a.Kind)
	}
	total := int64(1)
	for _, word := range strings.FieldsFunc(m[4], func(r rune) bool { return r == ',' || r == ' ' }) {
		k, err := strconv.Atoi(word)
		if err != nil || k < 0 || k > 1<<31 {
			return fmt.Errorf("its shape (%s) is too large", m[4])
		}
		if k > 0 && total > most/int64(k) {
			return fmt.Errorf("%w: its shape is (%s); at most %d are read", ErrMany, m[4], most)
		}
		total *= int64(k)
		a.Shape = append(a.Shape, k)
	}
	if m[3] == "True" && len(a.Shape) > 1 {
		return fmt.Errorf("it is in Fortran order: write it with numpy.ascontiguousarray")
	}
	return nil
}

// Read implements io.Reader: it reads the bytes after the header.
func (a *File) Read(dst []byte) (int, error) { return a.r.Read(dst) }

// Rows returns the numbers of an array with two dimensions, or with one, as a column: at most
// most rows. They are finite, also in single precision.
func (a *File) Rows(most int) ([][]float64, error) {
	var n int
	d := 1
	switch len(a.Shape) {
	case 1:
		n = a.Shape[0]
	case 2:
		n, d = a.Shape[0], a.Shape[1]
	default:
		return nil, fmt.Errorf("it has %d dimensions; 2 are wanted, steps and numbers", len(a.Shape))
	}
	if n > most || d < 1 {
		return nil, fmt.Errorf("its shape is %v; at most %d rows of at least one number are read", a.Shape, most)
	}
	out := make([][]float64, n)
	if n == 0 { // then d has no bound
		return out, nil
	}
	buf := make([]byte, d*width(a.Kind))
	for t := range out {
		if _, err := io.ReadFull(a.r, buf); err != nil {
			return nil, fmt.Errorf("it ends in row %d of %d", t, n)
		}
		row := make([]float64, d)
		for k := range row {
			row[k] = number(a.Kind, a.order, buf[k*width(a.Kind):])
			if !(math.Abs(row[k]) <= math.MaxFloat32) {
				return nil, fmt.Errorf("the number in row %d, column %d is %v", t, k, row[k])
			}
		}
		out[t] = row
	}
	return out, nil
}
