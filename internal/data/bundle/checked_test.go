package bundle_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"tiebreak/internal/data/bundle"
	"tiebreak/internal/idrl"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// small is a table of one column.
func small(kind string) idrl.RecordTable {
	return idrl.RecordTable{Name: "small", Columns: []idrl.RecordColumn{{Name: "x", Type: kind}}}
}

// rowsOf returns a table of one column with the values.
func rowsOf(t testing.TB, kind string, values ...any) []byte {
	t.Helper()
	var out bytes.Buffer
	must(t, bundle.WriteRecords(t.Context(), &out, small(kind), func(_ context.Context, _ idrl.RecordTable, yield func([]any) error) error {
		for _, v := range values {
			if err := yield([]any{v}); err != nil {
				return err
			}
		}
		return nil
	}))
	return out.Bytes()
}

// edited returns a table of one column and page after change, which sees its footer, the
// header of the page, and what is on it.
func edited(t *testing.T, b []byte, change func(*format.FileMetaData, *format.PageHeader, *[]byte)) []byte {
	t.Helper()
	n := len(b) - 8
	var meta format.FileMetaData
	must(t, thrift.Unmarshal(&thrift.CompactProtocol{}, b[n-int(binary.LittleEndian.Uint32(b[n:])):n], &meta))
	c := &meta.RowGroups[0].Columns[0].MetaData
	chunk := b[c.DataPageOffset : c.DataPageOffset+c.TotalCompressedSize]
	var h format.PageHeader
	rest := bytes.NewReader(chunk)
	must(t, thrift.NewDecoder((&thrift.CompactProtocol{}).NewReader(rest)).Decode(&h))
	page := bytes.Clone(chunk[len(chunk)-int(h.CompressedPageSize):])
	before := len(page)
	change(&meta, &h, &page)
	h.CompressedPageSize += int32(len(page) - before)
	h.CRC = 0
	head, err := thrift.Marshal(&thrift.CompactProtocol{}, &h)
	must(t, err)
	c = &meta.RowGroups[0].Columns[0].MetaData
	if c.DataPageOffset == 4 {
		c.TotalCompressedSize += int64(len(head) + len(page) - len(chunk))
	}
	foot, err := thrift.Marshal(&thrift.CompactProtocol{}, &meta)
	must(t, err)
	out := append([]byte("PAR1"), append(head, page...)...)
	return footed(out, foot)
}

// footed returns a Parquet file of what stands before its footer.
func footed(b, footer []byte) []byte {
	b = append(bytes.Clone(b), footer...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), "PAR1"...)
}

// allocated returns how many bytes of memory f takes, one after another.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A file that says that it holds more than it does is refused at the cost of a small file.
func TestRecordsThatClaimMore(t *testing.T) {
	text := rowsOf(t, "TEXT", "one", "two", nil, "four")
	whole := func(b []byte) []byte { return edited(t, b, func(*format.FileMetaData, *format.PageHeader, *[]byte) {}) }
	rows := 0
	must(t, bundle.ReadRecords(bytes.NewReader(whole(text)), int64(len(whole(text))), "small", small("TEXT"), func([]any) error { rows++; return nil }))
	if rows != 4 {
		t.Fatalf("%d rows", rows)
	}
	snap := func(b []byte) []byte {
		out, err := parquet.Snappy.Encode(nil, b)
		must(t, err)
		return out
	}
	uvarint := func(n uint64) []byte { return binary.AppendUvarint(nil, n) }
	type (
		meta = *format.FileMetaData
		head = *format.PageHeader
		page = *[]byte
	)
	// The two bytes of the page's levels come first.
	levels := func(h head) int { return int(h.DataPageHeaderV2.V.DefinitionLevelsByteLength) }
	for _, test := range []struct {
		name, want string
		b          []byte
	}{
		{"a list in the footer", "ends within", footed([]byte("PAR1"), append([]byte{0x29, 0xfc}, uvarint(1<<30)...))},
		{"a text in the footer", "ends within", footed([]byte("PAR1"), append([]byte{0x68}, uvarint(1<<31-1)...))},
		{"lists in lists", "without end", footed([]byte("PAR1"), append([]byte{0x29}, bytes.Repeat([]byte{0x19}, 1<<20)...))},
		{"structs of nothing", "too many parts", footed([]byte("PAR1"), append(append([]byte{0x29, 0xfc}, uvarint(1<<20)...), make([]byte, 1<<20+1)...))},
		{"footer", "more than there are", append(binary.LittleEndian.AppendUint32([]byte("PAR1"), 1<<31), "PAR1"...)},
		{"no footer", "not that of a Parquet", append([]byte("PAR1"), "12345678"...)},
		{"short", "ends within", []byte("PAR1")},
		{"rows of a group", "at most", edited(t, text, func(m meta, _ head, _ page) { m.RowGroups[0].NumRows = 1 << 40 })},
		{"fewer rows", "are left", edited(t, text, func(m meta, _ head, _ page) { m.RowGroups[0].NumRows = 3 })},
		{"more rows", "1 rows are missing", edited(t, text, func(m meta, _ head, _ page) { m.RowGroups[0].NumRows = 5 })},
		{"columns of a group", "0 columns", edited(t, text, func(m meta, _ head, _ page) {
			m.RowGroups = append(m.RowGroups, format.RowGroup{})
		})},
		{"a column within another", "single values", edited(t, text, func(m meta, _ head, _ page) {
			m.Schema[1].NumChildren = thrift.New(int32(1))
		})},
		{"a column that must be there", "one value or none", edited(t, text, func(m meta, _ head, _ page) {
			m.Schema[1].RepetitionType = thrift.New(format.Repeated)
		})},
		{"a chunk", "not in the file", edited(t, text, func(m meta, _ head, _ page) {
			m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 29
		})},
		{"where a chunk is", "not in the file", edited(t, text, func(m meta, _ head, _ page) {
			m.RowGroups[0].Columns[0].MetaData.DataPageOffset = 1 << 62
		})},
		{"a dictionary", "dictionary", edited(t, text, func(m meta, _ head, _ page) {
			m.RowGroups[0].Columns[0].MetaData.DictionaryPageOffset = 4
		})},
		{"packing", "packed by", edited(t, text, func(m meta, _ head, _ page) {
			m.RowGroups[0].Columns[0].MetaData.Codec = format.Gzip
		})},
		{"a page", "more than there are", edited(t, text, func(_ meta, h head, _ page) { h.CompressedPageSize = 1 << 30 })},
		{"a page unpacked", "say that they are", edited(t, text, func(_ meta, h head, _ page) { h.UncompressedPageSize = 1 << 30 })},
		{"kind of a page", "version 2", edited(t, text, func(_ meta, h head, _ page) { h.Type = format.DictionaryPage })},
		{"encoding of a page", "encoded as", edited(t, text, func(_ meta, h head, _ page) { h.DataPageHeaderV2.V.Encoding = format.DeltaBinaryPacked })},
		{"values of a page", "are left", edited(t, text, func(_ meta, h head, _ page) { h.DataPageHeaderV2.V.NumValues = 1 << 30 })},
		{"none of a page", "are left", edited(t, text, func(_ meta, h head, _ page) { h.DataPageHeaderV2.V.NumNulls = 5 })},
		{"levels of a page", "say which", edited(t, text, func(_ meta, h head, _ page) { h.DataPageHeaderV2.V.DefinitionLevelsByteLength = 1 << 30 })},
		{"a run of levels", "more than 4", edited(t, text, func(_ meta, h head, b page) {
			run := append(uvarint(1<<32), 1)
			*b = append(bytes.Clone(run), (*b)[levels(h):]...)
			h.UncompressedPageSize += int32(len(run) - levels(h))
			h.DataPageHeaderV2.V.DefinitionLevelsByteLength = int32(len(run))
		})},
		{"eights of levels", "ends within", edited(t, text, func(_ meta, h head, b page) {
			run := uvarint(1<<63 | 1)
			*b = append(bytes.Clone(run), (*b)[levels(h):]...)
			h.UncompressedPageSize += int32(len(run) - levels(h))
			h.DataPageHeaderV2.V.DefinitionLevelsByteLength = int32(len(run))
		})},
		{"snappy", "say that they are", edited(t, text, func(_ meta, h head, b page) {
			*b = append(bytes.Clone((*b)[:levels(h)]), uvarint(1<<32-1)...)
		})},
		{"snappy and the page", "say that they are", edited(t, text, func(_ meta, h head, b page) {
			*b = append(bytes.Clone((*b)[:levels(h)]), uvarint(1<<29)...)
			h.UncompressedPageSize = 1<<29 + int32(levels(h))
		})},
		{"texts", "lengths of 1073741824 texts", edited(t, text, func(_ meta, h head, b page) {
			body := append(append(uvarint(128), uvarint(4)...), append(uvarint(1<<30), 0)...)
			*b = append(bytes.Clone((*b)[:levels(h)]), snap(body)...)
			h.UncompressedPageSize = int32(levels(h) + len(body))
		})},
		{"texts in one block", "lengths of 3 texts", edited(t, text, func(_ meta, h head, b page) {
			body := append(append(uvarint(1<<40), uvarint(4)...), append(uvarint(3), 0)...)
			*b = append(bytes.Clone((*b)[:levels(h)]), snap(body)...)
			h.UncompressedPageSize = int32(levels(h) + len(body))
		})},
	} {
		t.Run(test.name, func(t *testing.T) {
			var err error
			took := allocated(func() {
				err = bundle.ReadRecords(bytes.NewReader(test.b), int64(len(test.b)), "small", small("TEXT"), func([]any) error { return nil })
			})
			if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if took > 20<<20 {
				t.Errorf("took %d MB", took>>20)
			}
		})
	}
}

// Groups of rows are as large as is read, whatever the values are.
func TestGroupsOfRowsAreRead(t *testing.T) {
	for name, value := range map[string]any{"nothing": nil, "a number": int64(7), "an empty text": "", "a long text": strings.Repeat("ab", 50_000), "bytes": make([]byte, 100_000)} {
		kind := map[string]string{"a number": "INTEGER", "bytes": "BLOB"}[name]
		if kind == "" {
			kind = "TEXT"
		}
		values := make([]any, 25_000)
		if len(name) > 10 || name == "bytes" {
			values = values[:100] // more than one group
		}
		for i := range values {
			values[i] = value
		}
		b, rows := rowsOf(t, kind, values...), 0
		if err := bundle.ReadRecords(bytes.NewReader(b), int64(len(b)), "small", small(kind), func(row []any) error { rows++; return nil }); err != nil || rows != len(values) {
			t.Errorf("%s: %d rows of %d, %v", name, rows, len(values), err)
		}
	}
}
