package recordings

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/look/clip"
)

// A recording is one rollout, read and checked.
type recording struct {
	given
	obs, acts, phi [][]float64 // T+1, T and T rows; phi nil where it is not given
	reel           *clip.Reel  // nil of scenes
	scenes         []byte      // the file; nil of pictures
	frames         int

	counted, bytes int // stored pictures that were counted, and their bytes
}

// A folder is what rollouts are read from.
type folder struct {
	path string
	root *os.Root
	m    *manifest
}

// openFolder reads the manifest of the folder at path. The caller closes root.
func openFolder(path string) (*folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, refused("missing", "the folder of rollouts cannot be opened: %v", err)
	}
	f := &folder{path: path, root: root}
	b, err := refusal.ReadFile(root, ManifestName, maxManifest)
	if err != nil {
		err = fmt.Errorf("%w (in %s)", err, path)
	} else {
		f.m, err = readManifest(b)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return f, nil
}

// read reads a rollout. Errors name the file.
func (f *folder) read(ctx context.Context, g given) (*recording, error) {
	r := &recording{given: g}
	arrays, err := f.arrays(g.Name)
	if err != nil {
		return nil, err
	}
	defer arrays.close()
	for _, a := range []struct {
		name string
		dst  *[][]float64
	}{{"observations", &r.obs}, {"actions", &r.acts}, {"features", &r.phi}} {
		if err := arrays.rows(a.name, a.dst); err != nil {
			return nil, err
		}
	}
	if f.m.From != fromArrays && r.phi != nil {
		return nil, refused("array", "%s has features, but %s does not name them: list their names in \"features\"", g.Name, ManifestName)
	}
	if f.m.From == fromArrays && r.phi == nil {
		return nil, refused("missing", "%s has no features, which %s names", g.Name, ManifestName)
	}
	if err := f.pictures(ctx, r, arrays); err != nil {
		return nil, err
	}
	return r, r.fit(f.m)
}

// fit checks that the lengths of r agree, and fills in what there is none of.
func (r *recording) fit(m *manifest) error {
	k := m.PerStep
	if r.scenes != nil {
		k = 1
	}
	seen := -1
	if !m.unseen() {
		seen = (r.frames - 1) / k
	}
	e := foreign.Episode{Obs: r.obs, Actions: r.acts, Phi: r.phi}
	n, err := e.Steps(seen, foreign.MaxSteps)
	if err != nil {
		return refused("length", "%s: %v", r.Name, err)
	}
	if r.frames == n*k && !m.unseen() { // none of the end
		if err := r.repeatLast(); err != nil {
			return err
		}
	}
	if r.frames != n*k+1 && !m.unseen() {
		return refused("length", "%s: there are %d pictures for %d steps; %d are wanted, or one less", r.Name, r.frames, n, n*k+1)
	}
	if err := e.Check(len(m.Features)); err != nil {
		return refused("array", "%s: %v", r.Name, err)
	}
	if r.obs == nil {
		r.obs = zeros(n+1, 1)
	}
	if r.acts == nil {
		r.acts = zeros(n, 1)
	}
	return nil
}

func zeros(n, d int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, d)
	}
	return out
}

func (r *recording) repeatLast() error {
	if r.reel == nil {
		return refused("length", "%s: there are %d scenes; one of the end is missing", r.Name, r.frames)
	}
	r.reel.Show = append(r.reel.Show, r.reel.Show[len(r.reel.Show)-1])
	r.frames++
	return nil
}

// pictures reads what is seen of a rollout.
func (f *folder) pictures(ctx context.Context, r *recording, a *arrays) error {
	var found []string
	for _, name := range []string{r.Name + "/frames", r.Name + "/scene.json", r.Name + ".scene.json"} {
		if _, err := f.root.Stat(name); err == nil {
			found = append(found, name)
		}
	}
	for _, ext := range []string{".mp4", ".webm", ".mkv", ".mov", ".avi", ".gif"} {
		for _, base := range []string{r.Name + "/frames", r.Name} {
			if _, err := f.root.Stat(base + ext); err == nil {
				found = append(found, base+ext)
			}
		}
	}
	if a.has("frames") {
		found = append(found, "the array frames")
	}
	if f.m.unseen() {
		if len(found) > 0 {
			return refused("frames", "%s: there are pictures (%s), but %s says \"shown\": false", r.Name, strings.Join(found, ", "), ManifestName)
		}
		return nil
	}
	if len(found) != 1 {
		return refused("frames", "%s: a rollout needs exactly one kind of picture, and there are %d (%s): pictures in the folder %s/frames, a video %s.mp4 or .webm, an array frames, or %s.scene.json; or \"shown\": false in rollouts.json, if it is not to be shown",
			r.Name, len(found), strings.Join(found, ", "), r.Name, r.Name, r.Name)
	}
	name := found[0]
	if strings.HasSuffix(name, "scene.json") {
		return f.scenes(r, name)
	}
	r.reel = clip.NewReel()
	add := func(p image.Image) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return r.add(p, f.m)
	}
	var err error
	switch {
	case a.has("frames"):
		err = a.frames(add)
	case name == r.Name+"/frames":
		err = f.files(ctx, name, r)
	default:
		if err = f.inside(name); err == nil {
			err = decodeVideo(ctx, filepath.Join(f.path, filepath.FromSlash(name)), add)
		}
	}
	r.frames = len(r.reel.Show)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// add adds a picture to those of r, within limits.
func (r *recording) add(p image.Image, m *manifest) error {
	if err := r.room(m); err != nil {
		return err
	}
	if err := r.reel.Add(p, m.ClipSteps*m.PerStep+1); err != nil {
		return refused("frames", "%v", err)
	}
	for ; r.counted < len(r.reel.Files); r.counted++ {
		r.bytes += len(r.reel.Files[r.counted])
	}
	if r.bytes > maxReel {
		return refused("limit", "the pictures take more than %d bytes", maxReel)
	}
	return nil
}

// again adds the picture of an earlier frame to those of r.
func (r *recording) again(frame int, m *manifest) error {
	if err := r.room(m); err != nil {
		return err
	}
	r.reel.Show = append(r.reel.Show, r.reel.Show[frame])
	return nil
}

// room returns an error unless r may have one picture more.
func (r *recording) room(m *manifest) error {
	if len(r.reel.Show) > foreign.MaxSteps*m.PerStep {
		return refused("limit", "there are more than %d pictures", foreign.MaxSteps*m.PerStep+1)
	}
	return nil
}

// inside returns an error if a file is a link or no file: another program opens it.
func (f *folder) inside(name string) error {
	info, err := f.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return refused("missing", "it is not a plain file: links are not taken")
	}
	return nil
}

// scenes reads a file of scenes.
func (f *folder) scenes(r *recording, name string) error {
	b, err := refusal.ReadFile(f.root, name, maxReel)
	if err != nil {
		return err
	}
	list, err := foreign.ReadScenes(b)
	if err != nil || len(list) == 0 {
		return refused("scene", "%s: %v", name, cmp.Or(err, errors.New("there is no scene")))
	}
	r.scenes, r.frames = b, len(list)
	return nil
}

// files adds the pictures in a folder to r, in the order of the numbers in their names. Files of
// the same bytes are decoded once.
func (f *folder) files(ctx context.Context, dir string, r *recording) error {
	d, err := f.root.Open(dir)
	if err != nil {
		return refused("missing", "%v", err)
	}
	names, err := d.Readdirnames(-1)
	if err := errors.Join(err, d.Close()); err != nil {
		return refused("missing", "%v", err)
	}
	names = slices.DeleteFunc(names, func(n string) bool {
		ext := strings.ToLower(filepath.Ext(n))
		return ext != ".png" && ext != ".jpg" && ext != ".jpeg"
	})
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	first := map[[sha256.Size]byte]int{} // frame of each content
	for i, n := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := refusal.ReadFile(f.root, dir+"/"+n, 8<<20)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(b)
		if frame, known := first[sum]; known {
			if err := r.again(frame, f.m); err != nil {
				return fmt.Errorf("%s: %w", n, err)
			}
			continue
		}
		first[sum] = i
		p, err := clip.ReadPicture(b)
		if err != nil {
			return refused("frames", "%s: %v", n, err)
		}
		if err := r.add(p, f.m); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
	}
	if len(names) == 0 {
		return refused("frames", "there is no PNG or JPEG file in the folder")
	}
	return nil
}
