package recordings

import (
	"archive/zip"
	"errors"
	"image"
	"io"
	"io/fs"
	"slices"
	"strings"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/data/numpy"
	"tiebreak/internal/look/clip"
)

// arrays are the arrays of a rollout, in a folder or in an NPZ file.
type arrays struct {
	name string
	open map[string]func() (io.ReadCloser, error)
	done func() error
}

// arrays returns those of a rollout.
func (f *folder) arrays(name string) (*arrays, error) {
	a := &arrays{name: name, open: map[string]func() (io.ReadCloser, error){}, done: func() error { return nil }}
	for _, array := range []string{"observations", "actions", "features", "frames"} {
		path := name + "/" + array + ".npy"
		if info, err := f.root.Stat(path); err == nil && info.Mode().IsRegular() {
			a.open[array] = func() (io.ReadCloser, error) { return f.root.Open(path) }
		}
	}
	file, err := f.root.Open(name + ".npz")
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return nil, refused("missing", "%s.npz: %v", name, err)
	}
	info, err := file.Stat()
	var z *zip.Reader
	if err == nil {
		z, err = zip.NewReader(file, info.Size())
	}
	if err != nil {
		return nil, errors.Join(refused("array", "%s.npz is not a file that numpy.savez writes: %v", name, err), file.Close())
	}
	a.done = file.Close
	for _, e := range z.File {
		array, ok := strings.CutSuffix(e.Name, ".npy")
		if !ok || !slices.Contains([]string{"observations", "actions", "features", "frames"}, array) {
			return nil, errors.Join(refused("array", "%s.npz holds %.80q: the arrays are called observations, actions, features and frames", name, e.Name), file.Close())
		}
		if a.open[array] != nil {
			return nil, errors.Join(refused("array", "%s has %s twice", name, array), file.Close())
		}
		a.open[array] = e.Open
	}
	return a, nil
}

func (a *arrays) close() { _ = a.done() }

func (a *arrays) has(array string) bool { return a.open[array] != nil }

// rows reads an array of numbers; it leaves dst nil if there is none.
func (a *arrays) rows(array string, dst *[][]float64) error {
	if !a.has(array) {
		return nil
	}
	r, err := a.open[array]()
	if err != nil {
		return refused("array", "%s of %s: %v", array, a.name, err)
	}
	defer r.Close()
	in, err := numpy.Open(r, maxNumbers)
	if err == nil {
		*dst, err = in.Rows(foreign.MaxSteps + 1)
	}
	if err == nil && len(*dst) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return refused("array", "%s of %s: %v", array, a.name, err)
	}
	return nil
}

// frames calls add with the pictures of the array frames: of shape (pictures, height, width, 3),
// of the type uint8.
func (a *arrays) frames(add func(image.Image) error) error {
	r, err := a.open["frames"]()
	if err != nil {
		return refused("array", "%v", err)
	}
	defer r.Close()
	in, err := numpy.Open(r, 1<<36)
	if err != nil {
		return refused("array", "%v", err)
	}
	s := in.Shape
	if len(s) != 4 || s[3] != 3 || in.Kind != "u1" {
		return refused("array", "it has the type %s and the shape %v; wanted are uint8 and (pictures, height, width, 3)", in.Kind, s)
	}
	if err := clip.CheckSize(image.Pt(s[2], s[1])); err != nil {
		return refused("array", "%v", err)
	}
	img := image.NewRGBA(image.Rect(0, 0, s[2], s[1]))
	row := make([]byte, 3*s[2])
	for i := range s[0] {
		for y := range s[1] {
			if _, err := io.ReadFull(in, row); err != nil {
				return refused("array", "it ends in picture %d of %d", i, s[0])
			}
			for x := range s[2] {
				p := img.Pix[y*img.Stride+4*x:]
				p[0], p[1], p[2], p[3] = row[3*x], row[3*x+1], row[3*x+2], 255
			}
		}
		if err := add(img); err != nil {
			return err
		}
	}
	return nil
}
