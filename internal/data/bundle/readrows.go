package bundle

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"tiebreak/internal/base/record"
)

// Records calls yield with the rows of a table in their order: values of the types int64,
// float64, string, []byte, or nil, as t.Columns. It returns the error of yield, or one of kind
// Invalid if the file is not such a table (import-table) or all tables hold many times the bytes of the bundle, or more
// than there is room for (import-size).
func (b *Bundle) Records(t record.RecordTable, yield func([]any) error) (err error) {
	name := recordFile(t.Name)
	f, err := b.root.Open(name)
	if err != nil {
		return refused("missing", "%s is not there: %v", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return readRecords(f, name, t, func(row []any) error {
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

// readRecords reads the rows of a table that writeRecords wrote. It takes memory in proportion to the
// longest line.
func readRecords(from io.Reader, name string, t record.RecordTable, yield func([]any) error) error {
	head, err := recordHead(t)
	if err != nil {
		return err
	}
	r, n := lines{from: bufio.NewReaderSize(from, 64<<10)}, 1
	wrong := func(err error) error { return refused("table", "%s: line %d: %v", name, n, err) }
	if err := r.next(); err != nil {
		return wrong(err)
	}
	if !bytes.Equal(r.line, head) {
		return wrong(fmt.Errorf("it is %.200q, and must name the columns: %s", r.line, head))
	}
	for {
		n++
		err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return wrong(err)
		}
		row, err := parseRow(r.line, t.Columns)
		if err != nil {
			return wrong(err)
		}
		if err := yield(row); err != nil {
			return err
		}
	}
}

// lines are the lines of a text, of at most maxLine bytes with their end.
type lines struct {
	from *bufio.Reader
	line []byte // the last that was read, without its end; valid until the next
}

// next reads a line. It returns io.EOF if there is no other.
func (l *lines) next() error {
	for l.line = l.line[:0]; ; {
		part, err := l.from.ReadSlice('\n')
		l.line = append(l.line, part...)
		switch {
		case len(l.line) > maxLine:
			return fmt.Errorf("it has more than %d bytes", maxLine)
		case err == nil:
			l.line = l.line[:len(l.line)-1]
			return nil
		case errors.Is(err, io.EOF) && len(l.line) > 0:
			return errors.New("it is cut off")
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// parseRow returns the values of a line: a JSON array without spaces that has one for each column.
func parseRow(line []byte, columns []record.RecordColumn) ([]any, error) {
	rest, ok := bytes.CutPrefix(line, []byte("["))
	if !ok {
		return nil, errors.New("it is not a list of values")
	}
	values := make([]any, len(columns))
	for i, c := range columns {
		n, after := valueEnd(rest), byte(',')
		if i == len(columns)-1 {
			after = ']'
		}
		v, ok := parseValue(rest[:n], c.Type)
		if !ok {
			return nil, fmt.Errorf("column %s: %.40q is not of the type %s", c.Name, rest[:n], c.Type)
		}
		if n == len(rest) || rest[n] != after {
			return nil, fmt.Errorf("column %s: %.40q follows it, want %q: a row has %d values", c.Name, rest[n:], after, len(columns))
		}
		values[i], rest = v, rest[n+1:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%.40q follows the row", rest)
	}
	return values, nil
}

// valueEnd returns how many bytes the JSON string or number at the beginning of b has.
func valueEnd(b []byte) int {
	if !bytes.HasPrefix(b, []byte(`"`)) {
		if n := bytes.IndexAny(b, ",]"); n >= 0 {
			return n
		}
		return len(b)
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// parseValue returns a value as the store has it, and whether it is one of a column of that type.
func parseValue(b []byte, kind string) (any, bool) {
	if string(b) == "null" {
		return nil, true
	}
	switch kind {
	case "INTEGER":
		v, err := strconv.ParseInt(string(b), 10, 64)
		return v, err == nil && json.Valid(b)
	case "REAL":
		v, err := strconv.ParseFloat(string(b), 64) // an error for what is not finite
		return v, err == nil && json.Valid(b)
	case "TEXT":
		return parseText(b)
	}
	return parseBlob(b)
}

// parseText returns the text of a JSON string. It refuses halves of surrogate pairs, which decode to U+FFFD.
func parseText(b []byte) (s string, ok bool) {
	if !bytes.HasPrefix(b, []byte(`"`)) || !utf8.Valid(b) || json.Unmarshal(b, &s) != nil {
		return "", false
	}
	return s, strings.Count(s, "\ufffd") == bytes.Count(b, []byte("\ufffd"))
}

// parseBlob returns the bytes of a JSON string in base64; never nil, which SQLite would take for NULL.
func parseBlob(b []byte) ([]byte, bool) {
	text, ok := bytes.CutPrefix(b, []byte(`"`))
	text, ended := bytes.CutSuffix(text, []byte(`"`))
	if !ok || !ended {
		return nil, false
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Strict().Decode(out, text)
	return out[:n], err == nil && base64.StdEncoding.EncodedLen(n) == len(text) // Decode skips ends of lines
}
