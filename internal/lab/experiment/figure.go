package experiment

import (
	"context"
	"slices"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
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
	Long    bool           // it takes hours and not minutes
	Cosine  bool           // beside the regret one looks at the cosine, and not at the error of the rewards
	Measure int            // answers from one measurement to the next; 0: 1
	live    bool           // a session can be about its environments

	kinds    map[string][]idrl.QueryKind // by query type
	rows     []string                    // names of its methods; nil: the paper's that fit
	variants variantSet
	robot    func() robot // that it needs a simulator of; nil: none
	build    func(ctx context.Context, e Experiment, o Options) (maker, error)
}

// tiesName names the figure about the answer "equal", whose expert has bands of their own.
const tiesName = "ties"

// CorridorName names the figures of the corridors together on a command line.
const CorridorName = "corridor"

// A variantSet is variants of methods that a figure compares: "idrl:interval" is one.
type variantSet struct {
	names []string // nil: there are none
	of    string   // the method that has them; "": all have
	what  string   // "a treatment of 'equal'"
}

// has reports whether there are variants of a method.
func (v variantSet) has(method string) bool { return v.names != nil && (v.of == "" || v.of == method) }

// Figures returns every figure.
func Figures() []Figure {
	small := []string{States, Comparisons}
	kinds := map[string][]idrl.QueryKind{States: {idrl.RateState}, Comparisons: {idrl.CompareStates}}
	counts := map[string]int{States: 50, Comparisons: 150}
	discounted := "discounted return"
	return []Figure{
		{Name: "chain", Title: "Chain", Unit: discounted, Queries: small, Answers: counts, kinds: kinds, live: true, build: chainInstances},
		{Name: "junction", Title: "Junction", Unit: discounted, Queries: small, Answers: counts, kinds: kinds, live: true, build: junctionInstances},
		{Name: "gridworld", Title: "Gridworld", Unit: discounted, Queries: small, Answers: counts, kinds: kinds, live: true, build: gridworldInstances},
		{
			Name: "driver", Title: "Driver", Unit: "return of 50 steps", Queries: []string{Comparisons}, Whole: true, Cosine: true,
			Answers: map[string]int{Comparisons: 100}, kinds: map[string][]idrl.QueryKind{Comparisons: {idrl.CompareClips}}, live: true, build: driverInstances,
		},
		corridorFigure("swimmer-corridor", "Swimmer-Corridor", swimmer),
		corridorFigure("ant-corridor", "Ant-Corridor", ant),
		{
			Name: "garnet", Title: "Garnet", Unit: discounted, Queries: small, Extra: true,
			Answers: map[string]int{States: 60, Comparisons: 150}, kinds: kinds, live: true, build: garnetInstances,
		},
		{
			Name: tiesName, Title: "Gridworld where people may find both equal", Unit: discounted, Queries: []string{Comparisons}, Extra: true,
			Answers: map[string]int{Comparisons: 150}, kinds: kinds, build: tiesInstances,
			rows: tieRows(), variants: variantSet{names: treatments(), what: "a treatment of 'equal'"},
		},
	}
}

// corridorFigure returns the figure of a robot's corridor.
func corridorFigure(name, title string, of func() robot) Figure {
	return Figure{
		Name: name, Title: title, Unit: "return, in metres", Queries: []string{Clips}, Answers: map[string]int{Clips: 20},
		Long: true, Cosine: true, Measure: 2, kinds: map[string][]idrl.QueryKind{Clips: {idrl.RateClip}},
		rows: corridorRows(), variants: variantSet{names: corridorVariants(), of: "idrl", what: "its number of updates of the candidate policies"},
		robot: of, build: corridorInstances(of()),
	}
}

// Available returns nil if this program can run the figure, or an error of kind
// Unavailable that says what is missing.
func (f Figure) Available() error {
	if f.robot == nil {
		return nil
	}
	if err := f.robot().check(); err != nil {
		return idrl.Errorf(idrl.Unavailable, "%s cannot be run: %v", f.Title, err)
	}
	return nil
}

// Robot reports whether the figure is about a robot, and needs MuJoCo.
func (f Figure) Robot() bool { return f.robot != nil }

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
	return Figure{}, idrl.Errorf(idrl.Invalid, "unknown figure %q; known: %s, all, %s, %s", name, strings.Join(names, ", "), CorridorName, SuiteName)
}

// liveAnswers is the number of answers of a run under the schedule of a session.
const liveAnswers = 30

// crowdAnswers is the same with several annotators.
const crowdAnswers = 60

// under returns the figure as it is under a schedule. Under that of a session queries
// are about clips, and answers are as noisy as people's. It returns an error of kind
// Invalid if the schedule is unknown or the figure cannot be a session.
func (f Figure) under(schedule string) (Figure, error) {
	switch {
	case schedule == "":
		return f, nil
	case !slices.Contains(Schedules(), schedule):
		return f, idrl.Errorf(idrl.Invalid, "unknown schedule %q; known: %s", schedule, strings.Join(Schedules(), ", "))
	case !f.live:
		return f, idrl.Errorf(idrl.Invalid, "figure %s cannot be run under the schedule of a session", f.Name)
	}
	f.Extra, f.Whole, f.Queries = true, false, []string{Comparisons, Clips}
	f.Answers = map[string]int{Comparisons: liveAnswers, Clips: liveAnswers}
	f.kinds = map[string][]idrl.QueryKind{Comparisons: {idrl.CompareClips}, Clips: {idrl.RateClip}}
	f.rows = []string{"idrl", "lvar", "uniform"}
	if schedule == CrowdSchedule {
		f.Answers = map[string]int{Comparisons: crowdAnswers, Clips: crowdAnswers}
		f.rows, f.variants = crowdRows(), variantSet{names: crowdNames(), what: "who annotates"}
	}
	return f, nil
}

// experts returns the experts that answer in a mode.
func (f Figure) experts(mode string) []string {
	switch {
	case f.Extra:
		return []string{People}
	case mode == Paper || f.Whole || f.Long:
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
	if f.rows != nil {
		return slices.Clone(f.rows)
	}
	least := acquisition.InFigures
	if f.Whole {
		least = acquisition.InWhole
	}
	for _, m := range acquisition.Methods() {
		if m.Paper >= least && f.fits(m, queries) == nil {
			out = append(out, m.Name)
		}
	}
	return out
}

func (f Figure) title(c Config) string {
	switch {
	case c.Queries == own:
		return f.Title
	case c.Schedule != "" && c.Queries == Clips:
		return f.Title + ", ratings of clips, schedule of a session (" + c.Schedule + ")"
	case c.Schedule != "":
		return f.Title + ", comparisons of clips, schedule of a session (" + c.Schedule + ")"
	case c.Queries == States:
		return f.Title + ", rewards of states"
	case c.Queries == Clips:
		return f.Title + ", ratings of clips"
	case f.Whole:
		return f.Title + ", comparisons of trajectories"
	default:
		return f.Title + ", comparisons of states"
	}
}
