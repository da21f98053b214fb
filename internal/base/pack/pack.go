package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"reflect"
	"slices"
	"strings"
)

const (
	magic  = "TBP1"
	finger = 8 // bytes of the fingerprint
	header = len(magic) + finger
	sum    = 4 // bytes of the CRC
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Errors of Decode.
var (
	ErrDamaged = errors.New("the bytes are damaged")
	ErrType    = errors.New("the bytes are of another type or of another version of the program")
)

// Encode returns the bytes of *v. It panics if T is not made of what the package
// comment lists, and returns the errors of MarshalBinary.
func Encode[T any](v *T) ([]byte, error) {
	t := reflect.TypeFor[T]()
	b := append([]byte(magic), fingerprint(t)...)
	b, err := appendValue(b, reflect.ValueOf(v).Elem())
	if err != nil {
		return nil, fmt.Errorf("encode %v: %w", t, err)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// Decode is the inverse of Encode. Its error wraps ErrDamaged or ErrType. It takes
// memory in proportion to len(b) only.
func Decode[T any](b []byte) (v T, err error) {
	t := reflect.TypeFor[T]()
	n := len(b) - sum
	switch {
	case n < header || string(b[:len(magic)]) != magic || binary.LittleEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli):
		return v, fmt.Errorf("decode %v: %w", t, ErrDamaged)
	case !bytes.Equal(b[len(magic):header], fingerprint(t)):
		return v, fmt.Errorf("decode %v: %w", t, ErrType)
	}
	d := decoder{rest: b[header:n]}
	d.value(reflect.ValueOf(&v).Elem())
	if d.err == nil && len(d.rest) > 0 {
		d.err = fmt.Errorf("%d bytes are left over", len(d.rest))
	}
	if d.err != nil {
		var none T
		return none, fmt.Errorf("decode %v: %w: %w", t, ErrDamaged, d.err)
	}
	return v, nil
}

func fingerprint(t reflect.Type) []byte {
	var s strings.Builder
	describe(&s, t)
	h := sha256.Sum256([]byte(s.String()))
	return h[:finger]
}

// describe writes the structure of t: kinds, and the names of fields.
func describe(s *strings.Builder, t reflect.Type) {
	switch {
	case binaryCoded(t):
		s.WriteString(t.String())
		return
	case t.Kind() == reflect.Struct:
		s.WriteString("{")
		for f := range fields(t) {
			s.WriteString(f.Name + " ")
			describe(s, f.Type)
			s.WriteString(";")
		}
		s.WriteString("}")
		return
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		fmt.Fprintf(s, "%v[", t.Kind())
		if t.Kind() == reflect.Array {
			fmt.Fprint(s, t.Len())
		}
		describe(s, t.Elem())
		s.WriteString("]")
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			panic("pack: a map without string keys: " + t.String())
		}
		s.WriteString("map[")
		describe(s, t.Elem())
		s.WriteString("]")
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		s.WriteString(t.Kind().String())
	default:
		panic("pack: cannot encode " + t.String())
	}
}

// fields returns the fields of a struct that are encoded.
func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Type.Kind() == reflect.Interface {
				continue
			}
			if !f.IsExported() {
				panic("pack: unexported field " + f.Name + " of " + t.String())
			}
			if !yield(f) {
				return
			}
		}
	}
}

var (
	marshaler   = reflect.TypeFor[encoding.BinaryMarshaler]()
	unmarshaler = reflect.TypeFor[encoding.BinaryUnmarshaler]()
)

func binaryCoded(t reflect.Type) bool {
	return t.Kind() != reflect.Interface && t.Implements(marshaler) && reflect.PointerTo(t).Implements(unmarshaler)
}

func appendValue(b []byte, v reflect.Value) ([]byte, error) {
	t := v.Type()
	if binaryCoded(t) {
		text, err := v.Interface().(encoding.BinaryMarshaler).MarshalBinary()
		return append(binary.AppendUvarint(b, uint64(len(text))), text...), err
	}
	switch t.Kind() {
	case reflect.Struct:
		return appendStruct(b, v)
	case reflect.Slice, reflect.Array:
		return appendList(b, v)
	case reflect.Map:
		return appendMap(b, v)
	case reflect.String:
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...), nil
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case reflect.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float())), nil
	case reflect.Float32:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v.Float()))), nil
	case reflect.Uint8:
		return append(b, byte(v.Uint())), nil
	default:
		if v.CanInt() {
			return binary.AppendVarint(b, v.Int()), nil
		}
		return binary.AppendUvarint(b, v.Uint()), nil
	}
}

func appendStruct(b []byte, v reflect.Value) (_ []byte, err error) {
	for f := range fields(v.Type()) {
		if b, err = appendValue(b, v.FieldByIndex(f.Index)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendList writes a slice with its length plus one, 0 for nil, and an array
// without.
func appendList(b []byte, v reflect.Value) (_ []byte, err error) {
	if v.Kind() == reflect.Slice {
		if v.IsNil() {
			return append(b, 0), nil
		}
		b = binary.AppendUvarint(b, uint64(v.Len())+1)
	}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		return append(b, v.Bytes()...), nil
	}
	switch numbers := v.Interface().(type) { // most of what is encoded
	case []float64:
		b = slices.Grow(b, 8*len(numbers))
		for _, x := range numbers {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		return b, nil
	case []float32:
		b = slices.Grow(b, 4*len(numbers))
		for _, x := range numbers {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b, nil
	}
	for i := range v.Len() {
		if b, err = appendValue(b, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendMap writes a map in the order of its keys.
func appendMap(b []byte, v reflect.Value) (_ []byte, err error) {
	if v.IsNil() {
		return append(b, 0), nil
	}
	b = binary.AppendUvarint(b, uint64(v.Len())+1)
	keys := v.MapKeys()
	slices.SortFunc(keys, func(i, j reflect.Value) int { return strings.Compare(i.String(), j.String()) })
	for _, k := range keys {
		if b, err = appendValue(b, k); err != nil {
			return nil, err
		}
		if b, err = appendValue(b, v.MapIndex(k)); err != nil {
			return nil, err
		}
	}
	return b, nil
}
