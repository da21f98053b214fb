package export

import (
	"encoding/json"
	"math"
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
	for i, key := range []string{"features_a", "features_b"} {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendKey(b, key)
		b = e.appendFeatures(b, r, i)
	}
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
		b = appendJSON(b, r.Clips[i].Phi[k])
	}
	return append(b, '}')
}

func appendKey(b []byte, name string) []byte {
	return append(appendJSON(b, name), ':')
}

// appendJSON writes v, one of the types of a column.
func appendJSON(b []byte, v any) []byte {
	switch x := v.(type) {
	case time.Time:
		if x.IsZero() {
			return append(b, "null"...)
		}
		v = stamp(x)
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return append(b, "null"...)
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		panic("export: a value that cannot be written: " + err.Error())
	}
	return append(b, out...)
}
