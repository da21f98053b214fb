package bundle

import (
	"io"

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

// WriteTable writes the rows that fill adds to w as a Parquet file, and returns their number. The same rows give the same bytes.
// numbers tells how many numbers the lists of a row have; nil for few.
func WriteTable[T any](w io.Writer, numbers func(*T) int, fill func(add func(T) error) error) (n int, err error) {
	out := parquet.NewGenericWriter[T](w, options()...)
	one, gathered := make([]T, 1), 0
	err = fill(func(row T) error {
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
		return n, err
	}
	return n, out.Close()
}

// writeTable is WriteTable into a file of a bundle.
func writeTable[T any](b *builder, name string, numbers func(*T) int, fill func(add func(T) error) error) (n int, err error) {
	err = b.file(name, func(w io.Writer) (err error) {
		n, err = WriteTable(w, numbers, fill)
		return err
	})
	b.meta.Rows[name] = n
	return n, err
}
