package experiment

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
)

// Values of Config.
const (
	Corrected = "corrected" // what the paper's text and textbooks say
	Paper     = "paper"     // what the authors' code computes

	States      = "state"
	Comparisons = "comparison"
	Clips       = "clip" // ratings of clips

	Model  = "paper"  // the expert that the paper's observation model describes
	People = "people" // an expert as noisy as a person

	Text = "text" // walls, candidate queries: as the paper's text says
	Code = "code" // as the authors' code builds them
)

// Config says what to run.
type Config struct {
	Figure     string   // required; the name of one of Figures
	Queries    string   // States, Comparisons or Clips; "" for the figure's first
	Mode       string   // Corrected (default) or Paper
	Walls      string   // of gridworlds: Text or Code; "" for what Mode says
	Candidates string   // candidate queries: Text (all states or pairs) or Code; "" for what Mode says
	Expert     string   // Model (default) or People
	Answers    int      // of a run, up to 1,000,000; 0 for the figure's own number
	Methods    []string // names of acquisition functions; empty for the figure's own
	Seeds      int      // required, 1 to 1,000,000
	FirstSeed  uint64   // the seeds are FirstSeed, FirstSeed+1, …
	Right      float64  `json:",omitempty"` // share of random pairs that People are right about, in (½, 1); 0: stats.UsualRight
	Schedule   string   `json:",omitempty"` // one of Schedules(); "" for the paper's
	ClipsFrom  string   `json:",omitempty"` // idrl.MadeClips: a session also makes clips for its questions; "": it does not
	Measure    int      `json:",omitempty"` // answers from one measurement to the next; 0 for the figure's own number

	Task *Task `json:"-"` // a user's own; Figure is then not looked at
}

// figure returns the figure that c is about.
func (c Config) figure() (Figure, error) {
	if c.Task != nil {
		return c.Task.figure(), nil
	}
	return FindFigure(c.Figure)
}

// An Experiment is a Config that has been found to make sense, with its
// defaults filled in.
type Experiment struct {
	Config
	Title string // "Chain, rewards of states"
	Unit  string // of the regret
}

// Name names the experiment but for its seeds, methods and answers, in a form
// that suits a file: "chain-state-paper".
func (e Experiment) Name() string {
	if e.Task != nil {
		return "task-" + e.Task.slug() + e.Task.sum
	}
	parts := []string{e.Figure, e.Queries, e.Mode}
	def := e.Mode == Corrected
	if e.Right != 0 {
		parts = append(parts, "right-"+strconv.FormatFloat(100*e.Right, 'g', 4, 64))
	}
	if e.Figure == "gridworld" && (e.Walls == Text) != def {
		parts = append(parts, "walls-"+e.Walls)
	}
	if (e.Candidates == Text) != def {
		parts = append(parts, "candidates-"+e.Candidates)
	}
	if e.Schedule != "" {
		parts = append(parts, e.Schedule)
	}
	if e.ClipsFrom != "" {
		parts = append(parts, e.ClipsFrom)
	}
	return strings.Join(parts, "-")
}

// kind returns the kind of the queries under the schedule of a session.
func (e Experiment) kind() idrl.QueryKind {
	if e.Queries == Clips {
		return idrl.RateClip
	}
	return idrl.CompareClips
}

// Seed returns the i-th seed.
func (e Experiment) Seed(i int) uint64 { return e.FirstSeed + uint64(i) }

// Counts returns the numbers of answers after which a run is measured: none, every
// Measure of them, and all.
func (e Experiment) Counts() (out []int) {
	for n := 0; n < e.Answers; n += max(1, e.Measure) {
		out = append(out, n)
	}
	return append(out, e.Answers)
}

// Method returns the acquisition function of a method's name. It panics if there is none,
// which Validate has ruled out.
func (e Experiment) Method(name string) acquisition.Method {
	name, _, _ = strings.Cut(name, ":")
	m, err := acquisition.Find(name)
	if err != nil {
		panic(err)
	}
	return m
}

// maxCount is the largest number of seeds and of answers, beyond all patience.
const maxCount = 1_000_000

// Validate returns the experiment that c asks for, or an error of kind Invalid,
// before any computation, that says what to change.
func (c Config) Validate() (Experiment, error) {
	f, err := c.figure()
	if err != nil {
		return Experiment{}, err
	}
	if c.Schedule == PaperSchedule {
		c.Schedule = ""
	}
	if c.ClipsFrom == idrl.FoundClips {
		c.ClipsFrom = ""
	}
	if f, err = f.under(c.Schedule); err != nil {
		return Experiment{}, err
	}
	c.Figure = f.Name
	c.Queries = cmp.Or(c.Queries, f.Queries[0])
	c.Mode = cmp.Or(c.Mode, Corrected)
	variant := Text
	if c.Mode == Paper {
		variant = Code
	}
	c.Walls = cmp.Or(c.Walls, variant)
	c.Candidates = cmp.Or(c.Candidates, variant)
	c.Expert = cmp.Or(c.Expert, f.experts(c.Mode)[0])
	if err := c.variants(f); err != nil {
		return Experiment{}, err
	}
	if c.Right == 0 && c.perceives() {
		c.Right = stats.UsualRight
	}
	if c.Answers == 0 {
		c.Answers = f.Answers[c.Queries]
	}
	if min(c.Seeds, c.Answers) < 1 || max(c.Seeds, c.Answers) > maxCount {
		return Experiment{}, idrl.Errorf(idrl.Invalid, "seeds and answers must be 1 to %d; got %d and %d", maxCount, c.Seeds, c.Answers)
	}
	if c.Measure < 0 || c.Measure > maxCount {
		return Experiment{}, idrl.Errorf(idrl.Invalid, "a run is measured after every so many answers, 1 to %d; got %d", maxCount, c.Measure)
	}
	c.Measure = cmp.Or(c.Measure, f.Measure, 1)
	if len(c.Methods) == 0 {
		c.Methods = f.Methods(c.Queries)
	}
	if err := c.methods(f); err != nil {
		return Experiment{}, err
	}
	return Experiment{Config: c, Title: f.title(c), Unit: f.Unit}, nil
}

// variants checks the values that come from short lists.
func (c Config) variants(f Figure) error {
	for _, v := range []struct {
		what, got string
		known     []string
	}{
		{"query type of " + f.Name, c.Queries, f.Queries},
		{"mode of " + f.Name, c.Mode, f.modes()},
		{"expert of " + f.Name + " in mode " + c.Mode, c.Expert, f.experts(c.Mode)},
		{"variant of the walls", c.Walls, []string{Text, Code}},
		{"variant of the candidate queries", c.Candidates, []string{Text, Code}},
	} {
		if !slices.Contains(v.known, v.got) {
			return idrl.Errorf(idrl.Invalid, "unknown %s %q; known: %s", v.what, v.got, strings.Join(v.known, ", "))
		}
	}
	switch {
	case c.ClipsFrom != "" && c.ClipsFrom != idrl.MadeClips:
		return idrl.Errorf(idrl.Invalid, "clips are %s or %s; got %q", idrl.FoundClips, idrl.MadeClips, c.ClipsFrom)
	case c.ClipsFrom != "" && c.Schedule == "":
		return idrl.Errorf(idrl.Invalid, "clips are made in sessions: choose a schedule of one of %s", strings.Join(Schedules()[1:], ", "))
	}
	switch {
	case c.Right == 0:
	case !c.perceives():
		return idrl.Errorf(idrl.Invalid, "how often the expert is right can be chosen where it is as noisy as people: expert %s, or the schedule of a session", People)
	case !(c.Right > 0.5 && c.Right < 1):
		return idrl.Errorf(idrl.Invalid, "the share of random pairs that people are right about must be between 0.5 and 1; got %v", c.Right)
	}
	return nil
}

// perceives reports whether the expert's noise is that with which a person is right about a share of
// random pairs.
func (c Config) perceives() bool { return c.Expert == People && c.Task == nil && c.Figure != tiesName }

// methods checks that every method is known, named once, and fits the queries.
func (c Config) methods(f Figure) error {
	for i, name := range c.Methods {
		m, err := f.find(name)
		if err != nil {
			return err
		}
		if slices.Contains(c.Methods[:i], name) {
			return idrl.Errorf(idrl.Invalid, "method %q is named twice", name)
		}
		if err := f.fits(m, c.Queries); err != nil {
			return err
		}
		if c.Mode == Paper && m.Paper == acquisition.NotInPaper {
			return idrl.Errorf(idrl.Invalid, "method %q is not in the paper: it runs in mode %s", name, Corrected)
		}
	}
	return nil
}

// find returns the acquisition function of a method's name, which in figures with
// variants of it ends in one: "idrl:interval".
func (f Figure) find(name string) (acquisition.Method, error) {
	base, variant, _ := strings.Cut(name, ":")
	v := f.variants
	switch {
	case !v.has(base) && variant != "":
		return acquisition.Method{}, idrl.Errorf(idrl.Invalid, "figure %s has no variants of method %q; name it alone", f.Name, base)
	case v.has(base) && !slices.Contains(v.names, variant):
		return acquisition.Method{}, idrl.Errorf(idrl.Invalid, "method %q of figure %s must end in %s, such as %s:%s; known: %s",
			name, f.Name, v.what, base, v.names[0], strings.Join(v.names, ", "))
	}
	return acquisition.Find(base)
}
