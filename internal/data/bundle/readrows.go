package bundle

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"tiebreak/internal/idrl"

	"github.com/parquet-go/parquet-go"
)

// Records calls yield with the rows of a table in their order: values of the types int64,
// float64, string, []byte, or nil, as t.Columns. It returns the error of yield, or one of kind
// Invalid if the file is not such a table (import-table) or all tables hold many times the bytes of the bundle, or more
// than there is room for (import-size).
func (b *Bundle) Records(t idrl.RecordTable, yield func([]any) error) (err error) {
	name := recordFile(t.Name)
	f, err := b.root.Open(name)
	if err != nil {
		return refused("missing", "%s is not there: %v", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return readRecords(f, info.Size(), name, t, func(row []any) error {
		if b.left -= bytesOf(row); b.left < 0 {
			return refused("size", "the records hold many times the bytes of the bundle, or more than there is room for on the disk of the data folder")
		}
		return yield(row)
	})
}

// bytesOf returns how many bytes a row takes in a database, about.
func bytesOf(row []any) (n int64) {
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += int64(len(v))
		case []byte:
			n += int64(len(v))
		}
		n += 8
	}
	return n
}

// readRecords reads the rows of a table from a Parquet file of that many bytes.
func readRecords(r io.ReaderAt, size int64, name string, t idrl.RecordTable, yield func([]any) error) (err error) {
	var stopped error // by yield
	defer func() {
		if p := recover(); p != nil { // the library trusts the numbers in a file
			err = refused("table", "%s is not a Parquet file that can be read: %v", name, p)
		}
	}()
	if err := checkTable(r, size, len(t.Columns)); err != nil {
		return refused("table", "%s: %v", name, err)
	}
	file, err := parquet.OpenFile(r, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return refused("table", "%s is not a Parquet file that can be read: %v", name, err)
	}
	place, err := places(file, t)
	if err != nil {
		return refused("table", "%s: %v", name, err)
	}
	err = eachRow(file, len(t.Columns), func(row parquet.Row) error {
		values := make([]any, len(t.Columns))
		for i, c := range t.Columns {
			if values[i], err = recorded(row[place[i]], c); err != nil {
				return err
			}
		}
		stopped = yield(values)
		return stopped
	})
	if stopped != nil {
		return stopped
	}
	if err != nil {
		return refused("table", "%s: %v", name, err)
	}
	return nil
}

// places returns where in a row of the file the columns of t stand, or an error if the file has
// other columns.
func places(file *parquet.File, t idrl.RecordTable) ([]int, error) {
	var have []string
	for _, path := range file.Schema().Columns() {
		if len(path) != 1 {
			return nil, fmt.Errorf("column %q is not of single values", path)
		}
		have = append(have, path[0])
	}
	var out []int
	for _, c := range t.Columns {
		i := slices.Index(have, c.Name)
		if i < 0 {
			return nil, fmt.Errorf("column %s is missing", c.Name)
		}
		out = append(out, i)
	}
	return out, nil
}

// eachRow calls f with every row of n values. The row is valid during the call.
func eachRow(file *parquet.File, n int, f func(parquet.Row) error) error {
	buf := make([]parquet.Row, 64)
	for _, group := range file.RowGroups() {
		rows := group.Rows()
		for {
			k, err := rows.ReadRows(buf)
			for _, row := range buf[:k] {
				if len(row) != n {
					return errors.Join(fmt.Errorf("a row has %d values, want %d", len(row), n), rows.Close())
				}
				if err := f(row); err != nil {
					return errors.Join(err, rows.Close())
				}
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil && k == 0 {
				err = io.ErrNoProgress
			}
			if err != nil {
				return errors.Join(err, rows.Close())
			}
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	return nil
}

// recorded returns a value as the store has it, or an error if the column is of another type.
func recorded(v parquet.Value, c idrl.RecordColumn) (any, error) {
	other := fmt.Errorf("column %s holds a value that is not of the type %s", c.Name, c.Type)
	if v.IsNull() {
		return nil, nil
	}
	switch c.Type {
	case "INTEGER":
		if v.Kind() == parquet.Int64 {
			return v.Int64(), nil
		}
	case "REAL":
		if v.Kind() == parquet.Double && !math.IsNaN(v.Double()) {
			return v.Double(), nil
		}
	case "TEXT":
		if v.Kind() == parquet.ByteArray && utf8.Valid(v.ByteArray()) {
			return string(v.ByteArray()), nil
		}
	default:
		if v.Kind() == parquet.ByteArray {
			return append([]byte{}, v.ByteArray()...), nil // an empty one is not nil
		}
	}
	return nil, other
}
