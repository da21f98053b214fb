package idrl

// RolloutsEnv is SessionSpec.Env of sessions over clips that programs upload: nothing is simulated,
// and no policy is trained. Features and PriorScale describe their features.
const RolloutsEnv = "rollouts"

// Limits of sessions over uploaded clips.
const (
	MaxUploads       = 500 // clips of a session
	MaxUploadedNames = 64  // features
)

// Acted says of a recorded trajectory which policy acted, in what task, and from which start. Each may be empty. Annotators may see the task in an
// arena, and nothing else of it.
type Acted struct {
	Policy string `json:"policy,omitempty"`
	Task   string `json:"task,omitempty"`  // what the policy was to do
	Start  string `json:"start,omitempty"` // trajectories of one task with equal ones began alike: a seed, or the id of a scene
}

// Uploads reports whether the clips of the session are uploaded.
func (s SessionSpec) Uploads() bool { return s.Env == RolloutsEnv }

// validateUploads returns an error of kind Invalid if the settings of a session over uploaded clips
// are not possible.
func (s SessionSpec) validateUploads() error {
	if !s.Uploads() {
		return nil
	}
	seen := map[string]bool{}
	for _, name := range s.Features {
		if name == "" || len(name) > 64 || !IsLine(name) || seen[name] {
			return Errorf(Invalid, "the name of a feature must be one line of 1 to 64 bytes, and each another: %.80q", name)
		}
		seen[name] = true
	}
	switch {
	case len(s.Features) == 0 || len(s.Features) > MaxUploadedNames:
		return Errorf(Invalid, "a session over uploaded clips needs the names of 1 to %d features; got %d", MaxUploadedNames, len(s.Features))
	case s.PriorScale != nil && len(s.PriorScale) != len(s.Features):
		return Errorf(Invalid, "the prior has %d scales for %d features", len(s.PriorScale), len(s.Features))
	case s.Kind != CompareClips && s.Kind.Asked() != RateClip:
		return Errorf(Invalid, "a session over uploaded clips asks questions of type %q, %q or %q, not %q", CompareClips, RateClip, JudgeClip, s.Kind)
	case s.Model != FeaturesModel:
		return Errorf(Invalid, "a session over uploaded clips has the model %q", FeaturesModel)
	case s.Prior != LinearPrior:
		return Errorf(Invalid, "a session over uploaded clips has the prior %q", LinearPrior)
	case s.AdoptAfter != 0:
		return Errorf(Invalid, "a session over uploaded clips trains no policies: adopt-after must be 0")
	}
	return nil
}
