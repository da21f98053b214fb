package paper

import (
	"fmt"
	"math"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/session/view"
	"tiebreak/web/statement"
)

// model says how answers were modelled, and how the posterior was computed.
func model(s Source) string {
	if s.Spec.Model == idrl.NetworkModel {
		return network(s.Spec)
	}
	return text(prior(s.Spec), likelihood(s.Spec), noise(s.Spec), inference(s.Spec))
}

func prior(spec idrl.SessionSpec) string {
	scale := ""
	if len(spec.PriorScale) > 0 {
		scale = " in units of the squared scale of its feature"
	}
	out := fmt.Sprintf("The reward was a weighted sum of %s; under the prior the weights were independent and normal with mean 0 and a variance of %s%s.", words.Plural(len(spec.Features), "feature"), number(spec.PriorVar), scale)
	if spec.Prior == idrl.KernelPrior {
		out = fmt.Sprintf("The reward was a weighted sum of %s; under the prior the weights were normal with mean 0, a variance of %s and correlations by the kernel of the environment.", words.Plural(len(spec.Features), "feature"), number(spec.PriorVar))
	}
	return out
}

// likelihood says how an answer depended on the reward.
func likelihood(spec idrl.SessionSpec) string {
	switch {
	case spec.Kind.Group():
		return fmt.Sprintf("The best and the worst clip were modelled by Thurstone’s law [thurstone1927]: two clips compared with normal noise with a standard deviation of %s, and one answer in twenty was a lapse.", number(spec.NoiseStd))
	case !spec.Kind.Comparison():
		out := fmt.Sprintf("A rating was the reward, on a scale from −1 to 1, plus normal noise with a variance of %s", number(spec.RatingVar))
		if spec.RatingModel == idrl.ClippedRatings {
			return out + "; the lowest and the highest rating also stood for all values beyond them."
		}
		return out + "."
	}
	out := map[string]string{
		"probit": fmt.Sprintf("A comparison was modelled by an ordered probit [thurstone1927] of the difference of the rewards of the two clips, with normal noise with a standard deviation of %s; differences within ±%s were called equal.", number(spec.NoiseStd), number(spec.TieBand)),
		"bradley-terry": fmt.Sprintf("A comparison was modelled by a logistic function of the difference of the rewards of the two clips with ties [bradley1952] [biyik2022], with the slope of a probit with a standard deviation of %s and a half-width of ties of %s.",
			number(spec.NoiseStd), number(spec.TieBand)),
		"gaussian":  fmt.Sprintf("A comparison was taken for the number 1 or −1, or 0 for “equal”: the difference of the rewards of the two clips plus normal noise with a standard deviation of %s.", number(spec.NoiseStd)),
		"bernoulli": "The probability of a preference was taken for a linear function of the difference of the rewards of the two clips [lindner2021]; “equal” counted as 0.",
	}[spec.Likelihood]
	if spec.Strength {
		out = text(out, fmt.Sprintf("A clip was called much better from a difference of %s on.", number(spec.MuchBand)))
	}
	return out
}

// noise says whether people had noise of their own.
func noise(spec idrl.SessionSpec) string {
	if spec.Noise == idrl.OwnNoise {
		return "These settings of the noise were where learning began: from the second annotator on, the noise, the lapses and the use of the scale or of “equal” of each annotator were learnt together with the reward [chen2013]. People who clicked at random thereby lost their weight, and no answer was dropped for it."
	}
	return "All annotators had the same noise."
}

// inference says how the posterior was computed.
func inference(spec idrl.SessionSpec) string {
	exact := spec.Noise != idrl.OwnNoise && (spec.Kind.Comparison() && spec.Likelihood == "gaussian" || !spec.Kind.Comparison() && !spec.Kind.Group() && spec.RatingModel == idrl.GaussianRatings)
	switch {
	case exact:
		return "The posterior was therefore normal, and was computed exactly."
	case spec.Kind.Comparison() && spec.Likelihood == "bernoulli":
		return "The posterior was approximated by a normal distribution with the same moments after each answer."
	}
	return "The posterior was approximated by a normal distribution: by assumed-density filtering after each answer, and by expectation propagation [minka2001] over all answers after fixed numbers of them."
}

// network says what a reward network is.
func network(spec idrl.SessionSpec) string {
	own := "Comparisons were modelled by a logistic function of the difference of the rewards [bradley1952]; all annotators had the same noise."
	if spec.Noise == idrl.OwnNoise {
		own = "Comparisons were modelled by a probit with the slope of the logistic function; from the second annotator on, the noise, the lapses and the ties of each annotator were learnt together with the last layer [chen2013]."
	}
	return "The reward was a neural network of observation and action with two hidden layers of 64 units, trained on the answers by maximum a posteriori with weights anchored at random ones [pearce2020], from the tenth answer on and again whenever a quarter more had come. " +
		"The posterior was that of the weights of the last layer, by Laplace’s approximation [mackay1992] [snoek2015]. " + own
}

// policies say how policies were made.
func policies(s Source) string {
	spec := s.Spec
	switch {
	case spec.Uploads():
		return "No policy was trained: people judged clips that a program had uploaded."
	case s.Status.Return != "":
		return recorded(s.Status)
	}
	solver := map[string]string{
		idrl.OwnSolver:   "exactly or by gradients where the environment allows it, else by a random search of linear policies [mania2018]",
		idrl.ActorCritic: "by soft actor-critic [haarnoja2018]",
		idrl.GaitSolver:  "by searches among rhythmic motions with CMA-ES [hansen2016] and augmented random search [mania2018], which went on from training to training",
	}[spec.Solver]
	if spec.Model == idrl.NetworkModel {
		solver = "by soft actor-critic [haarnoja2018]"
	}
	every := "after every answer where a training took less than a second, else after every third"
	if spec.TrainEvery > 0 {
		every = fmt.Sprintf("after every %s", either(spec.TrainEvery == 1, "answer", words.Plural(int(spec.TrainEvery), "answer")))
	}
	adopted := "were used as soon as they were ready"
	if spec.AdoptAfter > 0 {
		adopted = fmt.Sprintf("were used %s after their training had begun", words.Plural(int(spec.AdoptAfter), "answer"))
	}
	return fmt.Sprintf("Candidate policies were optimal for the posterior mean and for %d draws from the posterior [lindner2021]. They were found %s. New ones were trained %s, and %s.", spec.Candidates, solver, every, adopted)
}

// recorded says what was compared in a session about imported rollouts.
func recorded(st view.Status) string {
	rollouts, of := "recorded rollouts, whose policies", ""
	if r := st.Recordings; r != nil {
		rollouts, of = statement.Among(r)+", which", fmt.Sprintf("The reward was a weighted sum of %s.", r.RewardOf)
	}
	return text(fmt.Sprintf("No policy was trained: people judged %s were compared %s.", rollouts, stopping.InWords(st.Return)), of)
}

// stopped says when questioning was to end, and what the session states now.
func stopped(s Source) string {
	spec := s.Spec
	if !spec.StatesRegret() {
		return text("The session stated no regret, because the posterior of a network is too narrow for that.", budget(spec), each(spec))
	}
	rule := fmt.Sprintf("Questioning could stop when, after three answers in a row, the loss of the recommended policy was at most %s of the range of returns from the worst to the best known policy with a probability of at least %s, and there was no objection to that statement.",
		percent(spec.Tolerance), percent(1-spec.Doubt))
	then := "The session then only proposed to stop."
	switch {
	case spec.StopByItself:
		then = "The session then stopped by itself."
	case spec.AskOn:
		then = "The session then only proposed to stop, and people were asked on without a notice."
	}
	return text(rule, then, budget(spec), each(spec), met(s))
}

func budget(spec idrl.SessionSpec) string {
	if spec.Budget == 0 {
		return "The number of answers was not limited in advance."
	}
	return fmt.Sprintf("The number of answers was limited to %d.", spec.Budget)
}

func each(spec idrl.SessionSpec) string {
	if spec.AnswersEach == 0 {
		return ""
	}
	return fmt.Sprintf("Each person gave at most %s.", words.Plural(spec.AnswersEach, "answer"))
}

// met says whether the rule is met, and since when its statements hold.
func met(s Source) string {
	if len(s.Status.Regret) == 0 {
		return "There is no statement yet, because no policy has been trained."
	}
	last := s.Status.Regret[len(s.Status.Regret)-1]
	raised := when(last.Mean > last.Bound, " (larger losses in the other 5 % raised it)")
	out := fmt.Sprintf("At row %d of the log the stated probability of such a loss was %s; the loss was stated to be at most %s of the range with a certainty of 95 %%, and %s on average%s, against %s.",
		last.Seq, percent(math.Floor(1000*last.Within)/1000), percent(math.Ceil(1000*last.Bound)/1000), percent(last.Mean), raised, known(last.Policies))
	if row := since(s); s.Status.Stopping.Propose {
		return text(out, fmt.Sprintf("The rule was met; the probability had been high enough in every statement since row %d of the log.", row))
	}
	return text(out, "The rule was not met.")
}

func known(n int) string {
	if n == 1 {
		return "1 known policy"
	}
	return fmt.Sprintf("%d known policies", n)
}

// since returns the row of the first statement after which all hold.
func since(s Source) int64 {
	row, list, rule := int64(-1), s.Status.Regret, stopping.Rule{Doubt: s.Spec.Doubt}
	for i := len(list) - 1; i >= 0 && rule.Holds(list[i].Within); i-- {
		row = list[i].Seq
	}
	return row
}
