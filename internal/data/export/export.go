package export

import (
	"bufio"
	"io"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Row is one answer with what it speaks of. The log rows that withdraw answers, and
// those that decide how answers count, have none: the answers are marked.
type Row = record.Labelled

// Rows calls yield with each answer of a session, by Seq, until yield returns an
// error, which it returns.
type Rows func(yield func(Row) error) error

// Counting returns rows without those of annotators who are left out.
func Counting(rows Rows) Rows {
	return func(yield func(Row) error) error {
		return rows(func(r Row) error {
			if r.LeftOut {
				return nil
			}
			return yield(r)
		})
	}
}

// Formats returns the names of the formats, the default first.
func Formats() []string { return []string{"jsonl", "csv"} }

// ContentType returns the media type of a format.
func ContentType(format string) string {
	if format == "csv" {
		return "text/csv; charset=utf-8"
	}
	return "application/jsonl"
}

// CheckFormat returns an error of kind Invalid if the format is not known.
func CheckFormat(format string) error {
	for _, f := range Formats() {
		if f == format {
			return nil
		}
	}
	return idrl.Errorf(idrl.Invalid, "unknown export format %q; use jsonl or csv", format)
}

// Write streams the rows of the session spec to w. A clip whose Phi has another
// length than spec.Features is an Internal error. The result is a function of the
// arguments, to the byte.
func Write(w io.Writer, format string, spec idrl.SessionSpec, rows Rows) error {
	return write(w, format, spec, rows, columns())
}

// WriteWithParticipants is Write with three more columns: who crowd platforms say that the
// annotators are. People can be found by them.
func WriteWithParticipants(w io.Writer, format string, spec idrl.SessionSpec, rows Rows, who map[idrl.AnnotatorID]record.Participant) error {
	of := func(part func(record.Participant) string) func(*idrl.SessionSpec, *Row) any {
		return func(_ *idrl.SessionSpec, r *Row) any { return text(part(who[r.Answer.Annotator])) }
	}
	return write(w, format, spec, rows, append(columns(),
		column{"participant", of(func(p record.Participant) string { return p.ID })},
		column{"study", of(func(p record.Participant) string { return p.Study })},
		column{"submission", of(func(p record.Participant) string { return p.Submission })}))
}

// partSize is how many bytes are written at once: few large parts wake a reader less often than
// many small ones.
const partSize = 32 << 10

func write(w io.Writer, format string, spec idrl.SessionSpec, rows Rows, columns []column) error {
	if err := CheckFormat(format); err != nil {
		return err
	}
	e := newEncoder(&spec, columns)
	rows = e.records(rows)
	out := bufio.NewWriterSize(w, partSize)
	if format == "csv" {
		return e.writeCSV(out, rows)
	}
	var row Row // of which a copy for each call would be garbage
	err := rows(func(r Row) error {
		row = r
		if err := e.check(&row); err != nil {
			return err
		}
		_, err := out.Write(e.line(&row))
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// Lines returns a function that calls yield with a row as Write writes it as jsonl: a line, or one for each comparison that
// an answer to a group implies. A line is valid until yield returns. Errors are those of Write and of yield.
func Lines(spec idrl.SessionSpec) func(r Row, yield func(line []byte) error) error {
	e := newEncoder(&spec, columns())
	return func(r Row, yield func(line []byte) error) error {
		one := func(yield func(Row) error) error { return yield(r) }
		return e.records(one)(func(r Row) error {
			if err := e.check(&r); err != nil {
				return err
			}
			return yield(e.line(&r))
		})
	}
}

// encoder turns rows into records of one session.
type encoder struct {
	spec     *idrl.SessionSpec
	columns  []column
	features []string // length d
	slugs    []string // of features
	buf      []byte   // of the last line
	fields   []string // of the last record
}

func newEncoder(spec *idrl.SessionSpec, columns []column) *encoder {
	if spec.Kind.Group() {
		columns = append(columns, groupColumns()...)
	}
	return &encoder{spec: spec, columns: columns, features: spec.Features, slugs: slugs(spec.Features)}
}

// records returns rows with a row for each record.
func (e *encoder) records(rows Rows) Rows {
	if e.spec.Kind.Group() {
		return Parts(rows)
	}
	return rows
}

func (e *encoder) check(r *Row) error {
	for _, c := range r.Clips {
		if len(c.Phi) != len(e.features) {
			return idrl.Errorf(idrl.Internal, "export row %d: clip %s has %d features, want %d",
				r.Answer.Seq, c.ID, len(c.Phi), len(e.features))
		}
	}
	return nil
}
