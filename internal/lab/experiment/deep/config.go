package deep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/neural"
	"tiebreak/internal/plan/sac"
)

// Main is the variant of a method whose questions come from rollouts of the main policy
// alone: "idrl:main", the paper's ablation.
const Main = "main"

// A Budget says how much a run may take.
type Budget struct {
	Name   string // in reports
	Labels int    // comparisons in all
	Steps  int    // of the main policy's training
	Every  int    // steps of it from one batch of questions to the next

	// CandidateSteps is how far candidates are trained at a time, and Refresh the batches
	// from one time to the next. In mode Corrected one candidate is trained each time, in
	// turn; in mode Paper all are.
	CandidateSteps, Refresh int

	Clips       int // that the questions of a batch are made of
	Pairs       int // of them that are looked at in mode Corrected; all in mode Paper
	Rollouts    int // behind the visitation of a candidate
	Evaluations int // episodes behind a measurement of the main policy
	Updates     int // of the reward network after a batch, at most; those before the first batch are four times as many

	Agent sac.Settings
}

// Share of the labels that are asked for before the training, and the number of
// candidates. Source: the paper, appendix "Hyperparameter choices".
const (
	firstShare = 0.25
	candidates = 3
	clipSteps  = 40
)

// Small returns the budget for two cores: 300 comparisons, and 100,000 steps with small
// networks of which two steps share an update. A run takes one to two minutes of one core.
func Small() Budget {
	s := sac.Live()
	s.Batch, s.Every, s.NormaliseReward = 128, 2, true
	return Budget{
		Name: "small", Labels: 300, Steps: 100_000, Every: 5_000, CandidateSteps: 5_000, Refresh: 1,
		Clips: 200, Pairs: 2000, Rollouts: 5, Evaluations: 5, Updates: 500, Agent: s,
	}
}

// Full returns the budget of the paper: 1,400 comparisons and 10⁷ steps, of each of the
// candidates, too.
func Full() Budget {
	s := sac.Paper()
	return Budget{
		Name: "paper", Labels: 1400, Steps: 10_000_000, Every: 10_000, CandidateSteps: 100_000, Refresh: 10,
		Clips: 200, Pairs: 19_900, Rollouts: 10, Evaluations: 10, Updates: 4000, Agent: s,
	}
}

// Budgets returns both.
func Budgets() []Budget { return []Budget{Small(), Full()} }

// FindBudget returns the budget of a name, or an error of kind Invalid.
func FindBudget(name string) (Budget, error) {
	for _, b := range Budgets() {
		if b.Name == name {
			return b, nil
		}
	}
	return Budget{}, idrl.Errorf(idrl.Invalid, "unknown budget %q; known: %s, %s", name, Small().Name, Full().Name)
}

// Batches returns how often questions may be asked while the main policy is trained.
func (b Budget) Batches() int { return b.Steps / b.Every }

func (b Budget) check() error {
	for _, v := range []struct {
		what        string
		n, low, top int
	}{
		{"labels", b.Labels, 4, 1_000_000},
		{"steps", b.Steps, 1, 1_000_000_000},
		{"steps from one batch of questions to the next", b.Every, 1, b.Steps},
		{"steps of a candidate", b.CandidateSteps, 1, 1_000_000_000},
		{"batches from one training of candidates to the next", b.Refresh, 1, 1_000_000},
		{"clips", b.Clips, 2 * (candidates + 1), 10_000},
		{"pairs", b.Pairs, 1, 10_000_000},
		{"rollouts", b.Rollouts, 1, 1000},
		{"evaluations", b.Evaluations, 1, 1000},
		{"updates", b.Updates, 1, 1_000_000},
	} {
		if v.n < v.low || v.n > v.top {
			return idrl.Errorf(idrl.Invalid, "%s must be %d to %d; got %d", v.what, v.low, v.top, v.n)
		}
	}
	return nil
}

// Config says what a run is. A run is a function of it.
type Config struct {
	Task   string // id of an environment with a true reward
	Method string // of acquisition, with ":main" for questions from the main policy alone
	Mode   neural.Mode
	Budget Budget
	Seed   uint64
}

// Name names the run but for its seed, in a form that suits a file.
func (c Config) Name() string {
	return fmt.Sprintf("deep-%s-%s-%s", c.Task, c.Budget.Name, cmp.Or(string(c.Mode), string(neural.Corrected)))
}

// A method is an acquisition method, with the source of its questions.
type method struct {
	acquisition.Method
	alone bool // questions come from the main policy alone
}

// warm reports whether the method needs candidates.
func (m method) warm() bool { return m.Needs.Candidates != acquisition.NoCandidates }

// findMethod returns the method of a name, or an error of kind Invalid.
func findMethod(name string, mode neural.Mode) (out method, err error) {
	base, variant, has := strings.Cut(name, ":")
	if has && variant != Main {
		return out, idrl.Errorf(idrl.Invalid, "unknown variant %q of method %q; known: %s, questions from the main policy alone", variant, base, Main)
	}
	if out.Method, err = acquisition.Find(base); err != nil {
		return out, err
	}
	out.alone = has
	if has && !out.warm() {
		return out, idrl.Errorf(idrl.Invalid, "method %q has no candidate policies, so that all of its questions come from the main policy; name it alone", base)
	}
	if mode == neural.Paper && !slices.Contains(Methods(), base) {
		return out, idrl.Errorf(idrl.Invalid, "method %q is not in the paper's deep experiments: it runs in the modes %s and %s", base, neural.Corrected, neural.Anchored)
	}
	if out.Needs.SolvesEach {
		return out, idrl.Errorf(idrl.Invalid, "method %q trains a policy for each question that it looks at, which takes too long here", base)
	}
	return out, out.Fits(idrl.CompareClips, false)
}

// Methods returns the rows of the paper's figure: IDRL, its ablation, and the baselines.
func Methods() []string { return []string{"idrl", "idrl:" + Main, "igr", "uniform"} }

// Validate returns an error of kind Invalid that says what to change.
func (c Config) Validate() error {
	if !slices.Contains(neural.Modes(), c.Mode) {
		return idrl.Errorf(idrl.Invalid, "unknown mode %q; known: %s, %s, %s", c.Mode, neural.Corrected, neural.Anchored, neural.Paper)
	}
	if _, err := findMethod(c.Method, c.Mode); err != nil {
		return err
	}
	return c.Budget.check()
}
