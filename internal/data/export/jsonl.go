package export

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// line returns r as one JSON object and a newline. Absent values are null. The
// slice is valid until the next call.
func (e *encoder) line(r *Row) []byte {
	b := append(e.buf[:0], '{')
	for _, c := range e.columns {
		b = appendKey(b, c.name)
		b = appendJSON(b, c.value(e.spec, r))
		b = append(b, ',')
	}
	b = e.appendFeatures(appendKey(b, "features_a"), r, 0)
	b = append(b, ',')
	b = e.appendFeatures(appendKey(b, "features_b"), r, 1)
	e.buf = append(b, '}', '\n')
	return e.buf
}

// appendFeatures writes the features of clip i by name, in their own order.
func (e *encoder) appendFeatures(b []byte, r *Row, i int) []byte {
	if i >= len(r.Clips) {
		return append(b, "null"...)
	}
	b = append(b, '{')
	for k, name := range e.slugs {
		if k > 0 {
			b = append(b, ',')
		}
		b = appendKey(b, name)
		b = appendFloat(b, r.Clips[i].Phi[k])
	}
	return append(b, '}')
}

func appendKey(b []byte, name string) []byte {
	return append(appendString(b, name), ':')
}

// appendJSON writes v, one of the types of a column, as json.Marshal does.
func appendJSON(b []byte, v any) []byte {
	switch x := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, x)
	case int64:
		return strconv.AppendInt(b, x, 10)
	case time.Time:
		if x.IsZero() {
			return append(b, "null"...)
		}
		return appendString(b, stamp(x))
	case float64:
		return appendFloat(b, x)
	case string:
		return appendString(b, x)
	}
	panic("export: a column of an unknown type")
}

// appendString writes text. Nearly all of it has nothing to escape.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			out, _ := json.Marshal(s) // which takes any text
			return append(b, out...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendFloat writes a number, or null for one that is not finite. ECMAScript writes very small
// and very large ones with an exponent.
func appendFloat(b []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(b, "null"...)
	}
	if size := math.Abs(x); size != 0 && (size < 1e-6 || size >= 1e21) {
		out, _ := json.Marshal(x)
		return append(b, out...)
	}
	return strconv.AppendFloat(b, x, 'f', -1, 64)
}
