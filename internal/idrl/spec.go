package idrl

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A SessionSpec holds the settings of a session. It is fixed when the session is
// created, but for the instructions and the consent text, whose versions are counted, and
// the budget.
type SessionSpec struct {
	ID           SessionID
	Title        string
	Env          string    // id in the catalogue
	Kind         QueryKind // of every question
	Acquisition  string    // of package acquisition, one that can value Kind
	Model        string    // of the reward: one of RewardModels()
	Solver       string    // of policies under hand-made features: one of Solvers()
	Prior        string    // "linear": independent weights; "kernel": the environment's FeatureKernel
	Likelihood   string    // of comparisons: one of Likelihoods()
	Questions    string    // which are asked: one of QuestionRules()
	Budget       int       // informative answers after which the session is complete; 0 for no limit
	Instructions string    // for annotators; empty for those that the environment brings
	Seed         uint64    // of every random stream, and of the environment's layout

	Candidates int   // Thompson samples of a generation, besides the mean-optimal policy
	Ahead      int   // questions leased to an annotator at a time
	TrainEvery int64 // log rows between the starts of two trainings; 0: 1 where the last training took less than QuickTraining, else DearTrainEvery
	AdoptAfter int64 // adopt exactly this many log rows after training began, waiting if need be; 0: as soon as it is there

	PriorVar  float64 // of each weight, in units of PriorScale²
	NoiseStd  float64 // s of the probit, in units of θ·x
	TieBand   float64 // half-width of 'equal' in units of θ·x; > 0
	RatingVar float64 // of a rating given θ

	// RatingModel is one of RatingModels(): whether the ends of the scale stand for
	// what lies beyond them.
	RatingModel string

	// Noise is one of NoiseRules(): whose noise of answers it is, and what goes with that.
	Noise string

	Tolerance    float64 // share of the span up to which a loss counts as small, in (0, 1)
	Doubt        float64 // the session proposes to stop once a larger loss is at most this probable, in (0, 1)
	StopByItself bool    // and then it stops

	// CompletionCode is shown to annotators when there is nothing left to answer, for instance
	// the code by which a crowd platform pays them; empty for none.
	CompletionCode string

	// AnswersEach is the number of replies after which a person has done their part, whatever
	// is left of Budget: what crowd platforms pay for. 0 for no limit.
	AnswersEach int

	// RepeatEvery has every so many questions of an annotator repeat one that they have
	// answered, with the sides swapped, to see whether they say the same again; 0: never.
	RepeatEvery int

	// GoldEvery has about every so many questions of an annotator be one to which a
	// researcher knows the answer (Known), hidden among the others; 0: never. Without such
	// questions it means nothing.
	GoldEvery int

	// Controls choose shares of the questions by other strategies than Acquisition, which has
	// the rest; none: all are chosen by that.
	Controls Controls

	// HeldOut is the share of the questions that are held out: comparisons drawn at random, from
	// which nothing learns, to judge posteriors by; 0: none. In [0, MaxHeldOut].
	HeldOut float64

	// MinDwell and MaxRate say what counts as hurry, which marks an answer and no more
	// (FindHurry): decided before that share of the clip was on screen, in [0, 1]; and more than so many
	// answers a minute over the last RateSpan. 0: neither.
	MinDwell float64
	MaxRate  int

	// ShowLearnt lets annotators see what was learnt from the answers (Effect), every ten
	// answers and at the end.
	ShowLearnt bool

	// Strength lets annotators say of a preferred clip that it is much better; MuchBand is the
	// half-width of the band beyond which it is, in units of θ·x, above TieBand; 0 where
	// there is no Strength.
	Strength bool
	MuchBand float64

	// Remarks lets annotators remark beside a comparison that both clips are bad, or good.
	Remarks bool

	// Consent is what people agree to before their first question, in Markdown; empty if
	// nobody is asked. ConsentVersion counts its versions; 0 for the first.
	Consent        string
	ConsentVersion int64

	// WithdrawDays is for how many days after they joined people are offered to withdraw
	// their data themselves; 0: they are not. Researchers can always do it for them.
	WithdrawDays int

	// Names of the features of Env when the session was created, in the order of
	// θ; an export needs them where Env is not available. Length d.
	Features []string

	// PriorScale is EnvSpec.PriorScale of Env when the session was created. Length d; nil
	// for ones, as in sessions of earlier versions.
	PriorScale []float64

	// Clip is EnvSpec.ClipSteps and Playback of Env when the session was created; zero in
	// sessions of earlier versions. The numbers of a clip are sums over it, so that the prior
	// goes with its length.
	Clip ClipForm

	// Arena makes the session a blind comparison of policies; zero in others.
	Arena Arena `json:",omitzero"`

	InstructionsVersion int64  // from 1
	InstructionsFormat  string // PlainText or Markdown
	CreatedAt           time.Time
}

// Limits of a SessionSpec.
const (
	MaxTitle        = 120   // bytes
	MaxInstructions = 4000  // bytes
	MaxBudget       = 10000 // answers
	MaxCode         = 64    // bytes of a completion code
	MaxRate         = 1000  // answers a minute
)

// A session whose trainings take less than QuickTraining trains after every answer, and
// others after DearTrainEvery, unless they say otherwise.
const (
	QuickTraining  = time.Second
	DearTrainEvery = 3
)

// DefaultAcquisition names the acquisition function that a session uses unless it
// asks for another one (docs/adr/0011). Package acquisition has the list.
const DefaultAcquisition = "lvar"

// Priors returns the names of the priors, the default first.
func Priors() []string { return []string{"linear", "kernel"} }

// Models of the reward.
const (
	FeaturesModel = "features" // θ·φ with the features of the environment
	NetworkModel  = "network"  // a network of observation and action, learnt from the answers
)

// RewardModels returns the names of the models of the reward, the default first.
func RewardModels() []string { return []string{FeaturesModel, NetworkModel} }

// Solvers of policies.
const (
	AutoSolver  = "auto"  // of a session that is being made: gaits for robots, else own
	OwnSolver   = "own"   // what suits the environment: exact, by gradients, or random search
	ActorCritic = "sac"   // soft actor-critic, for continuous actions
	GaitSolver  = "gaits" // searches among gaits that go on from training to training, for continuous actions with bounds
)

// Solvers returns the names of the solvers of policies, the default first.
func Solvers() []string { return []string{AutoSolver, OwnSolver, ActorCritic, GaitSolver} }

// Likelihoods returns the names of the likelihoods of a comparison, the default
// first: the probit with ties; the paper's ±1 with Gaussian noise; the logistic
// with ties; the paper's simulated annotator, whose noise is 1 − u².
func Likelihoods() []string { return []string{"probit", "gaussian", "bradley-terry", "bernoulli"} }

// RatingModels returns the names of the likelihoods of a rating, the default first:
// one whose scale ends, so that the ends stand for what lies beyond; and one that takes
// every rating for a number, as sessions of earlier versions do.
func RatingModels() []string { return []string{"clipped", "gaussian"} }

// Whose noise of answers the posterior goes by.
const (
	OwnNoise    = "own"    // each annotator's, learnt from the answers: temperature, lapses, ties; of ratings offset and scale
	SharedNoise = "shared" // one of all annotators, as the session is told, as in sessions of earlier versions
)

// NoiseRules returns whose noise the posterior can go by.
func NoiseRules() []string { return []string{OwnNoise, SharedNoise} }

// CanOwnNoise reports whether the noise of the session's answers is a number that can differ
// between annotators.
func (s SessionSpec) CanOwnNoise() bool {
	varies := !s.Kind.Comparison() && !s.Kind.Group() || s.Kind.Comparison() && (s.Likelihood == "probit" || s.Likelihood == "bradley-terry")
	return s.Model != NetworkModel && varies
}

// Which questions are asked.
const (
	// AnswerableQuestions are those that people can answer, by what they see; of these, the
	// ones that tell most by answers that are probable; and none that looks like a recent one.
	AnswerableQuestions = "answerable"

	AnyQuestions = "any" // whatever tells most, as in sessions of earlier versions
)

// QuestionRules returns which questions may be asked, the default first.
func QuestionRules() []string { return []string{AnswerableQuestions, AnyQuestions} }

// RecordedEarlier returns the settings that sessions have whose record says nothing of
// them, because an earlier version made it.
func RecordedEarlier() SessionSpec {
	return SessionSpec{Model: FeaturesModel, Solver: OwnSolver, RatingModel: "gaussian", Noise: SharedNoise, Questions: AnyQuestions, Tolerance: DefaultTolerance, Doubt: DefaultDoubt}
}

// Defaults of the rule by which a session proposes to stop.
const (
	DefaultTolerance = 0.05
	DefaultDoubt     = 0.1
)

// WithDefaults returns s with every zero field that has a default filled in.
func (s SessionSpec) WithDefaults() SessionSpec {
	def := func(p *string, v string) {
		if *p == "" {
			*p = v
		}
	}
	def((*string)(&s.Kind), string(CompareClips))
	def(&s.Acquisition, DefaultAcquisition)
	def(&s.Model, RewardModels()[0])
	def(&s.Solver, Solvers()[0])
	def(&s.Prior, Priors()[0])
	def(&s.Likelihood, Likelihoods()[0])
	def(&s.Questions, QuestionRules()[0])
	num := func(p *float64, v float64) {
		if *p == 0 {
			*p = v
		}
	}
	num(&s.PriorVar, 1)
	// People are right in nine of ten comparisons of two random clips where the
	// noise is a third of the prior's standard deviation of their difference:
	// about 10 for clips, a sum over many steps, and 1.4 for states.
	if s.Kind.Still() {
		num(&s.NoiseStd, 0.5)
	} else {
		num(&s.NoiseStd, 3)
	}
	num(&s.TieBand, s.NoiseStd/4)
	if s.Strength {
		num(&s.MuchBand, 2*s.NoiseStd) // docs/methods.md, section 2.1
	}
	num(&s.RatingVar, 0.05)
	def(&s.RatingModel, RatingModels()[0])
	if s.CanOwnNoise() {
		def(&s.Noise, OwnNoise)
	}
	def(&s.Noise, SharedNoise)
	num(&s.Tolerance, DefaultTolerance)
	num(&s.Doubt, DefaultDoubt)
	if s.Candidates == 0 {
		s.Candidates = 5
	}
	if s.Ahead == 0 {
		s.Ahead = 3
	}
	if s.TrainEvery == 0 && s.AdoptAfter > 0 { // the questions must not depend on how fast the machine is
		s.TrainEvery = max(DearTrainEvery, s.AdoptAfter)
	}
	if s.InstructionsVersion == 0 {
		s.InstructionsVersion = 1
	}
	return s
}

// Validate returns an error of kind Invalid that says what to change. It does
// not know which environments and acquisition functions exist.
func (s SessionSpec) Validate() error {
	oneOf := func(what, got string, known []string) error {
		for _, k := range known {
			if got == k {
				return nil
			}
		}
		return Errorf(Invalid, "unknown %s %q; known: %s", what, got, strings.Join(known, ", "))
	}
	kinds := make([]string, 0, 4)
	for _, k := range QueryKinds() {
		kinds = append(kinds, string(k))
	}
	for _, err := range []error{
		oneOf("query type", string(s.Kind), kinds),
		oneOf("model of the reward", s.Model, RewardModels()),
		oneOf("solver of policies", s.Solver, Solvers()),
		oneOf("prior", s.Prior, Priors()),
		oneOf("likelihood", s.Likelihood, Likelihoods()),
		oneOf("model of a rating", s.RatingModel, RatingModels()),
		oneOf("rule of noise", s.Noise, NoiseRules()),
		oneOf("rule of questions", s.Questions, QuestionRules()),
	} {
		if err != nil {
			return err
		}
	}
	ruled := s.StopByItself || s.Tolerance != DefaultTolerance || s.Doubt != DefaultDoubt
	positive := func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
	switch {
	case len(s.Title) == 0 || len(s.Title) > MaxTitle:
		return Errorf(Invalid, "the title must have 1 to %d characters", MaxTitle)
	case s.Model == NetworkModel && s.Kind != CompareClips:
		return Errorf(Invalid, "the model %q learns from comparisons of clips (query type %q), not from questions of type %q; use the model %q",
			NetworkModel, CompareClips, s.Kind, FeaturesModel)
	case s.Noise == OwnNoise && !s.CanOwnNoise():
		return Errorf(Invalid, "each annotator can have a noise of their own with the likelihoods probit and bradley-terry, or ratings, and the model %q; "+
			"for other sessions use the noise %q", FeaturesModel, SharedNoise)
	case s.Kind.Group() && s.Likelihood != Likelihoods()[0]:
		return Errorf(Invalid, "the best and the worst of a group (query type %q) have a likelihood of their own, which goes with %q and its noise; got %q",
			GroupClips, Likelihoods()[0], s.Likelihood)
	case ruled && !s.StatesRegret():
		return Errorf(Invalid, "sessions with the model %q state no regret, so that no rule can stop them: leave the tolerance, the doubt and "+
			"stopping by itself as they are, or use the model %q", NetworkModel, FeaturesModel)
	case s.CurrentInstructions().Check() != nil:
		return s.CurrentInstructions().Check()
	case CheckBudget(s.Budget) != nil:
		return CheckBudget(s.Budget)
	case s.AnswersEach < 0 || s.AnswersEach > MaxBudget:
		return Errorf(Invalid, "each person can be asked for 1 to %d answers, or for any number: 0; got %d", MaxBudget, s.AnswersEach)
	case s.Candidates < 2 || s.Candidates > 50:
		return Errorf(Invalid, "candidates must be 2 to 50; got %d", s.Candidates)
	case s.Ahead < 1 || s.Ahead > 10:
		return Errorf(Invalid, "questions ahead must be 1 to 10; got %d", s.Ahead)
	case !validCode(s.CompletionCode):
		return Errorf(Invalid, "the completion code must be at most %d printable characters", MaxCode)
	case s.CurrentConsent().Check() != nil:
		return s.CurrentConsent().Check()
	case s.WithdrawDays < 0 || s.WithdrawDays > MaxWithdrawDays:
		return Errorf(Invalid, "people can be offered to withdraw their data for 1 to %d days, or not: 0; got %d", MaxWithdrawDays, s.WithdrawDays)
	case s.RepeatEvery < 0 || s.RepeatEvery == 1 || s.RepeatEvery > MaxBudget:
		return Errorf(Invalid, "a repeat can come every 2 to %d questions, or never: 0; got %d", MaxBudget, s.RepeatEvery)
	case !(s.MinDwell >= 0 && s.MinDwell <= 1):
		return Errorf(Invalid, "the least share of a clip that is to be seen must be 0 to 1; got %v", s.MinDwell)
	case s.MaxRate < 0 || s.MaxRate > MaxRate:
		return Errorf(Invalid, "the most answers a minute must be 1 to %d, or 0 for no limit; got %d", MaxRate, s.MaxRate)
	case CheckGoldEvery(s.GoldEvery) != nil:
		return CheckGoldEvery(s.GoldEvery)
	case s.TrainEvery < 0:
		return Errorf(Invalid, "answers between two trainings must be at least 1, or 0 to go by how long trainings take; got %d", s.TrainEvery)
	case s.AdoptAfter < 0 || s.AdoptAfter > s.TrainEvery:
		return Errorf(Invalid, "adopt-after must be 0 to %d, the answers between two trainings; got %d", s.TrainEvery, s.AdoptAfter)
	case !(s.Tolerance > 0 && s.Tolerance < 1) || !(s.Doubt > 0 && s.Doubt < 1):
		return Errorf(Invalid, "the tolerance and the doubt of the stop rule must be above 0 and below 1; got %v and %v", s.Tolerance, s.Doubt)
	case !positive(s.PriorVar) || !positive(s.NoiseStd) || !positive(s.TieBand) || !positive(s.RatingVar):
		return Errorf(Invalid, "prior variance, noise, tie band and rating variance must be positive numbers")
	case s.checkConditions() != nil:
		return s.checkConditions()
	case s.validateMore() != nil:
		return s.validateMore()
	case s.validateUploads() != nil:
		return s.validateUploads()
	case s.IsArena() && s.Arena.Validate() != nil:
		return s.Arena.Validate()
	case s.PriorScale != nil && s.Features != nil && len(s.PriorScale) != len(s.Features):
		return Errorf(Invalid, "the prior has %d scales for %d features", len(s.PriorScale), len(s.Features))
	case slices.ContainsFunc(s.PriorScale, func(v float64) bool { return !positive(v) }):
		return Errorf(Invalid, "the scales of the prior must be positive numbers")
	}
	return nil
}

// validateMore checks what annotators may say beside a choice.
func (s SessionSpec) validateMore() error {
	said := "strength"
	if s.Remarks {
		said = "remarks"
	}
	switch {
	case !s.Strength && s.MuchBand != 0:
		return Errorf(Invalid, "the much band goes only with strength: switch that on, or leave the band away")
	case !s.Strength && !s.Remarks:
		return nil
	case !s.Kind.Comparison():
		return Errorf(Invalid, "%s goes with comparisons, not with questions of type %q", said, s.Kind)
	case s.Likelihood != "probit" && s.Likelihood != "bradley-terry":
		return Errorf(Invalid, "%s goes with the likelihoods probit and bradley-terry, not with %q", said, s.Likelihood)
	case s.Remarks && s.Model == NetworkModel:
		return Errorf(Invalid, "remarks are not learnt from by the model %q, whose reward has no zero; use the model %q", NetworkModel, FeaturesModel)
	case s.Strength && !(s.MuchBand > s.TieBand && !math.IsInf(s.MuchBand, 1)):
		return Errorf(Invalid, "the much band must be a number above the tie band %v; got %v", s.TieBand, s.MuchBand)
	}
	return nil
}

// StatesRegret reports whether the session says what stopping would cost, and goes by
// that. On a reward network it does not: the posterior of the network's last layer is too
// narrow for it (docs/adr/0025). An arena has no return.
func (s SessionSpec) StatesRegret() bool { return s.Model != NetworkModel && !s.IsArena() }

// GoesOn reports whether each training after the first generation goes on from where the
// last one ended: agents of soft actor-critic, and searches among gaits.
func (s SessionSpec) GoesOn() bool {
	return s.Model == NetworkModel || s.Solver == ActorCritic || s.Solver == GaitSolver
}

// ByGaits reports whether policies are found by searches among gaits.
func (s SessionSpec) ByGaits() bool { return s.Model != NetworkModel && s.Solver == GaitSolver }

// CheckBudget returns an error of kind Invalid unless a session may want that many
// answers.
func CheckBudget(answers int) error {
	if answers < 0 || answers > MaxBudget {
		return Errorf(Invalid, "the budget must be 0 (no limit) to %d answers; got %d", MaxBudget, answers)
	}
	return nil
}

// CheckGoldEvery returns an error of kind Invalid unless gold questions can come that often.
func CheckGoldEvery(n int) error {
	if n < 0 || n == 1 || n > MaxBudget {
		return Errorf(Invalid, "a gold question can come every 2 to %d questions, or never: 0; got %d", MaxBudget, n)
	}
	return nil
}

// validCode reports whether a completion code can be shown and copied.
func validCode(code string) bool { return len(code) <= MaxCode && validLine(code) }

// validLine reports whether text is one line of printable characters.
func validLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
