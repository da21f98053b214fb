package export

import (
	"bufio"
	"encoding/csv"
	"math"
	"strconv"
	"time"
)

// writeCSV writes a header and one record a row. Absent values are empty.
func (e *encoder) writeCSV(w *bufio.Writer, rows Rows) error {
	out := csv.NewWriter(w) // which uses the buffer of w
	if err := out.Write(e.header()); err != nil {
		return err
	}
	var row Row // as in write
	err := rows(func(r Row) error {
		row = r
		if err := e.check(&row); err != nil {
			return err
		}
		e.fields = e.record(&row, e.fields[:0])
		return out.Write(e.fields)
	})
	if err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

func (e *encoder) header() []string {
	var h []string
	for _, c := range e.columns {
		h = append(h, c.name)
	}
	for _, prefix := range []string{"features_a_", "features_b_"} {
		for _, s := range e.slugs {
			h = append(h, prefix+s)
		}
	}
	return h
}

// record appends the fields of a row to out.
func (e *encoder) record(r *Row, out []string) []string {
	for _, c := range e.columns {
		out = append(out, cell(c.value(e.spec, r)))
	}
	for i := range 2 {
		for k := range e.features {
			if i < len(r.Clips) {
				out = append(out, cell(r.Clips[i].Phi[k]))
			} else {
				out = append(out, "")
			}
		}
	}
	return out
}

// cell returns v, one of the types of a column, as a CSV field.
func cell(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return guard(x)
	case int64:
		return strconv.FormatInt(x, 10)
	case bool:
		return strconv.FormatBool(x)
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	case time.Time:
		if x.IsZero() {
			return ""
		}
		return stamp(x)
	}
	panic("export: a column of an unknown type")
}

// guard puts an apostrophe before text that a spreadsheet would run as a
// formula. Ids never begin that way; what people typed might.
func guard(s string) string {
	if s != "" && (s[0] == '=' || s[0] == '+' || s[0] == '-' || s[0] == '@' || s[0] == '\t' || s[0] == '\r') {
		return "'" + s
	}
	return s
}
