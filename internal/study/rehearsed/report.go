package rehearsed

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A Report says what is expected of a study, by rehearsals of it: the same on pages and on the command line.
type Report struct {
	Title string     // "Expected of the study …, by 5 rehearsals (…)"
	Lines []Line     // what is expected of one study
	Data  []Line     // what the data of one rehearsal are
	Head  []string   // columns of Rows
	Rows  [][]string // the first rows of its export, some of the columns
	Notes []string   // sentences: what was simulated, and what could not be
}

// A Line is a name with its value, and what else is to be said of it.
type Line struct{ Name, Value, Note string }

// Write writes the report for people, in plain text.
func (r Report) Write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\n%s:\n", r.Title)
	for _, l := range r.Lines {
		fmt.Fprintf(w, "  %s\t%s\n", l.Name, l.text())
	}
	if len(r.Data) > 0 {
		fmt.Fprint(w, "\nWhat the data will look like (the first rehearsal):\n")
		for _, l := range r.Data {
			fmt.Fprintf(w, "  %s\t%s\n", l.Name, l.text())
		}
	}
	if len(r.Rows) > 0 {
		fmt.Fprintf(w, "\nThe first rows of its export, some of the columns:\n  %s\n", strings.Join(r.Head, "\t"))
		for _, row := range r.Rows {
			fmt.Fprintf(w, "  %s\n", strings.Join(row, "\t"))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, n := range r.Notes {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, n)
	}
	return nil
}

// text is the value with the note.
func (l Line) text() string {
	if l.Note == "" {
		return l.Value
	}
	return l.Value + "; " + l.Note
}
