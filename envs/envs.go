package envs

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"tiebreak/envs/chain"
	"tiebreak/envs/driver"
	"tiebreak/envs/gridworld"
	"tiebreak/envs/junction"
	"tiebreak/envs/mujoco"
	"tiebreak/internal/data/library"
	"tiebreak/internal/data/outside"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// An Entry is one environment of the catalogue.
type Entry struct {
	ID          string // EnvSpec.ID of what New returns
	Title       string // for people
	Description string // for people, one or two sentences

	// New returns a new instance whose layout is drawn from the stream layout.
	// Equal streams give equal instances. An environment without a random
	// layout does not touch the stream. It must not be called if Unavailable is set.
	New func(layout *rand.Rand) idrl.Environment

	// Version identifies the content of the files of a user's model, or an outside
	// environment; empty for environments that come with the project.
	Version string

	// Library returns behaviours of the robot to show first, in that order; there may be
	// none. It may be nil. It returns an error of kind Invalid if the library does not fit
	// the model. It must not be called if Unavailable is set.
	Library func() ([]library.Behaviour, error)

	// LibraryKey returns the key that the library of the robot must have.
	LibraryKey func() (string, error)

	// LibraryPath is the file of the library of a user's model, which may not exist; empty
	// for environments that come with the project.
	LibraryPath string

	// Engine is the name and version of its physics engine, "MuJoCo 3.3.7"; empty without
	// one.
	Engine string

	// Uncaged says what the program of an outside environment can do because this machine lacks means to isolate it;
	// empty if it lacks none.
	Uncaged string

	// Unavailable says what this build or machine lacks to make the environment, as a
	// continuation of "environment "ant"": "needs MuJoCo: install …". It is nil if the
	// environment can be made.
	Unavailable error
}

// Ref names the entry in records: its id, and its version if it has one.
func (e Entry) Ref() string {
	if e.Version == "" {
		return e.ID
	}
	return e.ID + "@" + e.Version
}

// Outside reports whether the environment is run by a program of its own.
func (e Entry) Outside() bool { return strings.HasPrefix(e.ID, outside.IDPrefix) }

// A List is a catalogue.
type List []Entry

// Catalogue returns every environment that comes with the project, the default
// first, which is available.
func Catalogue() List { return append(builtin(), robots()...) }

// builtin returns the environments without physics.
func builtin() List {
	return List{
		{
			ID:    driver.ID,
			Title: "Driver",
			Description: "A car drives for five seconds on a three-lane road; " +
				"another car ahead of it changes lanes. Clips show the whole drive.",
			New: func(*rand.Rand) idrl.Environment { return driver.New() },
		},
		{
			ID:    gridworld.ID,
			Title: "Gridworld",
			Description: "An agent walks between walls on a 10×10 floor with twenty " +
				"objects of ten types. Every session has a floor of its own.",
			New: func(layout *rand.Rand) idrl.Environment {
				return gridworld.New(gridworld.Config{MinReachable: 50}, layout)
			},
		},
		{
			ID:    chain.ID,
			Title: "Chain",
			Description: "Twenty fields in a row. Through the first ten the agent is carried on; " +
				"from then on it chooses its way. Best for questions about states.",
			New: func(*rand.Rand) idrl.Environment { return chain.New(chain.Config{}) },
		},
		{
			ID:    junction.ID,
			Title: "Junction",
			Description: "A corridor of fifteen fields ends at a fork. The agent chooses a branch, " +
				"where it walks at random. Best for questions about states.",
			New: func(*rand.Rand) idrl.Environment { return junction.New(junction.Config{}) },
		},
		{
			ID:    gridworld.CodeID,
			Title: "Gridworld with many walls",
			Description: "A gridworld with the walls of the paper's code, which has " +
				"more of them than the paper's text.",
			New: func(layout *rand.Rand) idrl.Environment {
				return gridworld.New(gridworld.Config{ID: gridworld.CodeID, WallTosses: 2, MinReachable: 50}, layout)
			},
		},
	}
}

// robots returns the environments of MuJoCo.
func robots() (out List) {
	missing := mujoco.Unavailable()
	for _, l := range mujoco.Catalogue() {
		out = append(out, Entry{
			ID: l.ID, Title: l.Title, Description: l.Description, Unavailable: missing, Engine: engineName(),
			New:        func(*rand.Rand) idrl.Environment { return must(l.New()) },
			Library:    func() ([]library.Behaviour, error) { return mujoco.Library(l.ID) },
			LibraryKey: func() (string, error) { return mujoco.LibraryKey(l.ID) },
		})
	}
	return out
}

// engineName is Entry.Engine of robots.
func engineName() string {
	if mujoco.Version() == "" {
		return ""
	}
	return "MuJoCo " + mujoco.Version()
}

// Engine returns Entry.Engine of the environment with the given id or Ref, empty if there is
// no such environment.
func (l List) Engine(ref string) string {
	e, err := l.Find(ref)
	if err != nil {
		return ""
	}
	return e.Engine
}

// must returns an environment of an entry that is available.
func must(env *mujoco.Env, err error) idrl.Environment {
	if err != nil {
		panic(fmt.Sprintf("envs: %v", err))
	}
	return env
}

// Find returns the entry with the given id or Ref; for idrl.RolloutsEnv one without New. It
// returns an error of kind Invalid that lists the known ids if there is no such entry, or
// says why if it is not available or has another version.
func (l List) Find(ref string) (Entry, error) {
	if ref == idrl.RolloutsEnv {
		return Entry{ID: ref, Title: "Uploaded clips", Description: "Clips that programs upload."}, nil
	}
	id, version, _ := strings.Cut(ref, "@")
	i := slices.IndexFunc(l, func(e Entry) bool { return e.ID == id })
	switch {
	case i < 0 && strings.HasPrefix(id, outside.IDPrefix):
		return Entry{}, idrl.Errorf(idrl.Invalid, "environment %q is run by another program, whose description was not found; name the description file with --outside", ref)
	case i < 0 && strings.HasPrefix(id, recordings.IDPrefix):
		return Entry{}, idrl.Errorf(idrl.Invalid, "the rollouts %q are not in this data folder: import them ('tiebreak import --rollouts')", id)
	case i < 0 && (version != "" || strings.HasPrefix(id, customPrefix)):
		return Entry{}, idrl.Errorf(idrl.Invalid, "environment %q is a model of your own whose files were not found; name their folder with --models (own models found: %s)", ref, l.customIDs())
	case i < 0:
		return Entry{}, idrl.Errorf(idrl.Invalid, "unknown environment %q; use one of %s; a model of your own is called own-NAME, and its files are named with --models", id, l.Names())
	case l[i].Unavailable != nil:
		return Entry{}, idrl.Errorf(idrl.Invalid, "environment %q %v", id, l[i].Unavailable)
	case version != "" && version != l[i].Version && strings.HasPrefix(id, outside.IDPrefix):
		return Entry{}, idrl.Errorf(idrl.Invalid, "environment %q has changed: its program or its description is now version %s; restore version %s, or make a new session", id, l[i].Version, version)
	case version != "" && version != l[i].Version:
		return Entry{}, idrl.Errorf(idrl.Invalid, "the files of environment %q have changed: this is version %s; restore those of version %s, or make a new session", id, l[i].Version, version)
	}
	return l[i], nil
}

// customIDs lists the ids of a user's models on one line.
func (l List) customIDs() string {
	var ids []string
	for _, e := range l {
		if strings.HasPrefix(e.ID, customPrefix) {
			ids = append(ids, e.ID)
		}
	}
	return cmp.Or(strings.Join(ids, ", "), "none")
}

// Names lists the ids of the available entries on one line, and after them those
// that are not available, with the reasons: "driver, chain; not available: ant,
// hopper (needs MuJoCo: …)".
func (l List) Names() string {
	var available []string
	var reasons []string
	missing := map[string][]string{} // ids by reason
	for _, e := range l {
		if recordings.OfUpload(e.ID) {
			continue // for arenas alone
		}
		if e.Unavailable == nil {
			available = append(available, e.ID)
			continue
		}
		why := e.Unavailable.Error()
		if missing[why] == nil {
			reasons = append(reasons, why)
		}
		missing[why] = append(missing[why], e.ID)
	}
	line := strings.Join(available, ", ")
	for _, why := range reasons {
		line += fmt.Sprintf("; not available: %s (%s)", strings.Join(missing[why], ", "), why)
	}
	return line
}
