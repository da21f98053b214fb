package salvage

import (
	"encoding/binary"
	"math"
)

// Kinds of pages of b-trees, their first byte.
const (
	indexInterior = 2
	tableInterior = 5
	indexLeaf     = 10
	tableLeaf     = 13
)

// A node is a page of a b-tree.
type node struct {
	kind  byte
	page  []byte
	cells []int // where they begin
	last  uint32
}

// node returns page n as a page of a b-tree; false if it is none.
func (f *File) node(n uint32) (node, bool) {
	b := f.page(n)
	at := 0
	if n == 1 {
		at = 100
	}
	if b == nil {
		return node{}, false
	}
	t := node{kind: b[at], page: b}
	head := at + 8
	switch t.kind {
	case tableInterior, indexInterior:
		t.last = binary.BigEndian.Uint32(b[at+8:])
		head += 4
	case tableLeaf, indexLeaf:
	default:
		return node{}, false
	}
	count := int(binary.BigEndian.Uint16(b[at+3:]))
	if head+2*count > len(b) {
		return node{}, false
	}
	for i := range count {
		if cell := int(binary.BigEndian.Uint16(b[head+2*i:])); cell >= head+2*count && cell < len(b) {
			t.cells = append(t.cells, cell)
		} else {
			t.cells = append(t.cells, -1) // damaged
		}
	}
	return t, true
}

// children returns the pages below t.
func (t node) children() (out []uint32) {
	if t.kind != tableInterior && t.kind != indexInterior {
		return nil
	}
	for _, at := range t.cells {
		var child uint32
		if at >= 0 && at+4 <= len(t.page) {
			child = binary.BigEndian.Uint32(t.page[at:])
		}
		out = append(out, child)
	}
	return append(out, t.last)
}

// A Row is a row of a table or an entry of an index. Values are nil, int64, float64, string or
// []byte.
type Row struct {
	ID     int64 // rowid; 0 in indexes
	Values []any
}

// Rows calls each with the rows on a page, and returns how many could not be read: 1 at least for a page that is none.
func (f *File) Rows(n uint32, each func(Row) error) (bad int, err error) {
	t, ok := f.node(n)
	if !ok {
		return 1, nil
	}
	if t.kind == tableInterior {
		return 0, nil
	}
	for _, at := range t.cells {
		row, ok := f.row(t, at)
		if !ok {
			bad++
			continue
		}
		if err := each(row); err != nil {
			return bad, err
		}
	}
	return bad, nil
}

func (f *File) row(t node, at int) (r Row, ok bool) {
	if at < 0 {
		return r, false
	}
	b := t.page[at:]
	if t.kind == indexInterior {
		if len(b) < 4 {
			return r, false
		}
		b = b[4:]
	}
	size, n := varint(b)
	b = b[n:]
	if t.kind == tableLeaf {
		id, m := varint(b)
		if r.ID, b = int64(id), b[m:]; m == 0 {
			return r, false
		}
	}
	if n == 0 || size == 0 || size > uint64(f.pages)*uint64(f.usable) {
		return r, false
	}
	payload, ok := f.payload(b, int(size), t.kind == tableLeaf)
	if !ok {
		return r, false
	}
	r.Values, ok = decode(payload)
	return r, ok
}

// payload returns the content of a cell, of size bytes, that begins with b and may go on in overflow pages.
func (f *File) payload(b []byte, size int, table bool) ([]byte, bool) {
	u := f.usable
	most, least := (u-12)*64/255-23, (u-12)*32/255-23
	if table {
		most = u - 35
	}
	local := size
	if size > most {
		if local = least + (size-least)%(u-4); local > most {
			local = least
		}
	}
	if local == size {
		return b[:min(size, len(b))], size <= len(b)
	}
	if local+4 > len(b) {
		return nil, false
	}
	out := append([]byte(nil), b[:local]...)
	next := binary.BigEndian.Uint32(b[local:])
	for len(out) < size {
		p := f.page(next)
		if p == nil {
			return nil, false
		}
		next = binary.BigEndian.Uint32(p)
		out = append(out, p[4:4+min(len(p)-4, size-len(out))]...)
	}
	return out, next == 0 // a chain of damaged pages does not end so
}

// varint returns the number at the beginning of b, and its length in bytes; 0 if there is none.
func varint(b []byte) (v uint64, n int) {
	for n < 9 && n < len(b) {
		c := b[n]
		n++
		if n == 9 {
			return v<<8 | uint64(c), n
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

// maxColumns is more than any table has.
const maxColumns = 1000

// decode returns the values of a record.
func decode(b []byte) (values []any, ok bool) {
	head, n := varint(b)
	if n == 0 || head < uint64(n) || head > uint64(len(b)) {
		return nil, false
	}
	types, body := b[n:head], b[head:]
	for len(types) > 0 {
		kind, n := varint(types)
		if n == 0 || len(values) == maxColumns {
			return nil, false
		}
		types = types[n:]
		size := width(kind)
		if size > uint64(len(body)) || kind == 10 || kind == 11 {
			return nil, false
		}
		values = append(values, value(kind, body[:size]))
		body = body[size:]
	}
	return values, len(body) == 0 && len(values) > 0
}

// width returns the bytes of a value of a serial type.
func width(kind uint64) uint64 {
	switch {
	case kind <= 4:
		return kind
	case kind == 5:
		return 6
	case kind <= 7:
		return 8
	case kind < 12:
		return 0
	}
	return (kind - 12) / 2
}

func value(kind uint64, b []byte) any {
	switch {
	case kind == 0:
		return nil
	case kind == 7:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	case kind == 8, kind == 9:
		return int64(kind - 8)
	case kind < 7:
		v := int64(int8(b[0]))
		for _, c := range b[1:] {
			v = v<<8 | int64(c)
		}
		return v
	case kind%2 == 0:
		return append([]byte{}, b...)
	}
	return string(b)
}
