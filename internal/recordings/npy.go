package recordings

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// An array is the header of an array in NumPy's format NPY (versions 1 to 3), and what follows
// it. Libraries for it read a whole array at once, whatever its header says, and stop the
// program at headers that are malformed.
type array struct {
	shape []int
	kind  string // "f4", "u1": what a number is, without the order of its bytes
	order binary.ByteOrder
	r     *bufio.Reader
}

const (
	npyMagic   = "\x93NUMPY"
	maxNpyHead = 64 << 10
)

var npyHead = regexp.MustCompile(`^\{'descr': '([<>|=])([a-z]\d{1,2})', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\),? ?\}\s*$`)

// openArray reads the header of an array. The numbers of shape are at least 0, and their
// product is at most max.
func openArray(r io.Reader, max int64) (*array, error) {
	a := &array{r: bufio.NewReaderSize(r, 1<<16), order: binary.LittleEndian}
	var head [8]byte
	if _, err := io.ReadFull(a.r, head[:]); err != nil || string(head[:6]) != npyMagic {
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
	return a, a.parse(string(text), max)
}

func (a *array) parse(head string, most int64) error {
	m := npyHead.FindStringSubmatch(head)
	if m == nil {
		return fmt.Errorf("its header cannot be read: %.100q (arrays of records and of objects cannot be)", head)
	}
	if m[1] == ">" {
		a.order = binary.BigEndian
	}
	a.kind = m[2]
	if a.width() == 0 {
		return fmt.Errorf("its numbers are of the type %s; use float32, float64, int or uint8", a.kind)
	}
	total := int64(1)
	for _, word := range strings.FieldsFunc(m[4], func(r rune) bool { return r == ',' || r == ' ' }) {
		k, err := strconv.Atoi(word)
		if err != nil || k < 0 || k > 1<<31 {
			return fmt.Errorf("its shape (%s) is too large", m[4])
		}
		if total *= int64(k); total > most {
			return fmt.Errorf("its shape is (%s); at most %d numbers are read", m[4], most)
		}
		a.shape = append(a.shape, k)
	}
	if m[3] == "True" && len(a.shape) > 1 {
		return fmt.Errorf("it is in Fortran order: write it with numpy.ascontiguousarray")
	}
	return nil
}

// width returns the bytes of a number, 0 if such numbers cannot be read.
func (a *array) width() int {
	switch a.kind {
	case "f8", "i8":
		return 8
	case "f4", "i4":
		return 4
	case "i2":
		return 2
	case "u1", "i1", "b1":
		return 1
	}
	return 0
}

// rows returns the numbers of an array with two dimensions, or with one, as a column. They are
// finite.
func (a *array) rows() ([][]float64, error) {
	var n int
	d := 1
	switch len(a.shape) {
	case 1:
		n = a.shape[0]
	case 2:
		n, d = a.shape[0], a.shape[1]
	default:
		return nil, fmt.Errorf("it has %d dimensions; 2 are wanted, steps and numbers", len(a.shape))
	}
	if n > maxSteps+1 || d < 1 {
		return nil, fmt.Errorf("its shape is %v; at most %d rows of at least one number are read", a.shape, maxSteps+1)
	}
	out := make([][]float64, n)
	if n == 0 { // then d has no bound
		return out, nil
	}
	buf := make([]byte, d*a.width())
	for t := range out {
		if _, err := io.ReadFull(a.r, buf); err != nil {
			return nil, fmt.Errorf("it ends in row %d of %d", t, n)
		}
		row := make([]float64, d)
		for k := range row {
			row[k] = a.number(buf[k*a.width():])
			if !(math.Abs(row[k]) <= math.MaxFloat32) {
				return nil, fmt.Errorf("the number in row %d, column %d is %v", t, k, row[k])
			}
		}
		out[t] = row
	}
	return out, nil
}

func (a *array) number(b []byte) float64 {
	switch a.kind {
	case "f8":
		return math.Float64frombits(a.order.Uint64(b))
	case "i8":
		return float64(int64(a.order.Uint64(b))) //nolint:gosec // as it was written
	case "f4":
		return float64(math.Float32frombits(a.order.Uint32(b)))
	case "i4":
		return float64(int32(a.order.Uint32(b))) //nolint:gosec // as it was written
	case "i2":
		return float64(int16(a.order.Uint16(b))) //nolint:gosec // as it was written
	case "i1":
		return float64(int8(b[0])) //nolint:gosec // as it was written
	}
	return float64(b[0])
}
