package recordings

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// FolderName is the name of the folder within a data folder in which rollouts are kept.
const FolderName = "rollouts"

const (
	indexName = "index.json"
	madeNow   = ".new-"  // begins the names of folders that are not complete
	partName  = ".part-" // begins the names of those of imports that were interrupted
)

// An index is what is kept of rollouts besides the steps and pictures of each.
type index struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Name    string `json:"name"`
	described
	Scale    []float64 `json:"prior_scale"`
	Obs      int       `json:"observation"` // numbers
	Low      []float64 `json:"low"`         // of actions
	High     []float64 `json:"high"`
	Named    bool      `json:"named"` // policies were named; else each rollout is of its own
	Policies []string  `json:"policies"`
	Scenes   bool      `json:"scenes"`
	Unseen   bool      `json:"unseen,omitempty"`  // there are neither scenes nor pictures
	Filmed   *filmed   `json:"filmed,omitempty"`  // there are videos in another folder; nil: there are none
	Column   string    `json:"column,omitempty"`  // of the data set, that Features are; empty: they are of no column
	SeenBy   []string  `json:"seen_by,omitempty"` // cameras whose pictures Column is made of
	Rollouts []entry   `json:"rollouts"`
}

// An entry is a rollout in an index.
type entry struct {
	Name    string    `json:"name"`
	Policy  int       `json:"policy"` // noPolicy of one that counts for none
	Steps   int       `json:"steps"`
	Row     *int      `json:"row,omitempty"` // Row, Task and Start are as given
	Task    string    `json:"task,omitempty"`
	Start   string    `json:"start,omitempty"`
	Sum     []float64 `json:"sum"`               // discounted features, length d
	Numbers string    `json:"numbers"`           // SHA-256 of the file of observations, actions and features
	Seen    string    `json:"seen"`              // SHA-256 of the file of pictures or scenes; empty: there is none
	Places  []place   `json:"places,omitempty"`  // in videos, of each camera
	Success *bool     `json:"success,omitempty"` // whether the policy did its task; nil: not known

	foreign.Happening // of all its clips
}

// numbersV1 is what is kept of the steps of a rollout. The type must not change.
type numbersV1 struct {
	Obs, Actions, Phi [][]float64
	Terminated        bool
}

// numbersName returns the name of the file of the numbers of rollout i.
func numbersName(i int) string { return fmt.Sprintf("%d.numbers", i) }

// seenV1 is what is kept of the pictures or scenes of a rollout. The type must not change.
type seenV1 struct {
	W, H   int
	Kinds  []string
	Files  [][]byte
	Show   []int
	Scenes []byte
}

// checkName returns an error unless a set of rollouts can be called so: the id of an environment has it.
func checkName(name string) error {
	if !foreign.IsName(name, 64) {
		return refused("name", "a set of rollouts is called by lower-case letters, digits and hyphens, at most 64, such as my-rollouts; not %.80q", name)
	}
	return nil
}

// checkGiven is checkName for a name that a person gives: those of uploads are names of their content.
func checkGiven(name string) error {
	if uploadName.MatchString(name) {
		return refused("name", "the name %s is one of trajectories that were uploaded: choose another one", name)
	}
	return checkName(name)
}

// Config says what is imported.
type Config struct {
	From string // folder with a manifest
	Into string // folder in which sets of rollouts are kept; it is made if need be
	Name string // of the set

	Progress func(done, total int, what string) // may be nil
}

// Import reads a folder of rollouts and keeps it under a name: all of it, or nothing. It
// returns an error of kind Conflict if there is a set of that name, and of kind Invalid, with a
// code (docs/rollouts.md), if something about the folder is not as it must be.
func Import(ctx context.Context, cfg Config) (s *Set, err error) {
	if err := checkGiven(cfg.Name); err != nil {
		return nil, err
	}
	f, err := openFolder(cfg.From)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.root.Close()) }()
	return inFolder(cfg.Into, cfg.Name, func(dir string) error {
		return (&keeping{folder: f, cfg: cfg, dir: dir}).run(ctx)
	})
}

// Free returns an error of kind Conflict if there is a set of a name in a folder, which it makes if need be, and of kind Invalid if
// no set can be called so.
func Free(into, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o700); err != nil {
		return refused("missing", "%v", err)
	}
	if _, err := os.Lstat(filepath.Join(into, name)); err == nil {
		return idrl.Errorf(idrl.Conflict, "rollouts-taken: there are rollouts called %s already: use another name", name)
	}
	return nil
}

// inFolder makes the set of a name: fill writes its files into a folder that is not seen before all of them are there.
func inFolder(into, name string, fill func(dir string) error) (s *Set, err error) {
	if err := errors.Join(Free(into, name), removeKilled(into)); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(into, madeNow)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := fill(dir); err != nil {
		return nil, err
	}
	syncFolder(dir)
	to := filepath.Join(into, name)
	if err := os.Rename(dir, to); err != nil {
		return nil, err
	}
	syncFolder(filepath.Dir(to))
	return Open(to)
}

// syncFolder makes the names in a folder durable, on systems where folders can be synced.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil { //nolint:gosec // within the data folder
		_, _ = d.Sync(), d.Close()
	}
}

// abandoned is after what time without a change a folder is taken for that of an import which was
// killed. One that runs changes its folder with each rollout that it reads.
const abandoned = time.Hour

// forgotten is after what time the files of an import that was interrupted are removed.
const forgotten = 7 * 24 * time.Hour

// removeKilled removes the folders of imports that were killed, or interrupted and not begun again.
func removeKilled(into string) error {
	entries, err := os.ReadDir(into)
	if err != nil {
		return err
	}
	for _, e := range entries {
		long := abandoned
		if strings.HasPrefix(e.Name(), partName) {
			long = forgotten
		} else if !strings.HasPrefix(e.Name(), madeNow) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && time.Since(info.ModTime()) < long {
			continue
		}
		if err := errors.Join(err, os.RemoveAll(filepath.Join(into, e.Name()))); err != nil {
			return err
		}
	}
	return nil
}

// A keeping is one import.
type keeping struct {
	*folder
	cfg Config
	dir string
	x   index // without Rollouts

	entries entries
	sums    spread // of the features of stretches of ClipSteps steps, for their scale
}

func (k *keeping) run(ctx context.Context) (err error) {
	m := k.m
	if k.entries, err = newEntries(k.dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.entries.close()) }()
	names, of := policies(len(m.Rollouts), maxPolicies, func(i int) (string, string) { return m.Rollouts[i].Policy, m.Rollouts[i].Name })
	k.x = index{
		Format: "tiebreak.rollouts.kept", Version: 1, Name: k.cfg.Name, described: m.described,
		Named: m.Rollouts[0].Policy != "", Policies: names, Unseen: m.unseen(),
	}
	standard, err := k.standard(ctx)
	if err != nil {
		return err
	}
	for i, g := range m.Rollouts {
		if k.cfg.Progress != nil {
			k.cfg.Progress(i, len(m.Rollouts), g.Name)
		}
		r, err := k.read(ctx, g)
		if err != nil {
			return err
		}
		if err := k.features(r, of[i], standard); err != nil {
			return err
		}
		e, err := k.keep(i, of[i], r)
		if err != nil {
			return err
		}
		if err := k.entries.add(e); err != nil {
			return err
		}
	}
	return k.finish()
}

// keep writes the files of a rollout, and returns what the index says of it.
func (k *keeping) keep(i, policy int, r *recording) (e entry, err error) {
	x := &k.x
	if i == 0 {
		x.Obs, x.Scenes = len(r.obs[0]), r.scenes != nil
		x.Low, x.High = slices.Clone(r.acts[0]), slices.Clone(r.acts[0])
	}
	switch {
	case len(r.obs[0]) != x.Obs || len(r.acts[0]) != len(x.Low):
		return e, refused("array", "%s: an observation has %d numbers and an action %d; those of the first rollout have %d and %d", r.Name, len(r.obs[0]), len(r.acts[0]), x.Obs, len(x.Low))
	case (r.scenes != nil) != x.Scenes:
		return e, refused("frames", "%s is seen in pictures and the first rollout in scenes, or the other way round", r.Name)
	}
	for _, a := range r.acts {
		for j, v := range a {
			x.Low[j], x.High[j] = min(x.Low[j], v), max(x.High[j], v)
		}
	}
	e = entry{Name: r.Name, Policy: policy, Row: r.Row, Task: r.Task, Start: r.Start, Steps: len(r.acts), Sum: make([]float64, len(r.phi[0])), Happening: r.Happening}
	weight := 1.0
	if last := k.entries.last; i > 0 && r.Row != nil && *r.Row < *last.Row+last.Steps {
		return e, refused("length", "%s begins in row %d, but %s, before it, begins in row %d and has %d steps", r.Name, *r.Row, last.Name, *last.Row, last.Steps)
	}
	for _, row := range r.phi {
		for j, v := range row {
			e.Sum[j] += weight * v
		}
		weight *= x.Discount
	}
	if !finite(e.Sum) {
		return e, refused("array", "%s: the sum of its features is not finite", r.Name)
	}
	seen := seenV1{Scenes: r.scenes}
	if r.reel != nil {
		seen = seenV1{W: r.reel.W, H: r.reel.H, Kinds: r.reel.Kinds, Files: r.reel.Files, Show: r.reel.Show}
		if err := k.fits(r); err != nil {
			return e, err
		}
	}
	if e.Numbers, err = write(k, numbersName(i), &numbersV1{r.obs, r.acts, r.phi, r.Terminated}); err != nil {
		return e, err
	}
	if x.Filmed == nil {
		e.Seen, err = write(k, fmt.Sprintf("%d.seen", i), &seen)
	}
	return e, err
}

// fits returns an error if a clip of the pictures of r is too large to show.
func (k *keeping) fits(r *recording) error {
	long := min(len(r.acts), k.m.ClipSteps)
	for first := 0; first+long <= len(r.acts); first += max(1, long/2) {
		f := clip.Footage{Env: "check", Steps: long, Sub: k.m.PerStep, FrameSec: k.m.StepSeconds / float64(k.m.PerStep), Playback: k.m.Playback, Phi: make([]float64, len(r.phi[0]))}
		if _, err := r.reel.Cut(f, first*k.m.PerStep); err != nil {
			return refused("frames", "%s: %v", r.Name, err)
		}
	}
	return nil
}

// write writes a value to a file and returns the SHA-256 of that.
func write[T any](k *keeping, name string, v *T) (string, error) {
	b, err := pack.Encode(v)
	if err != nil {
		return "", err
	}
	return k.file(name, b)
}

// file writes a file, which then is durable, and returns the SHA-256 of its content.
func (k *keeping) file(name string, b []byte) (string, error) {
	sum := sha256.Sum256(b)
	path := filepath.Join(k.dir, name)
	if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, b) { //nolint:gosec // of an import that was interrupted
		return hex.EncodeToString(sum[:]), nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(b)
	return hex.EncodeToString(sum[:]), errors.Join(err, f.Sync(), f.Close())
}

// finish writes the index.
func (k *keeping) finish() error {
	x := &k.x
	for j := range x.Low { // a box has an inside
		if x.High[j]-x.Low[j] < 1e-6 {
			x.Low[j], x.High[j] = x.Low[j]-1, x.High[j]+1
		}
	}
	if x.Scale == nil {
		if err := k.scale(); err != nil {
			return err
		}
	}
	return k.entries.index(x)
}

// scale computes the scale of the prior of each feature.
func (k *keeping) scale() error {
	for j, name := range k.x.Features {
		std := k.sums.std(j)
		if !(std > 1e-12) {
			return refused("features", "the feature %q is the same in all clips, so nothing can be learnt of it: leave it out", name)
		}
		k.x.Scale = append(k.x.Scale, 3/(std*math.Sqrt2)) // differences of two clips
	}
	return nil
}

func finite(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

// List returns the folders of the sets that are kept in a folder, by name.
func List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the folder of rollouts cannot be read: %v", err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && checkName(e.Name()) == nil {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, nil
}
