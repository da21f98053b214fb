package recordings

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/data/video"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// filmedVersion is that of an index with filmed.
const filmedVersion = 2

// filmed says which videos show rollouts. They are read where they are.
type filmed struct {
	Folder  string        `json:"folder"`           // absolute, or with slashes and relative to the data folder
	Within  string        `json:"within,omitempty"` // lerobot.Folder.Within, in the same form
	FPS     float64       `json:"fps"`
	Cameras []filmCamera  `json:"cameras"`
	Videos  []filmedVideo `json:"videos"`
}

// A filmCamera is a camera that filmed all rollouts.
type filmCamera struct {
	Name   string `json:"name"`
	Width  int    `json:"width"` // pixels
	Height int    `json:"height"`
}

// A filmedVideo is a file of one camera. It must not change.
type filmedVideo struct {
	Name     string    `json:"name"` // path within the folder
	Camera   int       `json:"camera"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
	Codec    string    `json:"codec"`
	Frames   int       `json:"frames"`
}

// A place is the frame of a video at which a rollout begins.
type place struct {
	Video int `json:"video"`
	First int `json:"first"`
}

// dataFolder returns the data folder of a folder of sets, absolute and without links.
func dataFolder(into string) (string, error) {
	data, err := filepath.Abs(filepath.Dir(into))
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(data)
}

// kept returns a path as the index of a set in the folder into has it: one below the data folder is relative to that, so that data folders can
// be moved and restored.
func kept(into, path string) string {
	data, err := dataFolder(into)
	if err != nil || path == "" {
		return path
	}
	if rel, err := filepath.Rel(data, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// videos returns where the videos of s are now.
func (s *Set) videos() (f lerobot.Folder, err error) {
	data, err := dataFolder(filepath.Dir(s.dir))
	at := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(data, filepath.FromSlash(path))
	}
	return lerobot.Folder{Path: at(s.x.Filmed.Folder), Within: at(s.x.Filmed.Within)}, err
}

// Missing returns an error of kind Damaged, which says what to do, if a video that shows rollouts of s is not there, or is another file than at the import.
func (s *Set) Missing() error {
	if s.x.Filmed == nil {
		return nil
	}
	root, at, err := s.openVideos()
	if err != nil {
		return err
	}
	defer root.Close()
	for _, v := range s.x.Filmed.Videos {
		file, err := v.find(root, at)
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	return nil
}

// openVideos opens the folder of the videos, whose path it also returns. The caller closes it.
func (s *Set) openVideos() (root *os.Root, at string, err error) {
	folder, err := s.videos()
	if err == nil {
		root, err = folder.Open()
	}
	if err != nil {
		return nil, "", away(folder.Path, err)
	}
	return root, folder.Path, nil
}

// away returns an error about videos that are not in the folder at.
func away(at string, err error) error {
	return idrl.Errorf(idrl.Damaged, "the videos are not where they were at the import: put them back in %s, as a copy that keeps times (cp -a), or import the dataset under another name (%v)", at, err)
}

// check returns an error unless e is within the videos of f, which may be nil.
func (f *filmed) check(e entry) error {
	if f == nil {
		return nil
	}
	if len(e.Places) != len(f.Cameras) || len(e.Places) == 0 {
		return fmt.Errorf("%s is damaged", indexName)
	}
	for _, p := range e.Places {
		if p.Video < 0 || p.Video >= len(f.Videos) || p.First < 0 || p.First+e.Steps >= f.Videos[p.Video].Frames {
			return fmt.Errorf("%s is damaged", indexName)
		}
	}
	return nil
}

// taped is an Env of what cameras filmed.
type taped struct{ *Env }

var _ clip.Taped = (*taped)(nil)

// Tape implements clip.Taped: there is a frame for each state.
func (t *taped) Tape(snapshot []float64, steps int) (tape *clip.Tape, perStep int, err error) {
	i, from := int(snapshot[0]), int(snapshot[1])
	tape, err = t.set.tape(i, from, steps)
	if err != nil {
		e := t.set.x.Rollouts[i]
		return nil, 1, fmt.Errorf("%s of %s, from step %d on: %w", e.Name, t.set.x.Name, from, err)
	}
	return tape, 1, nil
}

// Narrate implements drawing.Narrator: what the policy was to do, and which seconds of an episode a clip shows that is not all of it.
func (t *taped) Narrate(first, last []float64) string {
	task, e, sec := t.Env.Narrate(first, last), t.set.x.Rollouts[int(first[0])], t.spec.StepSeconds
	if last == nil || first[1] == 0 && int(last[1]) == e.Steps {
		return task
	}
	if task != "" && !strings.ContainsAny(task[len(task)-1:], ".!?") {
		task += "."
	}
	return strings.TrimSpace(fmt.Sprintf("%s Seconds %.1f to %.1f of %.1f.", task, first[1]*sec, last[1]*sec, float64(e.Steps)*sec))
}

// cutFolder is the folder within that of a set which holds what was cut from videos. It may be removed, and backups leave it out.
const cutFolder = ".cut"

// cutV1 is what is kept of a cut. The type must not change.
type cutV1 struct {
	MP4, WebM []byte
	Stills    [][]byte // JPEG
}

// stills is about how many pictures of a cut there are.
const stills = 10

// tape returns what the cameras filmed of rollout i, from a step on.
func (s *Set) tape(i, from, steps int) (*clip.Tape, error) {
	e, f := s.x.Rollouts[i], s.x.Filmed
	if steps < 1 || from < 0 || from+steps > e.Steps {
		return nil, fmt.Errorf("there are no steps %d to %d", from, from+steps)
	}
	c := video.Cut{Frames: steps + 1, FPS: f.FPS, Stills: video.Spread(steps+1, stills)}
	root, at, err := s.openVideos()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	sum := sha256.New()
	fmt.Fprintf(sum, "cut 1 %d %v\n", c.Frames, c.FPS)
	for k, p := range e.Places {
		v, camera := f.Videos[p.Video], f.Cameras[k]
		file, err := v.find(root, at)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		c.From = append(c.From, video.Source{File: file, First: p.First + from, Size: image.Pt(camera.Width, camera.Height)})
		fmt.Fprintf(sum, "%q %d %d %d\n", v.Name, v.Bytes, v.Modified.UnixNano(), p.First+from)
	}
	kept, err := s.cut(hex.EncodeToString(sum.Sum(nil)), c)
	if err != nil {
		return nil, err
	}
	return f.assemble(c, kept)
}

// find opens a video, which must be as it was, in the folder at. The caller closes it.
func (v filmedVideo) find(root *os.Root, at string) (*os.File, error) {
	file, err := lerobot.OpenFile(root, v.Name)
	if err != nil {
		return nil, away(at, err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(away(at, err), file.Close())
	}
	if info.Size() != v.Bytes || !info.ModTime().Equal(v.Modified) {
		return nil, errors.Join(idrl.Errorf(idrl.Damaged, "the dataset has changed since the import: %s in %s had %d bytes of %s, and has %d of %s; put it back, as a copy that keeps times (cp -a), or import the dataset under another name",
			v.Name, at, v.Bytes, v.Modified.UTC().Format(time.DateTime), info.Size(), info.ModTime().UTC().Format(time.DateTime)), file.Close())
	}
	return file, nil
}

// cut returns the cut of a name, which is made if it is not there.
func (s *Set) cut(name string, c video.Cut) (kept cutV1, err error) {
	folder := filepath.Join(s.dir, cutFolder)
	file := filepath.Join(folder, name)
	if kept, err := readCut(file); err == nil {
		return kept, nil
	}
	if err := errors.Join(os.MkdirAll(folder, 0o700), removeKilled(folder)); err != nil {
		return kept, err
	}
	dir, err := os.MkdirTemp(folder, madeNow)
	if err != nil {
		return kept, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := c.Write(context.Background(), dir); err != nil {
		return kept, idrl.Errorf(idrl.Damaged, "%v", err)
	}
	for name, dst := range map[string]*[]byte{video.MP4Name: &kept.MP4, video.WebMName: &kept.WebM} {
		if *dst, err = os.ReadFile(filepath.Join(dir, name)); err != nil { //nolint:gosec // just written
			return kept, err
		}
	}
	for k := range c.Stills {
		b, err := os.ReadFile(filepath.Join(dir, video.StillName(k))) //nolint:gosec // just written
		if err != nil {
			return kept, err
		}
		kept.Stills = append(kept.Stills, b)
	}
	return kept, writeCut(dir, file, &kept)
}

// writeCut writes a cut to a file, by way of one in a folder: the SHA-256 of the rest, and that.
func writeCut(dir, file string, kept *cutV1) error {
	b, err := pack.Encode(kept)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	made := filepath.Join(dir, "kept")
	if err := os.WriteFile(made, append(sum[:], b...), 0o600); err != nil {
		return err
	}
	return os.Rename(made, file)
}

func readCut(file string) (kept cutV1, err error) {
	b, err := os.ReadFile(file) //nolint:gosec // within the data folder
	if err != nil {
		return kept, err
	}
	if len(b) < sha256.Size {
		return kept, errors.New("it is damaged")
	}
	if sum := sha256.Sum256(b[sha256.Size:]); !bytes.Equal(sum[:], b[:sha256.Size]) {
		return kept, errors.New("it is damaged")
	}
	return pack.Decode[cutV1](b[sha256.Size:])
}

// assemble returns the tape of a cut.
func (f *filmed) assemble(c video.Cut, kept cutV1) (*clip.Tape, error) {
	size, at := c.Layout()
	t := &clip.Tape{W: size.X, H: size.Y, At: c.Stills}
	for k, r := range at {
		t.Cameras = append(t.Cameras, clip.Camera{Name: f.Cameras[k].Name, X: r.Min.X, Y: r.Min.Y, W: r.Dx(), H: r.Dy()})
	}
	table, err := video.ReadTable(bytes.NewReader(kept.MP4), int64(len(kept.MP4)))
	if err != nil {
		return nil, err
	}
	t.Videos = []clip.Video{
		{Type: fmt.Sprintf(`video/mp4; codecs="%s"`, table.Codec), File: kept.MP4},
		{Type: `video/webm; codecs="vp9"`, File: kept.WebM},
	}
	for _, b := range kept.Stills {
		p, err := jpeg.Decode(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		t.Stills = append(t.Stills, p)
	}
	return t, nil
}
