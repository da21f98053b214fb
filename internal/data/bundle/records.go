package bundle

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// maxLine is the length of a line of records that is written and read at most, bytes. The greatest blobs of a
// store have 64 MiB: raw steps (steps.Encode), the covariance of a generation and an encoded posterior of 4096 weights
// (belief.MaxDim), and all that one training hands over (jobs). No row has more than two of them, which are 171 MiB
// in base64.
var maxLine = 256 << 20 // tests lower it

// recordFile returns the file that holds the records of a table.
func recordFile(table string) string { return "tiebreak/" + table + ".jsonl" }

// recordHead returns the first line of the records of a table, which names the columns, without its end.
func recordHead(t record.RecordTable) ([]byte, error) {
	columns := make([][2]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = [2]string{c.Name, c.Type}
	}
	return json.Marshal(struct {
		Table   string      `json:"table"`
		Columns [][2]string `json:"columns"`
	}{t.Name, columns})
}

// writeRecords writes a table as it is recorded, which readRecords reads: a line for the columns and one for
// each row that rows yields. It returns the number of rows.
func writeRecords(w io.Writer, t record.RecordTable, rows func(yield func([]any) error) error) (n int, err error) {
	line, err := recordHead(t)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return 0, err
	}
	err = rows(func(values []any) error {
		if line, err = appendRow(line[:0], values); err != nil {
			return fmt.Errorf("row %d of %s: %w", n+1, t.Name, err)
		}
		n++
		_, err := w.Write(line)
		return err
	})
	return n, err
}

// appendRow appends values, of the types int64, float64, string, []byte, or nil, as a JSON array, and the
// end of the line.
func appendRow(line []byte, values []any) (_ []byte, err error) {
	line = append(line, '[')
	for i, v := range values {
		if i > 0 {
			line = append(line, ',')
		}
		if line, err = appendValue(line, v); err != nil {
			return line, err
		}
	}
	line = append(line, "]\n"...)
	if len(line) > maxLine {
		return line, idrl.Errorf(idrl.Invalid, "it takes %d bytes as text, and at most %d are read", len(line), maxLine)
	}
	return line, nil
}

func appendValue(line []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(line, "null"...), nil
	case int64:
		return strconv.AppendInt(line, v, 10), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return line, idrl.Errorf(idrl.Invalid, "it holds %v, which is no number", v)
		}
		return strconv.AppendFloat(line, v, 'g', -1, 64), nil
	case string:
		text, err := json.Marshal(strings.ToValidUTF8(v, "\ufffd"))
		return append(line, text...), err
	case []byte:
		line = base64.StdEncoding.AppendEncode(append(line, '"'), v)
		return append(line, '"'), nil
	}
	return line, idrl.Errorf(idrl.Internal, "a record holds a %T", v)
}
