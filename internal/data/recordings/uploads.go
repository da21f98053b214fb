package recordings

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// An Upload is trajectories that programs have uploaded to a session, for an arena of the policies that acted.
type Upload struct {
	Into     string        // folder in which sets of rollouts are kept; it is made if need be
	Features []string      // names, of the session
	Scale    []float64     // of their prior; nil: ones
	Acted    []idrl.Acted  // of each trajectory; all name a policy
	Clips    []idrl.ClipID // of each; they name its content, and are its name in the set

	Read func(i int) (Uploaded, error) // reads a trajectory
}

// An Uploaded is one of them.
type Uploaded struct {
	Steps idrl.Steps
	Media []byte // of its clip, as package clip encodes it
}

var uploadName = regexp.MustCompile(`^upload-[0-9a-f]{32}$`)

// OfUpload reports whether the id of an environment, with or without its version, is of uploaded trajectories that were kept for an arena.
func OfUpload(env string) bool {
	env, _, _ = strings.Cut(env, "@")
	name, ok := strings.CutPrefix(env, IDPrefix)
	return ok && uploadName.MatchString(name)
}

// KeepUpload keeps uploaded trajectories as a set whose name is a hash of their content: all of them, or nothing. Equal content is kept once.
// People see each as they saw its clip. It returns an error of kind Invalid unless two policies or more are named, all trajectories have pictures
// or all scenes, and a step of each takes as long: a difference would show annotators whose a clip is.
func KeepUpload(ctx context.Context, u Upload) (*Set, error) {
	if u.Scale == nil {
		u.Scale = slices.Repeat([]float64{1}, len(u.Features))
	}
	name := u.name()
	into := filepath.Join(u.Into, name)
	if s, err := Open(into); err == nil {
		return s, nil
	}
	s, err := inFolder(u.Into, name, func(dir string) error {
		k := &uploading{keeping: keeping{folder: &folder{m: &manifest{}}, dir: dir, cfg: Config{Name: name}}, u: u}
		return k.run(ctx)
	})
	if err == nil {
		return s, nil
	}
	if s, again := Open(into); again == nil { // another process has kept it meanwhile
		return s, nil
	}
	return nil, err
}

// name returns the name of the set: a function of what is in it.
func (u Upload) name() string {
	h := sha256.New()
	fmt.Fprintf(h, "1 %q %v", u.Features, u.Scale)
	for i, c := range u.Clips {
		fmt.Fprintf(h, "\n%q %q %q %q", c, u.Acted[i].Policy, u.Acted[i].Task, u.Acted[i].Start)
	}
	return "upload-" + hex.EncodeToString(h.Sum(nil)[:16])
}

// An uploading keeps an Upload.
type uploading struct {
	keeping
	u      Upload
	first  clip.Header // of the first trajectory
	longer int         // steps of the longest one
}

func (k *uploading) run(ctx context.Context) (err error) {
	if k.entries, err = newEntries(k.dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.entries.close()) }()
	for i, c := range k.u.Clips {
		k.m.Rollouts = append(k.m.Rollouts, given{Name: string(c), Acted: k.u.Acted[i]})
	}
	if err := k.look(ctx); err != nil {
		return err
	}
	m := k.m
	m.Format, m.Version, m.Features = "tiebreak.rollouts", 1, k.u.Features
	m.Title, m.Description = "Uploaded trajectories", "Trajectories that a program uploaded, kept for arenas."
	m.StepSeconds, m.ClipSteps = k.first.FrameSec, min(k.longer, maxClip)
	m.defaults()
	if err := m.check(); err != nil {
		return err
	}
	names, of := policies(len(m.Rollouts), maxPolicies, func(i int) (string, string) { return m.Rollouts[i].Policy, m.Rollouts[i].Name })
	k.x = index{Format: "tiebreak.rollouts.kept", Version: 1, Name: k.cfg.Name, described: m.described, Named: true, Policies: names, Scale: k.u.Scale}
	for i := range m.Rollouts {
		r, _, err := k.read(ctx, i)
		if err == nil {
			err = errors.Join(r.fit(m), k.renew())
		}
		if err != nil {
			return err
		}
		e, err := k.keep(i, of[i], r)
		if err == nil {
			err = k.entries.add(e)
		}
		if err != nil {
			return err
		}
	}
	return k.finish()
}

// look looks at all trajectories, before anything is written.
func (k *uploading) look(ctx context.Context) error {
	for i, g := range k.m.Rollouts {
		if g.Policy == "" {
			panic("recordings: an uploaded trajectory names no policy")
		}
		_, h, err := k.read(ctx, i)
		if err != nil {
			return err
		}
		if i == 0 {
			k.first = *h
		}
		switch a, b := k.first.FrameSec, h.FrameSec; {
		case a != b:
			return refused("manifest", "a step of clip %s takes %v seconds, and one of %s %v: upload trajectories whose step_seconds are equal, since others would show annotators whose they are", k.m.Rollouts[0].Name, a, g.Name, b)
		case (len(k.first.Pictures) == 0) != (len(h.Pictures) == 0):
			return refused("frames", "clip %s is seen in pictures and clip %s in scenes, or the other way round: upload trajectories of one kind, since others would show annotators whose they are", k.m.Rollouts[0].Name, g.Name)
		}
		k.longer = max(k.longer, h.Steps)
	}
	return nil
}

// read reads a trajectory, and the header of its clip.
func (k *uploading) read(ctx context.Context, i int) (*recording, *clip.Header, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	g := k.m.Rollouts[i]
	up, err := k.u.Read(i)
	if err != nil {
		return nil, nil, err
	}
	c, err := clip.Decode(up.Media)
	if err != nil {
		return nil, nil, idrl.Errorf(idrl.Damaged, "clip %s cannot be read: %v", g.Name, err)
	}
	g.Terminated, g.Happening = up.Steps.End == idrl.Terminated, foreign.Happening{Happens: c.Header.Happens, Useless: c.Header.Useless}
	r := &recording{given: g, obs: wide(up.Steps.Obs), acts: wide(up.Steps.Actions), phi: up.Steps.Phi, frames: c.Header.Frames}
	if c.Pictures == nil {
		r.scenes, err = scenesOf(c)
		return r, &c.Header, err
	}
	r.reel = &clip.Reel{W: int(c.Header.W), H: int(c.Header.H), Files: c.Pictures, Show: c.Header.Show}
	for _, p := range c.Header.Pictures {
		r.reel.Kinds = append(r.reel.Kinds, p.Kind)
	}
	return r, &c.Header, nil
}

// wide returns rows in double precision.
func wide(rows [][]float32) [][]float64 {
	out := make([][]float64, len(rows))
	for i, row := range rows {
		for _, v := range row {
			out[i] = append(out[i], float64(v))
		}
	}
	return out
}

// scenesOf returns the scenes of all frames of a clip, as foreign.ReadScenes reads them.
func scenesOf(c *clip.Clip) ([]byte, error) {
	list := make([]drawing.Scene, c.Header.Frames)
	for i := range list {
		c.Scene(&list[i], float64(i))
	}
	return foreign.WriteScenes(list)
}
