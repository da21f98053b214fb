package numpy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// An Array is one in memory, in C order. Its numbers are finite.
type Array struct {
	Shape   []int
	Numbers []float64 // the product of Shape
}

// ErrMany says that there are more numbers than are to be read.
var ErrMany = errors.New("there are too many numbers")

// Read reads an array of at most most numbers from the content of a file: one of numpy.save, or a
// pickle of protocol 2 to 5 of an array, or of a list of numbers or of lists of numbers of one
// length. Nothing of a pickle is executed: it returns an error if it holds anything else, and one that
// is ErrMany if it holds more numbers.
func Read(content []byte, most int) (Array, error) {
	if !bytes.HasPrefix(content, []byte(Magic)) {
		v, err := unpickle(content)
		if err != nil {
			return Array{}, err
		}
		return arrayOf(v, most)
	}
	f, err := Open(bytes.NewReader(content), int64(most))
	if err != nil {
		return Array{}, err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return Array{}, err
	}
	return (&ndarray{of: &dtype{f.Kind, f.order}, shape: f.Shape, data: data}).read(most)
}

// The functions that arrays are written with. NumPy 2 has moved its core.
const (
	classArray  function = "numpy.ndarray"
	makeType    function = "numpy.dtype"
	makeArray   function = "numpy.core.multiarray._reconstruct"
	makeNumber  function = "numpy.core.multiarray.scalar"
	makeFromRaw function = "numpy.core.numeric._frombuffer" // protocol 5
	makeBytes   function = "_codecs.encode"                 // protocol 2 has no bytes
)

// known returns a function, or an error if it is another one than arrays need.
func known(module, name string) (any, error) {
	f := function(strings.Replace(module, "numpy._core.", "numpy.core.", 1) + "." + name)
	if slices.Contains([]function{classArray, makeType, makeArray, makeNumber, makeFromRaw, makeBytes}, f) {
		return f, nil
	}
	return nil, fmt.Errorf("it asks for %.80q, which arrays and lists of numbers do not need: it is not executed", module+"."+name)
}

var errCall = errors.New("it does not make an array as NumPy does")

// reduce does what a function does with arguments.
func (u *unpickler) reduce(of any, args []any) (any, error) {
	switch of {
	case makeBytes:
		return u.encode(args)
	case makeType:
		if len(args) >= 1 {
			if name, ok := args[0].(string); ok {
				return typeOf(name)
			}
		}
	case makeArray:
		if len(args) == 3 && args[0] == any(classArray) {
			return &ndarray{}, nil
		}
	case makeNumber:
		if len(args) == 2 {
			t, isType := args[0].(*dtype)
			raw, isRaw := args[1].([]byte)
			if isType && isRaw && len(raw) == width(t.kind) {
				return number(t.kind, t.order, raw), nil
			}
		}
	case makeFromRaw:
		if len(args) == 4 && (args[3] == "C" || args[3] == "F") {
			return made(args[2], args[1], args[3] == "F", args[0])
		}
	}
	return nil, errCall
}

// encode returns the bytes that a text stands for in protocol 2. NumPy encodes each text once: a file
// in which they are more than its own bytes was made to fill the memory.
func (u *unpickler) encode(args []any) (any, error) {
	if len(args) != 2 || args[1] != "latin1" {
		return nil, errCall
	}
	text, ok := args[0].(string)
	if !ok {
		return nil, errCall
	}
	if u.encoded += len(text); u.encoded > len(u.in) {
		return nil, errors.New("it makes more bytes of texts than it holds, as NumPy never does")
	}
	out := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 255 {
			return nil, errCall
		}
		out = append(out, byte(r)) //nolint:gosec // it fits
	}
	return out, nil
}

func typeOf(name string) (any, error) {
	t := &dtype{kind: strings.TrimLeft(name, "<|="), order: binary.LittleEndian}
	if width(t.kind) == 0 {
		return nil, fmt.Errorf("its numbers are of the type %.20q; use float32, float64 or integers", name)
	}
	return t, nil
}

// build completes a type or an array by its state.
func build(of any, state []any) (any, error) {
	switch v := of.(type) {
	case *dtype: // version, order of bytes, no fields, …
		if len(state) < 5 || state[2] != nil || state[3] != nil || state[4] != nil {
			return nil, errCall
		}
		switch state[1] {
		case "<", "|", "=":
			v.order = binary.LittleEndian
		case ">":
			v.order = binary.BigEndian
		default:
			return nil, errCall
		}
		return v, nil
	case *ndarray: // version, shape, type, whether in Fortran order, bytes
		if fortran, ok := at(state, 3).(bool); ok && len(state) == 5 {
			full, err := made(state[1], state[2], fortran, state[4])
			if err == nil {
				*v = *full
			}
			return v, err
		}
	}
	return nil, errCall
}

func at(list []any, i int) any {
	if i >= len(list) {
		return nil
	}
	return list[i]
}

// made returns an array of its parts.
func made(shape, of any, fortran bool, data any) (*ndarray, error) {
	a := &ndarray{fortran: fortran}
	dims, isShape := shape.(*sequence)
	t, isType := of.(*dtype)
	raw, isRaw := data.([]byte)
	if !isShape || !isType || !isRaw || len(dims.items) > 8 {
		return nil, errCall
	}
	a.of, a.data = t, raw
	for _, d := range dims.items {
		k, ok := d.(int64)
		if !ok || k < 0 || k > int64(len(raw)) {
			return nil, errCall
		}
		a.shape = append(a.shape, int(k))
	}
	return a, nil
}

// arrayOf returns the numbers of what a pickle holds.
func arrayOf(v any, most int) (Array, error) {
	switch v := v.(type) {
	case *ndarray:
		return v.read(most)
	case *sequence:
		return v.read(most)
	}
	return Array{}, errors.New("it holds no array and no list of numbers")
}

func (a *ndarray) read(most int) (Array, error) {
	if a.of == nil {
		return Array{}, errCall
	}
	n, long := 1, 0
	for _, k := range a.shape {
		if n *= k; n > most {
			return Array{}, fmt.Errorf("%w: its shape is %v; at most %d are read", ErrMany, a.shape, most)
		}
		if k > 1 {
			long++
		}
	}
	w := width(a.of.kind)
	if n*w != len(a.data) {
		return Array{}, fmt.Errorf("it holds %d bytes of numbers; its shape %v needs %d", len(a.data), a.shape, n*w)
	}
	if a.fortran && long > 1 {
		return Array{}, errors.New("it is in Fortran order: write it with numpy.ascontiguousarray")
	}
	out := Array{a.shape, make([]float64, n)}
	for i := range out.Numbers {
		out.Numbers[i] = number(a.of.kind, a.of.order, a.data[i*w:])
	}
	return out, out.check()
}

// read returns the numbers of a list, or of a list of lists that are equally long.
func (s *sequence) read(most int) (Array, error) {
	n := len(s.items)
	if n > most {
		return Array{}, fmt.Errorf("%w: %d; at most %d are read", ErrMany, n, most)
	}
	out := Array{Shape: []int{n}}
	for i, item := range s.items {
		row, nested := item.(*sequence)
		if i == 0 && nested {
			if out.Shape = append(out.Shape, len(row.items)); len(row.items)*n > most {
				return Array{}, fmt.Errorf("%w: its shape is %v; at most %d are read", ErrMany, out.Shape, most)
			}
		}
		if nested != (len(out.Shape) == 2) || nested && len(row.items) != out.Shape[1] {
			return Array{}, fmt.Errorf("item %d is another than the first: a list of numbers is wanted", i)
		}
		list := []any{item}
		if nested {
			list = row.items
		}
		for _, v := range list {
			x, ok := scalar(v)
			if !ok {
				return Array{}, fmt.Errorf("item %d is no number", i)
			}
			out.Numbers = append(out.Numbers, x)
		}
	}
	return out, out.check()
}

func scalar(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// check returns an error unless the numbers are finite.
func (a *Array) check() error {
	for i, x := range a.Numbers {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("number %d is %v", i, x)
		}
	}
	return nil
}
