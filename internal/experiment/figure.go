package experiment

import (
	"context"
	"strings"

	"tiebreak/internal/acquisition"
	"tiebreak/internal/idrl"
)

// A Figure is one of the paper's experiments, in all its variants.
type Figure struct {
	Name    string
	Title   string
	Unit    string         // of the regret
	Queries []string       // query types, the default first
	Whole   bool           // its clips are whole trajectories of known policies
	Answers map[string]int // of a run, by query type
	Extra   bool           // it is not in the paper

	kinds      map[string][]idrl.QueryKind // by query type
	treatments []string                    // of answers; methods are then named "idrl:interval"
	build      func(ctx context.Context, e Experiment, o Options) (maker, error)
}

// Figures returns every figure.
func Figures() []Figure {
	small := []string{States, Comparisons}
	kinds := map[string][]idrl.QueryKind{States: {idrl.RateState}, Comparisons: {idrl.CompareStates}}
	counts := map[string]int{States: 50, Comparisons: 150}
	discounted := "discounted return"
	return []Figure{
		{Name: "chain", Title: "Chain", Unit: discounted, Queries: small, Answers: counts, kinds: kinds, build: chainWorlds},
		{Name: "junction", Title: "Junction", Unit: discounted, Queries: small, Answers: counts, kinds: kinds, build: junctionWorlds},
		{Name: "gridworld", Title: "Gridworld", Unit: discounted, Queries: small, Answers: counts, kinds: kinds, build: gridworldWorlds},
		{
			Name: "driver", Title: "Driver", Unit: "return of 50 steps", Queries: []string{Comparisons}, Whole: true,
			Answers: map[string]int{Comparisons: 100}, kinds: map[string][]idrl.QueryKind{Comparisons: {idrl.CompareClips}}, build: driverWorlds,
		},
		{
			Name: "garnet", Title: "Garnet", Unit: discounted, Queries: small, Extra: true,
			Answers: map[string]int{States: 60, Comparisons: 150}, kinds: kinds, build: garnetWorlds,
		},
		{
			Name: "ties", Title: "Gridworld where people may find both equal", Unit: discounted, Queries: []string{Comparisons}, Extra: true,
			Answers: map[string]int{Comparisons: 150}, kinds: kinds, build: tiesWorlds, treatments: treatments(),
		},
	}
}

// FindFigure returns the figure of a name, or an error of kind Invalid that
// lists the names there are.
func FindFigure(name string) (Figure, error) {
	var names []string
	for _, f := range Figures() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Figure{}, idrl.Errorf(idrl.Invalid, "unknown figure %q; known: %s, all, %s", name, strings.Join(names, ", "), SuiteName)
}

// experts returns the experts that answer in a mode.
func (f Figure) experts(mode string) []string {
	switch {
	case f.Extra:
		return []string{People}
	case mode == Paper || f.Whole:
		return []string{Model}
	default:
		return []string{Model, People}
	}
}

// fits returns an error of kind Invalid if a method cannot value queries of a
// type.
func (f Figure) fits(m acquisition.Method, queries string) error {
	for _, kind := range f.kinds[queries] {
		if err := m.Fits(kind, f.Whole); err != nil {
			return err
		}
	}
	return nil
}

// modes returns the modes that the figure can be run in.
func (f Figure) modes() []string {
	if f.Extra {
		return []string{Corrected}
	}
	return []string{Corrected, Paper}
}

// Methods returns the names of the paper's methods that apply to queries of a
// type, or those of the figure.
func (f Figure) Methods(queries string) (out []string) {
	if f.treatments != nil {
		for _, t := range f.treatments {
			out = append(out, "idrl:"+t)
		}
		return out
	}
	for _, name := range published() {
		m, err := acquisition.Find(name)
		if err == nil && f.fits(m, queries) == nil && name != "mr-simple" && name != "pi" && (name != "evr" || f.Whole) {
			out = append(out, name)
		}
	}
	return out
}

// published returns the names of the methods that the paper speaks of.
func published() []string {
	return []string{"idrl", "uniform", "igr", "eir", "pi", "epd", "mr", "mr-simple", "evr"}
}

func (f Figure) title(c Config) string {
	switch {
	case c.Queries == own:
		return f.Title
	case c.Queries == States:
		return f.Title + ", rewards of states"
	case f.Whole:
		return f.Title + ", comparisons of trajectories"
	default:
		return f.Title + ", comparisons of states"
	}
}
