package web

import "tiebreak/internal/idrl"

// wording is what the pages say of an acquisition function.
type wording struct {
	title  string
	hint   string // on the form: what it asks
	reason string // on the dashboard: why these questions
	pair   string // on the dashboard, in place of the two policies that a question tells apart if it has none
}

// methods are the words of idrl.Acquisitions.
var methods = map[string]wording{
	"idrl": {
		"IDRL", "Asks what best tells apart the two policies whose returns differ most uncertainly. The paper’s method.",
		"each tells two candidates apart; its expected information is about the difference of their returns", "drawn at random",
	},
	"uniform": {"Uniform", "Asks at random. The baseline.", "all are drawn at random", "drawn at random"},
	"igr": {
		"IGR", "Asks what tells most about the reward as a whole, also where no policy depends on it.",
		"each tells most about the reward as a whole", "the reward",
	},
	"evr": {
		"EVR", "Asks what it is least sure how you will answer. For comparisons only.",
		"of each it was least sure how it would be answered", "the two shown",
	},
	"lvar": {
		"LVAR", "Compares the best policy so far with all others, most with those likely to be better. The usual choice.",
		"each compares the leader with all policies so far that may be better, by how plausible that is; named is the one that its answer tells most about; its expected information is about all of them", "drawn at random",
	},
	"tt": {
		"TT", "Compares the best policy so far with its strongest challenger.",
		"each sets the leader against its strongest challenger among all policies so far; its expected information is about the difference of their returns", "drawn at random",
	},
	"err": {
		"ERR", "Asks what most lowers the regret that stopping now could cost.",
		"each lowers a bound on the expected regret most", "leader – all others",
	},
	"kg-star": {
		"KG*", "Asks where an answer, or a few alike, should most improve the best policy.",
		"each is expected to add most to the return of the best policy", "leader – all others",
	},
	"vids": {
		"V-IDS", "Asks what tells most about which policy is the best.",
		"each tells most about which of all policies so far is the best", "all policies",
	},
	"leader": {
		"Leader against one", "Compares the best candidate with one that may be better. It needs the fewest candidates.",
		"each sets the leader against one other candidate; its expected information is about the difference of their returns", "drawn at random",
	},
}

// methodText names an acquisition function, for people. One that is no longer
// offered is shown by its name.
func methodText(name string) string {
	if w, ok := methods[name]; ok {
		return w.title
	}
	return name
}

// likelihoodText returns the name of a likelihood of comparisons and a hint, for
// people.
func likelihoodText(name string) (title, hint string) {
	switch name {
	case "probit":
		return "Probit with ties", "For people: noisy near a tie, and ‘equal’ is an answer."
	case "gaussian":
		return "Gaussian ±1", "As the paper learns: an answer is the number 1 or −1, and ‘equal’ is 0."
	case "bradley-terry":
		return "Bradley–Terry with ties", "For people: logistic, so that a mistake now and then weighs less; ‘equal’ is an answer."
	case "bernoulli":
		return "Linear chance", "The paper’s simulated expert, for returns that differ by at most 1; ‘equal’ counts as 0."
	}
	return name, ""
}

// modelText says what a session makes of its answers, for people.
func modelText(spec idrl.SessionSpec) string {
	answers := "Gaussian rating"
	if spec.Kind.Comparison() {
		answers, _ = likelihoodText(spec.Likelihood)
	}
	return answers + ", " + spec.Prior + " prior"
}
