package bundle

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// npyHeader returns the header of a NumPy array in the format npy 1.0: numbers of a type,
// such as "<f4", in rows of that shape.
func npyHeader(kind string, shape ...int) []byte {
	sizes := make([]string, len(shape))
	for i, n := range shape {
		sizes[i] = fmt.Sprint(n)
	}
	list := strings.Join(sizes, ", ")
	if len(shape) == 1 {
		list += ","
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, list)
	const fixed = len("\x93NUMPY\x01\x00") + 2 + 1 // with the length and the newline
	text += strings.Repeat(" ", (64-(fixed+len(text))%64)%64) + "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8)) //nolint:gosec // a few hundred at most
	return append(out, text...)
}

// An array is written to a file of its own or as a part of an npz.
type array struct {
	name  string // without extension
	kind  string // "<f4", "<i8" or "|b1"
	shape []int
	fill  func(p *numbersTo) error
}

func (a *array) write(w io.Writer) error {
	if _, err := w.Write(npyHeader(a.kind, a.shape...)); err != nil {
		return err
	}
	p := &numbersTo{w: w}
	if err := a.fill(p); err != nil {
		return err
	}
	want := 1
	for _, n := range a.shape {
		want *= n
	}
	if err := p.flush(); err != nil {
		return err
	}
	if p.n != want {
		return fmt.Errorf("array %s has %d numbers, want %d", a.name, p.n, want)
	}
	return nil
}

// numbersTo writes numbers of one type, little-endian, and counts them.
type numbersTo struct {
	w   io.Writer
	buf []byte
	n   int
}

func (p *numbersTo) float32(list ...float32) error {
	for _, v := range list {
		p.buf = binary.LittleEndian.AppendUint32(p.buf, math.Float32bits(v))
	}
	return p.wrote(len(list))
}

func (p *numbersTo) int64(list ...int64) error {
	for _, v := range list {
		p.buf = binary.LittleEndian.AppendUint64(p.buf, uint64(v)) //nolint:gosec // the same bits
	}
	return p.wrote(len(list))
}

func (p *numbersTo) bool(list ...bool) error {
	for _, v := range list {
		b := byte(0)
		if v {
			b = 1
		}
		p.buf = append(p.buf, b)
	}
	return p.wrote(len(list))
}

func (p *numbersTo) wrote(n int) error {
	p.n += n
	if len(p.buf) < 1<<15 {
		return nil
	}
	return p.flush()
}

func (p *numbersTo) flush() error {
	_, err := p.w.Write(p.buf)
	p.buf = p.buf[:0]
	return err
}

// writeNPZ writes arrays as numpy.savez_compressed does.
func writeNPZ(w io.Writer, arrays []array) error {
	z := zip.NewWriter(w)
	for _, a := range arrays {
		part, err := z.CreateHeader(&zip.FileHeader{Name: a.name + ".npy", Method: zip.Deflate, Modified: zipTime})
		if err != nil {
			return err
		}
		if err := a.write(part); err != nil {
			return err
		}
	}
	return z.Close()
}
