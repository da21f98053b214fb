package lerobottest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// ChangePages changes the header of every page of a column in a Parquet file, whatever it then says of the page behind it.
func ChangePages(path, column string, change func(*format.PageHeader)) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	meta := f.Metadata()
	end := len(b) - 8 - int(binary.LittleEndian.Uint32(b[len(b)-8:]))
	out, protocol, changed := bytes.NewBuffer(slices.Clone(b[:end])), new(thrift.CompactProtocol), false
	for _, g := range meta.RowGroups {
		for k := range g.Columns {
			m := &g.Columns[k].MetaData
			if m.PathInSchema[0] != column {
				continue
			}
			first := m.DataPageOffset
			if m.DictionaryPageOffset > 0 {
				first = m.DictionaryPageOffset
				m.DictionaryPageOffset = int64(out.Len())
			}
			begin := int64(out.Len())
			if m.DataPageOffset, err = changeChunk(out, b[first:first+m.TotalCompressedSize], change); err != nil {
				return err
			}
			m.TotalCompressedSize, changed = int64(out.Len())-begin, true
		}
	}
	if !changed {
		return fmt.Errorf("%s has no column %s", path, column)
	}
	footer, err := thrift.Marshal(protocol, meta)
	if err != nil {
		return err
	}
	out.Write(footer)
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer)))) //nolint:gosec // small
	out.WriteString("PAR1")
	return os.WriteFile(path, out.Bytes(), 0o600)
}

// changeChunk writes the pages of a column chunk with other headers. It returns where in out the first page of data begins.
func changeChunk(out *bytes.Buffer, chunk []byte, change func(*format.PageHeader)) (data int64, err error) {
	protocol := new(thrift.CompactProtocol)
	for r := bytes.NewReader(chunk); r.Len() > 0; {
		var h format.PageHeader
		if err := thrift.NewDecoder(protocol.NewReader(r)).Decode(&h); err != nil {
			return 0, err
		}
		page := make([]byte, h.CompressedPageSize)
		if _, err := io.ReadFull(r, page); err != nil {
			return 0, err
		}
		if h.Type != format.DictionaryPage && data == 0 {
			data = int64(out.Len())
		}
		change(&h)
		b, err := thrift.Marshal(protocol, &h)
		if err != nil {
			return 0, err
		}
		out.Write(b)
		out.Write(page)
	}
	if data == 0 {
		return 0, errors.New("there is no page of data")
	}
	return data, nil
}
