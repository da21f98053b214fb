package bundle

import (
	"io"
	"slices"

	"tiebreak/internal/idrl"

	"github.com/parquet-go/parquet-go"
)

// groupBytes is about how much of a table is gathered in memory before it is written, bytes.
const groupBytes = 4 << 20

// rowBytes is about what a row takes without its lists, bytes.
const rowBytes = 400

// options of every Parquet file. Snappy needs little memory; what compresses well is in
// columns that repeat themselves, which have dictionaries.
func options() []parquet.WriterOption {
	return []parquet.WriterOption{
		parquet.Compression(&parquet.Snappy), parquet.CreatedBy("tiebreak", "", ""), parquet.PageBufferSize(64 << 10),
		parquet.DataPageStatistics(true),
	}
}

// writeTable writes a Parquet file with the rows that fill adds, and returns their number.
// numbers tells how many numbers the lists of a row have; nil for few.
func writeTable[T any](b *builder, name string, numbers func(*T) int, fill func(add func(T) error) error) (n int, err error) {
	err = b.file(name, func(w io.Writer) error {
		out := parquet.NewGenericWriter[T](w, options()...)
		one, gathered := make([]T, 1), 0
		err := fill(func(row T) error {
			one[0] = row
			n++
			gathered += rowBytes
			if numbers != nil {
				gathered += 8 * numbers(&row)
			}
			if _, err := out.Write(one); err != nil {
				return err
			}
			if gathered < groupBytes {
				return nil
			}
			gathered = 0
			return out.Flush()
		})
		if err != nil {
			return err
		}
		return out.Close()
	})
	b.meta.Rows[name] = n
	return n, err
}

// A recordWriter writes the rows of one table as they are recorded.
type recordWriter struct {
	out      *parquet.GenericWriter[any]
	place    []int // of each column in the file, where they stand in the order of their names
	row      parquet.Row
	gathered int
	n        int
}

func newRecordWriter(w io.Writer, t idrl.RecordTable) *recordWriter {
	group := parquet.Group{}
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
		group[c.Name] = parquet.Optional(recordNode(c.Type))
	}
	sorted := slices.Sorted(slices.Values(names))
	r := &recordWriter{out: parquet.NewGenericWriter[any](w, append(options(), parquet.NewSchema(t.Name, group))...), row: make(parquet.Row, len(names))}
	for _, name := range names {
		r.place = append(r.place, slices.Index(sorted, name))
	}
	return r
}

func recordNode(kind string) parquet.Node {
	switch kind {
	case "INTEGER":
		return parquet.Leaf(parquet.Int64Type)
	case "REAL":
		return parquet.Leaf(parquet.DoubleType)
	case "TEXT":
		return parquet.String()
	}
	return parquet.Leaf(parquet.ByteArrayType)
}

func (r *recordWriter) write(values []any) error {
	r.gathered += rowBytes
	for i, v := range values {
		k, level := r.place[i], 1
		var out parquet.Value
		switch v := v.(type) {
		case nil:
			level = 0
		case int64:
			out = parquet.Int64Value(v)
		case float64:
			out = parquet.DoubleValue(v)
		case string:
			out = parquet.ByteArrayValue([]byte(v))
			r.gathered += len(v)
		case []byte:
			out = parquet.ByteArrayValue(v)
			r.gathered += len(v)
		default:
			return idrl.Errorf(idrl.Internal, "a record holds a %T", v)
		}
		r.row[k] = out.Level(0, level, k)
	}
	r.n++
	if _, err := r.out.WriteRows([]parquet.Row{r.row}); err != nil {
		return err
	}
	if r.gathered < groupBytes {
		return nil
	}
	r.gathered = 0
	return r.out.Flush()
}
