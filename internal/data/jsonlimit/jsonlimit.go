package jsonlimit

import (
	"fmt"
	"io"
)

// Limits are of arrays, by the number of objects and arrays that they are in. Deeper ones have none.
type Limits []Limit

// A Limit is one of arrays at a depth. The zero Limit is none.
type Limit struct {
	Name  string // of the elements, in the plural, for messages
	Most  int    // elements of one array; 0: any number
	Least int    // bytes that an element which is not refused later takes with its comma; 0: not known
}

// An Error says which limit was exceeded.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

// A Reader passes on a JSON text, and ends with an *Error before the bytes that exceed a limit. Text that is not
// JSON is passed on as it is. A json.Decoder decodes a value when it has read all of it, so that
// nothing is decoded of one that exceeds a limit.
type Reader struct {
	from   io.Reader
	limits Limits
	err    error // the limit that was exceeded

	levels  []level // by depth
	depth   int     // objects and arrays that are open
	bytes   int     // that were read
	text    bool    // the next byte is in a string
	escaped bool    // and belongs to a backslash
}

// A level is a depth at which arrays have a limit.
type level struct {
	array  bool // what is open is an array
	commas int  // of the open array
	all    int  // commas of all arrays so far
}

// NewReader returns a Reader of from.
func NewReader(from io.Reader, limits Limits) *Reader {
	return &Reader{from: from, limits: limits, levels: make([]level, len(limits))}
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.from.Read(p)
	for i, b := range p[:n] {
		if r.err = r.see(b); r.err != nil {
			return i, r.err
		}
	}
	return n, err
}

// see follows the text by one byte.
func (r *Reader) see(b byte) error {
	r.bytes++
	switch {
	case r.escaped:
		r.escaped = false
	case r.text:
		r.escaped, r.text = b == '\\', b != '"'
	case b == '"':
		r.text = true
	case b == '[' || b == '{':
		if r.depth < len(r.levels) {
			l := &r.levels[r.depth]
			l.array, l.commas = b == '[', 0
		}
		r.depth++
	case b == ']' || b == '}':
		r.depth = max(0, r.depth-1)
	case b == ',':
		return r.comma()
	}
	return nil
}

// comma counts an element of what is open.
func (r *Reader) comma() error {
	k := r.depth - 1
	if k < 0 || k >= len(r.levels) || !r.levels[k].array {
		return nil
	}
	l, limit := &r.levels[k], r.limits[k]
	l.commas++
	l.all++
	switch {
	case limit.Most > 0 && l.commas >= limit.Most:
		return &Error{fmt.Sprintf("there are more than %d %s", limit.Most, limit.Name)}
	case l.all*limit.Least > r.bytes:
		return &Error{fmt.Sprintf("there are more than %d %s in %d bytes; each takes %d or more", l.all, limit.Name, r.bytes, limit.Least)}
	}
	return nil
}
