package bundle_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/idrl"
)

// allTypes is a table with a column of each type.
var allTypes = record.RecordTable{Name: "all", Columns: []record.RecordColumn{
	{Name: "i", Type: "INTEGER"}, {Name: "r", Type: "REAL"}, {Name: "t", Type: "TEXT"}, {Name: "b", Type: "BLOB"},
}}

const allTypesHead = `{"table":"all","columns":[["i","INTEGER"],["r","REAL"],["t","TEXT"],["b","BLOB"]]}` + "\n"

// recordText returns the rows as a bundle has them.
func recordText(t testing.TB, table record.RecordTable, rows ...[]any) string {
	t.Helper()
	var out strings.Builder
	n, err := bundle.WriteRecords(&out, table, func(yield func([]any) error) error {
		for _, row := range rows {
			if err := yield(row); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
	if n != len(rows) {
		t.Errorf("%d rows are said to be written, of %d", n, len(rows))
	}
	return out.String()
}

// readAll returns the rows of a table.
func readAll(from io.Reader, table record.RecordTable) (rows [][]any, err error) {
	err = bundle.ReadRecords(from, table.Name, table, func(row []any) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// allocated returns how many bytes of memory f takes, one after another.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Values of every type come back to the bit.
func TestRecordsComeBack(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for name, row := range map[string][]any{
		"nothing":          {nil, nil, nil, nil},
		"zero and empty":   {int64(0), 0.0, "", []byte{}},
		"least":            {int64(math.MinInt64), -math.MaxFloat64, "\x00", []byte{0}},
		"most":             {int64(math.MaxInt64), math.MaxFloat64, "\U0010ffff", []byte{255}},
		"beyond 2^53":      {int64(1<<53 + 1), float64(1 << 53), "a", every},
		"minus zero":       {int64(-1), math.Copysign(0, -1), "-0", []byte("-0")},
		"denormal":         {int64(1), math.SmallestNonzeroFloat64, "5e-324", every[:1]},
		"minus denormal":   {int64(1), -math.SmallestNonzeroFloat64, "", every[:2]},
		"least normal":     {int64(1), 0x1p-1022, "", every[:3]},
		"many digits":      {int64(1), 0.1 + 0.2, "0.30000000000000004", every[:4]},
		"large":            {int64(1), 1e21, "", every[:5]},
		"control text":     {int64(1), 1.0, "\x01\t\n\r\x1f\x7f", []byte("\n")},
		"quotes":           {int64(1), 1.0, `"],["\"\\`, []byte(`"`)},
		"separators":       {int64(1), 1.0, "a\u2028b\u2029c", []byte("\u2028")},
		"marks of HTML":    {int64(1), 1.0, "<b>&amp;</b>", []byte("<")},
		"text of a value":  {int64(1), 1.0, "null", []byte("null")},
		"replacement rune": {int64(1), 1.0, "\ufffd and \\ufffd", nil},
		"other planes":     {int64(1), 1.0, "𝄞 界 é", nil},
	} {
		text := recordText(t, allTypes, row)
		if strings.Count(text, "\n") != 2 {
			t.Errorf("%s: %q has not two lines", name, text)
		}
		got, err := readAll(strings.NewReader(text), allTypes)
		must(t, err)
		if len(got) != 1 {
			t.Fatalf("%s: %d rows", name, len(got))
		}
		if d := cmp.Diff(row, got[0]); d != "" {
			t.Errorf("%s (-written +read):\n%s", name, d)
		}
		want, is := row[1].(float64)
		if r, ok := got[0][1].(float64); ok != is || math.Float64bits(r) != math.Float64bits(want) {
			t.Errorf("%s: %v of other bits than %v", name, r, want)
		}
	}
}

// An empty blob may come from a database as a nil slice, and is not null; what is not UTF-8 is replaced as in
// the other files of a bundle.
func TestRecordsAreNormalised(t *testing.T) {
	text := recordText(t, allTypes, []any{nil, nil, "a\xffb", []byte(nil)})
	if want := allTypesHead + "[null,null,\"a\ufffdb\",\"\"]\n"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
	for _, v := range []any{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := bundle.WriteRecords(io.Discard, allTypes, func(yield func([]any) error) error { return yield([]any{nil, v, nil, nil}) }); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// What is not written as records are is refused with the number of its line.
func TestRecordsThatAreRefused(t *testing.T) {
	good := `[1,0.5,"a","AAE="]` + "\n"
	for _, test := range []struct {
		name, text string
		line       int
	}{
		{"nothing", "", 1},
		{"no header", good, 1},
		{"header of another table", strings.Replace(allTypesHead, `"all"`, `"other"`, 1), 1},
		{"other names", strings.Replace(allTypesHead, `["r",`, `["s",`, 1), 1},
		{"other types", strings.Replace(allTypesHead, `REAL`, `INTEGER`, 1), 1},
		{"a column less", strings.Replace(allTypesHead, `,["b","BLOB"]`, ``, 1), 1},
		{"header without its end", strings.TrimSuffix(allTypesHead, "\n"), 1},
		{"header twice", allTypesHead + allTypesHead, 2},
		{"header later", allTypesHead + good + allTypesHead, 3},
		{"empty line", allTypesHead + "\n", 2},
		{"empty row", allTypesHead + "[]\n", 2},
		{"row without its end", allTypesHead + good + strings.TrimSuffix(good, "\n"), 3},
		{"row that is cut", allTypesHead + `[1,0.5,"a` + "\n", 2},
		{"row that is cut behind a backslash", allTypesHead + `[1,0.5,"a\` + "\n", 2},
		{"row that is cut in a blob", allTypesHead + `[1,0.5,"a","AAE=` + "\n", 2},
		{"row that is not closed", allTypesHead + `[1,0.5,"a","AAE="` + "\n", 2},
		{"a value less", allTypesHead + `[1,0.5,"a"]` + "\n", 2},
		{"a value more", allTypesHead + `[1,0.5,"a","AAE=",1]` + "\n", 2},
		{"many values", allTypesHead + "[" + strings.Repeat("1,", 1<<20) + "1]\n", 2},
		{"no value", allTypesHead + `[,0.5,"a","AAE="]` + "\n", 2},
		{"text behind", allTypesHead + good + `[1,0.5,"a","AAE="]]` + "\n", 3},
		{"another row behind", allTypesHead + strings.Repeat(strings.TrimSuffix(good, "\n"), 2) + "\n", 2},
		{"text behind a value", allTypesHead + `[1,0.5,"a"x,"AAE="]` + "\n", 2},
		{"carriage return", allTypesHead + `[1,0.5,"a","AAE="]` + "\r\n", 2},
		{"space", allTypesHead + `[1, 0.5,"a","AAE="]` + "\n", 2},
		{"space before null", allTypesHead + `[1,0.5, null,"AAE="]` + "\n", 2},
		{"an object", allTypesHead + `{"i":1}` + "\n", 2},
		{"lists in lists", allTypesHead + strings.Repeat("[", 1<<20) + "\n", 2},
		{"text for an integer", allTypesHead + `["1",0.5,"a","AAE="]` + "\n", 2},
		{"real for an integer", allTypesHead + `[1.0,0.5,"a","AAE="]` + "\n", 2},
		{"exponent of an integer", allTypesHead + `[1e3,0.5,"a","AAE="]` + "\n", 2},
		{"integer above int64", allTypesHead + `[9223372036854775808,0.5,"a","AAE="]` + "\n", 2},
		{"integer with a zero before", allTypesHead + `[01,0.5,"a","AAE="]` + "\n", 2},
		{"integer with a plus", allTypesHead + `[+1,0.5,"a","AAE="]` + "\n", 2},
		{"long integer", allTypesHead + "[" + strings.Repeat("1", 1<<20) + `,0.5,"a","AAE="]` + "\n", 2},
		{"truth value", allTypesHead + `[true,0.5,"a","AAE="]` + "\n", 2},
		{"NaN", allTypesHead + `[1,NaN,"a","AAE="]` + "\n", 2},
		{"infinity", allTypesHead + `[1,-Inf,"a","AAE="]` + "\n", 2},
		{"real that is too large", allTypesHead + `[1,1e309,"a","AAE="]` + "\n", 2},
		{"hexadecimal real", allTypesHead + `[1,0x1p-2,"a","AAE="]` + "\n", 2},
		{"text for a real", allTypesHead + `[1,"0.5","a","AAE="]` + "\n", 2},
		{"number for a text", allTypesHead + `[1,0.5,1,"AAE="]` + "\n", 2},
		{"text that is not UTF-8", allTypesHead + "[1,0.5,\"\xff\",\"AAE=\"]\n", 2},
		{"half of a surrogate pair", allTypesHead + `[1,0.5,"\ud834","AAE="]` + "\n", 2},
		{"control character", allTypesHead + "[1,0.5,\"\x01\",\"AAE=\"]\n", 2},
		{"unknown escape", allTypesHead + `[1,0.5,"\x41","AAE="]` + "\n", 2},
		{"number for a blob", allTypesHead + `[1,0.5,"a",1]` + "\n", 2},
		{"no base64", allTypesHead + `[1,0.5,"a","AA!="]` + "\n", 2},
		{"base64 without its end", allTypesHead + `[1,0.5,"a","AAE"]` + "\n", 2},
		{"base64 with other bits", allTypesHead + `[1,0.5,"a","AAF="]` + "\n", 2},
		{"carriage return in base64", allTypesHead + "[1,0.5,\"a\",\"AA\rE=\"]\n", 2},
		{"escape in base64", allTypesHead + `[1,0.5,"a","\u0041AE="]` + "\n", 2},
		{"lone quote for a blob", allTypesHead + `[1,0.5,"a",",` + "\n", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			var err error
			took := allocated(func() { _, err = readAll(strings.NewReader(test.text), allTypes) })
			if want := fmt.Sprintf("import-table: all: line %d: ", test.line); idrl.KindOf(err) != idrl.Invalid || !strings.HasPrefix(fmt.Sprint(err), want) {
				t.Errorf("%v, want %s", err, want)
			}
			if len(fmt.Sprint(err)) > 1000 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
			if limit := uint64(1<<20 + 10*len(test.text)); took > limit {
				t.Errorf("%d bytes took %d of memory", len(test.text), took)
			}
		})
	}
	if rows, err := readAll(strings.NewReader(allTypesHead+good), allTypes); err != nil || len(rows) != 1 {
		t.Errorf("%v, %v", rows, err)
	}
}

var manyAs = strings.Repeat("A", 64<<10)

// endless is a line without an end.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, manyAs)
	e.n += int64(n)
	return n, nil
}

// A line is read up to its greatest length, and a row is refused when it is written whose line would be longer.
func TestLengthOfLines(t *testing.T) {
	const most = 1 << 20
	defer bundle.LimitLines(most)()
	long := &endless{}
	if _, err := readAll(io.MultiReader(strings.NewReader(allTypesHead+`[1,0.5,"a","`), long), allTypes); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "line 2: it has more than") {
		t.Errorf("%v", err)
	}
	if long.n > most+1<<20 {
		t.Errorf("%d bytes of the line were read", long.n)
	}
	blob := make([]byte, base64.StdEncoding.DecodedLen(most))
	if _, err := bundle.WriteRecords(io.Discard, allTypes, func(yield func([]any) error) error { return yield([]any{nil, nil, nil, blob}) }); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("%v", err)
	}
}

// Reading takes the memory of one row at a time, and rows are kept.
func TestRecordsAreReadRowByRow(t *testing.T) {
	const rows, size = 200, 100_000
	var out bytes.Buffer
	_, err := bundle.WriteRecords(&out, allTypes, func(yield func([]any) error) error {
		for i := range rows {
			if err := yield([]any{int64(i), nil, fmt.Sprint(i), bytes.Repeat([]byte{byte(i)}, size)}); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
	var got [][]any
	took := allocated(func() { got, err = readAll(&out, allTypes) })
	must(t, err)
	for i, row := range got {
		if row[0] != int64(i) || row[2] != fmt.Sprint(i) || !bytes.Equal(row[3].([]byte), bytes.Repeat([]byte{byte(i)}, size)) {
			t.Errorf("row %d is another", i)
		}
	}
	if len(got) != rows || took > rows*size*5/4 { // the blobs themselves, and little else
		t.Errorf("%d rows took %d bytes", len(got), took)
	}
}
