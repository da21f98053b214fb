package store

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"tiebreak/internal/idrl"
)

// encodeVector returns x as little-endian float64, bit for bit. It is never nil, which SQLite would
// store as NULL.
func encodeVector(x []float64) []byte {
	b := make([]byte, 0, 8*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// decodeVector is the inverse of encodeVector; empty bytes give nil.
func decodeVector(b []byte) ([]float64, error) {
	if len(b)%8 != 0 {
		return nil, fmt.Errorf("a vector of %d bytes is not a whole number of float64", len(b))
	}
	if len(b) == 0 {
		return nil, nil
	}
	x := make([]float64, len(b)/8)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return x, nil
}

// A vectorColumn scans a blob of encodeVector.
type vectorColumn struct{ dst *[]float64 }

func (c vectorColumn) Scan(src any) (err error) {
	b, ok := src.([]byte)
	if !ok && src != nil {
		return fmt.Errorf("a vector is %T, want a blob", src)
	}
	*c.dst, err = decodeVector(b)
	return err
}

// A rowsColumn scans a blob of encodeVector that holds rows, one after another, each as long
// as the vector like, which was scanned before.
type rowsColumn struct {
	dst  *[][]float64
	like *[]float64
}

func (c rowsColumn) Scan(src any) error {
	var all []float64
	if err := (vectorColumn{&all}).Scan(src); err != nil {
		return err
	}
	d := len(*c.like)
	if len(all) > 0 && (d == 0 || len(all)%d != 0) {
		return fmt.Errorf("%d numbers are no whole number of rows of %d", len(all), d)
	}
	*c.dst = nil
	for len(all) > 0 {
		*c.dst, all = append(*c.dst, all[:d:d]), all[d:]
	}
	return nil
}

// timeLayout has a fixed width, so that text sorts as time does.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

func encodeTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// checkTime returns an error of kind Invalid if t cannot be written in
// timeLayout.
func checkTime(t time.Time) error {
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return idrl.Errorf(idrl.Invalid, "a time lies in the year %d; check the clock", y)
	}
	return nil
}

// decodeTime is the inverse of encodeTime. Text of that width and zone is read as RFC 3339, for which package time
// takes a third of the time.
func decodeTime(s string) (time.Time, error) {
	if len(s) == len(timeLayout) && s[len(s)-1] == 'Z' {
		if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return t, nil
		}
	}
	return time.Parse(timeLayout, s)
}

// A timeColumn scans text of timeLayout; the zero time for NULL.
type timeColumn struct{ dst *time.Time }

func (c timeColumn) Scan(src any) (err error) {
	switch s := src.(type) {
	case nil:
		*c.dst = time.Time{}
	case string:
		*c.dst, err = decodeTime(s)
	default:
		err = fmt.Errorf("a time is %T, want text", src)
	}
	return err
}

// A doubtsColumn scans the names of doubts.
type doubtsColumn struct{ dst *idrl.Doubts }

func (c doubtsColumn) Scan(src any) error {
	s, ok := src.(string)
	if !ok {
		return fmt.Errorf("doubts are %T, want text", src)
	}
	*c.dst = idrl.ParseDoubts(s)
	return nil
}

// A floatColumn scans a nullable REAL, in which SQLite keeps NaN as NULL.
type floatColumn struct{ dst *float64 }

func (c floatColumn) Scan(src any) error {
	if x, ok := src.(float64); ok {
		*c.dst = x
		return nil
	}
	var v sql.NullFloat64
	if err := v.Scan(src); err != nil {
		return err
	}
	*c.dst = math.NaN()
	if v.Valid {
		*c.dst = v.Float64
	}
	return nil
}

// A textColumn scans nullable text, empty for NULL, into a string type.
type textColumn[S ~string] struct{ dst *S }

func (c textColumn[S]) Scan(src any) error {
	if s, ok := src.(string); ok {
		*c.dst = S(s)
		return nil
	}
	var v sql.NullString
	if err := v.Scan(src); err != nil {
		return err
	}
	*c.dst = S(v.String)
	return nil
}

func text[S ~string](dst *S) textColumn[S] { return textColumn[S]{dst} }

// encodeNames returns names separated by spaces, which no name contains.
func encodeNames(names []idrl.StepsID) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = string(n)
	}
	return strings.Join(parts, " ")
}

// A namesColumn scans text of encodeNames; empty text gives nil.
type namesColumn struct{ dst *[]idrl.StepsID }

func (c namesColumn) Scan(src any) error {
	s, ok := src.(string)
	if !ok {
		return fmt.Errorf("names are %T, want text", src)
	}
	*c.dst = nil
	for _, n := range strings.Fields(s) {
		*c.dst = append(*c.dst, idrl.StepsID(n))
	}
	return nil
}

// A nameColumn scans a name that an earlier version may have recorded with invisible characters.
type nameColumn struct{ dst *string }

func (c nameColumn) Scan(src any) error {
	s, ok := src.(string)
	if !ok {
		return fmt.Errorf("a name is %T, want text", src)
	}
	*c.dst = idrl.VisibleName(s)
	return nil
}

// null returns s for a nullable column: NULL if it is empty.
func null[S ~string](s S) any {
	if s == "" {
		return nil
	}
	return string(s)
}
