package pack

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// A decoder takes values from rest. After an error it takes none.
type decoder struct {
	rest []byte
	err  error
}

var errShort = errors.New("they end too early")

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.rest = nil
}

// take returns the next n bytes, or nil after an error.
func (d *decoder) take(n int) []byte {
	if n > len(d.rest) {
		d.fail(errShort)
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail(errShort)
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail(errShort)
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count returns how many elements of at least size bytes follow.
func (d *decoder) count(n uint64, size int) int {
	if n > uint64(len(d.rest)/size) {
		d.fail(errShort)
		return 0
	}
	return int(n)
}

func (d *decoder) text() []byte { return d.take(d.count(d.uvarint(), 1)) }

func (d *decoder) value(v reflect.Value) {
	t := v.Type()
	if binaryCoded(t) {
		text := d.text()
		if d.err != nil {
			return
		}
		if err := v.Addr().Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(text); err != nil {
			d.fail(err)
		}
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for f := range fields(t) {
			d.value(v.FieldByIndex(f.Index))
		}
	case reflect.Slice:
		d.slice(v)
	case reflect.Array:
		for i := range v.Len() {
			d.value(v.Index(i))
		}
	case reflect.Map:
		d.pairs(v)
	case reflect.String:
		v.SetString(string(d.text()))
	case reflect.Bool, reflect.Uint8:
		d.octet(v)
	case reflect.Float64:
		if b := d.take(8); b != nil {
			v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	case reflect.Float32:
		if b := d.take(4); b != nil {
			v.SetFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
	default:
		d.integer(v)
	}
}

func (d *decoder) octet(v reflect.Value) {
	b := d.take(1)
	switch {
	case b == nil:
	case v.Kind() == reflect.Uint8:
		v.SetUint(uint64(b[0]))
	case b[0] > 1:
		d.fail(fmt.Errorf("a boolean is %d", b[0]))
	default:
		v.SetBool(b[0] == 1)
	}
}

func (d *decoder) integer(v reflect.Value) {
	if v.CanInt() {
		n := d.varint()
		if v.OverflowInt(n) {
			d.fail(fmt.Errorf("%d is out of the range of %v", n, v.Type()))
			return
		}
		v.SetInt(n)
		return
	}
	n := d.uvarint()
	if v.OverflowUint(n) {
		d.fail(fmt.Errorf("%d is out of the range of %v", n, v.Type()))
		return
	}
	v.SetUint(n)
}

func (d *decoder) slice(v reflect.Value) {
	n := d.uvarint()
	if n == 0 {
		return // nil
	}
	elem := v.Type().Elem()
	k := d.count(n-1, least(elem))
	if d.err != nil {
		return
	}
	if elem.Kind() == reflect.Uint8 {
		v.SetBytes(append(make([]byte, 0, k), d.take(k)...))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), k, k))
	switch numbers := v.Interface().(type) { // most of what is decoded
	case []float64:
		b := d.take(8 * k)
		for i := range numbers {
			numbers[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		return
	case []float32:
		b := d.take(4 * k)
		for i := range numbers {
			numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return
	}
	for i := 0; i < k && d.err == nil; i++ {
		d.value(v.Index(i))
	}
}

// pairs decodes a map, whose keys must be in order.
func (d *decoder) pairs(v reflect.Value) {
	n := d.uvarint()
	if n == 0 {
		return // nil
	}
	t := v.Type()
	k := d.count(n-1, 1+least(t.Elem()))
	v.Set(reflect.MakeMapWithSize(t, k))
	last := ""
	for i := 0; i < k && d.err == nil; i++ {
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		d.value(key)
		d.value(value)
		if i > 0 && key.String() <= last {
			d.fail(errors.New("the keys of a map are not in order"))
		}
		last = key.String()
		v.SetMapIndex(key, value)
	}
}

// least returns the least number of bytes that a value of type t takes, at least 1.
func least(t reflect.Type) int {
	n := 0
	switch {
	case binaryCoded(t):
	case t.Kind() == reflect.Struct:
		for f := range fields(t) {
			n += least(f.Type)
		}
	case t.Kind() == reflect.Array:
		n = t.Len() * least(t.Elem())
	case t.Kind() == reflect.Float64:
		n = 8
	case t.Kind() == reflect.Float32:
		n = 4
	}
	return max(1, n)
}
