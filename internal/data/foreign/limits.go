package foreign

// Limits of what comes from other programs.
const (
	MaxObservation = 4096 // numbers of an observation
	MaxAction      = 64   // numbers of an action, or discrete actions
	MaxFeatures    = 64
	MaxSteps       = 10_000 // of an episode

	MaxTitle   = 80  // characters of a title, or of what questions about states ask about
	MaxAbout   = 400 // characters of a description
	MaxFeature = 64  // characters of the name of a feature
	maxPlay    = 1000

	maxShapes = 2000   // of a scene
	maxPoints = 10_000 // of all its shapes
	maxLabel  = 64     // characters of a text in it
)

// Bounds of the seconds of a step.
const (
	leastStep = 1e-6
	mostStep  = 3600
)

// DefaultMoment names the subject of questions about states, unless the environment names another.
const DefaultMoment = "this moment"
