package idrl

import (
	"slices"
	"time"
)

// A SessionSpec has the settings of a session, which package study/settings describes: defaults,
// ranges, and rules between settings. It is fixed when the session is created, except the budget,
// the title, the instructions and the consent text, whose versions are counted.
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
	Leader       string    // which policy is recommended: TestedLeader or ExpectedLeader; empty, as in sessions of earlier versions, is ExpectedLeader
	ClipsFrom    string    // of which there are questions: MadeClips or FoundClips
	Budget       int       // informative answers after which the session is complete; 0 for no limit
	Instructions string    // for annotators; empty for the environment's guide
	Purpose      string    // what annotators are to prefer: a sentence, or the name of one of the environment's; empty for its own
	Seed         uint64    // of every random stream, and of the environment's layout

	Candidates int   // Thompson samples of a generation, besides the mean-optimal policy
	Ahead      int   // questions leased to an annotator at a time
	TrainEvery int64 // log rows between the starts of two trainings; 0: 1 if the last training took less than QuickTraining, else DearTrainEvery
	AdoptAfter int64 // adopt exactly this many log rows after training began, waiting if necessary; 0: as soon as it is ready

	PriorVar  float64 // of each weight, in units of PriorScale²
	NoiseStd  float64 // s of the probit, in units of θ·x
	TieBand   float64 // half-width of 'equal' in units of θ·x; > 0
	RatingVar float64 // of a rating given θ

	RatingModel string // ClippedRatings or GaussianRatings
	Noise       string // of answers: OwnNoise or SharedNoise

	Tolerance    float64 // share of the span up to which a loss counts as small, in (0, 1)
	Doubt        float64 // the session proposes to stop once a larger loss is at most this probable, in (0, 1)
	StopByItself bool    // and then it stops by itself
	AskOn        bool    // else annotators are asked on then, and their page does not say that they are done

	// CompletionCode is shown to annotators when they have no further question, for instance for a
	// crowd platform; empty for none.
	CompletionCode string

	// AnswersEach is the number of replies after which an annotator has finished, whatever remains
	// of Budget, as crowd platforms pay for it. 0 for no limit.
	AnswersEach int

	// RepeatEvery is the number of questions of an annotator for each repeat of an answered
	// question, with the sides swapped, to measure consistency; 0: never.
	RepeatEvery int

	// GoldEvery is the average number of questions of an annotator for each gold question (Known);
	// 0: never. Without gold questions it has no effect.
	GoldEvery int

	// Controls are the shares of the questions that other strategies than Acquisition choose;
	// Acquisition chooses the rest.
	Controls Controls

	// HeldOut is the share of held-out questions: comparisons drawn at random, whose answers are
	// not used for learning but measure how well posteriors predict; 0: none. In [0, MaxHeldOut].
	HeldOut float64

	// HeldOutFrom says which trajectories held-out comparisons are about: AnyTrajectories, or
	// ReservedTrajectories, about which nothing else is asked. Empty in sessions of earlier versions, as AnyTrajectories.
	HeldOutFrom string `json:",omitempty"`

	// MinDwell and MaxRate define hurried answers, which are only marked (FindHurry): decided
	// before that share of the clip was on screen, in [0, 1]; and more than MaxRate answers a
	// minute over the last RateSpan. 0: no such mark.
	MinDwell float64
	MaxRate  int

	// Rules about whose answers the program leaves out by itself, once there are ExcludeAfter (≥ 1 where there is a rule) of
	// what a rule counts: the least share of gold questions answered as the researcher does, the least share of repeats
	// answered as before, and the greatest share of answers marked with doubts, each in [0, 1]; 0: no such rule.
	ExcludeGold, ExcludeRepeats, ExcludeMarked float64 `json:",omitempty"`
	ExcludeAfter                               int     `json:",omitempty"`

	// ShowLearnt lets annotators see the result of the answers (Effect), every ten answers and at
	// the end.
	ShowLearnt bool

	// Strength lets annotators say of a preferred clip that it is much better; MuchBand is the
	// half-width of the band beyond which it is, in units of θ·x, above TieBand; 0 where
	// there is no Strength.
	Strength bool
	MuchBand float64

	// Remarks lets annotators remark beside a comparison that both clips are bad, or good.
	Remarks bool

	// Consent is the text, in Markdown, to which people must agree before their first question;
	// empty for none. ConsentVersion counts its versions; 0 for the first.
	Consent        string
	ConsentVersion int64

	// WithdrawDays is the number of days after joining in which people can withdraw their data
	// themselves; 0: they cannot. Researchers can always do it for them.
	WithdrawDays int

	// What data cards and reports say of a study and its people; each may be empty, and changes nothing else. Authors are separated
	// by semicolons; Licence is an SPDX identifier or a text; Recruitment and Payment are sentences.
	Authors     string `json:",omitempty"`
	Licence     string `json:",omitempty"`
	Recruitment string `json:",omitempty"`
	Payment     string `json:",omitempty"`

	// Tags, separated by commas, group sessions in the list of sessions; annotators do not see them. See Tags.
	Tags string `json:",omitempty"`

	// Rehearsal marks a session whose people are simulated. A server lets people join it only if it was started to rehearse, and lists,
	// notices and exports leave it out unless they are asked for it.
	Rehearsal bool `json:",omitempty"`

	// Names of the features of Env when the session was created, in the order of
	// θ; an export needs them where Env is not available. Length d.
	Features []string

	// PriorScale is EnvSpec.PriorScale of Env when the session was created. Length d; nil
	// for ones, as in sessions of earlier versions.
	PriorScale []float64

	// Clip is EnvSpec.ClipSteps and Playback of Env when the session was created; zero in sessions
	// of earlier versions. The numbers of a clip are sums over it, so the prior depends on its
	// length.
	Clip ClipForm

	// Arena makes the session a blind comparison of policies; zero in others.
	Arena Arena `json:",omitzero"`

	InstructionsVersion int64  // from 1
	InstructionsFormat  string // PlainText or Markdown
	CreatedAt           time.Time
}

// What HeldOutFrom can be.
const (
	AnyTrajectories      = "any"
	ReservedTrajectories = "reserved"
)

// Excludes reports whether the program leaves out somebody's answers by itself.
func (s SessionSpec) Excludes() bool {
	return s.ExcludeGold > 0 || s.ExcludeRepeats > 0 || s.ExcludeMarked > 0
}

// Limits of a SessionSpec.
const (
	MaxTitle        = 120   // characters
	MaxPurpose      = 140   // characters
	MaxInstructions = 4000  // characters
	MaxAuthors      = 400   // characters
	MaxLicence      = 120   // characters
	MaxCardText     = 1000  // characters of Recruitment, and of Payment
	MaxBudget       = 10000 // answers
	MaxCode         = 64    // characters of a completion code
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
	ClippedRatings  = "clipped"  // the ends of the scale also stand for values beyond them
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

// Whether the posterior models the noise of each annotator.
const (
	OwnNoise    = "own"    // each annotator's own, learnt from the answers: temperature, lapses, ties; of ratings offset and scale
	SharedNoise = "shared" // one for all annotators, a setting of the session, as in sessions of earlier versions
)

// CanOwnNoise reports whether the noise of the session's answers is a number that can differ
// between annotators.
func (s SessionSpec) CanOwnNoise() bool {
	return !s.Kind.Comparison() && !s.Kind.Group() || s.Kind.Comparison() && (s.Likelihood == "probit" || s.Likelihood == "bradley-terry")
}

// Which questions are asked.
const (
	// AnswerableQuestions are questions that people can answer: of these, the ones with the most
	// information from probable answers; and none that looks like a recent one.
	AnswerableQuestions = "answerable"

	AnyQuestions = "any" // the question with the most information, as in sessions of earlier versions

	// EverythingQuestions is AnyQuestions with clips from after a fall, too, which no other rule
	// offers: a baseline for the others.
	EverythingQuestions = "everything"
)

// Which policy is recommended.
const (
	// TestedLeader is, in sessions that begin with a library and compare two clips, the policy that people preferred to
	// the one that was recommended before it.
	TestedLeader = "tested"

	ExpectedLeader = "expected" // the policy with the highest expected return, as in sessions of earlier versions
)

// Which clips there are questions about.
const (
	// MadeClips are clips of the policies, and others that are made to tell most of which policy is the best.
	MadeClips = "made"

	FoundClips = "found" // clips of the policies, as in sessions of earlier versions
)

// MakesClips reports whether clips are made for questions: where the session asks for it, and no strategy asks at random, for
// which any clip is as good as another.
func (s SessionSpec) MakesClips() bool {
	atRandom := func(c StrategyShare) bool { return c.Strategy == UniformAcquisition }
	return s.ClipsFrom == MadeClips && s.Acquisition != UniformAcquisition && !slices.ContainsFunc(s.Controls, atRandom)
}

// UniformAcquisition is the strategy that asks at random.
const UniformAcquisition = "uniform"

// RecordedEarlier returns the settings of sessions whose record lacks them, because an earlier
// version made it.
func RecordedEarlier() SessionSpec {
	return SessionSpec{Model: FeaturesModel, Solver: OwnSolver, Return: SumReturn, RatingModel: GaussianRatings, Noise: SharedNoise, Questions: AnyQuestions, ClipsFrom: FoundClips, Tolerance: DefaultTolerance, Doubt: DefaultDoubt}
}

// Defaults of the stopping rule.
const (
	DefaultTolerance = 0.05
	DefaultDoubt     = 0.1
)

// StatesRegret reports whether the session states its regret and can propose to stop. On a reward
// network it does not: the posterior of the network's last layer is too narrow for it
// (docs/adr/0025). An arena has no return.
func (s SessionSpec) StatesRegret() bool { return s.Model != NetworkModel && !s.IsArena() }

// GoesOn reports whether each training after the first generation continues from the end of the
// last one: agents of soft actor-critic, and searches among gaits.
func (s SessionSpec) GoesOn() bool {
	return s.Model == NetworkModel || s.Solver == ActorCritic || s.Solver == GaitSolver
}

// ByGaits reports whether policies are found by searches among gaits.
func (s SessionSpec) ByGaits() bool { return s.Model != NetworkModel && s.Solver == GaitSolver }
