package lerobottest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
)

// A Dataset says what is written. The zero value of all but Lengths is filled in.
type Dataset struct {
	Lengths  []int    // frames of each episode
	PerFile  int      // episodes of a file of data, and of a video; default: all
	FPS      int      // default 10
	Cameras  []string // default front and side
	Codec    string   // encoder of ffmpeg: default libx264; libsvtav1 as LeRobot's default
	Legacy   bool     // v2.1 instead of v3.0
	Policies []string // of the episodes, in turn; default steady and shaky
	Like     string   // folder of a data set of the same episodes, whose videos are copied; default: they are made
	Change   func(*Change)
}

// A Change damages parts of a data set before they are written.
type Change struct {
	Info     map[string]any   // meta/info.json
	Episodes []map[string]any // rows of meta/episodes
	Frames   []map[string]any // rows of all data
}

// Width and Height are the pixels of all cameras.
const (
	Width  = 96
	Height = 64
)

func (d *Dataset) defaults() {
	if d.FPS == 0 {
		d.FPS = 10
	}
	if d.PerFile == 0 {
		d.PerFile = len(d.Lengths)
	}
	if d.Cameras == nil {
		d.Cameras = []string{"observation.images.front", "observation.images.side"}
	}
	if d.Codec == "" {
		d.Codec = "libx264"
	}
	if d.Policies == nil {
		d.Policies = []string{"steady", "shaky"}
	}
}

// Tasks are those of the episodes, in turn.
var Tasks = []string{"Draw a line to the left.", "Draw a line to the right."}

// Write writes d into a folder: numbers are a function of the episode and the frame, and pictures tell both (Read).
func (d Dataset) Write(folder string) error {
	d.defaults()
	c := &Change{Info: d.info()}
	for i, n := range d.Lengths {
		c.Episodes = append(c.Episodes, d.episode(i))
		for k := range n {
			c.Frames = append(c.Frames, d.frame(i, k))
		}
	}
	if d.Change != nil {
		d.Change(c)
	}
	videos := d.videos
	if d.Like != "" {
		videos = func(to string) error { return os.CopyFS(to+"/videos", os.DirFS(d.Like+"/videos")) }
	}
	if err := videos(folder); err != nil {
		return err
	}
	if err := d.meta(folder, c); err != nil {
		return err
	}
	return d.data(folder, c)
}

func (d *Dataset) info() map[string]any {
	features := map[string]any{
		"observation.state": map[string]any{"dtype": "float32", "shape": []int{2}, "names": []string{"x", "y"}},
		"action":            map[string]any{"dtype": "float32", "shape": []int{2}, "names": []string{"dx", "dy"}},
		"policy":            map[string]any{"dtype": "string", "shape": []int{1}, "names": nil},
	}
	for _, c := range d.Cameras {
		features[c] = map[string]any{"dtype": "video", "shape": []int{Height, Width, 3}, "names": []string{"height", "width", "channels"}}
	}
	frames := 0
	for _, n := range d.Lengths {
		frames += n
	}
	info := map[string]any{
		"codebase_version": "v3.0", "robot_type": "pen", "fps": d.FPS, "total_episodes": len(d.Lengths), "total_frames": frames, "chunks_size": 1000,
		"data_path":  "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
		"video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
		"features":   features,
	}
	if d.Legacy {
		info["codebase_version"] = "v2.1"
		info["data_path"] = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
		info["video_path"] = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"
	}
	return info
}

// first returns the frame at which episode i begins, among all frames, and in its file.
func (d *Dataset) first(i int) (all, file int) {
	for k, n := range d.Lengths[:i] {
		all += n
		if k >= i/d.PerFile*d.PerFile {
			file += n
		}
	}
	return all, file
}

func (d *Dataset) episode(i int) map[string]any {
	all, in := d.first(i)
	n := d.Lengths[i]
	row := map[string]any{
		"episode_index": int64(i), "length": int64(n), "tasks": []string{Tasks[i%len(Tasks)]},
		"data/chunk_index": int64(0), "data/file_index": int64(i / d.PerFile),
		"dataset_from_index": int64(all), "dataset_to_index": int64(all + n), "seed": int64(i / 4),
	}
	for _, c := range d.Cameras {
		row["videos/"+c+"/chunk_index"] = int64(0)
		row["videos/"+c+"/file_index"] = int64(i / d.PerFile)
		row["videos/"+c+"/from_timestamp"] = float64(in) / float64(d.FPS)
		row["videos/"+c+"/to_timestamp"] = float64(in+n) / float64(d.FPS)
	}
	return row
}

func (d *Dataset) frame(i, k int) map[string]any {
	all, _ := d.first(i)
	at := float64(k) / 7
	return map[string]any{
		"timestamp": float32(k) / float32(d.FPS), "frame_index": int64(k), "episode_index": int64(i), "index": int64(all + k), "task_index": int64(i % len(Tasks)),
		"observation.state": []float32{float32(math.Sin(at + float64(i))), float32(k)},
		"action":            []float32{float32(math.Cos(at + float64(i))), float32(i)},
		"policy":            d.Policies[i%len(d.Policies)],
		"next.success":      k == d.Lengths[i]-1 && i%2 == 0,
		"vision":            []float32{float32(i), float32(k), float32(i * k)},
	}
}

func (d *Dataset) meta(folder string, c *Change) error {
	if err := writeJSON(filepath.Join(folder, "meta/info.json"), c.Info); err != nil {
		return err
	}
	var tasks []map[string]any
	for i, t := range Tasks {
		tasks = append(tasks, map[string]any{"task_index": int64(i), "__index_level_0__": t})
	}
	if !d.Legacy {
		if err := writeTable(filepath.Join(folder, "meta/tasks.parquet"), tasks); err != nil {
			return err
		}
		return writeTable(filepath.Join(folder, "meta/episodes/chunk-000/file-000.parquet"), c.Episodes)
	}
	for _, t := range tasks {
		t["task"] = t["__index_level_0__"]
	}
	if err := writeLines(filepath.Join(folder, "meta/tasks.jsonl"), tasks); err != nil {
		return err
	}
	return writeLines(filepath.Join(folder, "meta/episodes.jsonl"), c.Episodes)
}

// data writes the files of data: of each the frames of so many episodes as PerFile says.
func (d *Dataset) data(folder string, c *Change) error {
	files := map[string][]map[string]any{}
	for _, row := range c.Frames {
		i := int(row["episode_index"].(int64)) //nolint:forcetypeassert // made by frame
		name := fmt.Sprintf("data/chunk-000/file-%03d.parquet", i/d.PerFile)
		if d.Legacy {
			name = fmt.Sprintf("data/chunk-000/episode_%06d.parquet", i)
		}
		files[name] = append(files[name], row)
	}
	for name, rows := range files {
		if err := writeTable(filepath.Join(folder, name), rows); err != nil {
			return err
		}
	}
	return nil
}

// writeTable writes rows as a Parquet file, with the columns of the first, in row groups of 16.
func writeTable(path string, rows []map[string]any) (err error) {
	group := parquet.Group{}
	for name, v := range rows[0] {
		switch v.(type) {
		case []string:
			group[name] = parquet.List(parquet.String())
		case []float32:
			group[name] = parquet.List(parquet.Leaf(parquet.FloatType))
		case string:
			group[name] = parquet.String()
		case int64:
			group[name] = parquet.Leaf(parquet.Int64Type)
		case float32:
			group[name] = parquet.Leaf(parquet.FloatType)
		case float64:
			group[name] = parquet.Leaf(parquet.DoubleType)
		case bool:
			group[name] = parquet.Leaf(parquet.BooleanType)
		default:
			return fmt.Errorf("the column %s has the type %T", name, v)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.Create(path) //nolint:gosec // of a test
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}()
	schema := parquet.NewSchema("schema", group)
	w := parquet.NewWriter(f, schema, parquet.Compression(&parquet.Snappy))
	for i, row := range rows {
		if _, err := w.WriteRows([]parquet.Row{values(schema, row)}); err != nil {
			return err
		}
		if i%16 == 15 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return w.Close()
}

// values returns a row as Parquet has it.
func values(schema *parquet.Schema, row map[string]any) (out parquet.Row) {
	for _, path := range schema.Columns() {
		leaf, _ := schema.Lookup(path...)
		var list []any
		switch v := row[path[0]].(type) {
		case []string:
			for _, x := range v {
				list = append(list, x)
			}
		case []float32:
			for _, x := range v {
				list = append(list, x)
			}
		default:
			list = []any{v}
		}
		if len(list) == 0 {
			out = append(out, parquet.NullValue().Level(0, 0, leaf.ColumnIndex))
		}
		for k, x := range list {
			repeated := 0
			if k > 0 {
				repeated = 1
			}
			out = append(out, parquet.ValueOf(x).Level(repeated, leaf.MaxDefinitionLevel, leaf.ColumnIndex))
		}
	}
	return out
}

func writeJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return write(path, b)
}

func writeLines(path string, rows []map[string]any) error {
	var out []byte
	for _, r := range rows {
		b, err := json.Marshal(r)
		if err != nil {
			return err
		}
		out = append(append(out, b...), '\n')
	}
	return write(path, out)
}

func write(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}
