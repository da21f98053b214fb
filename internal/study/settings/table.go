package settings

import (
	"math"

	"tiebreak/internal/idrl"
)

// table lists every setting of a session, in the order of study files. A setting whose default depends on another one
// comes after it, because Complete fills in defaults in this order.
var table = []Setting{
	{
		Key: "title", Label: "Title", Words: "name of the session; annotators see it", Unit: "name",
		Default: "Untitled session", Low: 1, High: idrl.MaxTitle, Changes: true,
		at: func(s *idrl.SessionSpec) any { return &s.Title },
		rule: func(s idrl.SessionSpec) string {
			if !idrl.IsVisible(s.Title) {
				return "must have no characters that are invisible or change the direction of text"
			}
			return ""
		},
	},
	{
		Key: "env", Label: "Environment", Words: "environment: one of those that `tiebreak session --help` lists, or a model of your own", Unit: "environment", Default: "driver",
		at: func(s *idrl.SessionSpec) any { return &s.Env },
	},
	{
		Key: "kind", Label: "Question", Words: "query type", Unit: "type", Default: string(idrl.CompareClips), Filled: true,
		Values: []Value{
			{string(idrl.CompareClips), "Comparison of two clips", "Which of two short clips is better? Easiest for people."},
			{string(idrl.RateClip), "Rating of a clip", "How good is a short clip, from 0 to 10?"},
			{string(idrl.CompareStates), "Comparison of two moments", "Which of two still pictures is better?"},
			{string(idrl.RateState), "Rating of a moment", "How good is a still picture, from 0 to 10?"},
			{string(idrl.JudgeClip), "Success or failure", "Does what a short clip shows succeed, partly, or not at all? And when does it go wrong?"},
			{string(idrl.GroupClips), "Best and worst of six clips", "Which of six short clips is the best, and which the worst? Each answer tells more, and takes longer."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.Kind },
	},
	{
		Key: "budget", Label: "Answers wanted", Words: "answers after which the session is complete", Unit: "answers", Default: "0", Zero: "no limit", ZeroWord: "unlimited",
		Low: 1, High: idrl.MaxBudget, Changes: true,
		at: func(s *idrl.SessionSpec) any { return &s.Budget },
	},
	{
		Key: "seed", Label: "Seed", Words: "seed of every random choice and of the environment's layout; if none is given, the form and the API draw one", Unit: "seed", Default: "1", Group: asking,
		at: func(s *idrl.SessionSpec) any { return &s.Seed },
	},
	{
		Key: "instructions", Label: "Instructions", Words: "text that annotators read: say what matters, and how to break a tie", Unit: "text", Zero: "the environment's guide",
		High: idrl.MaxInstructions, Lines: 3, Changes: true,
		at:   func(s *idrl.SessionSpec) any { return &s.Instructions },
		rule: func(s idrl.SessionSpec) string { return rest(s.CurrentInstructions().Check()) },
	},
	{
		Key: "instructions_format", Label: "Format of the instructions", Words: "format of the instructions", Default: idrl.Markdown, ZeroWord: "plain", Changes: true,
		Values: []Value{{Name: idrl.Markdown, Title: "Markdown"}, {Name: idrl.PlainText, Title: "Plain text, one point per line"}},
		at:     func(s *idrl.SessionSpec) any { return &s.InstructionsFormat },
	},
	{
		Key: "purpose", Label: "Purpose", Words: "what annotators are to prefer, in one sentence, or the name of one of the environment's ready purposes (docs/study.md)",
		Unit: "sentence", Zero: "the environment's purpose", High: idrl.MaxPurpose,
		at: func(s *idrl.SessionSpec) any { return &s.Purpose },
		rule: func(s idrl.SessionSpec) string {
			if !idrl.IsLine(s.Purpose) {
				return "must be one line of printable characters"
			}
			return ""
		},
	},
	{
		Key: "consent", Label: "Consent", Words: "consent text in Markdown that people must agree to before their first question", Unit: "Markdown", Zero: "no consent is asked for",
		High: idrl.MaxConsent, Lines: 4, Group: saying, Changes: true,
		at:   func(s *idrl.SessionSpec) any { return &s.Consent },
		rule: func(s idrl.SessionSpec) string { return rest(s.CurrentConsent().Check()) },
	},
	{
		Key: "withdraw_days", Label: "Withdrawal of data", Words: "number of days after joining in which people can erase their data themselves", Unit: "days", Default: "0",
		Zero: "they cannot, and must ask you", Low: 1, High: idrl.MaxWithdrawDays, Group: saying,
		at: func(s *idrl.SessionSpec) any { return &s.WithdrawDays },
	},
	{
		Key: "completion_code", Label: "Completion code", Words: "code that annotators see at the end, for example for a crowd platform", Unit: "code", Zero: "none",
		High: idrl.MaxCode, Group: saying,
		at: func(s *idrl.SessionSpec) any { return &s.CompletionCode },
		rule: func(s idrl.SessionSpec) string {
			if !idrl.IsLine(s.CompletionCode) {
				return "must be one line of printable characters"
			}
			return ""
		},
	},
	{
		Key: "answers_each", Label: "Answers per annotator", Words: "answers after which an annotator has finished and sees the completion code; the session goes on with other annotators", Unit: "answers",
		Default: "0", Zero: "no limit", Low: 1, High: idrl.MaxBudget, Group: saying,
		at: func(s *idrl.SessionSpec) any { return &s.AnswersEach },
	},
	{
		Key: "acquisition", Label: "How questions are chosen", Words: "strategy that chooses questions; `tiebreak session --help` lists them", Unit: "strategy",
		Default: idrl.DefaultAcquisition, Depends: idrl.DefaultAcquisition + "; for success or failure " + idrl.UniformAcquisition, Filled: true, Group: asking,
		at: func(s *idrl.SessionSpec) any { return &s.Acquisition },
		fill: func(s *idrl.SessionSpec) {
			s.Acquisition = idrl.DefaultAcquisition
			if s.Kind == idrl.JudgeClip {
				s.Acquisition = idrl.UniformAcquisition
			}
		},
	},
	{
		Key: "conditions", Label: "Control strategies",
		Words: "control strategies and their shares of the questions, such as uniform=0.25, igr=0.1; `acquisition` chooses the rest (docs/study.md, section 4); not with the model network",
		Unit:  "strategies", Zero: "none", Group: asking,
		at:   func(s *idrl.SessionSpec) any { return &s.Controls },
		rule: controls,
	},
	{
		Key: "held_out", Label: "Held out", Words: "share of held-out questions: random comparisons whose answers are not used for learning, but to measure how well the posterior predicts",
		Unit: "share", Default: "0", Zero: "none", Low: 0, High: idrl.MaxHeldOut, Group: asking,
		at: func(s *idrl.SessionSpec) any { return &s.HeldOut },
		rule: func(s idrl.SessionSpec) string {
			if s.HeldOut > 0 && !s.Kind.Comparison() {
				return "is possible for comparisons only, not for questions of type " + string(s.Kind) + "; leave it at 0"
			}
			return ""
		},
	},
	{
		Key: "held_out_from", Label: "Held out from", Words: "trajectories that held-out comparisons are about", Unit: "which", Default: idrl.AnyTrajectories, Filled: true, Group: asking,
		Values: []Value{
			{idrl.AnyTrajectories, "Any trajectories", "Tests how well answers about known behaviour are predicted. Nothing is lost for learning."},
			{idrl.ReservedTrajectories, "Trajectories of their own", "A quarter of the trajectories is kept for tests of which nothing was learnt. It costs some answers."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.HeldOutFrom },
	},
	{
		Key: "questions", Label: "Which questions are asked", Words: "which questions may be asked", Unit: "which", Default: idrl.AnswerableQuestions, Filled: true, Group: asking,
		Values: []Value{
			{idrl.AnswerableQuestions, "Questions that people can answer", "Clips that move and look different; preferably questions that people can answer; none like a recent one."},
			{idrl.AnyQuestions, "Any", "The question with the most information, as if every question could be answered."},
			{idrl.EverythingQuestions, "Everything", "Also clips of robots after a fall; only to measure the benefit of the rules above."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.Questions },
	},
	{
		Key: "leader", Label: "What is recommended", Words: "which policy is recommended, in sessions on robots with a library that compare two clips", Unit: "which", Default: idrl.TestedLeader, Filled: true, Group: asking,
		Values: []Value{
			{idrl.TestedLeader, "What people preferred", "A policy leads only after people preferred its clips to those of the one before: up to half of the questions."},
			{idrl.ExpectedLeader, "What is expected to be best", "The highest expected return, compared by people or not. As in sessions of earlier versions."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.Leader },
	},
	{
		Key: "clips_from", Label: "Where clips come from", Words: "which clips questions are about", Unit: "clips", Default: idrl.MadeClips, Filled: true, Group: asking,
		Values: []Value{
			{idrl.MadeClips, "Clips made to tell most", "In Gridworld, Chain and Junction also clips made for questions; not where a strategy asks at random."},
			{idrl.FoundClips, "Clips of the policies", "As in sessions of earlier versions."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.ClipsFrom },
	},
	{
		Key: "candidates", Label: "Candidate policies", Words: "number of sampled candidate policies in a generation (Thompson samples; the mean-optimal policy is added)", Unit: "policies",
		Default: "5", Filled: true, Low: 2, High: 50, Group: training,
		at: func(s *idrl.SessionSpec) any { return &s.Candidates },
	},
	{
		Key: "ahead", Label: "Questions ahead", Words: "questions that are sent to an annotator in advance: with more, the annotator can continue longer without a network; with 1, each question uses all answers before it, else all but the last",
		Unit: "questions", Default: "3", Filled: true, Low: 1, High: 10, Group: asking,
		at: func(s *idrl.SessionSpec) any { return &s.Ahead },
	},
	{
		Key: "train_every", Label: "Train every", Words: "answers between the starts of two trainings", Unit: "answers", Default: "0",
		Zero: "1 where a training takes less than a second, else 3", Low: 1, High: math.Inf(1), Group: training,
		at: func(s *idrl.SessionSpec) any { return &s.TrainEvery },
		fill: func(s *idrl.SessionSpec) {
			if s.AdoptAfter > 0 { // the questions must not depend on how fast the machine is
				s.TrainEvery = max(idrl.DearTrainEvery, s.AdoptAfter)
			}
		},
	},
	{
		Key: "adopt_after", Label: "Adopt after", Words: "adopt a generation exactly this many answers after its training began, so that a run can be repeated exactly", Unit: "answers", Default: "0",
		Zero: "when it is ready", Low: 1, High: math.Inf(1), Group: training,
		at: func(s *idrl.SessionSpec) any { return &s.AdoptAfter },
		rule: func(s idrl.SessionSpec) string {
			if s.AdoptAfter > s.TrainEvery {
				return "must not exceed train_every, the answers between two trainings"
			}
			return ""
		},
	},
	{
		Key: "model", Label: "Model of the reward", Words: "model of the reward", Unit: "model", Default: idrl.FeaturesModel, Filled: true, Group: learning,
		Values: []Value{
			{idrl.FeaturesModel, "Hand-made features", "The reward is a weighted sum of the environment’s features."},
			{idrl.NetworkModel, "Neural network", "Learnt from observations and actions; for robots and comparisons of clips. Needs more answers."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.Model },
		rule: func(s idrl.SessionSpec) string {
			if s.Model == idrl.NetworkModel && s.Kind != idrl.CompareClips {
				return "is a network, which learns from comparisons of clips only, not from questions of type " + string(s.Kind) + "; choose that type, or the model features"
			}
			return ""
		},
	},
	{
		Key: "solver", Label: "How policies are trained", Words: "solver of policies", Unit: "solver", Default: idrl.AutoSolver, Filled: true, Group: training,
		Values: []Value{
			{idrl.AutoSolver, "Automatic", "Gaits for robots; else exact, or by gradients."},
			{idrl.OwnSolver, "The environment’s own", "Exact, by gradients, or a random search of linear policies."},
			{idrl.ActorCritic, "Soft actor-critic", "Small networks whose training continues from answer to answer; for robots. Always used with a neural reward."},
			{idrl.GaitSolver, "Gaits", "Rhythmic motions, later with feedback; the searches continue from answer to answer. For robots."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.Solver },
	},
	{
		Key: "return", Label: "How rollouts are compared", Words: "return by which policies of imported rollouts are compared (docs/rollouts.md); simulated policies are always compared by the sum", Unit: "return",
		Default: idrl.AutoReturn, Filled: true, Group: training,
		Values: []Value{
			{idrl.AutoReturn, "Automatic", "The mean reward of a step for imported rollouts; the sum over the episode for trained policies."},
			{idrl.MeanReturn, "Mean reward of a step", "For imported rollouts of different lengths: answers about clips of one length show the reward per step."},
			{idrl.SumReturn, "Sum over the episode", "A longer episode has a larger weight, positive or negative."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.Return },
	},
	{
		Key: "prior", Label: "Prior", Words: "prior of the reward", Unit: "prior", Default: idrl.LinearPrior, Filled: true, Group: learning,
		Values: []Value{
			{idrl.LinearPrior, "Independent weights", "For hand-made features."},
			{idrl.KernelPrior, "Similar weights", "For features that are types or states with a known similarity."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.Prior },
	},
	{
		Key: "prior_var", Label: "Prior variance", Words: "prior variance of each weight, on robots in units of its scale squared", Unit: "variance",
		Default: "1", Filled: true, Low: 0, High: mostNumber, Open: true, Group: learning,
		at: func(s *idrl.SessionSpec) any { return &s.PriorVar },
	},
	{
		Key: "likelihood", Label: "Model of a comparison", Words: "likelihood of a comparison", Unit: "likelihood", Default: idrl.Likelihoods()[0], Filled: true, Group: learning,
		Values: []Value{
			{"probit", "Probit with ties", "For people: noisy near a tie, and ‘equal’ is an answer."},
			{"gaussian", "Gaussian ±1", "As in the paper: an answer is the number 1 or −1, and ‘equal’ is 0."},
			{"bradley-terry", "Bradley–Terry with ties", "For people: logistic, so an occasional mistake has less weight; ‘equal’ is an answer."},
			{"bernoulli", "Linear chance", "The paper’s simulated expert, for returns that differ by at most 1; ‘equal’ counts as 0."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.Likelihood },
		rule: func(s idrl.SessionSpec) string {
			if s.Kind.Group() && s.Likelihood != idrl.Likelihoods()[0] {
				return "must be " + idrl.Likelihoods()[0] + " for groups: choosing the best and the worst has a likelihood of its own, with the noise of this one"
			}
			return ""
		},
	},
	{
		Key: "noise_model", Label: "Noise of answers", Words: "noise of answers: one for each annotator, or one for all", Unit: "whose", Default: idrl.OwnNoise, Filled: true, Group: learning,
		Depends: idrl.OwnNoise + "; if the likelihood has no such noise, " + idrl.SharedNoise,
		Values: []Value{
			{idrl.OwnNoise, "Each annotator's own", "Learnt from the answers of two or more annotators. If the likelihood has no such noise: the session's."},
			{idrl.SharedNoise, "The session's", "One for all annotators, as set below."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.Noise },
		fill: func(s *idrl.SessionSpec) {
			s.Noise = idrl.SharedNoise
			if s.CanOwnNoise() {
				s.Noise = idrl.OwnNoise
			}
		},
		rule: func(s idrl.SessionSpec) string {
			if s.Noise == idrl.OwnNoise && !s.CanOwnNoise() {
				return "can be own with the likelihoods probit and bradley-terry, or ratings; else it must be shared"
			}
			return ""
		},
	},
	{
		Key: "noise_std", Label: "Answer noise", Words: "standard deviation of the noise of comparisons, in units of return", Unit: "return",
		Depends: "3; of stills 0.5", Filled: true, Low: 0, High: mostNumber, Open: true, Group: learning,
		at: func(s *idrl.SessionSpec) any { return &s.NoiseStd },
		// People are right in nine of ten comparisons of two random clips where the noise is a third
		// of the prior's standard deviation of their difference: about 10 for clips, a sum over many
		// steps, and 1.4 for states.
		fill: func(s *idrl.SessionSpec) {
			s.NoiseStd = 3
			if s.Kind.Still() {
				s.NoiseStd = 0.5
			}
		},
	},
	{
		Key: "tie_band", Label: "Tie width", Words: "half-width of the interval of differences that count as equal, in units of return", Unit: "return",
		Depends: "a quarter of the noise", Filled: true, Low: 0, High: mostNumber, Open: true, Group: learning,
		at:   func(s *idrl.SessionSpec) any { return &s.TieBand },
		fill: func(s *idrl.SessionSpec) { s.TieBand = s.NoiseStd / 4 },
	},
	{
		Key: "rating_var", Label: "Rating variance", Words: "variance of a rating, on a scale from -1 to 1", Unit: "variance",
		Default: "0.05", Filled: true, Low: 0, High: mostNumber, Open: true, Group: learning,
		at: func(s *idrl.SessionSpec) any { return &s.RatingVar },
	},
	{
		Key: "rating_model", Label: "Model of a rating", Words: "model of a rating", Unit: "model", Default: idrl.ClippedRatings, Filled: true, Group: learning,
		Values: []Value{
			{idrl.ClippedRatings, "A limited scale", "The lowest and the highest rating also stand for all values beyond them."},
			{idrl.GaussianRatings, "A number", "Every rating is treated as an exact number, as in sessions of earlier versions."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.RatingModel },
	},
	{
		Key: "strength", Label: "What annotators say of two clips", Words: "annotators may say that a clip is much better (Shift with the choice)", Default: "false", Group: saying,
		Values: []Value{
			{"false", "Which clip is better", "The quickest answers."},
			{"true", "Also whether it is much better", "Shift with the choice, or its second button. Comparisons with the model probit or Bradley–Terry."},
		},
		at:   func(s *idrl.SessionSpec) any { return &s.Strength },
		rule: func(s idrl.SessionSpec) string { return moreThanAChoice(s, s.Strength) },
	},
	{
		Key: "much_band", Label: "Much width", Words: "difference from which a clip is much better, with strength", Unit: "return", Default: "0", Zero: "twice the noise",
		Low: 0, High: mostNumber, Open: true, Group: saying,
		at: func(s *idrl.SessionSpec) any { return &s.MuchBand },
		fill: func(s *idrl.SessionSpec) {
			if s.Strength {
				s.MuchBand = 2 * s.NoiseStd // docs/methods.md, section 2.1
			}
		},
		rule: func(s idrl.SessionSpec) string {
			switch {
			case !s.Strength && s.MuchBand != 0:
				return "needs strength: switch strength on, or leave this out"
			case s.Strength && s.MuchBand <= s.TieBand:
				return "must exceed tie_band"
			}
			return ""
		},
	},
	{
		Key: "remarks", Label: "Remarks about both clips", Words: "annotators may add to a comparison the remark that both clips are bad, or good; not with the model network", Default: "false", Group: saying,
		Values: []Value{
			{"false", "Nothing more", "Annotators compare the clips, no more."},
			{"true", "Both bad, both good", "An optional remark with the choice. For comparisons, as above; not with a network."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.Remarks },
		rule: func(s idrl.SessionSpec) string {
			if s.Remarks && s.Model == idrl.NetworkModel {
				return "cannot be used with the model network, whose reward has no zero; use the model features"
			}
			return moreThanAChoice(s, s.Remarks)
		},
	},
	{
		Key: "show_learnt", Label: "What annotators see of the result", Words: "annotators see what was learnt from the answers, every ten answers and at the end", Default: "false", Group: saying,
		Values: []Value{
			{"false", "Nothing", "The result cannot influence their answers."},
			{"true", "What was learnt", "The best policy before the first answer and now, every ten answers and at the end; without names or rewards."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.ShowLearnt },
	},
	{
		Key: "tolerance", Label: "Tolerance", Words: "loss that counts as small, as a share of the range from the worst to the best policy; not with the model network", Unit: "share",
		Default: "0.05", Filled: true, Low: 0, High: 1, Open: true, Group: stopping,
		at:   func(s *idrl.SessionSpec) any { return &s.Tolerance },
		rule: func(s idrl.SessionSpec) string { return ruled(s, s.Tolerance != idrl.DefaultTolerance) },
	},
	{
		Key: "doubt", Label: "Doubt", Words: "probability of a larger loss at which the session proposes to stop: it must not be exceeded after three answers in a row; not with the model network", Unit: "probability",
		Default: "0.1", Filled: true, Low: 0, High: 1, Open: true, Group: stopping,
		at:   func(s *idrl.SessionSpec) any { return &s.Doubt },
		rule: func(s idrl.SessionSpec) string { return ruled(s, s.Doubt != idrl.DefaultDoubt) },
	},
	{
		Key: "stop_by_itself", Label: "When the session may stop", Words: "stop asking questions then, instead of only proposing it; not with the model network", Default: "false", Group: stopping,
		Values: []Value{
			{"false", "Propose it", "The page of the session says so. Questions go on."},
			{"true", "Stop", "No more questions are asked. It goes on if an answer is withdrawn."},
		},
		at:   func(s *idrl.SessionSpec) any { return &s.StopByItself },
		rule: func(s idrl.SessionSpec) string { return ruled(s, s.StopByItself) },
	},
	{
		Key: "ask_on", Label: "What annotators are told then", Words: "where the session may stop and has no number of answers to reach, ask annotators on without saying that they are done; not with the model network or stop_by_itself", Default: "false", Group: stopping,
		Values: []Value{
			{"false", "They are done", "Their page ends and says that they are done. They can go on answering."},
			{"true", "Nothing", "Questions go on, and their page does not say that more answers change little."},
		},
		at: func(s *idrl.SessionSpec) any { return &s.AskOn },
		rule: func(s idrl.SessionSpec) string {
			if s.AskOn && s.StopByItself {
				return "cannot be used where the session stops by itself, because no question is left to ask"
			}
			return ruled(s, s.AskOn)
		},
	},
	{
		Key: "repeat_every", Label: "Repeat every", Words: "number of questions of an annotator for each repeat: an earlier question with the sides swapped (`tiebreak quality` shows the results)", Unit: "questions",
		Default: "0", Zero: "never", Low: 2, High: idrl.MaxBudget, Group: checking,
		at: func(s *idrl.SessionSpec) any { return &s.RepeatEvery },
	},
	{
		Key: "gold_every", Label: "Gold every", Words: "average number of questions of an annotator for each gold question; you give their right answers on the session’s page", Unit: "questions",
		Default: "20", Zero: "never", Low: 2, High: idrl.MaxBudget, Group: checking,
		at: func(s *idrl.SessionSpec) any { return &s.GoldEvery },
	},
	{
		Key: "min_dwell", Label: "Least dwell", Words: "mark answers that are given before this share of the clip was on screen; marked answers still count", Unit: "share",
		Default: "0.25", Zero: "none", Low: 0, High: 1, Group: checking,
		at: func(s *idrl.SessionSpec) any { return &s.MinDwell },
	},
	{
		Key: "max_rate", Label: "Highest rate", Words: "mark answers that come faster than this many per minute, over the last 20 of an annotator; marked answers still count", Unit: "answers",
		Default: "60", Zero: "none", Low: 1, High: idrl.MaxRate, Group: checking,
		at: func(s *idrl.SessionSpec) any { return &s.MaxRate },
	},
	{
		Key: "exclude_gold", Label: "Leave out by gold questions", Words: "leave out the answers of an annotator who answers fewer than this share of the gold questions as you do (docs/study.md, section 5)", Unit: "share",
		Default: "0", Zero: "no such rule", Low: 0, High: 1, Group: checking,
		at: func(s *idrl.SessionSpec) any { return &s.ExcludeGold },
	},
	{
		Key: "exclude_repeats", Label: "Leave out by repeats", Words: "leave out the answers of an annotator who answers fewer than this share of the repeated questions as before", Unit: "share",
		Default: "0", Zero: "no such rule", Low: 0, High: 1, Group: checking,
		at: func(s *idrl.SessionSpec) any { return &s.ExcludeRepeats },
		rule: func(s idrl.SessionSpec) string {
			if s.ExcludeRepeats > 0 && s.RepeatEvery == 0 {
				return "needs repeat_every: no question is repeated"
			}
			return ""
		},
	},
	{
		Key: "exclude_marked", Label: "Leave out by marks", Words: "leave out the answers of an annotator of whose answers more than this share is marked (min_dwell, max_rate)", Unit: "share",
		Default: "0", Zero: "no such rule", Low: 0, High: 1, Group: checking,
		at: func(s *idrl.SessionSpec) any { return &s.ExcludeMarked },
	},
	{
		Key: "exclude_after", Label: "Leave out after", Words: "gold questions, repeats or answers of an annotator from which on those rules apply", Unit: "answers",
		Default: "10", Filled: true, Low: 1, High: idrl.MaxBudget, Group: checking,
		at: func(s *idrl.SessionSpec) any { return &s.ExcludeAfter },
	},
	{
		Key: "authors", Label: "Authors", Words: "who made the data set, separated by semicolons, as reports and data cards name them", Unit: "names", Zero: "not stated",
		High: idrl.MaxAuthors, Group: describing, Changes: true,
		at:   func(s *idrl.SessionSpec) any { return &s.Authors },
		rule: func(s idrl.SessionSpec) string { return card(idrl.DataCard{Authors: s.Authors}) },
	},
	{
		Key: "licence", Label: "Licence of the data", Words: "licence under which the data may be used: an SPDX identifier such as CC-BY-4.0, or a text", Unit: "licence", Zero: "not stated",
		High: idrl.MaxLicence, Group: describing, Changes: true,
		at:   func(s *idrl.SessionSpec) any { return &s.Licence },
		rule: func(s idrl.SessionSpec) string { return card(idrl.DataCard{Licence: s.Licence}) },
	},
	{
		Key: "recruitment", Label: "How people were recruited", Words: "sentences on how annotators were recruited and who they are, for reports and data cards; no names of people", Unit: "text", Zero: "not stated",
		High: idrl.MaxCardText, Lines: 2, Group: describing, Changes: true,
		at:   func(s *idrl.SessionSpec) any { return &s.Recruitment },
		rule: func(s idrl.SessionSpec) string { return card(idrl.DataCard{Recruitment: s.Recruitment}) },
	},
	{
		Key: "payment", Label: "How people were paid", Words: "sentences on what annotators were paid, and for what, for reports and data cards", Unit: "text", Zero: "not stated",
		High: idrl.MaxCardText, Lines: 2, Group: describing, Changes: true,
		at:   func(s *idrl.SessionSpec) any { return &s.Payment },
		rule: func(s idrl.SessionSpec) string { return card(idrl.DataCard{Payment: s.Payment}) },
	},
	{
		Key: "tags", Label: "Tags", Words: "words, separated by commas, by which the list of sessions can be searched; annotators do not see them", Unit: "words", Zero: "none",
		High: idrl.MaxTagsText, Group: describing, Changes: true,
		at:   func(s *idrl.SessionSpec) any { return &s.Tags },
		rule: func(s idrl.SessionSpec) string { return rest(idrl.CheckTags(s.Tags)) },
	},
}
