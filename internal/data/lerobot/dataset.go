package lerobot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/idrl"
)

// Options say what a researcher wants of a data set. Columns are of the Parquet files of episodes (in v3.0) or of data;
// one of data must be constant within each episode, but for Success.
type Options struct {
	Cameras  []string // by key or name, the most important first; empty: all
	Policy   string   // column of the policy that acted; empty: none is named
	Task     string   // column of the task; empty: what the data set says
	Start    string   // column: episodes of one task with equal values began alike
	Success  string   // column: whether the policy did its task; of data: in any frame
	Features string   // column of data: at most 64 numbers of each frame, for the reward
	CSV      string   // file with any of these columns for each episode: policy, task, start, success; empty: none
	Beside   string   // folder that CSV is a path within, which no link leaves; empty: CSV is from the user of a command
}

// An Episode is one of a data set.
type Episode struct {
	Length  int      // frames, at least 2
	Tasks   []string // that the data set names
	Policy  string   // empty: not named
	Task    string
	Start   string
	Success *bool // nil: not known

	First  int     // its first row in all data
	Places []Place // of each camera

	data string // file
}

// A Place is where the video of an episode begins.
type Place struct {
	Video int // index in Dataset.Videos
	First int // frame, from 0
}

// A Video is a file.
type Video struct {
	Name     string // path within the folder
	Camera   int    // index in Dataset.Cameras
	Bytes    int64
	Modified time.Time
}

// A Dataset is a folder that was opened.
type Dataset struct {
	Version  string // of the layout
	Robot    string // may be empty
	FPS      float64
	Frames   int // of all episodes
	Cameras  []Camera
	Episodes []Episode
	Videos   []Video

	folder  Folder
	root    *os.Root
	info    *info
	options Options
	reading func(file string)
	tasks   map[int]string
	files   map[string]stamp  // those that were read, but for videos
	texts   map[string]string // of episodes, each once
}

// A stamp tells whether a file has changed.
type stamp struct {
	bytes    int64
	modified time.Time
}

// Open reads what a data set says of its episodes, and finds their files. The caller closes it. Errors of what is read
// are of kind Invalid, with a code (docs/lerobot.md). reading, unless it is nil, is called with the name of each Parquet file before it is read, also later.
func Open(ctx context.Context, folder Folder, options Options, reading func(file string)) (d *Dataset, err error) {
	d = &Dataset{options: options, reading: reading, files: map[string]stamp{}, tasks: map[int]string{}, texts: map[string]string{}}
	root, err := folder.Open()
	if err != nil {
		return nil, err
	}
	d.folder = folder
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Close())
		}
	}()
	d.root = root
	b, err := d.readFile(InfoName, maxInfo)
	if err != nil {
		return nil, err
	}
	if d.info, err = readInfo(b); err != nil {
		return nil, err
	}
	d.Version, d.Robot, d.FPS = d.info.Version, d.info.Robot, d.info.FPS
	if d.Cameras, err = d.info.cameras(options.Cameras); err != nil {
		return nil, err
	}
	d.Episodes = make([]Episode, 0, d.info.Episodes)
	read := d.readEpisodes
	if d.Version == v21 {
		read = d.readLegacy
	}
	if err := read(ctx); err != nil {
		return nil, err
	}
	if err := d.agree(); err != nil {
		return nil, err
	}
	return d, nil
}

// agree checks the episodes, and fills in what the researcher's file says of them.
func (d *Dataset) agree() error {
	for i := range d.Episodes {
		e := &d.Episodes[i]
		if e.Length < 2 {
			return refused("length", "episode %d has %d frames; a clip needs two or more: remove it from the data set (lerobot-edit-dataset --operation.type delete_episodes)", i, e.Length)
		}
		e.First = d.Frames
		d.Frames += e.Length
		if d.options.Task == "" {
			e.Task = d.once(strings.Join(e.Tasks, "; "))
		}
	}
	switch {
	case len(d.Episodes) != d.info.Episodes:
		return refused("length", "%s names %d episodes, and meta/episodes has %d", InfoName, d.info.Episodes, len(d.Episodes))
	case d.Frames != d.info.Frames:
		return refused("length", "%s names %d frames, and the episodes have %d", InfoName, d.info.Frames, d.Frames)
	}
	if d.options.CSV != "" {
		if err := d.readCSV(); err != nil {
			return err
		}
	}
	if err := d.apart(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, e := range d.Episodes {
		if e.Task != "" {
			if err := checkLine(e.Task, "task", maxTask); err != nil {
				return inEpisode(i, err)
			}
		}
		if !seen[e.data] {
			seen[e.data] = true
			if _, err := d.watch(e.data); err != nil {
				return err
			}
		}
	}
	return nil
}

// apart returns an error if two episodes are in the same frames of a video.
func (d *Dataset) apart() error {
	type part struct{ episode, video, first, end int }
	all := make([]part, 0, len(d.Episodes)*len(d.Cameras))
	for i, e := range d.Episodes {
		for _, p := range e.Places {
			all = append(all, part{i, p.Video, p.First, p.First + e.Length})
		}
	}
	slices.SortFunc(all, func(a, b part) int { return cmp.Or(cmp.Compare(a.video, b.video), cmp.Compare(a.first, b.first)) })
	for k := 1; k < len(all); k++ {
		if a, b := all[k-1], all[k]; a.video == b.video && b.first < a.end {
			return refused("video", "episode %d and episode %d are in the same pictures of %.200s, from %d to %d and from %d to %d", a.episode, b.episode, d.Videos[a.video].Name, a.first, a.end, b.first, b.end)
		}
	}
	return nil
}

// Folder returns the folder.
func (d *Dataset) Folder() Folder { return d.folder }

// Close closes d.
func (d *Dataset) Close() error { return d.root.Close() }

// stat tells how large a plain file is, and when it changed.
func (d *Dataset) stat(name string) (s stamp, err error) {
	info, err := d.root.Stat(filepath.FromSlash(name))
	switch {
	case err != nil && leaves(err):
		return s, errLeaves(name)
	case err != nil:
		return s, refused("missing", "%.200s cannot be read: %v", name, err)
	case !info.Mode().IsRegular():
		return s, refused("missing", "%.200s is not a plain file", name)
	}
	return stamp{info.Size(), info.ModTime()}, nil
}

// watch notes how large a plain file is, and when it changed: it must not, from now on.
func (d *Dataset) watch(name string) (bytes int64, err error) {
	now, err := d.stat(name)
	if err != nil {
		return 0, err
	}
	if was, ok := d.files[name]; ok && !now.same(was) {
		return 0, changed(name)
	}
	d.files[name] = now
	return now.bytes, nil
}

func (s stamp) same(t stamp) bool { return s.bytes == t.bytes && s.modified.Equal(t.modified) }

func changed(name string) error {
	return refused("changed", "%.200s has changed while it was read: import the data set when nothing writes to it", name)
}

// Unchanged returns an error if a file that was read is another one now.
func (d *Dataset) Unchanged() error {
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if _, err := d.watch(name); err != nil {
			return err
		}
	}
	for _, v := range d.Videos {
		now, err := d.stat(v.Name)
		if err == nil && !now.same(stamp{v.Bytes, v.Modified}) {
			err = changed(v.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Fingerprint returns a hash of which files there are, how large they are, when they changed, and of the options.
func (d *Dataset) Fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %+v\n", d.folder.Path, d.options)
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		f := d.files[name]
		fmt.Fprintf(h, "%q %d %d\n", name, f.bytes, f.modified.UnixNano())
	}
	for _, v := range d.Videos {
		fmt.Fprintf(h, "%q %d %d\n", v.Name, v.Bytes, v.Modified.UnixNano())
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// readFile reads a plain file of at most so many bytes.
func (d *Dataset) readFile(name string, most int64) ([]byte, error) {
	if _, err := d.watch(name); err != nil {
		return nil, err
	}
	return refusal.ReadFile(d.root, name, most)
}

// SeenBy returns the cameras whose pictures a column of numbers is made of, where the data set says so.
func (d *Dataset) SeenBy(column string) []string { return d.info.Features[column].cameras() }

// FeatureNames returns what the n numbers of a column are called, if the data set says so of all of them; else nil.
func (d *Dataset) FeatureNames(column string, n int) []string {
	return d.info.Features[column].names(n)
}

// Numbers returns about how many numbers of a frame are kept, by meta/info.json: those of the action, and twice those of the
// state, which features may be made of.
func (d *Dataset) Numbers() int {
	size := func(name string) int {
		n := 0
		for _, s := range d.info.Features[name].Shape {
			n = max(1, n) * min(max(s, 1), 1<<16)
		}
		return min(n, 1<<16)
	}
	return size("action") + 2*size("observation.state")
}

// VideoBytes returns the bytes of all videos.
func (d *Dataset) VideoBytes() (n int64) {
	for _, v := range d.Videos {
		n += v.Bytes
	}
	return n
}

// video returns the index of a video in d, which it adds if it is new.
func (d *Dataset) video(name string, camera int, known map[string]int) (int, error) {
	if i, ok := known[name]; ok {
		return i, nil
	}
	now, err := d.stat(name)
	if err != nil {
		return 0, err
	}
	if now.bytes > maxVideo {
		return 0, refused("limit", "%.200s has more than %d bytes", name, int64(maxVideo))
	}
	known[name] = len(d.Videos)
	d.Videos = append(d.Videos, Video{Name: name, Camera: camera, Bytes: now.bytes, Modified: now.modified})
	return known[name], nil
}

// once returns a text that equal texts share. It is not part of a longer one.
func (d *Dataset) once(text string) string {
	if same, ok := d.texts[text]; ok {
		return same
	}
	text = strings.Clone(text)
	d.texts[text] = text
	return text
}

// inEpisode names the episode in an error, and keeps its kind.
func inEpisode(i int, err error) error {
	if idrl.KindOf(err) == idrl.Invalid {
		return fmt.Errorf("episode %d: %w", i, err)
	}
	return err
}

// readJSONLines calls each with every line of a file.
func readJSONLines[T any](d *Dataset, name string, each func(T) error) error {
	b, err := d.readFile(name, maxLines)
	if err != nil {
		return err
	}
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		var v T
		err := json.Unmarshal([]byte(line), &v)
		if err != nil {
			err = refused("info", "%v", err)
		} else {
			err = each(v)
		}
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", name, i+1, err)
		}
	}
	return nil
}

// setOnce sets a value of an episode that was not set, or says otherwise than before.
func (d *Dataset) setOnce(dst *string, value, what, column string, most int) error {
	if err := checkLine(value, what, most); err != nil {
		return err
	}
	if *dst != "" && *dst != value {
		return refused("column", "the column %.80q, of the %s, has %.80q and %.80q: it must be the same in all frames of an episode", column, what, *dst, value)
	}
	*dst = d.once(value)
	return nil
}
