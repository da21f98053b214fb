package acquisition

import (
	"slices"
	"strings"

	"tiebreak/internal/idrl"
)

// A Method is an acquisition function with its name, its needs and its texts for people. It
// is data: no other part of the program decides by the name of a method.
type Method struct {
	Name  string // "idrl"
	Title string // "IDRL"
	About string // one line for people who compare methods

	// Texts of the pages of sessions that use it.
	Hint   string // what it asks, for the form of a new session
	Why    string // why these questions, for researchers
	NoPair string // shown in place of the two policies that a question compares, if it has none

	Needs Needs
	Paper Paper // whether it is in the paper
	Live  bool  // sessions with people may use it

	// New returns the function; paper asks for what the authors' code computes
	// where that differs from the text.
	New func(paper bool) Function

	// refuses says why the method cannot value questions of a kind, where whole
	// says that clips are whole trajectories of known policies; nil or "" where
	// it can.
	refuses func(kind idrl.QueryKind, whole bool) string
}

// Needs says what a method must be given.
type Needs struct {
	Candidates Candidates
	Archive    bool // it uses every known policy, not only the present candidates

	// Solving says that it values queries by the posterior from which policies are solved,
	// in environments in which the authors' code keeps two posteriors. Source:
	// docs/paper-code.md, sections 2 and 4.
	Solving bool

	// AllQueries says that it values all candidate queries, where other methods are given a
	// sample of them. SolvesEach says that it solves for a policy for each of them, so that
	// it is given fewer.
	AllQueries, SolvesEach bool
}

// Candidates says which candidate policies a method uses.
type Candidates int

// Sets of candidate policies.
const (
	NoCandidates   Candidates = iota // none
	Samples                          // the paper's: Thompson samples
	SamplesAndMean                   // those and the policy for the mean
	Duel                             // the policy for the mean and the first Thompson sample that differs from it
)

// Mean reports whether the policy for the posterior mean is among the candidates.
func (c Candidates) Mean() bool { return c == SamplesAndMean || c == Duel }

// Paper says where in the paper a method is.
type Paper int

// Places in the paper.
const (
	NotInPaper   Paper = iota
	Mentioned          // by the text or the authors' code, in no figure
	InWhole            // in the figures about whole trajectories
	InFigures          // in all figures whose queries it can value
	ThePapersOwn       // likewise, and the paper's own method
)

// Methods returns every method, the paper's first.
func Methods() []Method {
	return slices.Concat(papers(), papersOthers(), byLeader(), byGain())
}

// papers are the methods that the paper compares and sessions offer.
func papers() []Method {
	return []Method{
		{
			Name: "idrl", Title: "IDRL", About: "compares the two candidate policies whose difference in return is most uncertain",
			Hint:   "Compares the two candidate policies whose difference in return is most uncertain. The paper’s method.",
			Why:    "Each question compares two candidates. Expected information is about their difference in return.",
			NoPair: "drawn at random",
			Needs:  Needs{Candidates: Samples}, Paper: ThePapersOwn, Live: true,
			New: func(paper bool) Function { return IDRL{Paper: paper} },
		},
		{
			Name: "uniform", Title: "Uniform", About: "asks at random",
			Hint:   "Asks at random. The baseline.",
			Why:    "Questions are drawn at random.",
			NoPair: "drawn at random",
			Needs:  Needs{AllQueries: true}, Paper: InFigures, Live: true,
			New: func(bool) Function { return Uniform{} },
		},
		{
			Name: "igr", Title: "IGR", About: "asks the question with the most information about the whole reward",
			Hint:   "Asks the question with the most information about the whole reward, even where no policy depends on it.",
			Why:    "Each question has the most information about the whole reward.",
			NoPair: "the reward",
			Paper:  InFigures, Live: true,
			New: func(paper bool) Function { return IGR{Paper: paper} },
		},
	}
}

// papersOthers are the other methods that the paper compares or mentions.
func papersOthers() []Method {
	return []Method{
		{
			Name: "eir", Title: "EIR", About: "asks where the rating may exceed the best one so far (expected improvement)",
			Paper: InFigures,
			New:   func(paper bool) Function { return EIR{Paper: paper} }, refuses: unlessRatings,
		},
		{
			Name: "pi", Title: "PI", About: "asks where the rating most probably exceeds the best one so far; in the authors' code, not in the paper",
			Paper: Mentioned,
			New:   func(paper bool) Function { return PI{Paper: paper} }, refuses: unlessRatings,
		},
		{
			Name: "epd", Title: "EPD", About: "asks where the answer would change the policy most; one solve per question",
			Needs: Needs{Solving: true, SolvesEach: true}, Paper: InFigures,
			New: func(paper bool) Function { return EPD{Paper: paper} },
		},
		{
			Name: "mr", Title: "MR", About: "compares probable policies that have low returns under each other's reward",
			Needs: Needs{Solving: true, AllQueries: true}, Paper: InFigures,
			New: func(bool) Function { return MR{} }, refuses: unlessWhole,
		},
		{
			Name: "mr-simple", Title: "MR, simple model", About: "MR with the posterior of its authors: each answer makes the rewards that agree with it more probable",
			Needs: Needs{AllQueries: true}, Paper: Mentioned,
			New: func(bool) Function { return MR{Simple: true} }, refuses: unlessWhole,
		},
		{
			Name: "evr", Title: "EVR", About: "asks the comparison whose outcome is most uncertain",
			Hint:   "Asks the comparison whose outcome is most uncertain. For comparisons only.",
			Why:    "Each question was the comparison whose outcome was most uncertain.",
			NoPair: "the two shown",
			Paper:  InWhole, Live: true,
			New: func(paper bool) Function { return EVR{Paper: paper} }, refuses: unlessComparisons,
		},
	}
}

// known are the needs of methods that use every known policy.
var known = Needs{Candidates: SamplesAndMean, Archive: true}

// byLeader are methods that compare the best policy so far with the others (docs/methods.md, sections 1.3 and 1.4).
func byLeader() []Method {
	return []Method{
		{
			Name: "lvar", Title: "LVAR", About: "compares the best policy so far with all that may be better, weighted by their probability of being best",
			Hint:   "Compares the best policy so far with all others, weighted by their probability of being best. The default.",
			Why:    "Each question compares the best policy so far with those that might be better. The table names the rival about which the answer gives the most information. The expected information is about all rivals.",
			NoPair: "drawn at random",
			Needs:  known, Live: true,
			New: func(bool) Function { return LVAR{} },
		},
		{
			Name: "tt", Title: "TT", About: "compares the best policy so far with its strongest challenger",
			Hint:   "Compares the best policy so far with its strongest challenger.",
			Why:    "Each question compares the best policy so far with its strongest challenger. Expected information is about their difference in return.",
			NoPair: "drawn at random",
			Needs:  known, Live: true,
			New: func(bool) Function { return TT{} },
		},
		{
			Name: "err", Title: "ERR", About: "lowers a bound on the expected regret of the best policy so far",
			Hint:   "Asks the question that lowers a bound on the expected regret most.",
			Why:    "Each question is expected to lower a bound on the regret most.",
			NoPair: "leader – all others",
			Needs:  known, Live: true,
			New: func(bool) Function { return ERR{} },
		},
	}
}

// byGain are methods that value queries by the expected gain of an answer, and one that needs few solves (docs/methods.md, sections 1.3 and 1.4).
func byGain() []Method {
	return []Method{
		{
			Name: "kg", Title: "KG", About: "knowledge gradient: the expected gain in the best policy's return from one answer",
			Needs: known,
			New:   func(bool) Function { return KG{} },
		},
		{
			Name: "kg-star", Title: "KG*", About: "knowledge gradient from one or several identical answers, per answer",
			Hint:   "Knowledge gradient: asks where one answer, or several identical ones, improves the best policy most.",
			Why:    "Each question has the largest expected gain in the best policy’s return.",
			NoPair: "leader – all others",
			Needs:  known, Live: true,
			New: func(bool) Function { return KG{Star: true} },
		},
		{
			Name: "eubo", Title: "EUBO", About: "compares the two policies of which the better one has the highest expected return",
			New: func(bool) Function { return EUBO{} }, refuses: unlessWhole,
		},
		{
			Name: "vids", Title: "V-IDS", About: "asks the question with the most information about which policy is best",
			Hint:   "Asks the question with the most information about which policy is best.",
			Why:    "Each question has the most information about which known policy is best.",
			NoPair: "all policies",
			Needs:  known, Live: true,
			New: func(bool) Function { return VIDS{} },
		},
		{
			Name: "leader", Title: "Leader against one", About: "compares the best candidate with one Thompson policy; needs the fewest solves",
			Hint:   "Compares the best candidate with one that may be better. It needs the fewest candidates.",
			Why:    "Each question compares the best candidate with one other. Expected information is about their difference in return.",
			NoPair: "drawn at random",
			Needs:  Needs{Candidates: Duel}, Live: true,
			New: func(bool) Function { return Leader{} },
		},
	}
}

func unlessRatings(kind idrl.QueryKind, _ bool) string {
	if kind.Comparison() {
		return "it needs ratings, because it asks where a rating may exceed the best one; ask for ratings of clips or states"
	}
	return ""
}

func unlessComparisons(kind idrl.QueryKind, _ bool) string {
	if !kind.Comparison() {
		return "it needs questions with two answers; ask for comparisons of clips or states"
	}
	return ""
}

func unlessWhole(kind idrl.QueryKind, whole bool) string {
	switch {
	case kind.Still():
		return "it compares policies by their whole trajectories, and these questions are about states"
	case !kind.Comparison():
		return "it compares the whole trajectories of two policies, and these questions ask for ratings"
	case !whole:
		return "it compares the whole trajectories of two policies, and these clips are parts of trajectories"
	}
	return ""
}

// Title returns the title of a method. One that is no longer offered is shown by its name.
func Title(name string) string {
	m, err := Find(name)
	if err != nil {
		return name
	}
	return m.Title
}

// Find returns the method of a name, or an error of kind Invalid that lists the
// known ones.
func Find(name string) (Method, error) {
	var names []string
	for _, m := range Methods() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Method{}, idrl.Errorf(idrl.Invalid, "unknown acquisition function %q; known: %s", name, strings.Join(names, ", "))
}

// Fits returns an error of kind Invalid if m cannot value questions of a kind.
// whole says that clips are whole trajectories of known policies.
func (m Method) Fits(kind idrl.QueryKind, whole bool) error {
	if m.refuses == nil {
		return nil
	}
	if why := m.refuses(kind.Made(), whole); why != "" {
		return idrl.Errorf(idrl.Invalid, "%s does not apply here: %s", m.Title, why)
	}
	return nil
}

// Live returns the methods that sessions with people may use: first the default
// (docs/adr/0011), and then the others in their order.
func Live() []Method {
	var out []Method
	for _, m := range Methods() {
		switch {
		case !m.Live:
		case m.Name == idrl.DefaultAcquisition:
			out = slices.Insert(out, 0, m)
		default:
			out = append(out, m)
		}
	}
	return out
}

// LiveFor returns those of Live that can value questions of a kind, which may be
// about parts of trajectories.
func LiveFor(kind idrl.QueryKind) []Method {
	return slices.DeleteFunc(Live(), func(m Method) bool { return m.Fits(kind, false) != nil })
}

// Names returns the names of methods.
func Names(methods []Method) []string {
	out := make([]string, len(methods))
	for i, m := range methods {
		out[i] = m.Name
	}
	return out
}

// Controls returns the methods of the session's control strategies, in their order. Its errors
// are those of ForSession.
func Controls(spec idrl.SessionSpec) (out []Method, err error) {
	for _, c := range spec.Controls {
		spec.Acquisition = c.Strategy
		m, err := ForSession(spec)
		if err != nil {
			return nil, idrl.Errorf(idrl.Invalid, "condition: %v", err)
		}
		out = append(out, m)
	}
	return out, nil
}

// ForSession returns the method that a session asks for, or an error of kind Invalid
// that lists those that can choose its questions.
func ForSession(spec idrl.SessionSpec) (Method, error) {
	find := func(list []Method) int {
		return slices.IndexFunc(list, func(m Method) bool { return m.Name == spec.Acquisition })
	}
	if i := find(Live()); i < 0 {
		return Method{}, idrl.Errorf(idrl.Invalid, "unknown acquisition function %q; known: %s", spec.Acquisition, strings.Join(Names(Live()), ", "))
	}
	fit := LiveFor(spec.Kind)
	if i := find(fit); i >= 0 {
		return fit[i], nil
	}
	return Method{}, idrl.Errorf(idrl.Invalid, "acquisition function %q cannot choose questions of type %q; those that can: %s",
		spec.Acquisition, spec.Kind, strings.Join(Names(fit), ", "))
}
