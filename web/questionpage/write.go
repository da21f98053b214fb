package questionpage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/film"
	"tiebreak/internal/look/questions"
	"tiebreak/static"
)

// Files of a report.
const (
	PageFile   = "index.html"
	chartStyle = "charts.css"
	stripsDir  = "strips"
)

// A strip has stripFrames frames, which fit in a box of stripWidth×stripHeight pixels; of cameras side by side, fewer and wider ones.
const (
	stripFrames             = 6
	stripWidth, stripHeight = 104, 104

	filmedFrames, filmedWidth = 3, 212
)

// A Report is the content of a report about the questions of a session.
type Report struct {
	Spec      idrl.SessionSpec
	Questions []questions.Question
	Media     questions.Media

	// Overwrite allows writing into a folder with a report.
	Overwrite bool

	Progress func(done, total int) // receives the number of drawn strips; may be nil
}

// CheckFolder returns an error of kind Conflict if dir is not a folder, or is not empty.
func CheckFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	return idrl.Errorf(idrl.Conflict, "%s exists and is not an empty folder, and existing files are not overwritten: name a new folder, or give --force", dir)
}

// Write writes the page with its strips into a folder. The same report gives the same bytes. It
// returns an error of kind Conflict if the folder is not empty, unless Overwrite is set.
func (r Report) Write(ctx context.Context, dir string) error {
	if !r.Overwrite {
		if err := CheckFolder(dir); err != nil {
			return err
		}
	}
	for _, name := range []string{stripsDir, "css"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return idrl.Errorf(idrl.Invalid, "the folder %s cannot be written (%v): name another", dir, err)
		}
	}
	sizes, err := r.strips(ctx, dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := writePage(ctx, &b, r.Spec, r.Questions, func(id idrl.ClipID) [2]int { return sizes[id] }); err != nil {
		return err
	}
	for _, name := range []string{"icon.svg", "css/app.css", "css/desk.css", "css/" + chartStyle} {
		content, err := static.FS.ReadFile(name)
		if err != nil {
			return err
		}
		if err := writeFile(dir, name, content); err != nil {
			return err
		}
	}
	return writeFile(dir, PageFile, b.Bytes())
}

// strips draws the strip of every clip, and returns their sizes.
func (r Report) strips(ctx context.Context, dir string) (map[idrl.ClipID][2]int, error) {
	var ids []idrl.ClipID
	sizes := map[idrl.ClipID][2]int{}
	for _, q := range r.Questions {
		for _, c := range q.Shown {
			if _, there := sizes[c.ID]; !there {
				ids, sizes[c.ID] = append(ids, c.ID), [2]int{}
			}
		}
	}
	for i, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		size, err := r.strip(ctx, dir, id)
		if err != nil {
			return nil, fmt.Errorf("strip of clip %s: %w", id, err)
		}
		sizes[id] = size
		if r.Progress != nil {
			r.Progress(i+1, len(ids))
		}
	}
	return sizes, nil
}

func (r Report) strip(ctx context.Context, dir string, id idrl.ClipID) (size [2]int, err error) {
	media, err := r.Media(ctx, id)
	if err != nil {
		return size, err
	}
	c, err := clip.Decode(media)
	if err != nil {
		return size, err
	}
	frames, width := stripFrames, stripWidth
	if len(c.Videos) > 0 && c.Header.W > 1.5*c.Header.H {
		frames, width = filmedFrames, filmedWidth
	}
	img := film.Strip(c, frames, width, stripHeight)
	var b bytes.Buffer
	if err := film.WriteStrip(&b, img); err != nil {
		return size, err
	}
	return [2]int{img.Bounds().Dx(), img.Bounds().Dy()}, writeFile(dir, stripPath(id), b.Bytes())
}

// writeFile writes a file of the report, by its name with slashes.
func writeFile(dir, name string, content []byte) error {
	return os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), content, 0o644)
}

// plainName matches the names of clips that this program makes.
var plainName = regexp.MustCompile(`^[0-9a-f]{1,64}$`)

// stripPath returns the path of the strip of a clip within a report.
func stripPath(id idrl.ClipID) string {
	name := string(id)
	if !plainName.MatchString(name) {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:16])
	}
	return stripsDir + "/" + name + ".png"
}
