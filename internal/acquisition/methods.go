package acquisition

import (
	"strings"

	"tiebreak/internal/idrl"
)

// A Method is an acquisition function by its name, with what can be said of it.
type Method struct {
	Name    string // "idrl"
	Title   string // "IDRL"
	About   string // one line for people
	Archive bool   // it looks at every policy solved so far, not at the present candidates alone
	Live    bool   // sessions with people may use it

	// New returns the function; paper asks for what the authors' code computes
	// where that differs from the text.
	New func(paper bool) Function

	// refuses says why the method cannot value questions of a kind, where whole
	// says that clips are whole trajectories of known policies; nil or "" where
	// it can.
	refuses func(kind idrl.QueryKind, whole bool) string
}

// Methods returns every method, the paper's first.
func Methods() []Method {
	return append(papers(), beyond()...)
}

// papers are the methods that the paper compares.
func papers() []Method {
	return []Method{
		{
			Name: "idrl", Title: "IDRL", About: "compares the two candidate policies whose difference in return is most uncertain", Live: true,
			New: func(paper bool) Function { return IDRL{Paper: paper} },
		},
		{
			Name: "uniform", Title: "Uniform", About: "asks at random", Live: true,
			New: func(bool) Function { return Uniform{} },
		},
		{
			Name: "igr", Title: "IGR", About: "asks the question that tells most about the reward as a whole", Live: true,
			New: func(paper bool) Function { return IGR{Paper: paper} },
		},
		{
			Name: "eir", Title: "EIR", About: "asks where the rating may exceed the best one so far (expected improvement)",
			New: func(paper bool) Function { return EIR{Paper: paper} }, refuses: unlessRatings,
		},
		{
			Name: "pi", Title: "PI", About: "asks where the rating most probably exceeds the best one so far; in the authors' code, not in the paper",
			New: func(paper bool) Function { return PI{Paper: paper} }, refuses: unlessRatings,
		},
		{
			Name: "epd", Title: "EPD", About: "asks where the answer would change the policy most; one solve per question",
			New: func(paper bool) Function { return EPD{Paper: paper} },
		},
		{
			Name: "mr", Title: "MR", About: "compares probable policies that do badly under each other's reward",
			New: func(bool) Function { return MR{} }, refuses: unlessWhole,
		},
		{
			Name: "mr-simple", Title: "MR, simple model", About: "MR with the posterior of its authors: each answer makes the rewards that agree with it more probable",
			New: func(bool) Function { return MR{Simple: true} }, refuses: unlessWhole,
		},
		{
			Name: "evr", Title: "EVR", About: "asks the comparison whose outcome is most uncertain", Live: true,
			New: func(paper bool) Function { return EVR{Paper: paper} }, refuses: unlessComparisons,
		},
	}
}

// beyond are the methods of docs/methods.md, sections 1.3 and 1.4.
func beyond() []Method {
	return []Method{
		{
			Name: "lvar", Title: "LVAR", About: "compares the best policy so far with all that may be better, weighted by their probability of being best", Archive: true, Live: true,
			New: func(bool) Function { return LVAR{} },
		},
		{
			Name: "tt", Title: "TT", About: "compares the best policy so far with its strongest challenger", Archive: true, Live: true,
			New: func(bool) Function { return TT{} },
		},
		{
			Name: "err", Title: "ERR", About: "lowers a bound on the expected regret of the best policy so far", Archive: true, Live: true,
			New: func(bool) Function { return ERR{} },
		},
		{
			Name: "kg", Title: "KG", About: "knowledge gradient: the expected gain in the best policy's return from one answer", Archive: true,
			New: func(bool) Function { return KG{} },
		},
		{
			Name: "kg-star", Title: "KG*", About: "knowledge gradient from one or several identical answers, per answer", Archive: true, Live: true,
			New: func(bool) Function { return KG{Star: true} },
		},
		{
			Name: "eubo", Title: "EUBO", About: "compares the two policies of which the better one has the highest expected return",
			New: func(bool) Function { return EUBO{} }, refuses: unlessWhole,
		},
		{
			Name: "vids", Title: "V-IDS", About: "asks the question that tells most about which policy is best", Archive: true, Live: true,
			New: func(bool) Function { return VIDS{} },
		},
		{
			Name: "leader", Title: "Leader against one", About: "compares the best candidate with one Thompson policy; needs the fewest solves", Live: true,
			New: func(bool) Function { return Leader{} },
		},
	}
}

func unlessRatings(kind idrl.QueryKind, _ bool) string {
	if kind.Comparison() {
		return "it needs ratings, for it asks where a rating may be the highest yet; ask for ratings of clips or states"
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
	if why := m.refuses(kind, whole); why != "" {
		return idrl.Errorf(idrl.Invalid, "%s does not apply here: %s", m.Title, why)
	}
	return nil
}
