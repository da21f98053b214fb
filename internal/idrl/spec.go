package idrl

import (
	"time"
)

// A SessionSpec holds the settings of a session, which package study/settings describes:
// defaults, ranges, and what goes with what. It is fixed when the session is created, but for
// the title, the instructions and the consent text, whose versions are counted, and the budget.
type SessionSpec struct {
	ID           SessionID
	Title        string
	Env          string    // id in the catalogue
	Kind         QueryKind // of every question
	Acquisition  string    // of package acquisition, one that can value Kind
	Model        string    // of the reward: FeaturesModel or NetworkModel
	Solver       string    // of policies under hand-made features: OwnSolver and so on
	Return       string    // by which policies are compared: SumReturn and so on
	Prior        string    // LinearPrior or KernelPrior
	Likelihood   string    // of comparisons: one of Likelihoods()
	Questions    string    // which are asked: AnswerableQuestions and so on
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

	RatingModel string // ClippedRatings or GaussianRatings
	Noise       string // of answers: OwnNoise or SharedNoise

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

// Priors of the reward.
const (
	LinearPrior = "linear" // independent weights
	KernelPrior = "kernel" // the environment's FeatureKernel
)

// Models of a rating.
const (
	ClippedRatings  = "clipped"  // the ends of the scale stand for what lies beyond them
	GaussianRatings = "gaussian" // every rating is a number, as in sessions of earlier versions
)

// Models of the reward.
const (
	FeaturesModel = "features" // θ·φ with the features of the environment
	NetworkModel  = "network"  // a network of observation and action, learnt from the answers
)

// Solvers of policies.
const (
	AutoSolver  = "auto"  // of a session that is being made: gaits for robots, else own
	OwnSolver   = "own"   // what suits the environment: exact, by gradients, or random search
	ActorCritic = "sac"   // soft actor-critic, for continuous actions
	GaitSolver  = "gaits" // searches among gaits that go on from training to training, for continuous actions with bounds
)

// Returns by which policies are compared.
const (
	AutoReturn = "auto" // of a session that is being made: the mean over rollouts that were imported, else the sum
	MeanReturn = "mean" // mean reward of a step: over all steps of the policy's rollouts
	SumReturn  = "sum"  // sum of the rewards of an episode
)

// Likelihoods returns the names of the likelihoods of a comparison, the default
// first: the probit with ties; the paper's ±1 with Gaussian noise; the logistic
// with ties; the paper's simulated annotator, whose noise is 1 − u².
func Likelihoods() []string { return []string{"probit", "gaussian", "bradley-terry", "bernoulli"} }

// Whose noise of answers the posterior goes by.
const (
	OwnNoise    = "own"    // each annotator's, learnt from the answers: temperature, lapses, ties; of ratings offset and scale
	SharedNoise = "shared" // one of all annotators, as the session is told, as in sessions of earlier versions
)

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

	// EverythingQuestions is AnyQuestions about clips of what comes after a fall, too, which are
	// offered by no other rule: what the others are compared with.
	EverythingQuestions = "everything"
)

// RecordedEarlier returns the settings that sessions have whose record says nothing of
// them, because an earlier version made it.
func RecordedEarlier() SessionSpec {
	return SessionSpec{Model: FeaturesModel, Solver: OwnSolver, Return: SumReturn, RatingModel: GaussianRatings, Noise: SharedNoise, Questions: AnyQuestions, Tolerance: DefaultTolerance, Doubt: DefaultDoubt}
}

// Defaults of the rule by which a session proposes to stop.
const (
	DefaultTolerance = 0.05
	DefaultDoubt     = 0.1
)

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
