package recordings

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/data/jsonlimit"
	"tiebreak/internal/idrl"
)

// ManifestName is the name of the file that describes a folder of rollouts.
const ManifestName = "rollouts.json"

// Limits of what is read.
const (
	maxManifest = 16 << 20 // bytes
	maxRollouts = 10_000
	maxPolicies = 400
	maxDefault  = 64        // numbers of an observation that features may be made of
	maxNumbers  = 64 << 20  // of an array
	maxReel     = 256 << 20 // bytes of the pictures of a rollout, as stored
	maxClip     = 600       // steps of a clip
	maxRow      = 1 << 40   // of a data set
)

// refused returns an error of kind Invalid about what was given. The code is for programs, and stays.
func refused(code, format string, args ...any) error { return refusal.Errorf(code, format, args...) }

const refusal = foreign.Refusal("rollouts")

// A manifest is rollouts.json. docs/rollouts.md describes the keys.
type manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	described
	Shown    *bool   `json:"shown"` // false: there is nothing to see of the rollouts; default true
	Rollouts []given `json:"rollouts"`
}

// described holds the description of the environment of rollouts, which is stored with them.
type described struct {
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Moment      string   `json:"moment"`
	StepSeconds float64  `json:"step_seconds"`
	PerStep     int      `json:"frames_per_step"`
	ClipSteps   int      `json:"clip_steps"`
	Playback    float64  `json:"playback"`
	Discount    float64  `json:"discount"`
	Features    []string `json:"features"`
	From        string   `json:"features_from"`
}

// unseen reports whether there is nothing to see of the rollouts.
func (m *manifest) unseen() bool { return m.Shown != nil && !*m.Shown }

// A given is a rollout in a manifest.
type given struct {
	Name       string `json:"name"`
	Terminated bool   `json:"terminated"`
	Row        *int   `json:"row"` // of its first step in the data set that it is from

	idrl.Acted
	foreign.Happening // of all its clips; may be missing
}

// Where features come from.
const (
	fromArrays       = "given"        // features.npy
	fromObservations = "observations" // the observations, standardised
	fromPolicies     = "policies"     // which policy acted
)

// fileName is what names of rollouts are, which name files.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// readManifest reads a manifest and fills in defaults.
func readManifest(b []byte) (*manifest, error) {
	m := &manifest{}
	limits := jsonlimit.Limits{{}, {Name: "rollouts or features", Most: maxRollouts}}
	if err := foreign.Decode(bytes.NewReader(b), limits, m); err != nil {
		return nil, refused("manifest", "%s is not valid: %v", ManifestName, err)
	}
	if m.Version > 1 {
		return nil, refused("manifest", "%s has version %d; this program reads version 1", ManifestName, m.Version)
	}
	m.defaults()
	return m, m.check()
}

func (m *manifest) defaults() {
	m.PerStep, m.Playback, m.Discount = cmp.Or(m.PerStep, 1), cmp.Or(m.Playback, 1), cmp.Or(m.Discount, 1)
	m.Moment = cmp.Or(m.Moment, foreign.DefaultMoment)
	m.Title, m.Description = cmp.Or(m.Title, "Rollouts"), cmp.Or(m.Description, "Recordings of another simulator.")
	if m.ClipSteps == 0 && m.StepSeconds > 0 {
		m.ClipSteps = foreign.ClipSteps(m.StepSeconds, maxClip)
	}
	if m.From == "" && len(m.Features) > 0 {
		m.From = fromArrays
	}
}

func (m *manifest) check() error {
	if m.Format != "tiebreak.rollouts" || m.Version != 1 {
		return refused("manifest", `%s: "format" must be "tiebreak.rollouts", and "version" 1`, ManifestName)
	}
	world := foreign.World{Title: m.Title, About: m.Description, Moment: m.Moment, StepSec: m.StepSeconds, Discount: m.Discount, Playback: m.Playback, Features: m.Features}
	if err := world.Check(); err != nil {
		return refused("manifest", "%s: %v", ManifestName, err)
	}
	for _, c := range []struct {
		ok   bool
		says string
	}{
		{m.PerStep >= 1 && m.PerStep <= 20, `"frames_per_step" is 1 to 20`},
		{m.ClipSteps >= 1 && m.ClipSteps <= maxClip, fmt.Sprintf(`"clip_steps" is 1 to %d`, maxClip)},
		{m.From == "" || slices.Contains([]string{fromArrays, fromObservations, fromPolicies}, m.From), `"features_from" is "given", "observations" or "policies"`},
		{(m.From == fromArrays) == (len(m.Features) > 0), `"features" are the names of the columns of features.npy, and go with "features_from": "given"`},
		{len(m.Rollouts) >= 2 && len(m.Rollouts) <= maxRollouts, fmt.Sprintf(`"rollouts" lists 2 to %d rollouts`, maxRollouts)},
	} {
		if !c.ok {
			return refused("manifest", "%s: %s", ManifestName, c.says)
		}
	}
	if err := m.checkRows(); err != nil {
		return err
	}
	return m.checkNames()
}

// checkRows checks the rows of a data set in which rollouts begin.
func (m *manifest) checkRows() error {
	last := -1
	for _, r := range m.Rollouts {
		switch {
		case (r.Row == nil) != (m.Rollouts[0].Row == nil):
			return refused("manifest", "%s: %s has \"row\", or has it not, other than the first rollout", ManifestName, r.Name)
		case r.Row != nil && (*r.Row <= last || *r.Row > maxRow):
			return refused("manifest", "%s: \"row\" of %s must be above that of the rollout before it, and 0 to %d", ManifestName, r.Name, maxRow)
		case r.Row != nil:
			last = *r.Row
		}
	}
	return nil
}

func (m *manifest) checkNames() error {
	seen, policies := map[string]bool{}, map[string]bool{}
	for _, r := range m.Rollouts {
		switch {
		case !fileName.MatchString(r.Name) || seen[r.Name]:
			return refused("manifest", "%s: the name of a rollout is that of its folder or files, 1 to 64 letters, digits, and . _ -, and no other's: %.80q", ManifestName, r.Name)
		case foreign.CheckActed(r.Acted) != nil:
			return refused("manifest", "%s: %s: %v", ManifestName, r.Name, foreign.CheckActed(r.Acted))
		case r.Happening.Check() != nil:
			return refused("manifest", "%s: %s: %v", ManifestName, r.Name, r.Happening.Check())
		case (r.Policy == "") != (m.Rollouts[0].Policy == ""):
			return refused("manifest", "%s: %s names a policy, or does not, other than the first rollout", ManifestName, r.Name)
		}
		seen[r.Name], policies[r.Policy] = true, true
	}
	switch n := len(policies); {
	case n > maxPolicies:
		return refused("limit", "%s: %d policies are named; at most %d can be", ManifestName, n, maxPolicies)
	case !policies[""] && n < 2:
		return refused("manifest", "%s: all rollouts are of one policy: name two or more, or leave out \"policy\"", ManifestName)
	}
	return nil
}

// noPolicy stands in the place of the policy of a rollout that counts for none.
const noPolicy = -1

// policies returns the names of the policies in the order of their first rollouts, and of which
// of them each rollout is. Without names each rollout is of its own; where there are more than
// most, as many that are spread evenly are, and the others count for none.
//
// named returns the policy of one of the n rollouts, empty where it is not named, and its own name.
func policies(n, most int, named func(i int) (policy, rollout string)) (names []string, of []int) {
	of = make([]int, 0, n)
	for i := range n {
		name, rollout := named(i)
		if name == "" && n > most && (i+1)*most/n == i*most/n {
			of = append(of, noPolicy)
			continue
		}
		if name == "" {
			name = rollout
		}
		k := slices.Index(names, name)
		if k < 0 {
			k = len(names)
			names = append(names, name)
		}
		of = append(of, k)
	}
	return names, of
}
