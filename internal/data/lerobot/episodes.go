package lerobot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"tiebreak/internal/data/foreign"
)

const (
	episodesFolder = "meta/episodes"
	tasksName      = "meta/tasks.parquet"
)

// checkLine returns an error unless a value is a line of at most so many characters, and not empty.
func checkLine(value, what string, most int) error {
	if value == "" || !foreign.IsLine(value, most) {
		return refused("name", "the %s %.80q is empty, longer than %d characters, or cannot be shown in a line: give another one by --episodes-csv", what, value, most)
	}
	return nil
}

// readTasks reads the tasks of v3.0.
func (d *Dataset) readTasks() (err error) {
	t, err := d.openTable(tasksName, maxMeta)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	name := "__index_level_0__" // as pandas calls an index without a name
	if t.has("task") {
		name = "task"
	}
	c, err := t.columns("task_index", name)
	if err != nil {
		return err
	}
	for {
		i, err := c["task_index"].index()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		v, err := c[name].one()
		if err != nil {
			return wrapEOF(tasksName, err)
		}
		d.tasks[i] = text(v)
	}
}

// wrapEOF returns the error of a column that ends before others.
func wrapEOF(name string, err error) error {
	if errors.Is(err, io.EOF) {
		return refused("parquet", "%s is damaged: its columns are not equally long", name)
	}
	return err
}

// readEpisodes reads the episodes of v3.0: meta/episodes/*/*.parquet, in the order of their names.
func (d *Dataset) readEpisodes(ctx context.Context) error {
	if err := d.readTasks(); err != nil {
		return err
	}
	names, err := fs.Glob(d.root.FS(), episodesFolder+"/*/*.parquet")
	if err != nil || len(names) == 0 {
		return refused("missing", "there is no Parquet file in %s/*/", episodesFolder)
	}
	slices.Sort(names)
	known := map[string]int{}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.readEpisodesFile(name, known); err != nil {
			return err
		}
	}
	return nil
}

// episodeColumns are those of all episodes.
var episodeColumns = []string{"episode_index", "length", "tasks", "data/chunk_index", "data/file_index", "dataset_from_index", "dataset_to_index"}

func (d *Dataset) readEpisodesFile(name string, known map[string]int) (err error) {
	t, err := d.openTable(name, maxMeta)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	names := slices.Clone(episodeColumns)
	for _, c := range d.Cameras {
		for _, part := range []string{"chunk_index", "file_index", "from_timestamp", "to_timestamp"} {
			names = append(names, videoColumn(c, part))
		}
	}
	for _, o := range d.options.columns() {
		if t.has(o) && !slices.Contains(names, o) {
			names = append(names, o)
		}
	}
	columns, err := t.columns(names...)
	if err != nil {
		return err
	}
	for range t.NumRows() {
		i := len(d.Episodes)
		if i >= MaxEpisodes {
			return refused("limit", "there are more than %d episodes", MaxEpisodes)
		}
		e, err := d.readEpisode(columns, known)
		if err != nil {
			return fmt.Errorf("%s: %w", name, inEpisode(i, wrapEOF(name, err)))
		}
		d.Episodes = append(d.Episodes, e)
	}
	return nil
}

// columns returns the columns that were named, but for those of features.
func (o Options) columns() []string {
	return slices.DeleteFunc([]string{o.Policy, o.Task, o.Start, o.Success}, func(c string) bool { return c == "" })
}

func videoColumn(c Camera, part string) string { return "videos/" + c.Key + "/" + part }

// readEpisode reads the next row of a file of episodes.
func (d *Dataset) readEpisode(columns map[string]*column, known map[string]int) (e Episode, err error) {
	n := map[string]int{}
	for _, name := range episodeColumns {
		if name == "tasks" {
			if e.Tasks, err = columns[name].texts(); err != nil {
				return e, err
			}
			continue
		}
		if n[name], err = columns[name].index(); err != nil {
			return e, err
		}
	}
	e.Length = n["length"]
	switch {
	case n["episode_index"] != len(d.Episodes):
		return e, refused("order", "the row has the episode_index %d: episodes must be numbered from 0, without gaps", n["episode_index"])
	case n["dataset_to_index"]-n["dataset_from_index"] != e.Length:
		return e, refused("length", "it has the length %d, and its rows are %d to %d", e.Length, n["dataset_from_index"], n["dataset_to_index"])
	}
	e.data, err = path(d.info.DataPath, "", map[string]int{"chunk_index": n["data/chunk_index"], "file_index": n["data/file_index"]})
	if err != nil {
		return e, err
	}
	e.data = d.once(e.data)
	for k, t := range e.Tasks {
		e.Tasks[k] = d.once(t)
	}
	for k, c := range d.Cameras {
		p, err := d.readPlace(columns, k, c, e.Length, known)
		if err != nil {
			return e, err
		}
		e.Places = append(e.Places, p)
	}
	return e, d.readNamed(columns, &e)
}

// readPlace reads where the video of one camera is.
func (d *Dataset) readPlace(columns map[string]*column, k int, c Camera, length int, known map[string]int) (p Place, err error) {
	chunk, err := columns[videoColumn(c, "chunk_index")].index()
	if err != nil {
		return p, err
	}
	file, err := columns[videoColumn(c, "file_index")].index()
	if err != nil {
		return p, err
	}
	from, err := columns[videoColumn(c, "from_timestamp")].number()
	if err != nil {
		return p, err
	}
	to, err := columns[videoColumn(c, "to_timestamp")].number()
	if err != nil {
		return p, err
	}
	first := math.Round(from * d.FPS)
	switch {
	case !(first >= 0 && first <= maxNumber) || math.Abs(from*d.FPS-first) >= 0.25:
		return p, refused("video", "the video of %s begins at %v s, which is no whole number of frames at %v frames a second", c.Name, from, d.FPS)
	case !(math.Abs((to-from)*d.FPS-float64(length)) < 0.5):
		return p, refused("video", "the episode has %d frames, and its video of %s %.3f s: %.1f frames at %v a second", length, c.Name, to-from, (to-from)*d.FPS, d.FPS)
	}
	name, err := path(d.info.VideoPath, c.Key, map[string]int{"chunk_index": chunk, "file_index": file})
	if err != nil {
		return p, err
	}
	p.First = int(first)
	p.Video, err = d.video(name, k, known)
	return p, err
}

// readNamed reads the columns that the researcher named, those that there are.
func (d *Dataset) readNamed(columns map[string]*column, e *Episode) error {
	for name, c := range columns {
		if !slices.Contains(d.options.columns(), name) {
			continue
		}
		values, err := c.texts()
		if err != nil {
			return err
		}
		if err := d.set(e, name, strings.Join(values, "; ")); err != nil {
			return err
		}
	}
	return nil
}

// set sets what a column says of an episode.
func (d *Dataset) set(e *Episode, column, value string) error {
	o := d.options
	for _, f := range []struct {
		column, what string
		dst          *string
		most         int
	}{{o.Policy, "policy", &e.Policy, maxName}, {o.Task, "task", &e.Task, maxTask}, {o.Start, "start", &e.Start, maxName}} {
		if f.column == column {
			if err := d.setOnce(f.dst, value, f.what, column, f.most); err != nil {
				return err
			}
		}
	}
	if o.Success != column {
		return nil
	}
	yes, err := truth(value)
	if err != nil {
		return fmt.Errorf("the column %.80q: %w", column, err)
	}
	if yes = yes || e.Success != nil && *e.Success; e.Success == nil || yes {
		e.Success = &yes
	}
	return nil
}

// truth reads a value that is true or false.
func truth(value string) (bool, error) {
	switch strings.ToLower(value) {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, refused("column", "%.80q is neither true nor false", value)
}

// readLegacy reads the episodes of v2.1: meta/episodes.jsonl and meta/tasks.jsonl; each has files of its own.
func (d *Dataset) readLegacy(ctx context.Context) error {
	type task struct {
		Index int    `json:"task_index"`
		Task  string `json:"task"`
	}
	err := readJSONLines(d, "meta/tasks.jsonl", func(t task) error {
		d.tasks[t.Index] = t.Task
		return nil
	})
	if err != nil {
		return err
	}
	type row struct {
		Index  int      `json:"episode_index"`
		Length int      `json:"length"`
		Tasks  []string `json:"tasks"`
	}
	known := map[string]int{}
	return readJSONLines(d, "meta/episodes.jsonl", func(r row) error {
		i := len(d.Episodes)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case i >= MaxEpisodes:
			return refused("limit", "there are more than %d episodes", MaxEpisodes)
		case r.Index != i:
			return refused("order", "the line has the episode_index %d: episodes must be numbered from 0, without gaps", r.Index)
		}
		e, err := d.legacyEpisode(r.Index, known)
		if err != nil {
			return inEpisode(i, err)
		}
		for k, t := range r.Tasks {
			r.Tasks[k] = d.once(t)
		}
		e.Length, e.Tasks = r.Length, r.Tasks
		d.Episodes = append(d.Episodes, e)
		return nil
	})
}

// legacyEpisode finds the files of an episode of v2.1.
func (d *Dataset) legacyEpisode(i int, known map[string]int) (e Episode, err error) {
	numbers := map[string]int{"episode_index": i, "episode_chunk": i / d.info.Chunk}
	if e.data, err = path(d.info.DataPath, "", numbers); err != nil {
		return e, err
	}
	for k, c := range d.Cameras {
		name, err := path(d.info.VideoPath, c.Key, numbers)
		if err != nil {
			return e, err
		}
		at, err := d.video(name, k, known)
		if err != nil {
			return e, err
		}
		e.Places = append(e.Places, Place{Video: at})
	}
	return e, nil
}
