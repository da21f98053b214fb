package web

import (
	"strconv"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
)

// methodText names an acquisition function, for people. One that is no longer
// offered is shown by its name.
func methodText(name string) string {
	m, err := acquisition.Find(name)
	if err != nil {
		return name
	}
	return m.Title
}

// chosenBy says which strategies choose the questions of a session, for people.
func chosenBy(spec idrl.SessionSpec) string {
	if !spec.Compares() {
		return methodText(spec.Acquisition)
	}
	var parts []string
	for _, c := range spec.Conditions() {
		parts = append(parts, methodText(c.Strategy)+" "+percentText(c.Share))
	}
	text := strings.Join(parts, ", ")
	if len(spec.Controls) == 0 {
		text = methodText(spec.Acquisition)
	}
	if spec.HeldOut > 0 {
		text += "; held out " + percentText(spec.HeldOut)
	}
	return text
}

// percentText writes a share in per cent, with up to three digits.
func percentText(share float64) string { return strconv.FormatFloat(100*share, 'g', 3, 64) + " %" }

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

// rewardModelText returns the name of a model of the reward and a hint, for people.
func rewardModelText(name string) (title, hint string) {
	switch name {
	case idrl.FeaturesModel:
		return "Hand-made features", "The reward is a weighted sum of the environment’s features."
	case idrl.NetworkModel:
		return "Neural network", "Learnt from observations and actions; for robots and comparisons of clips. Needs more answers."
	}
	return name, ""
}

// solverText returns the name of a solver of policies and a hint, for people.
func solverText(name string) (title, hint string) {
	switch name {
	case idrl.AutoSolver:
		return "What suits best", "Gaits for robots; else exact, or by gradients."
	case idrl.OwnSolver:
		return "The environment’s own", "Exact, by gradients, or a random search of linear policies."
	case idrl.ActorCritic:
		return "Soft actor-critic", "Small networks that are trained on from answer to answer; for robots. A neural reward always has it."
	case idrl.GaitSolver:
		return "Gaits", "Rhythmic motions, then with feedback: searches that go on from answer to answer; for robots."
	}
	return name, ""
}

// modelText names the model of the reward, the likelihood and the prior of a session, for
// people.
func modelText(spec idrl.SessionSpec) string {
	answers := "Gaussian rating"
	if spec.Model == idrl.NetworkModel { // its likelihood is fixed
		answers, _ = likelihoodText("bradley-terry")
		return "Neural network, " + answers
	}
	if spec.Kind.Made().Comparison() {
		answers, _ = likelihoodText(spec.Likelihood)
	}
	return answers + ", " + spec.Prior + " prior"
}
