package mujoco

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// Limits of a user's own model.
const (
	maxFileBytes = 1 << 20
	maxFeatures  = 64
	maxHorizon   = 10_000
	maxSkip      = 100
	maxFrames    = 10_000 // of a clip, as package clip has it
	maxParts     = 256    // bodies, joints, actuators; four times as many geoms
)

// customFile is the JSON file of a user's own model. Docs: docs/models/README.md.
type customFile struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Model       string          `json:"model"` // MJCF, in the folder of this file
	FrameSkip   int             `json:"frame_skip"`
	Horizon     int             `json:"horizon"`
	ResetNoise  customNoise     `json:"reset_noise"`
	Hide        []string        `json:"hide"` // joints whose positions are not observed
	Features    []customFeature `json:"features"`
	Fallen      *customFallen   `json:"fallen"` // nil: it cannot fall
	ClipSteps   int             `json:"clip_steps"`
	Playback    float64         `json:"playback"`
	Camera      customCamera    `json:"camera"`
	Paints      []customPaint   `json:"paints"`
	Search      customSearch    `json:"search"`

	version string // of this file and the model
}

// customNoise is the noise of first states: half widths, or standard deviations
// if Kind is "normal".
type customNoise struct {
	Position float64 `json:"position"`
	Velocity float64 `json:"velocity"`
	Kind     string  `json:"kind"` // "uniform" if empty
}

// customFeature is one feature: a sensor, or a quantity of a site, joint or body
// or of none.
type customFeature struct {
	Name     string   `json:"name"`
	Sensor   string   `json:"sensor"`
	Index    int      `json:"index"` // of the sensor's numbers
	Site     string   `json:"site"`
	Joint    string   `json:"joint"`
	Body     string   `json:"body"`
	Quantity string   `json:"quantity"`
	Scale    *float64 `json:"scale"` // 1 if nil

	// PriorScale is that of EnvSpec; 1 if nil.
	PriorScale *float64 `json:"prior_scale"`
}

// customFallen says when the robot lies: while a body leans or sinks too far. A field
// that is nil does not count; one of them is there.
type customFallen struct {
	Body         string   `json:"body"`
	UprightBelow *float64 `json:"upright_below"` // its z axis: 1 up, −1 down
	HeightBelow  *float64 `json:"height_below"`  // metres
}

// customCamera follows a body. Lengths are metres.
type customCamera struct {
	Body         string  `json:"body"`
	Width        float64 `json:"width"`
	Distance     float64 `json:"distance"` // 2.5 times the width if 0
	AzimuthDeg   float64 `json:"azimuth_deg"`
	ElevationDeg float64 `json:"elevation_deg"`
}

// customPaint gives a body a paint.
type customPaint struct {
	Body  string        `json:"body"`
	Paint drawing.Paint `json:"paint"`
}

// customSearch is idrl.Search.
type customSearch struct {
	StepSize   float64 `json:"step_size"`
	NoiseStd   float64 `json:"noise_std"`
	Directions int     `json:"directions"`
	Top        int     `json:"top"`
	Iterations int     `json:"iterations"`
	Episodes   int     `json:"episodes"`
	Normalise  bool    `json:"normalise"`
	LiveSteps  int     `json:"live_steps"`
}

// What a feature of each source may be.
var (
	siteQuantities  = []string{"x", "y", "z", "vx", "vy", "vz"}
	jointQuantities = []string{"position", "velocity"}
	bodyQuantities  = []string{"x", "y", "z", "vx", "vy", "vz", "upright"}
	freeQuantities  = []string{"effort", "constant"}
)

// customPaints are the paints that a body may have.
var customPaints = []drawing.Paint{
	drawing.Agent, drawing.Other, drawing.Wall, drawing.Mark, drawing.Detail, drawing.Focus, drawing.Object0, drawing.Object1, drawing.Object2,
	drawing.Object3, drawing.Object4, drawing.Object5, drawing.Object6, drawing.Object7, drawing.Object8, drawing.Object9,
}

// parseCustom reads the JSON of a user's own model. It returns an error of kind
// Invalid that names the field and says what to do.
func parseCustom(data []byte) (*customFile, error) {
	if len(data) > maxFileBytes {
		return nil, idrl.Errorf(idrl.Invalid, "the file has more than %d bytes; shorten it", maxFileBytes)
	}
	var f customFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, syntax(data, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, idrl.Errorf(idrl.Invalid, "line %d: something follows the closing brace; remove it", lineAt(data, dec.InputOffset()))
	}
	if err := f.validate(); err != nil {
		return nil, err
	}
	return &f, nil
}

// syntax returns an error of package json as one that people can act on.
func syntax(data []byte, err error) error {
	var bad *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return idrl.Errorf(idrl.Invalid, "line %d: %s is a %s; write a %s", lineAt(data, wrong.Offset), wrong.Field, wrong.Value, plain(wrong.Type.Kind().String()))
	case errors.As(err, &bad):
		return idrl.Errorf(idrl.Invalid, "line %d: this is not JSON: %v", lineAt(data, bad.Offset), err)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return idrl.Errorf(idrl.Invalid, "line %d: the file ends too early; close what is open", lineAt(data, int64(len(data))))
	}
	return idrl.Errorf(idrl.Invalid, "%s; correct its name or remove it", strings.TrimPrefix(err.Error(), "json: "))
}

// plain names a kind of Go value as JSON does.
func plain(kind string) string {
	switch kind {
	case "struct":
		return "JSON object"
	case "slice":
		return "JSON array"
	case "int":
		return "whole number"
	case "float64", "ptr":
		return "number"
	case "bool":
		return "true or false"
	}
	return kind
}

// lineAt returns the line, from 1, of the byte before offset.
func lineAt(data []byte, offset int64) int {
	n := max(0, min(int(offset), len(data)))
	return 1 + bytes.Count(data[:n], []byte("\n"))
}

// A check is a rule for a field and what to do if it is broken.
type check struct {
	ok    bool
	field string
	must  string
}

// first returns an error for the first rule that is broken.
func first(checks ...check) error {
	for _, c := range checks {
		if !c.ok {
			return idrl.Errorf(idrl.Invalid, "%s must be %s", c.field, c.must)
		}
	}
	return nil
}

// number returns the rule that v lies in [low, high].
func number[T int | float64](field string, v, low, high T) check {
	return check{v >= low && v <= high, field, fmt.Sprintf("from %v to %v, but is %v", low, high, v)}
}

// text returns the rule that s has 1 to most bytes, none of which controls a
// terminal.
func text(field, s string, most int) check {
	control := strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
	return check{s != "" && len(s) <= most && !control, field, fmt.Sprintf("a text of one line of 1 to %d bytes", most)}
}

var customName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (f *customFile) validate() error {
	err := first(
		check{customName.MatchString(f.Name) && len(f.Name) <= 40, "name", "1 to 40 lower-case letters and digits, with single dashes between them"},
		text("title", f.Title, 80),
		text("description", f.Description, 400),
		text("model", f.Model, 200),
		check{filepath.IsLocal(f.Model), "model", "a file in the folder of this file or below it, written relative to it"},
		number("frame_skip", f.FrameSkip, 1, maxSkip),
		number("horizon", f.Horizon, 1, maxHorizon),
		number("reset_noise.position", f.ResetNoise.Position, 0, 10),
		number("reset_noise.velocity", f.ResetNoise.Velocity, 0, 10),
		check{slices.Contains([]string{"", "uniform", "normal"}, f.ResetNoise.Kind), "reset_noise.kind", `"uniform" or "normal"`},
		check{len(f.Hide) <= maxParts, "hide", fmt.Sprintf("a list of at most %d joints", maxParts)},
		number("clip_steps", f.ClipSteps, 1, f.Horizon),
		check{f.ClipSteps*f.FrameSkip < maxFrames, "clip_steps", fmt.Sprintf("less than %d/frame_skip, for each engine step is a frame", maxFrames)},
		number("playback", f.Playback, 0.01, 100),
	)
	for _, rest := range []func() error{f.validateFeatures, f.validateFallen, f.validateCamera, f.validatePaints, f.validateSearch} {
		if err == nil {
			err = rest()
		}
	}
	return err
}

func (f *customFile) validateFeatures() error {
	seen := map[string]bool{}
	if err := first(check{len(f.Features) >= 1 && len(f.Features) <= maxFeatures, "features", fmt.Sprintf("a list of 1 to %d features", maxFeatures)}); err != nil {
		return err
	}
	for i, c := range f.Features {
		at := fmt.Sprintf("features[%d]", i)
		if err := c.validate(at); err != nil {
			return err
		}
		if seen[c.Name] {
			return idrl.Errorf(idrl.Invalid, "%s.name must be one that no other feature has, but %q is used twice", at, c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

// validate checks the feature at a place of the file.
func (c *customFeature) validate(at string) error {
	quantities, sources := freeQuantities, 0
	for _, s := range []struct {
		name       string
		quantities []string
	}{{c.Sensor, []string{""}}, {c.Site, siteQuantities}, {c.Joint, jointQuantities}, {c.Body, bodyQuantities}} {
		if s.name != "" {
			quantities = s.quantities
			sources++
		}
	}
	scale := c.scale()
	rule := "one of " + strings.Join(quantities, ", ")
	if c.Sensor != "" {
		rule = "left out where there is a sensor"
	}
	return first(
		text(at+".name", c.Name, 60),
		check{sources <= 1, at, "about one thing: a sensor, a site, a joint or a body"},
		check{slices.Contains(quantities, c.Quantity), at + ".quantity", rule + fmt.Sprintf(", but is %q", c.Quantity)},
		check{c.Index == 0 || c.Sensor != "", at + ".index", "left out where there is no sensor"},
		number(at+".index", c.Index, 0, maxParts),
		number(at+".scale", scale, -1e6, 1e6),
		check{scale != 0, at + ".scale", "a number other than 0"},
		number(at+".prior_scale", c.priorScale(), 1e-6, 1e6),
	)
}

// scale returns what the feature is multiplied by.
func (c *customFeature) scale() float64 {
	if c.Scale == nil {
		return 1
	}
	return *c.Scale
}

func (f *customFile) validateFallen() error {
	c := f.Fallen
	if c == nil {
		return nil
	}
	within := func(field string, v *float64, low, high float64) check {
		if v == nil {
			return check{ok: true}
		}
		return number(field, *v, low, high)
	}
	return first(
		text("fallen.body", c.Body, 100),
		check{c.UprightBelow != nil || c.HeightBelow != nil, "fallen", "with upright_below, height_below or both"},
		within("fallen.upright_below", c.UprightBelow, -1, 1),
		within("fallen.height_below", c.HeightBelow, -1000, 1000),
	)
}

// priorScale returns the standard deviation of the feature's weight under the prior.
func (c *customFeature) priorScale() float64 {
	if c.PriorScale == nil {
		return 1
	}
	return *c.PriorScale
}

func (f *customFile) validateCamera() error {
	c := &f.Camera
	return first(
		text("camera.body", c.Body, 100),
		number("camera.width", c.Width, 0.01, 1000),
		check{c.Distance == 0 || c.Distance >= c.Width/2 && c.Distance <= 100*c.Width, "camera.distance", "from half the width to 100 times the width"},
		number("camera.azimuth_deg", c.AzimuthDeg, -360, 360),
		number("camera.elevation_deg", c.ElevationDeg, 0, 80),
	)
}

func (f *customFile) validatePaints() error {
	if err := first(check{len(f.Paints) <= maxParts, "paints", fmt.Sprintf("a list of at most %d bodies", maxParts)}); err != nil {
		return err
	}
	for i, p := range f.Paints {
		if !slices.Contains(customPaints, p.Paint) {
			return idrl.Errorf(idrl.Invalid, "paints[%d].paint must be one of %v, but is %q", i, customPaints, p.Paint)
		}
	}
	return nil
}

func (f *customFile) validateSearch() error {
	s := &f.Search
	return first(
		number("search.step_size", s.StepSize, 0, 100),
		number("search.noise_std", s.NoiseStd, 0, 100),
		number("search.directions", s.Directions, 0, 1000),
		number("search.top", s.Top, 0, 1000),
		check{s.Directions == 0 || s.Top <= s.Directions, "search.top", "at most search.directions"},
		number("search.iterations", s.Iterations, 0, 100_000),
		number("search.episodes", s.Episodes, 0, 1000),
		number("search.live_steps", s.LiveSteps, 0, 10_000_000),
	)
}
