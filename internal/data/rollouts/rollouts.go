package rollouts

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"io"
	"strings"

	"tiebreak/internal/base/steps"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/data/jsonlimit"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// Limits of what is read at once.
const (
	MaxClips  = 50      // trajectories
	MaxSteps  = 1000    // of one
	MaxName   = 64      // bytes
	MaxPixels = 1 << 25 // of all pictures of a trajectory, as they are given
	MaxAtOnce = 1 << 26 // of those of all trajectories: about four seconds of one core
)

// A Turn waits until the next trajectory may be read. The caller calls leave when it is.
type Turn func(context.Context) (leave func(), err error)

// A Trajectory is one in JSON, of T steps, all of which are shown as one clip.
type Trajectory struct {
	Name         string          `json:"name"`         // for people and programs; may be empty, and makes no difference
	Observations [][]float64     `json:"observations"` // T+1 rows; row 0 is before the first action
	Actions      [][]float64     `json:"actions"`      // T rows
	Features     [][]float64     `json:"features"`     // T rows of d numbers: φ of each step
	Terminated   bool            `json:"terminated"`   // it reached an end of its own, and was not cut off
	StepSeconds  float64         `json:"step_seconds"` // that a step takes on the page
	Pictures     []string        `json:"pictures"`     // T+1, PNG or JPEG in base64, all of one size; or
	Scenes       []foreign.Scene `json:"scenes"`       // T+1, of one form

	foreign.Happening // may be missing
	idrl.Acted        // likewise; what it says takes part in the name of the clip
}

// Limited returns a reader of an upload as JSON, {"trajectories": […]}, which ends with an error before an array
// with more elements than any that Read takes: a million empty trajectories of three bytes would take 900 MB.
func Limited(from io.Reader) io.Reader {
	limits := jsonlimit.Limits{
		{},
		{Name: "trajectories", Most: MaxClips},
		{},
		{Name: "rows, pictures or scenes of a trajectory", Most: MaxSteps + 1},
		{Name: "numbers in a row", Most: foreign.MaxObservation},
	}
	return jsonlimit.NewReader(from, append(limits, foreign.SceneLimits()[1:]...)) // a scene is as deep as a row
}

// Read returns trajectories as what a session adds to its clips: candidates, which the session
// names, clips and raw steps, without questions; and the clip of each trajectory. Equal trajectories are the same
// clip and candidate, whatever they are called. It returns an error of kind Invalid, which names
// the trajectory, if one of them is not as it must be for the session, and that of ctx, which it looks at
// before each picture, for the pictures of a trajectory take seconds. Before a picture is decoded, it looks at the
// sizes of all. Each trajectory is read in a turn of its own, so that uploads share a processor.
func Read(ctx context.Context, spec idrl.SessionSpec, list []Trajectory, turn Turn) (g idrl.Generation, clips []idrl.ClipID, err error) {
	g = idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{}, Steps: map[idrl.StepsID][]byte{}}
	if len(list) == 0 || len(list) > MaxClips {
		return g, nil, idrl.Errorf(idrl.Invalid, "there must be 1 to %d trajectories; got %d", MaxClips, len(list))
	}
	pixels := 0
	err = each(list, func(t *Trajectory) error {
		if err := t.check(len(spec.Features)); err != nil {
			return err
		}
		n, err := t.pixels()
		pixels += n
		return err
	})
	if err == nil && pixels > MaxAtOnce {
		err = idrl.Errorf(idrl.Invalid, "the pictures of all %d trajectories have %d pixels; at most %d are taken at once: send fewer trajectories in a request, or smaller pictures, which are shown with at most 480 pixels a side", len(list), pixels, MaxAtOnce)
	}
	if err == nil {
		err = each(list, func(t *Trajectory) error {
			id, err := t.add(ctx, &g, spec, turn)
			clips = append(clips, id)
			return err
		})
	}
	if err != nil {
		return idrl.Generation{}, nil, err
	}
	return g, clips, nil
}

// each calls f with each of the trajectories until one has an error.
func each(list []Trajectory, f func(*Trajectory) error) error {
	for i := range list {
		err := f(&list[i])
		if idrl.KindOf(err) == idrl.Invalid {
			return idrl.Errorf(idrl.Invalid, "trajectory %d: %v", i, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds t, which is checked, to g and returns its clip.
func (t *Trajectory) add(ctx context.Context, g *idrl.Generation, spec idrl.SessionSpec, turn Turn) (idrl.ClipID, error) {
	leave, err := turn(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	whole := t.episode().Trajectory(spec.Env, t.Terminated)
	raw, content, err := steps.Encode(steps.Of(whole, idrl.Steps{Env: spec.Env, Version: version}))
	if err != nil {
		return "", err
	}
	whole.Raw = raw
	env, err := t.shown(ctx, spec)
	if err != nil {
		return "", err
	}
	c := idrl.Segment(whole, 0, whole.Len())
	if c.Media, err = clip.Encode(env, c); err != nil {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return "", err
		}
		return "", idrl.Errorf(idrl.Invalid, "it cannot be shown: %v", err) // all that it shows comes from outside
	}
	h := sha256.New()
	h.Write([]byte(raw))
	h.Write(clip.WithoutLooks(c.Media))
	if t.Acted != (idrl.Acted{}) {
		fmt.Fprintf(h, "%q", []string{t.Policy, t.Task, t.Start})
	}
	name := hex.EncodeToString(h.Sum(nil)[:16])
	c.ID, c.From, c.Snapshots = idrl.ClipID(name), idrl.TrajectoryID(name), nil
	if _, known := g.Clips[c.ID]; known {
		return c.ID, nil
	}
	g.Candidates = append(g.Candidates, idrl.Candidate{Origin: idrl.FromUpload, Mu: c.Phi, Clip: c.ID, Rollouts: []idrl.StepsID{raw}, Acted: t.Acted})
	g.Clips[c.ID], g.Steps[raw] = c, content
	return c.ID, nil
}

// episode returns the numbers of t.
func (t *Trajectory) episode() foreign.Episode {
	return foreign.Episode{Obs: t.Observations, Actions: t.Actions, Phi: t.Features}
}

// version is EnvSpec.Version of uploaded trajectories.
const version = 1

// check looks at everything but what is drawn. d is the number of features of the session.
func (t *Trajectory) check(d int) error {
	switch {
	case len(t.Name) > MaxName || !foreign.IsLine(t.Name, MaxName):
		return idrl.Errorf(idrl.Invalid, "its name must be one line of at most %d bytes", MaxName)
	case !(t.StepSeconds >= 0.001 && t.StepSeconds <= 10):
		return idrl.Errorf(idrl.Invalid, "step_seconds must be 0.001 to 10; got %v", t.StepSeconds)
	case t.Actions == nil || t.Features == nil || t.Observations == nil:
		return idrl.Errorf(idrl.Invalid, "it must have actions, features and observations")
	}
	e := t.episode()
	err := t.Happening.Check()
	if err == nil {
		err = foreign.CheckActed(t.Acted)
	}
	if err == nil {
		_, err = e.Steps(-1, MaxSteps)
	}
	if err == nil {
		err = e.Check(d)
	}
	if err != nil {
		return idrl.Errorf(idrl.Invalid, "%v", err)
	}
	return nil
}

// shown returns an environment that shows t, whose states are the numbers of its frames.
func (t *Trajectory) shown(ctx context.Context, spec idrl.SessionSpec) (idrl.Environment, error) {
	frames, film := len(t.Actions)+1, film{spec: specOf(spec, t.StepSeconds), happens: t.Happening.Read()}
	switch {
	case (len(t.Pictures) > 0) == (len(t.Scenes) > 0):
		return nil, idrl.Errorf(idrl.Invalid, "it must have pictures or scenes, and not both")
	case len(t.Pictures)+len(t.Scenes) != frames:
		return nil, idrl.Errorf(idrl.Invalid, "it has %d frames; %d steps need %d", len(t.Pictures)+len(t.Scenes), frames-1, frames)
	case len(t.Scenes) > 0:
		scenes, err := foreign.Scenes(t.Scenes)
		if err != nil {
			err = idrl.Errorf(idrl.Invalid, "its scenes cannot be shown: %v", err)
		}
		return &drawn{film, scenes}, err
	}
	list, err := pictures(ctx, t.Pictures)
	return &pictured{film, list}, err
}

// pixels returns how many pixels the pictures have together, by their headers. One that is repeated counts once.
func (t *Trajectory) pixels() (n int, err error) {
	known := map[string]bool{}
	for _, text := range t.Pictures {
		if known[text] {
			continue
		}
		known[text] = true
		c, err := header(text)
		if err != nil {
			continue // pictures says why it is none
		}
		if n += c.Width * c.Height; n > MaxPixels {
			return n, idrl.Errorf(idrl.Invalid, "its pictures have more than %d pixels in all: use fewer or smaller ones", MaxPixels)
		}
	}
	return n, nil
}

// pictures returns pictures that are decoded when the clip is made. One that is repeated is the same image each time.
func pictures(ctx context.Context, list []string) ([]image.Image, error) {
	out, read := make([]image.Image, len(list)), map[string]image.Image{}
	for i, text := range list {
		if out[i] = read[text]; out[i] != nil {
			continue // it stands still
		}
		decode := func() (image.Image, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			img, err := foreign.ReadPicture(text)
			if err != nil {
				err = idrl.Errorf(idrl.Invalid, "picture %d: %v", i, err)
			}
			return img, err
		}
		c, err := header(text)
		if err != nil {
			if _, why := decode(); why != nil {
				return nil, why
			}
			return nil, idrl.Errorf(idrl.Invalid, "picture %d: %v", i, err)
		}
		out[i] = &clip.Undecoded{Size: image.Pt(c.Width, c.Height), Decode: decode}
		read[text] = out[i]
	}
	return out, nil
}

func header(text string) (image.Config, error) {
	c, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	return c, err
}
