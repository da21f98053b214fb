package idrl

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"
)

// A SessionSpec is what a session is made of. It is fixed when the session is
// created, but for the instructions, whose version is counted, and the budget.
type SessionSpec struct {
	ID           SessionID
	Title        string
	Env          string    // id in the catalogue
	Kind         QueryKind // of every question
	Acquisition  string    // one of AcquisitionsFor(Kind)
	Prior        string    // "linear": independent weights; "kernel": the environment's FeatureKernel
	Likelihood   string    // of comparisons: one of Likelihoods()
	Budget       int       // informative answers after which the session is complete; 0 for no limit
	Instructions string    // for annotators, plain text, a line a point
	Seed         uint64    // of every random stream, and of the environment's layout

	Candidates int   // Thompson samples of a generation, besides the mean-optimal policy
	Ahead      int   // questions leased to an annotator at a time
	TrainEvery int64 // log rows between the starts of two trainings
	AdoptAfter int64 // adopt exactly this many log rows after training began, waiting if need be; 0: as soon as it is there

	PriorVar  float64 // of each weight
	NoiseStd  float64 // s of the probit, in units of θ·x
	TieBand   float64 // half-width of 'equal' in units of θ·x; > 0
	RatingVar float64 // of a rating given θ

	// Names of the features of Env when the session was created, in the order of
	// θ; an export needs them where Env is not available. Length d.
	Features []string

	InstructionsVersion int64 // from 1
	CreatedAt           time.Time
}

// Limits of a SessionSpec.
const (
	MaxTitle        = 120   // bytes
	MaxInstructions = 4000  // bytes
	MaxBudget       = 10000 // answers
	MaxArchive      = 200   // distinct policies of past generations that are known besides the pool
)

// Acquisitions returns the names of the acquisition functions that sessions may
// use: first the default, which docs/adr/0011 chose by evidence, then the others
// of package acquisition that are live, in its order.
func Acquisitions() []string {
	return []string{"lvar", "idrl", "uniform", "igr", "evr", "tt", "err", "kg-star", "vids", "leader"}
}

// AcquisitionsFor returns those that can value questions of a kind: "evr" needs
// comparisons, the others value every question.
func AcquisitionsFor(kind QueryKind) []string {
	return slices.DeleteFunc(Acquisitions(), func(name string) bool { return name == "evr" && !kind.Comparison() })
}

// Priors returns the names of the priors, the default first.
func Priors() []string { return []string{"linear", "kernel"} }

// Likelihoods returns the names of the likelihoods of a comparison, the default
// first: the probit with ties; the paper's ±1 with Gaussian noise; the logistic
// with ties; the paper's simulated annotator, whose noise is 1 − u².
func Likelihoods() []string { return []string{"probit", "gaussian", "bradley-terry", "bernoulli"} }

// WithDefaults returns s with every zero field that has a default filled in.
func (s SessionSpec) WithDefaults() SessionSpec {
	def := func(p *string, v string) {
		if *p == "" {
			*p = v
		}
	}
	def((*string)(&s.Kind), string(CompareClips))
	def(&s.Acquisition, Acquisitions()[0])
	def(&s.Prior, Priors()[0])
	def(&s.Likelihood, Likelihoods()[0])
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
	num(&s.RatingVar, 0.05)
	if s.Candidates == 0 {
		s.Candidates = 5
	}
	if s.Ahead == 0 {
		s.Ahead = 3
	}
	if s.TrainEvery == 0 {
		s.TrainEvery = 3
	}
	if s.InstructionsVersion == 0 {
		s.InstructionsVersion = 1
	}
	return s
}

// Validate returns an error of kind Invalid that says what to change. It does
// not know which environments exist.
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
		oneOf("acquisition function", s.Acquisition, Acquisitions()),
		oneOf("prior", s.Prior, Priors()),
		oneOf("likelihood", s.Likelihood, Likelihoods()),
	} {
		if err != nil {
			return err
		}
	}
	if fit := AcquisitionsFor(s.Kind); !slices.Contains(fit, s.Acquisition) {
		return Errorf(Invalid, "acquisition function %q cannot choose questions of type %q; those that can: %s",
			s.Acquisition, s.Kind, strings.Join(fit, ", "))
	}
	positive := func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
	switch {
	case len(s.Title) == 0 || len(s.Title) > MaxTitle:
		return Errorf(Invalid, "the title must have 1 to %d characters", MaxTitle)
	case len(s.Instructions) > MaxInstructions:
		return Errorf(Invalid, "the instructions must have at most %d characters; they have %d", MaxInstructions, len(s.Instructions))
	case CheckBudget(s.Budget) != nil:
		return CheckBudget(s.Budget)
	case s.Candidates < 2 || s.Candidates > 50:
		return Errorf(Invalid, "candidates must be 2 to 50; got %d", s.Candidates)
	case s.Ahead < 1 || s.Ahead > 10:
		return Errorf(Invalid, "questions ahead must be 1 to 10; got %d", s.Ahead)
	case s.TrainEvery < 1:
		return Errorf(Invalid, "answers between two trainings must be at least 1; got %d", s.TrainEvery)
	case s.AdoptAfter < 0 || s.AdoptAfter > s.TrainEvery:
		return Errorf(Invalid, "adopt-after must be 0 to %d, the answers between two trainings; got %d", s.TrainEvery, s.AdoptAfter)
	case !positive(s.PriorVar) || !positive(s.NoiseStd) || !positive(s.TieBand) || !positive(s.RatingVar):
		return Errorf(Invalid, "prior variance, noise, tie band and rating variance must be positive numbers")
	}
	return nil
}

// CheckBudget returns an error of kind Invalid unless a session may want that many
// answers.
func CheckBudget(answers int) error {
	if answers < 0 || answers > MaxBudget {
		return Errorf(Invalid, "the budget must be 0 (no limit) to %d answers; got %d", MaxBudget, answers)
	}
	return nil
}

// Why records what made a question worth asking. Researchers see it, never
// annotators.
type Why struct {
	First, Second PolicyID // the pair that it tells most about; empty where the acquisition has no pair
	Rivals        int      // policies that First was compared with, Second among them; 0 where not recorded
	PairStd       float64  // standard deviation of the difference of the pair's returns before the answer
	Info          float64  // expected information about the differences that it was chosen for, nats
	BasedOn       int64    // the generation it came from
	AfterSeq      int64    // log rows in the belief that chose it
}

// An Assignment is a question leased to an annotator.
type Assignment struct {
	ID         AssignmentID
	N          int64 // counts the assignments of a session from 1; seeds its random choices
	Query      Query
	Annotator  AnnotatorID
	Left       Side // which clip to show on the left; empty for a rating
	IssuedAt   time.Time
	LeaseUntil time.Time
	Answer     AnswerID // that closed it; empty while open
	Reopens    AnswerID // the withdrawn answer whose question this asks again; empty else
	Why        Why
}

// Snapshot is the belief after a log row, kept with the row. It is a cache: the
// log is the truth.
type Snapshot struct {
	Seq    int64
	Belief []byte // encoded posterior
	Regret Regret
}

// RegretDefinition is what the numbers of a Regret mean today; package regret has
// the formulas. Definition 1 was over the candidates in use alone, and Mean and Bound
// were returns; definition 0 stands for a row without a statement.
const RegretDefinition = 2

// RegretTolerance is the share of the span up to which a loss counts as small.
const RegretTolerance = 0.05

// Regret says what stopping after a log row would cost: how far the best policy
// found may fall behind the best one known, as a share of the span, the range of
// returns from the worst to the best known policy under the same reward weights.
type Regret struct {
	Seq        int64
	Definition int
	Policies   int     // known, the best included
	Within     float64 // probability that the loss is at most RegretTolerance
	Bound      float64 // the loss is at most this with a probability of 95 %
	Unbeaten   float64 // probability that no known policy is better at all
	Mean       float64 // expected loss
	Span       float64 // expected span, a return
}

// Basis says which policies a Regret compares the best one with.
type Basis string

// Bases of a Regret.
const (
	AgainstPool    Basis = "pool"    // policies solved for draws from the prior and from the posteriors so far
	AgainstSearch  Basis = "search"  // those that a search of bounded length has found
	AgainstEarlier Basis = "earlier" // candidates alone: the session was begun before the pool was kept
)

// Journal is the durable record of sessions. Its methods may be called from any
// goroutine; each write is durable before it returns.
type Journal interface {
	// Load returns everything recorded of a session, or an error of kind NotFound.
	Load(ctx context.Context, id SessionID) (Record, error)

	// Append records rows of the log, closes their assignments, and issues what
	// comes next, in one transaction: all of it or nothing. It returns an error of
	// kind Conflict if an answer's ID or Seq is taken or its assignment is closed.
	Append(ctx context.Context, id SessionID, rows ...Row) error

	// Issue records new assignments with their queries and clips.
	Issue(ctx context.Context, id SessionID, as []Assignment) error

	// Renew extends the lease of an open assignment.
	Renew(ctx context.Context, id SessionID, a AssignmentID, until time.Time) error

	// Adopt records that generation g is in use from log position seq on.
	Adopt(ctx context.Context, id SessionID, g Generation, seq int64) error

	// Settings returns what researchers want of the session now, or an error of kind
	// NotFound.
	Settings(ctx context.Context, id SessionID) (Settings, error)
}

// Row is a row of a session's log with what is recorded along with it.
type Row struct {
	Answer Answer
	After  Snapshot     // of the same Seq
	Next   []Assignment // what the annotator is asked next, as for Journal.Issue
}

// Record is what a Journal holds of one session.
type Record struct {
	Spec        SessionSpec
	Settings    Settings
	Log         []Answer      // by Seq
	Assignments []Assignment  // by N, open and closed
	Snapshots   []Snapshot    // by Seq, from 1
	Generation  *Generation   // adopted last; nil if none. Its clips have no Media
	AdoptedAt   int64         // log position at which it was adopted
	Pool        []Candidate   // of the first generation; empty for sessions of earlier versions
	Archive     [][]Candidate // of the generations before it, oldest first; ID, Origin, Mu and Clip only
}

// Receipt acknowledges a log row that is durable.
type Receipt struct {
	ID     AnswerID
	Seq    int64
	Replay bool // the same row had been recorded before
}

// Estimate is a number with its uncertainty.
type Estimate struct {
	Name  string
	ID    string
	Mean  float64
	Std   float64
	Clip  ClipID // shows it, where there is something to show
	Draws int    // candidates in use that are this policy; 0 if it is of the past
}

// Training is what the background is doing.
type Training struct {
	Running     bool  // or waiting for the trainer
	BasedOn     int64 // belief it trains from
	Done, Total int
	What        string // for people: "solving candidate 3 of 6"
	Outlook     Outlook
	Err         string // why the last training failed; empty if it did not
}

// Status is the state of a session for a researcher's eyes. It is immutable.
type Status struct {
	Session    SessionID
	Seq        int64 // of the last log row
	Answers    int   // effective and informative
	Skipped    int   // effective, but nothing can be learned of them: skipped, can't tell, or the clip failed
	Budget     int
	BasedOn    int64 // of the generation in use; -1 if there is none yet
	Training   Training
	Regret     []Regret   // by Seq; the last is about the present posterior and policies
	Basis      Basis      // of the last Regret
	Best       PolicyID   // the known policy with the highest mean return, which the last Regret is about; empty if there is none
	Candidates []Estimate // predicted returns, each against the average candidate, as shares of the last Regret's Span
	Weights    []Estimate // of the features
	Open       []Assignment
	Recent     []Asked // the last answers, newest first
	Annotators []AnnotatorStats
}

// Asked is an answered question, for a researcher's eyes.
type Asked struct {
	Answer  Answer
	Undone  bool
	LeftOut bool // the annotator is
	Why     Why
	Clips   []ClipID
}

// AnnotatorStats sums up one annotator's answers.
type AnnotatorStats struct {
	Annotator     AnnotatorID
	LeftOut       bool // their answers do not count
	Answers       int
	Decisive      int // a, b or a rating
	Equal         int
	CantTell      int
	Skipped       int
	Undone        int
	Marked        int           // with Doubts
	MedianTime    time.Duration // of a response
	LeftShare     float64       // share of decisive comparisons won by the left clip
	LeftLow       float64       // 95 % Wilson interval of LeftShare
	LeftHigh      float64
	Predicted     float64 // share of decisive comparisons that the belief before them foretold
	PredictedSize int     // comparisons behind Predicted
}

// EventKind says what happened in a session.
type EventKind string

// Kinds of event. The set is closed.
const (
	EventAnswered EventKind = "answered" // a log row was recorded
	EventAdopted  EventKind = "adopted"  // a generation came into use: there may be new questions
	EventTraining EventKind = "training" // progress in the background
	EventSettings EventKind = "settings" // a researcher changed the session: questions may have come or gone
)

// Event announces a change. It carries no content: a watcher reads the present
// state, so that it may miss events without harm.
type Event struct {
	Kind      EventKind
	Seq       int64       // of the last log row
	Annotator AnnotatorID // whose log row it was; empty otherwise
}

// Offer is what an annotator may see of a session.
type Offer struct {
	Seq     int64
	Open    []Assignment // leased to the annotator, in the order to show them
	Answers int          // effective and informative answers of everybody
	Mine    int          // answers of this annotator that are not withdrawn, informative or not
	Skipped int          // those of Mine that are not informative
	Budget  int
	Done    bool     // the budget is spent: there is nothing more to ask
	Waiting string   // why Open is empty, for people; empty if it is not
	Undo    AnswerID // the annotator's last answer that can be undone; empty if none
}

// Summary is a row in the list of sessions.
type Summary struct {
	Spec    SessionSpec
	Answers int // as in Status
	Skipped int // as in Status

	Paused string // why the session cannot go on here; empty if nothing is known against it
}
