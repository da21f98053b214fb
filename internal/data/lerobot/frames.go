package lerobot

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"

	"tiebreak/internal/data/foreign"
)

// Frames are the numbers of one episode: a row for each frame. What the data set does not have is nil.
type Frames struct {
	States   [][]float64 // observation.state, else observation.environment_state
	Actions  [][]float64
	Features [][]float64 // of the column Options.Features
}

// frameColumns are those of data that all frames have.
var frameColumns = []string{"timestamp", "frame_index", "episode_index", "index", "task_index"}

// Read calls each with the numbers of every episode, in order, and fills in what columns of data say of episodes. The
// numbers are not used again. It returns errors of each as they are.
func (d *Dataset) Read(ctx context.Context, each func(i int, f *Frames) error) (err error) {
	r := &reader{d: d}
	defer func() { err = errors.Join(err, r.close()) }()
	for i := range d.Episodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := r.episode(i)
		if err != nil {
			return inEpisode(i, err)
		}
		if err := each(i, f); err != nil {
			return err
		}
	}
	return r.atEnd()
}

// A reader reads the files of data one after another.
type reader struct {
	d       *Dataset
	table   *table
	columns map[string]*column
	left    int64 // rows
	state   string
	named   []string // columns of options that the table has
}

func (r *reader) close() error {
	if r.table == nil {
		return nil
	}
	err := r.table.close()
	r.table = nil
	return err
}

// atEnd returns an error if the present table has rows that are of no episode.
func (r *reader) atEnd() error {
	if r.table != nil && r.left > 0 {
		return refused("length", "%s has %d rows more than its episodes have frames", r.table.name, r.left)
	}
	return nil
}

// open makes the file of an episode the present one.
func (r *reader) open(name string) (err error) {
	if r.table != nil && r.table.name == name {
		return nil
	}
	if err := errors.Join(r.atEnd(), r.close()); err != nil {
		return err
	}
	if r.table, err = r.d.openTable(name, maxData); err != nil {
		return err
	}
	r.left = r.table.NumRows()
	names := slices.Clone(frameColumns)
	r.state, r.named = "", nil
	for _, s := range []string{"observation.state", "observation.environment_state"} {
		if r.state == "" && r.table.has(s) {
			r.state = s
			names = append(names, s)
		}
	}
	if r.table.has("action") {
		names = append(names, "action")
	}
	if f := r.d.options.Features; f != "" {
		names = append(names, f)
	}
	for _, o := range r.d.options.columns() {
		if r.table.has(o) {
			r.named = append(r.named, o)
			names = append(names, o)
		}
	}
	slices.Sort(names)
	r.columns, err = r.table.columns(slices.Compact(names)...)
	return err
}

// episode reads the rows of an episode.
func (r *reader) episode(i int) (*Frames, error) {
	e := &r.d.Episodes[i]
	if e.Length > foreign.MaxSteps+1 {
		return nil, refused("limit", "it has %d frames; at most %d are taken in", e.Length, foreign.MaxSteps+1)
	}
	if err := r.open(e.data); err != nil {
		return nil, err
	}
	if r.left -= int64(e.Length); r.left < 0 {
		return nil, refused("length", "%s has %d rows less than its episodes have frames", r.table.name, -r.left)
	}
	f := &Frames{}
	for k := range e.Length {
		if err := r.frame(i, k, f); err != nil {
			return nil, fmt.Errorf("frame %d: %w", k, wrapEOF(r.table.name, err))
		}
	}
	return f, r.complete(e)
}

// frame reads frame k of episode i.
func (r *reader) frame(i, k int, f *Frames) error {
	e, row := &r.d.Episodes[i], map[string]float64{}
	values := map[string][]float64{}
	for name, c := range r.columns {
		v, err := c.next()
		if err != nil {
			return err
		}
		if slices.Contains(r.named, name) && len(v) > 0 {
			if err := r.d.set(e, name, text(v[0])); err != nil {
				return err
			}
		}
		if r.numeric(name) {
			if values[name], err = c.numbers(v); err != nil {
				return err
			}
		}
		if len(values[name]) > 0 {
			row[name] = values[name][0]
		}
	}
	if err := r.check(i, k, row); err != nil {
		return err
	}
	for name, dst := range map[string]*[][]float64{r.state: &f.States, "action": &f.Actions, r.d.options.Features: &f.Features} {
		if v := values[name]; name != "" && v != nil {
			*dst = append(*dst, v)
		}
	}
	return nil
}

// numeric reports whether the numbers of a column are used.
func (r *reader) numeric(name string) bool {
	return slices.Contains(frameColumns, name) || name == r.state || name == "action" || name == r.d.options.Features
}

// numbers returns a row of c as numbers.
func (c *column) numbers(row []parquet.Value) ([]float64, error) {
	out := make([]float64, len(row))
	for k, v := range row {
		x, ok := number(v)
		if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, refused("column", "%s: the column %.80q has a value that is no finite number", c.table.name, c.name)
		}
		out[k] = x
	}
	return out, nil
}

// check checks that a row is that of a frame.
func (r *reader) check(i, k int, row map[string]float64) error {
	e := r.d.Episodes[i]
	for name, want := range map[string]int{"episode_index": i, "frame_index": k, "index": e.First + k} {
		if row[name] != float64(want) {
			return refused("order", "%s: %s is %v instead of %d: the rows are not those that meta names", r.table.name, name, row[name], want)
		}
	}
	if at := row["timestamp"] * r.d.FPS; math.Abs(at-float64(k)) >= 0.25 {
		return refused("rate", "%s: its timestamp is %.4f s, and at %v frames a second it would be %.4f s: the frame rate varies", r.table.name, row["timestamp"], r.d.FPS, float64(k)/r.d.FPS)
	}
	if task, ok := r.d.tasks[int(row["task_index"])]; !ok || !slices.Contains(e.Tasks, task) {
		return refused("task", "%s: its task_index is %v, which is none of the tasks that meta names for this episode", r.table.name, row["task_index"])
	}
	return nil
}

// complete returns an error if what the researcher named was found in no file.
func (r *reader) complete(e *Episode) error {
	for _, c := range []struct{ column, value, flag string }{{r.d.options.Policy, e.Policy, "policy"}, {r.d.options.Task, e.Task, "task"}, {r.d.options.Start, e.Start, "start"}} {
		if c.column != "" && c.value == "" {
			return refused("column", "neither the episodes nor the data have the column %.80q (--%s-column); %s has the columns %.1000s", c.column, c.flag, r.table.name, r.table.names())
		}
	}
	if c := r.d.options.Success; c != "" && e.Success == nil {
		return refused("column", "neither the episodes nor the data have the column %.80q (--success-column); %s has the columns %.1000s", c, r.table.name, r.table.names())
	}
	return nil
}
