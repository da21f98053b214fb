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
		"IDRL", "Compares the two candidate policies whose difference in return is most uncertain. The paper’s method.",
		"Each question compares two candidates. Expected information is about their difference in return.", "drawn at random",
	},
	"uniform": {"Uniform", "Asks at random. The baseline.", "Questions are drawn at random.", "drawn at random"},
	"igr": {
		"IGR", "Asks the question that tells most about the reward as a whole, also where no policy depends on it.",
		"Each question tells most about the reward as a whole.", "the reward",
	},
	"evr": {
		"EVR", "Asks the comparison whose outcome is most uncertain. For comparisons only.",
		"Each question was the comparison whose outcome was most uncertain.", "the two shown",
	},
	"lvar": {
		"LVAR", "Compares the best policy so far with all others, weighted by their probability of being best. The default.",
		"Each question compares the best policy so far with those that might be better. The table names the rival that the answer tells most about. Expected information is about all of them.", "drawn at random",
	},
	"tt": {
		"TT", "Compares the best policy so far with its strongest challenger.",
		"Each question compares the best policy so far with its strongest challenger. Expected information is about their difference in return.", "drawn at random",
	},
	"err": {
		"ERR", "Asks the question that lowers a bound on the expected regret most.",
		"Each question is expected to lower a bound on the regret most.", "leader – all others",
	},
	"kg-star": {
		"KG*", "Knowledge gradient: asks where one answer, or several identical ones, improves the best policy most.",
		"Each question has the largest expected gain in the best policy’s return.", "leader – all others",
	},
	"vids": {
		"V-IDS", "Asks the question that tells most about which policy is best.",
		"Each question tells most about which known policy is best.", "all policies",
	},
	"leader": {
		"Leader against one", "Compares the best candidate with one that may be better. It needs the fewest candidates.",
		"Each question compares the best candidate with one other. Expected information is about their difference in return.", "drawn at random",
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
		return "Bradley–Terry with ties", "For people: logistic, so an occasional mistake has less weight; ‘equal’ is an answer."
	case "bernoulli":
		return "Linear chance", "The paper’s simulated expert, for returns that differ by at most 1; ‘equal’ counts as 0."
	}
	return name, ""
}

// modelText names the likelihood and the prior of a session, for people.
func modelText(spec idrl.SessionSpec) string {
	answers := "Gaussian rating"
	if spec.Kind.Comparison() {
		answers, _ = likelihoodText(spec.Likelihood)
	}
	return answers + ", " + spec.Prior + " prior"
}
