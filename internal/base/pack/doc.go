// Package pack turns plain values into bytes and back: compact, the same bytes for
// equal values, and safe to decode whatever the bytes are.
//
// A value is made of booleans, numbers, strings, slices, arrays, maps with string
// keys, structs with exported fields, and types with the methods MarshalBinary and
// UnmarshalBinary, such as time.Time. A field of an interface type is left out.
//
// The bytes are a magic number, a fingerprint of the type, the value, and the
// CRC-32C of all before it. The fingerprint covers the names and types of all
// fields, so that a value of another version of the program is refused and not
// misread. Integers are variable-length, floating-point numbers are exact, and
// slices and strings are preceded by their length; a nil slice or map stays nil.
package pack
