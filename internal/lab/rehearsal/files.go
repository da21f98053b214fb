package rehearsal

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/idrl"
)

// A row is a line of the file of comparisons.
type row struct {
	Seed    uint64
	Session idrl.SessionID
	Comparison
}

// A column is one of the file of comparisons. field points to what it holds, where NaN is
// an empty field, or is a bool that follows from the others, or nil for an empty field.
type column struct {
	name  string
	field func(r *row) any
}

// columns are those of the file of comparisons (docs/simulate.md, section 5).
var columns = []column{
	{"seed", func(r *row) any { return &r.Seed }},
	{"session", func(r *row) any { return (*string)(&r.Session) }},
	{"answers", func(r *row) any { return &r.Given }},
	{"log_row", func(r *row) any { return &r.Seq }},
	{"trained_after", func(r *row) any { return &r.BasedOn }},
	{"policies", func(r *row) any { return &r.Policies }},
	{"recommended", func(r *row) any { return (*string)(&r.Recommended) }},
	{"true_return", func(r *row) any { return &r.Return }},
	{"best_return", func(r *row) any { return &r.Best }},
	{"best_known_return", func(r *row) any { return &r.BestKnown }},
	{"against", func(r *row) any { return (*string)(&r.Against) }},
	{"true_span", func(r *row) any { return &r.Span }},
	{"true_regret", func(r *row) any { return &r.Regret }},
	{"true_regret_known", func(r *row) any { return &r.RegretKnown }},
	{"tolerance", func(r *row) any { return &r.Shown.Tolerance }},
	{"shown_within", func(r *row) any { return &r.Shown.Within }},
	{"shown_bound", func(r *row) any { return &r.Shown.Bound }},
	{"shown_mean", func(r *row) any { return &r.Shown.Mean }},
	{"shown_unbeaten", func(r *row) any { return &r.Shown.Unbeaten }},
	{"shown_span", func(r *row) any { return &r.Shown.Span }},
	{"within", func(r *row) any {
		if !r.True() {
			return nil
		}
		return r.Small()
	}},
	{"covered", func(r *row) any {
		if !r.Stated() || !r.True() {
			return nil
		}
		return r.Covered()
	}},
	{"cosine", func(r *row) any { return &r.Cosine }},
	{"response_s", func(r *row) any { return &r.ResponseS }},
	{"worth", func(r *row) any {
		if r.True() {
			return nil
		}
		return &r.Worth
	}},
	{"worth_clips", func(r *row) any {
		if r.True() {
			return nil
		}
		return &r.WorthClips
	}},
}

// write returns the fields of r.
func (r row) write() (out []string) {
	for _, c := range columns {
		switch v := c.field(&r).(type) {
		case nil:
			out = append(out, "")
		case *float64:
			out = append(out, number(*v))
		case *int:
			out = append(out, strconv.Itoa(*v))
		case *int64:
			out = append(out, strconv.FormatInt(*v, 10))
		case *uint64:
			out = append(out, strconv.FormatUint(*v, 10))
		case *string:
			out = append(out, *v)
		case bool:
			out = append(out, strconv.FormatBool(v))
		default:
			panic(fmt.Sprintf("rehearsal: column %s holds a %T", c.name, v))
		}
	}
	return out
}

// number writes v, and nothing for NaN.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// readRow returns the row with these fields.
func readRow(fields []string) (r row, err error) {
	for i, c := range columns {
		switch v := c.field(&r).(type) {
		case *float64:
			if *v = math.NaN(); fields[i] != "" {
				*v, err = strconv.ParseFloat(fields[i], 64)
			}
		case *int:
			*v, err = strconv.Atoi(fields[i])
		case *int64:
			*v, err = strconv.ParseInt(fields[i], 10, 64)
		case *uint64:
			*v, err = strconv.ParseUint(fields[i], 10, 64)
		case *string:
			*v = fields[i]
		}
		if err != nil {
			return r, fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	return r, nil
}

// header returns the names of columns.
func header() (out []string) {
	for _, c := range columns {
		out = append(out, c.name)
	}
	return out
}

// runColumns are the columns of the file of runs, before the settings.
func runColumns() []string {
	return []string{"seed", "session", "answers", "comparisons", "seconds", "true_regret", "shown_mean", "shown_bound", "shown_within", "answers_to_tenth"}
}

// files are the two files that runs are kept in. A run is done when it is in the file
// of runs; its comparisons are written before.
type files struct {
	comparisons, list string // paths; empty if nothing is kept
	settings          []Setting
	runs              []Run // that were there
}

// RunsFile returns the path of the file of runs beside the file of comparisons.
func RunsFile(file string) string { return strings.TrimSuffix(file, ".csv") + "-runs.csv" }

// SummaryFile returns the path of the file with the summary.
func SummaryFile(file string) string { return strings.TrimSuffix(file, ".csv") + "-summary.csv" }

// openFiles reads what is kept, and makes the files if need be. Lines that an
// interruption left are removed. It returns an error of kind Conflict if the files
// are of runs with other settings, and of kind Invalid if they are something else.
func openFiles(file string, settings []Setting) (*files, error) {
	f := &files{settings: settings}
	if file == "" {
		return f, nil
	}
	f.comparisons, f.list = file, RunsFile(file)
	_, rows, err := readTable(f.comparisons, header(), func(head []string) bool { return slices.Equal(head, header()) })
	if err != nil {
		return nil, err
	}
	head, list, err := readTable(f.list, f.columns(), func(head []string) bool {
		n := len(runColumns())
		return len(head) >= n && slices.Equal(head[:n], runColumns())
	})
	if err != nil {
		return nil, err
	}
	if err := f.same(head, list); err != nil {
		return nil, err
	}
	return f, f.restore(rows, list)
}

// columns are those of the file of runs.
func (f *files) columns() []string {
	out := runColumns()
	for _, s := range f.settings {
		out = append(out, s.Name)
	}
	return out
}

// restore sets runs, and leaves only their comparisons in the file.
func (f *files) restore(rows, list [][]string) error {
	bySeed := map[string][][]string{}
	for _, r := range rows {
		bySeed[r[0]] = append(bySeed[r[0]], r)
	}
	kept := [][]string{header()}
	for _, l := range list {
		run, err := readRun(l, bySeed[l[0]])
		if err != nil {
			return idrl.Errorf(idrl.Invalid, "%s and %s: run with seed %s: %v", f.comparisons, f.list, l[0], err)
		}
		f.runs = append(f.runs, run)
		kept = append(kept, bySeed[l[0]]...)
	}
	if len(kept) == len(rows)+1 && len(rows) > 0 {
		return nil
	}
	return replace(f.comparisons, encode(kept))
}

// same returns an error unless the lines of the file of runs have the settings of f. A file
// of an earlier version, which lacks some, gets them.
func (f *files) same(head []string, list [][]string) error {
	first := len(runColumns())
	for _, s := range f.settings {
		at := slices.Index(head[first:], s.Name)
		if at < 0 && !s.Later {
			continue // its columns are found wrong below
		}
		for _, line := range list {
			was := s.Before
			if at >= 0 {
				was = line[first+at]
			}
			if was != s.Value {
				return idrl.Errorf(idrl.Conflict, "%s holds runs with %s = %s and not %s; give another file, or remove it", f.list, s.Name, cmp.Or(was, "none"), cmp.Or(s.Value, "none"))
			}
		}
	}
	want := f.columns()
	if slices.Equal(head, want) {
		return nil
	}
	had := slices.DeleteFunc(f.columns(), func(name string) bool { return f.isLater(name) && !slices.Contains(head[first:], name) })
	if !slices.Equal(head, had) {
		return notOurs(f.list, want)
	}
	for k, line := range list {
		list[k] = slices.Clone(line[:first])
		for _, s := range f.settings {
			list[k] = append(list[k], s.Value)
		}
	}
	return replace(f.list, encode(slices.Concat([][]string{want}, list)))
}

// isLater reports whether files of earlier versions lack the column of a setting.
func (f *files) isLater(name string) bool {
	return slices.ContainsFunc(f.settings, func(s Setting) bool { return s.Name == name && s.Later })
}

// readRun returns the run of a line of the file of runs and of its comparisons.
func readRun(line []string, rows [][]string) (r Run, err error) {
	if r.Seed, err = strconv.ParseUint(line[0], 10, 64); err != nil {
		return r, err
	}
	if r.Seconds, err = strconv.ParseFloat(line[4], 64); err != nil {
		return r, err
	}
	if strconv.Itoa(len(rows)) != line[3] || len(rows) == 0 {
		return r, fmt.Errorf("there are %d comparisons and not %s", len(rows), line[3])
	}
	for _, fields := range rows {
		read, err := readRow(fields)
		if err != nil {
			return r, err
		}
		r.Session, r.Rows = read.Session, append(r.Rows, read.Comparison)
	}
	return r, nil
}

// add writes a run.
func (f *files) add(r Run) error {
	if f.comparisons == "" {
		return nil
	}
	var rows [][]string
	for _, c := range r.Rows {
		rows = append(rows, row{r.Seed, r.Session, c}.write())
	}
	if err := extend(f.comparisons, encode(rows)); err != nil {
		return err
	}
	last, tenth := r.Rows[len(r.Rows)-1], ""
	if n, ok := r.answersToTenth(); ok && r.followed() {
		tenth = strconv.Itoa(n)
	}
	line := []string{
		strconv.FormatUint(r.Seed, 10), string(r.Session), strconv.Itoa(last.Given), strconv.Itoa(len(r.Rows)), strconv.FormatFloat(r.Seconds, 'f', 2, 64),
		number(last.Regret), number(last.Shown.Mean), number(last.Shown.Bound), number(last.Shown.Within), tenth,
	}
	for _, s := range f.settings {
		line = append(line, s.Value)
	}
	return extend(f.list, encode([][]string{line}))
}

// encode returns records as CSV.
func encode(records [][]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.WriteAll(records) // a buffer takes everything
	return b.Bytes()
}

// extend appends to a file, with one write.
func extend(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// replace writes a file anew, so that it is never half of what it was.
func replace(path string, b []byte) error {
	next := path + ".new"
	if err := os.WriteFile(next, b, 0o644); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// readTable returns the header of a file, which must be ours, and the lines after it. It makes
// the file, with the header want, if there is none. A last line without an end was cut off by
// an interruption and is removed.
func readTable(path string, want []string, ours func(head []string) bool) (head []string, lines [][]string, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return want, nil, replace(path, encode([][]string{want}))
	}
	if err != nil {
		return nil, nil, err
	}
	if whole := b[:bytes.LastIndexByte(b, '\n')+1]; len(whole) < len(b) {
		if err := replace(path, whole); err != nil {
			return nil, nil, err
		}
		b = whole
	}
	records, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil || len(records) == 0 || !ours(records[0]) {
		return nil, nil, notOurs(path, want)
	}
	return records[0], records[1:], nil
}

func notOurs(path string, columns []string) error {
	return idrl.Errorf(idrl.Invalid, "%s is not a file of this version's runs: its columns must be %s; give another file", path, strings.Join(columns, ", "))
}
