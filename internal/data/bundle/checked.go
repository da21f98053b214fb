package bundle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The Parquet library takes memory for what a file says that it holds before it looks whether
// that is there: a file of 7 KB can make it take 14 GB. Before it reads a table of records,
// checkTable looks at every number that it will trust, so that a file costs memory in
// proportion to its own size. It asks for what recordWriter writes: data pages of version 2
// without dictionaries, of columns that are not nested, packed by Snappy or not at all.

// Limits of a table of records, far above what recordWriter writes.
const (
	maxFooter    = 16 << 20                  // bytes: about 100 million rows, or 50 GB
	maxStructs   = 1 << 19                   // in a footer, each of at most 560 bytes in memory
	maxGroupRows = 2 * groupBytes / rowBytes // of a group of rows
	maxPage      = 1 << 30                   // bytes of a page, unpacked
)

var errShort = errors.New("it ends within a value")

// checkTable returns an error if the Parquet file, of that many bytes, is not one with that
// many columns whose numbers are true of the file.
func checkTable(r io.ReaderAt, size int64, columns int) error {
	meta, end, err := readFooter(r, size)
	if err != nil {
		return fmt.Errorf("the end of the file: %w", err)
	}
	if n := len(meta.Schema); n != columns+1 {
		return fmt.Errorf("there are %d columns, want %d", n-1, columns)
	}
	for i, e := range meta.Schema {
		if want := int32(columns); e.NumChildren.V != want && i == 0 || e.NumChildren.V != 0 && i > 0 {
			return fmt.Errorf("column %q is not of single values", e.Name)
		}
		if i > 0 && e.RepetitionType.V != format.Optional {
			return fmt.Errorf("column %q does not hold one value or none in each row", e.Name)
		}
	}
	for i, g := range meta.RowGroups {
		if g.NumRows < 0 || g.NumRows > maxGroupRows {
			return fmt.Errorf("group %d has %d rows; at most %d are read", i, g.NumRows, maxGroupRows)
		}
		if len(g.Columns) != columns {
			return fmt.Errorf("group %d has %d columns, want %d", i, len(g.Columns), columns)
		}
		for k := range g.Columns {
			if err := checkChunk(r, end, &g.Columns[k].MetaData, int(g.NumRows)); err != nil {
				return fmt.Errorf("column %d of group %d: %w", k, i, err)
			}
		}
	}
	return nil
}

// readFooter returns what the end of a Parquet file says, and where it begins.
func readFooter(r io.ReaderAt, size int64) (meta format.FileMetaData, at int64, err error) {
	var tail [8]byte // the length of the footer, then a mark
	if size < int64(len(tail)) {
		return meta, 0, errShort
	}
	if _, err := r.ReadAt(tail[:], size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return meta, 0, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	at = size - int64(len(tail)) - n
	switch {
	case string(tail[4:]) != "PAR1":
		return meta, 0, errors.New("it is not that of a Parquet file")
	case at < 4:
		return meta, 0, fmt.Errorf("it has %d bytes, more than there are", n)
	case n > maxFooter:
		return meta, 0, fmt.Errorf("it has %d bytes; at most %d are read", n, maxFooter)
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, at); err != nil {
		return meta, 0, err
	}
	if _, err := readThrift(b, &meta); err != nil {
		return meta, 0, err
	}
	return meta, at, nil
}

// checkChunk checks the pages of one column in a group of that many rows. They stand before end.
func checkChunk(r io.ReaderAt, end int64, c *format.ColumnMetaData, rows int) error {
	at, n := c.DataPageOffset, c.TotalCompressedSize
	switch {
	case c.Codec != format.Snappy && c.Codec != format.Uncompressed:
		return fmt.Errorf("it is packed by %s; snappy is read", c.Codec)
	case c.DictionaryPageOffset != 0:
		return errors.New("it has a dictionary")
	case at < 4 || n < 0 || n > maxPage || at > end-n:
		return fmt.Errorf("its %d bytes from byte %d are not in the file", n, at)
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, at); err != nil && n > 0 {
		return err
	}
	for page := 0; len(b) > 0; page++ {
		var h format.PageHeader
		k, err := readThrift(b, &h)
		if err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
		b = b[k:]
		if h.CompressedPageSize < 0 || int(h.CompressedPageSize) > len(b) {
			return fmt.Errorf("page %d has %d bytes, more than there are", page, h.CompressedPageSize)
		}
		values, err := checkPage(&h, b[:h.CompressedPageSize], c.Codec == format.Snappy, rows)
		if err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
		rows -= values
		b = b[h.CompressedPageSize:]
	}
	if rows != 0 {
		return fmt.Errorf("values of %d rows are missing", rows)
	}
	return nil
}

// checkPage checks what a page says of itself, and returns the number of its values, one for
// each row, at most rows.
func checkPage(h *format.PageHeader, b []byte, packed bool, rows int) (values int, err error) {
	if h.Type != format.DataPageV2 || !h.DataPageHeaderV2.Valid || h.DataPageHeader.Valid || h.DictionaryPageHeader.Valid {
		return 0, errors.New("it is not a data page of version 2")
	}
	d := h.DataPageHeaderV2.V
	levels := int(d.DefinitionLevelsByteLength)
	values = int(d.NumValues)
	switch {
	case values < 0 || values > rows || d.NumNulls < 0 || d.NumNulls > d.NumValues || d.NumRows != d.NumValues:
		return 0, fmt.Errorf("it has %d values of %d rows, %d of them none, where %d rows are left", values, d.NumRows, d.NumNulls, rows)
	case d.RepetitionLevelsByteLength != 0 || levels < 0 || levels > len(b):
		return 0, fmt.Errorf("it has %d bytes that say which values are there, of %d", levels, len(b))
	}
	if err := checkLevels(b[:levels], values); err != nil {
		return 0, err
	}
	if b = b[levels:]; packed && (!d.IsCompressed.Valid || d.IsCompressed.V) {
		n, k := binary.Uvarint(b) // Snappy says first how much it holds
		if k <= 0 {
			return 0, errShort
		}
		want := int64(h.UncompressedPageSize) - int64(levels)
		if n != uint64(want) || want < 0 || want > maxPage || want/32 > int64(len(b)) { // it packs 21 bytes into one at most
			return 0, fmt.Errorf("its %d bytes say that they are %d and %d", len(b), n, want)
		}
		if b, err = parquet.Snappy.Decode(nil, b); err != nil {
			return 0, err
		}
	}
	if d.Encoding == format.DeltaLengthByteArray {
		return values, checkLengths(b, values-int(d.NumNulls))
	}
	if d.Encoding != format.Plain {
		return 0, fmt.Errorf("its values are encoded as %s", d.Encoding)
	}
	return values, nil
}

// checkLevels checks the runs of zeros and ones that say which of that many values are there.
func checkLevels(b []byte, values int) error {
	for sum := 0; len(b) > 0; {
		run, n := binary.Uvarint(b)
		if n <= 0 {
			return errShort
		}
		b = b[n:]
		count, skip := run>>1, 1
		if run&1 != 0 { // groups of eight, a bit each
			skip = int(min(count, 1<<20))
			count *= 8
		}
		if skip > len(b) {
			return errShort
		}
		if count > uint64(values+7-sum) {
			return fmt.Errorf("it says of more than %d values whether they are there", values)
		}
		b, sum = b[skip:], sum+int(count)
	}
	return nil
}

// checkLengths checks the head of the lengths of that many texts.
func checkLengths(b []byte, values int) error {
	var head [3]uint64 // size of a block, blocks in it, values
	for i := range head {
		u, n := binary.Uvarint(b)
		if n <= 0 {
			if values == 0 {
				return nil // there may be nothing
			}
			return errShort
		}
		head[i], b = u, b[n:]
	}
	if head[0] > 1<<16 || head[2] != uint64(values) {
		return fmt.Errorf("it has the lengths of %d texts where there are %d", head[2], values)
	}
	return nil
}

// readThrift decodes a struct at the beginning of b into v, and returns how many bytes it takes.
func readThrift(b []byte, v any) (int, error) {
	w := walk{b: b}
	if err := w.structure(0); err != nil {
		return 0, err
	}
	n := len(b) - len(w.b)
	return n, thrift.Unmarshal(&thrift.CompactProtocol{}, b[:n], v)
}

// A walk goes through values in the compact protocol of Thrift without taking memory for them,
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
type walk struct {
	b       []byte // what is left
	structs int
}

func (w *walk) skip(n uint64) error {
	if n > uint64(len(w.b)) {
		return errShort
	}
	w.b = w.b[n:]
	return nil
}

func (w *walk) byte() (byte, error) {
	if len(w.b) == 0 {
		return 0, errShort
	}
	c := w.b[0]
	w.b = w.b[1:]
	return c, nil
}

func (w *walk) varint() (uint64, error) {
	u, n := binary.Uvarint(w.b)
	if n <= 0 {
		return 0, errShort
	}
	w.b = w.b[n:]
	return u, nil
}

// structure walks over the fields of a struct at that depth.
func (w *walk) structure(depth int) error {
	if w.structs++; w.structs > maxStructs {
		return errors.New("it has too many parts")
	}
	for {
		head, err := w.byte()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // the field's number follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		if kind := head & 15; kind > 2 { // of a truth value there is nothing more
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

// value walks over a value of a kind, as it stands in a list or, but for truth values, a field.
func (w *walk) value(kind byte, depth int) error {
	if depth > 16 {
		return errors.New("it has parts within parts without end")
	}
	switch kind {
	case 1, 2, 3: // a truth value or a byte
		return w.skip(1)
	case 4, 5, 6: // a whole number
		_, err := w.varint()
		return err
	case 7: // a float64
		return w.skip(8)
	case 8: // bytes
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case 9, 10: // a list or a set
		head, err := w.byte()
		if err != nil {
			return err
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = w.varint(); err != nil {
				return err
			}
		}
		if n > uint64(len(w.b)) { // each takes a byte or more
			return errShort
		}
		for range n {
			if err := w.value(head&15, depth+1); err != nil {
				return err
			}
		}
		return nil
	case 12:
		return w.structure(depth + 1)
	}
	return fmt.Errorf("it has a value of the unknown kind %d", kind)
}
