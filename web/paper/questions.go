package paper

import (
	"fmt"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/people/bradley"
)

// strategies say how each strategy that sessions offer chooses a question, after "that" and in the past tense.
var strategies = map[string]string{
	"lvar":    "reduced the variance of the differences in return between the recommended policy and its rivals most in expectation, each weighted by its probability of being the best (LVAR), which extends information directed reward learning [lindner2021]",
	"idrl":    "told most of the difference in return between the two candidate policies for which it was most uncertain, as information directed reward learning does (IDRL) [lindner2021]",
	"uniform": "was drawn at random from all possible questions",
	"igr":     "had the most information about all weights of the reward (IGR) [houlsby2011]",
	"evr":     "had the most uncertain outcome (expected volume removal, EVR) [sadigh2017]",
	"tt":      "told most of the difference in return between the recommended policy and its strongest challenger (TT) [russo2016]",
	"err":     "lowered a bound on the expected regret of the recommended policy most in expectation (ERR)",
	"kg-star": "had the largest expected gain in the return of the best policy, for one or several identical answers (knowledge gradient, KG*) [frazier2010]",
	"vids":    "had the most information about which known policy was the best (V-IDS) [russo2014]",
	"leader":  "told most of the difference in return between the best candidate policy and one that was optimal for one draw from the posterior",
}

// chose says in one clause how a strategy chose a question.
func chose(name string) string {
	if said, ok := strategies[name]; ok {
		return said
	}
	return "was chosen by the strategy " + acquisition.Title(name)
}

// choice says how questions were chosen.
func choice(s Source) string {
	spec := s.Spec
	sentences := []string{strategy(spec)}
	if spec.HeldOut > 0 {
		sentences = append(sentences, fmt.Sprintf("A share of %s of the questions was held out: comparisons drawn at random, whose answers taught nothing and served to measure how well the posterior predicts. %s", percent(spec.HeldOut), heldOut(s)))
		if spec.HeldOutFrom == idrl.ReservedTrajectories {
			sentences = append(sentences, "They were about trajectories that were kept for them, about a quarter of all, as long as such pairs were left.")
		}
	}
	sentences = append(sentences, map[string]string{
		idrl.AnswerableQuestions: "The value of a question was multiplied by the probability of a clear answer, and questions whose clips could not be told apart by sight, did not move, or looked like those of the person’s last 50 questions were left out where there were others.",
		idrl.AnyQuestions:        "Nothing else decided on a question.",
		idrl.EverythingQuestions: "Nothing else decided on a question, and clips from after a fall were asked about, too.",
	}[spec.Questions])
	if spec.Leader == idrl.TestedLeader && s.Status.Led != "" {
		sentences = append(sentences, "After the sixth answer a policy became the recommended one only by a duel, in which people compared its clips with those of the policy before it; up to half of the questions served that.")
	} else {
		sentences = append(sentences, "The recommended policy was always the one with the highest expected return.")
	}
	sentences = append(sentences,
		either(spec.MakesClips() && s.Status.Return == "", "Clips were those of the policies and, in environments with finitely many states, others that were made to tell most about the difference between policies.", "Clips were those of the policies."),
		fmt.Sprintf("Up to %s were reserved for a person in advance; questions whose answers were still open counted as asked when another one was chosen [desautels2014].", words.Plural(spec.Ahead, "question")))
	return text(sentences...)
}

// strategy says which strategy chose, and which shares others had.
func strategy(spec idrl.SessionSpec) string {
	if len(spec.Controls) == 0 {
		return fmt.Sprintf("Each question was the one that %s.", chose(spec.Acquisition))
	}
	var parts []string
	for _, c := range spec.Conditions() {
		parts = append(parts, fmt.Sprintf("with a share of %s one that %s", percent(c.Share), chose(c.Strategy)))
	}
	return fmt.Sprintf("Each question was, by a random draw, %s; the shares are of the questions that were not held out. All answers taught one posterior; for comparison each condition was also given a posterior of its own answers alone.", words.List(parts))
}

// heldOut says how well held-out comparisons were predicted.
func heldOut(s Source) string {
	p, ok := s.Scores.All.Last()
	if !ok || p.Decisive == 0 {
		return "None of them has been answered with a preference yet."
	}
	out := fmt.Sprintf("The posterior of all %s predicted %s of %s with a preference (95 %% interval %s to %s [wilson1927]), with a log loss of %.2f nats.",
		words.Plural(p.Answers, "other answer"), percentWhole(p.Accuracy()), words.Plural(p.Decisive, "held-out answer"), percentWhole(p.Low), percentWhole(p.High), p.LogLoss)
	for i, l := range s.Scores.Leads {
		c := s.Scores.Conditions[i+1]
		out += fmt.Sprintf(" After %s each, %s predicted %s points more of them than %s (95 %% interval %s to %s [agresti2005]).", words.Plural(s.Scores.Equal, "answer"), acquisition.Title(string(c.Name)),
			words.Signed(100*l.Mean, 0), acquisition.Title(string(s.Scores.Conditions[0].Name)), words.Signed(100*l.Low, 0), words.Signed(100*l.High, 0))
	}
	return out
}

func percentWhole(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }

// arenaChoice says how the questions of an arena were chosen.
func arenaChoice(s Source) string {
	return text(
		fmt.Sprintf("People compared clips of %d policies without knowing which was which.", len(s.Spec.Arena.Entrants)),
		arenaMeetings(s),
		s.Arena.Cut(),
		arenaPair(s.Spec.Arena),
		"Clips that could not be told apart by sight, or in which nothing moved, were not asked about.",
	)
}

// arenaMeetings says which clips were compared.
func arenaMeetings(s Source) string {
	p := s.Arena.Pairing
	switch {
	case !s.Spec.Arena.Recorded():
		return "Both clips of a question began in the same state, with the same random numbers."
	case p == nil:
		return "Both clips of a question were of recorded episodes of one task, which people were told."
	}
	var parts []string
	if p.Matched > 0 {
		parts = append(parts, fmt.Sprintf("%s in %s were of episodes that began alike", words.Plural(p.Matched, "pair"), words.Plural(p.MatchedTasks, "task")))
	}
	if p.Random > 0 {
		parts = append(parts, fmt.Sprintf("%s in %s were drawn at random, so that each episode was used about equally often", words.Plural(p.Random, "pair"), words.Plural(p.RandomTasks, "task")))
	}
	return "Both clips of a question were of recorded episodes of one task, which people were told: " + words.List(parts) + "."
}

func arenaPair(a idrl.Arena) string {
	drawn := "the start and the sides were drawn at random."
	if a.Recorded() {
		drawn = "the task was one about which these two had been asked least, and the episodes and the sides were drawn at random."
	}
	if a.Detect > 0 {
		return "The pair of policies was the likeliest winner so far and its strongest challenger [zoghi2014]; " + drawn
	}
	return "The pair of policies was the one whose answer told most about their strengths [houlsby2011]; " + drawn
}

// arenaTest says how a winner was looked for, and what was found.
func arenaTest(s Source) string {
	t := s.Arena.Test
	if t == nil {
		return ""
	}
	found := "It has not ended."
	switch {
	case t.Winner != "":
		found = fmt.Sprintf("It found “%s” to be the winner.", t.Winner)
	case t.Over:
		found = "It ended without a winner."
	}
	return text(fmt.Sprintf("The arena was to end with a sequential test for a policy that people prefer to each other one: for each ordered pair of policies an exact binomial test after every decisive answer, at level %s divided by the number of policies, with a spending function of the power family (exponent 2) [kim1987], planned to find a preference of %s of the decisive answers with a probability of %s.",
		percentWhole(t.Level), percentWhole(t.Detect), percentWhole(t.Power)), found)
}

// arenaAnalysis says how strengths were estimated.
func arenaAnalysis(s Source) string {
	out := "Strengths were estimated by the model of Bradley and Terry [bradley1952] with the ties of Davidson [davidson1970], in log-odds against the mean of all policies, with independent normal priors (mean 0, standard deviation 2) of the strengths and of the propensity to say “equal”. " +
		"Intervals are 95 % intervals of the posterior, by importance sampling."
	r := s.Arena
	if r.Answers == 0 || len(r.Entrants) < 2 {
		return out + " No answer has been given yet."
	}
	e := r.Entrants[0]
	out += fmt.Sprintf(" Of %s with a preference or “equal” (%d), “%s” was the strongest: %s (%s to %s).", words.Plural(r.Answers, "answer"), r.Ties, e.Title, words.Signed(e.Strength, 2), words.Signed(e.Low, 2), words.Signed(e.High, 2))
	if e.Population != nil {
		out += fmt.Sprintf(" With the variance over %s, by a jackknife that leaves out each in turn [mackinnon2023] and sums over both [cameron2011], its interval is %s to %s.",
			overs(r.Spread), words.Signed(e.Population.Low, 2), words.Signed(e.Population.High, 2))
	}
	return out
}

// overs says over what the wider intervals are drawn from.
func overs(s bradley.ReportSpread) string {
	var parts []string
	if s.Tasks > 0 {
		parts = append(parts, words.Plural(s.Tasks, "task"))
	}
	if s.People > 0 {
		parts = append(parts, fmt.Sprintf("%d people", s.People))
	}
	return words.List(parts)
}

// arenaStop says when an arena ends.
func arenaStop(s Source) string { return text(arenaTest(s), budget(s.Spec), each(s.Spec)) }
