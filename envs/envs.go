// Package envs is the catalogue of environments. A new environment is one
// folder here and one row in Catalogue.
package envs

import (
	"math/rand/v2"
	"strings"

	"tiebreak/envs/chain"
	"tiebreak/envs/driver"
	"tiebreak/envs/gridworld"
	"tiebreak/envs/junction"
	"tiebreak/internal/idrl"
)

// An Entry is one environment of the catalogue.
type Entry struct {
	ID          string // EnvSpec.ID of what New returns
	Title       string // for people
	Description string // for people, one or two sentences

	// New returns a new instance whose layout is drawn from the stream layout.
	// Equal streams give equal instances. An environment without a random
	// layout does not touch the stream.
	New func(layout *rand.Rand) idrl.Environment
}

// Catalogue returns every environment, the default first.
func Catalogue() []Entry {
	return []Entry{
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

// Find returns the entry with the given id, or an error of kind Invalid that
// lists the ids there are.
func Find(id string) (Entry, error) {
	entries := Catalogue()
	known := make([]string, len(entries))
	for i, e := range entries {
		if e.ID == id {
			return e, nil
		}
		known[i] = e.ID
	}
	return Entry{}, idrl.Errorf(idrl.Invalid, "unknown environment %q; use one of %s", id, strings.Join(known, ", "))
}
