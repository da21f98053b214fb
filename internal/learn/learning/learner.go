package learning

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/learn/regret"
)

// Config has the parts and settings of a Learner.
type Config struct {
	Model    idrl.RewardModel   // required
	Method   acquisition.Method // required
	Schedule Schedule           // how many policies are kept, and which count as one
	Regret   *rand.Rand         // for statements of regret, which own it; nil without statements

	// Tolerance is the share of the span up to which those statements count a loss as
	// small; required with Regret.
	Tolerance float64

	// Paper follows the authors' code where it differs from the text of the paper. Then
	// methods use all candidates, whatever their origin.
	Paper bool

	// Queries may be asked at any time. The products of the posterior with them are
	// kept up to date with each answer instead of being computed anew for each
	// choice. Empty where the queries change.
	Queries []idrl.QueryVector

	// Solving is the posterior from which policies are solved before the first answer, if
	// it is not the one by which queries are valued: in one environment the authors' code
	// keeps two. Default: the prior of Model.
	Solving idrl.Posterior
}

// A Learner holds the state of Algorithm 1. It is owned by one goroutine.
type Learner struct {
	cfg                Config
	f                  acquisition.Function // u(q, D)
	posterior, solving idrl.Posterior
	policies           Policies
	outlook            *regret.Outlook

	table   acquisition.Table  // of the last choice; its memory is reused
	kept    *acquisition.Table // of cfg.Queries, up to date; nil without them
	looked  []idrl.Candidate   // policies that the last choice used
	history []acquisition.Asked
	best    float64 // highest rating so far
	rated   bool    // there is one
}

// New returns a learner without answers: D ← {}, P(θ|D) ← P(θ).
func New(cfg Config) *Learner {
	l := &Learner{
		cfg: cfg, f: cfg.Method.New(cfg.Paper), posterior: cfg.Model.Prior(), solving: cfg.Solving,
		policies: NewPolicies(cfg.Schedule), best: math.Inf(-1),
	}
	if l.solving == nil {
		l.solving = l.posterior
	}
	if cfg.Regret != nil {
		l.outlook = regret.New(cfg.Tolerance, cfg.Regret)
	}
	if len(cfg.Queries) > 0 {
		l.kept = acquisition.NewTable(cfg.Model, l.valuing(), cfg.Queries)
	}
	return l
}

// Posterior returns P(θ|D).
func (l *Learner) Posterior() idrl.Posterior { return l.posterior }

// Solving returns the posterior from which policies are solved: P(θ|D), except in paper mode
// if the authors keep two.
func (l *Learner) Solving() idrl.Posterior { return l.solving }

// valuing returns the posterior by which queries are valued.
func (l *Learner) valuing() idrl.Posterior {
	if l.cfg.Method.Needs.Solving {
		return l.solving
	}
	return l.posterior
}

// Become sets the posterior to p. Config.Queries must be empty. It is for callers that
// compute the posterior of a list of answers by package posterior and record it first.
func (l *Learner) Become(p idrl.Posterior) {
	if l.kept != nil {
		panic("learning: the queries are fixed, so that the posterior moves by Observe")
	}
	l.posterior, l.solving = p, p
}

// Observe takes in answer a to q: D ← D ∪ {(q, a)}, by one step of assumed density
// filtering, exact where the answer's noise is Gaussian. Its errors are those of the
// reward model; after one the learner is as it was.
func (l *Learner) Observe(q idrl.QueryVector, a idrl.Answer) error {
	posterior, err := l.cfg.Model.Condition(l.posterior, q, a)
	if err != nil {
		return err
	}
	solving := posterior
	if l.solving != l.posterior {
		if solving, err = l.cfg.Model.Condition(l.solving, q, a); err != nil {
			return err
		}
	}
	l.posterior, l.solving = posterior, solving
	if l.kept != nil {
		l.kept.Condition(q, a, l.valuing())
	}
	if a.Choice == idrl.Rated {
		l.best, l.rated = max(l.best, a.Rating), true
	}
	l.history = append(l.history, acquisition.Asked{Query: q, Answer: a})
	return nil
}

// Adopt replaces the candidates: Π_c ← candidates. The earlier ones become part of the
// archive. The first call sets the pool, which is never dropped; later pools are ignored.
func (l *Learner) Adopt(pool, candidates []idrl.Candidate) { l.policies.Adopt(pool, candidates) }

// Extend adds candidates to those in use, which Adopt has set. It does not change the archive.
func (l *Learner) Extend(candidates []idrl.Candidate) { l.policies.Extend(candidates) }

// Represent makes m the model of the weights of another representation, under which mu
// gives the feature expectations of policies, which must not change. The posterior is
// then to be set by Become. stream takes the place of Config.Regret.
func (l *Learner) Represent(m idrl.RewardModel, mu func(idrl.Candidate) []float64, stream *rand.Rand) {
	if l.kept != nil {
		panic("learning: the queries are fixed, and so is their representation")
	}
	l.cfg.Model = m
	l.policies.Represent(mu)
	if l.outlook != nil {
		l.outlook = regret.New(l.cfg.Tolerance, stream)
	}
}

// Policies returns the policies that are known. They belong to the learner.
func (l *Learner) Policies() *Policies { return &l.policies }

// A Question is the input of Choose.
type Question struct {
	Askable []idrl.QueryVector // to choose from; nil: Config.Queries
	Pending []idrl.QueryVector // that are being answered: the choice is made as if they were answered

	// Who is the annotator who will be asked, and With has the one who is asked each of
	// Pending, for a model that distinguishes annotators (posterior.Personal).
	Who  idrl.AnnotatorID
	With []idrl.AnnotatorID

	// Method is used in place of Config.Method; nil for that.
	Method *acquisition.Method

	// Weight is acquisition.Input.Weight of a query by its index; nil for ones.
	Weight func(q int, mean, variance float64) float64

	// Aid has the input that only some methods of experiments need. The learner sets Table,
	// Candidates, Rand, Best, Rated, History and Weight.
	Aid acquisition.Input
}

// A Choice is a query to ask, and the reason for it.
type Choice struct {
	acquisition.Selection
	FirstID, SecondID idrl.PolicyID                       // of the policies First and Second; empty without a pair
	ShareIDs          [record.MaxShares]record.Share      // Shares with the names of the policies
	Best              [1 + record.MaxShares]record.Chance // record.Why.Best
	Mean, Var         float64                             // of θ·x of the query, given that the pending ones are answered; 0 without a query
}

// Choose returns q* ∈ argmax_q u(q, D) among the askable queries, by its index. Ties
// are broken by stream, which methods also draw samples from. Query is -1 if there is
// nothing to ask. Its errors are those of the acquisition function.
func (l *Learner) Choose(q Question, stream *rand.Rand) (Choice, error) {
	method, f := l.cfg.Method, l.f
	if q.Method != nil {
		method, f = *q.Method, q.Method.New(l.cfg.Paper)
	}
	l.looked = l.look(method.Needs)
	table := l.kept
	if q.Askable != nil || table == nil {
		table = &l.table
		model, p := l.asked(q)
		table.Reset(model, p, q.Askable)
	}
	if len(l.looked) > 0 {
		table.SetPolicies(l.looked)
	}
	in := q.Aid
	in.Table, in.Candidates, in.Rand = table, min(len(l.looked), len(l.policies.present)), stream
	in.Best, in.Rated, in.History, in.Weight = l.best, l.rated, l.history, q.Weight
	sel, err := acquisition.Select(f, &in)
	if err != nil {
		return Choice{}, fmt.Errorf("by %s: %w", method.Title, err)
	}
	c := Choice{Selection: sel}
	if sel.Query >= 0 {
		c.Mean, c.Var = table.Means()[sel.Query], table.Vars()[sel.Query]
	}
	if sel.First >= 0 {
		c.FirstID, c.SecondID = l.looked[sel.First].ID, l.looked[sel.Second].ID
		for i, s := range sel.Shares {
			if s.Part > 0 {
				c.ShareIDs[i] = record.Share{Policy: l.looked[s.Policy].ID, Part: s.Part}
				c.Best[1+i] = l.chance(sel.Chances, s.Policy)
			}
		}
		c.Best[0] = l.chance(sel.Chances, sel.First)
	}
	return c, nil
}

// chance returns the probability that policy i of l.looked, or one that counts as the same,
// is the best; 0 without chances.
func (l *Learner) chance(chances []float64, i int) record.Chance {
	if chances == nil {
		return 0
	}
	sum := 0.0
	for _, j := range l.policies.Like(i) {
		if j < len(chances) {
			sum += chances[j]
		}
	}
	return record.ChanceOf(sum)
}

// asked returns the reward model and the posterior for the choice of a question.
func (l *Learner) asked(q Question) (idrl.RewardModel, idrl.Posterior) {
	if m, ok := l.cfg.Model.(posterior.Personal); ok && q.Who != "" {
		return m.Asking(l.valuing(), q.Who), m.ConditionOnPendingWith(l.valuing(), q.Pending, q.With)
	}
	return l.cfg.Model, l.cfg.Model.ConditionOnPending(l.valuing(), q.Pending...)
}

// look returns the policies that a method uses.
func (l *Learner) look(needs acquisition.Needs) []idrl.Candidate {
	switch {
	case needs.Candidates == acquisition.NoCandidates:
		return nil
	case needs.Archive:
		return l.policies.represented()
	case needs.Candidates == acquisition.Samples && !l.cfg.Paper:
		return samplesOf(l.present())
	}
	return l.present()
}

// present returns the candidates in use under the representation.
func (l *Learner) present() []idrl.Candidate {
	if l.policies.mu == nil {
		return l.policies.present
	}
	return l.policies.represented()[:len(l.policies.present)]
}

// samplesOf returns the candidates that are Thompson samples, or all if they are fewer than
// two: samples are left out if the simulation broke down.
func samplesOf(candidates []idrl.Candidate) []idrl.Candidate {
	var out []idrl.Candidate
	for _, c := range candidates {
		if c.Origin != idrl.FromMean {
			out = append(out, c)
		}
	}
	if len(out) < 2 {
		return candidates
	}
	return out
}

// Recommend returns the known policy with the highest mean return under the posterior,
// the first of equals; the zero Candidate before any is known.
func (l *Learner) Recommend() idrl.Candidate {
	return l.recommend(l.posterior, l.policies.represented())
}

// recommend returns the known policy with the highest mean return under p; under are the
// known policies with their feature expectations under the features of p.
func (l *Learner) recommend(p idrl.Posterior, under []idrl.Candidate) idrl.Candidate {
	if len(under) == 0 {
		return idrl.Candidate{}
	}
	return l.policies.Known()[regret.Leader(p, under)]
}

// Spread returns the standard deviation of the returns of the known episodes of a policy
// under the posterior mean, 0 if none are known.
func (l *Learner) Spread(c idrl.Candidate) float64 { return regret.Spread(l.posterior.Mean(nil), c) }

// Warm returns the Params of the policies from which a training by p starts: those of the
// candidates in use and of the recommended policy under p. mu returns feature expectations
// under the features of p; nil stands for those of the environment.
func (l *Learner) Warm(p idrl.Posterior, mu func(idrl.Candidate) []float64) [][]float64 {
	var out [][]float64
	for _, c := range l.policies.present {
		out = append(out, c.Params)
	}
	best := l.recommend(p, represented(l.policies.Known(), mu))
	if best.Params != nil && !slices.ContainsFunc(l.policies.present, func(c idrl.Candidate) bool { return c.ID == best.ID }) {
		out = append(out, best.Params)
	}
	return out
}

// Regret returns the statement for stopping with the policy that leads, over the known
// policies without those that lost a duel. Weights are drawn from draws: the posterior of the
// learner, or one that makes fewer assumptions. Seq is left 0.
func (l *Learner) Regret(draws idrl.Posterior, by Lead) idrl.Regret {
	if by.Out == nil {
		return l.state(&l.policies, draws, l.policies.represented(), by.Leader)
	}
	known, under, leader := l.remaining(by)
	out := l.outlook.Statement(draws, under, leader)
	out.Policies = l.policies.different(known)
	return out
}

// AtStart returns the policy that was recommended before the first answer, when first were
// the first candidates, of which there must be one.
func (l *Learner) AtStart(first []idrl.Candidate) idrl.Candidate {
	prior, known := l.cfg.Model.Prior(), l.start(first).Known()
	return known[regret.Leader(prior, known)]
}

// start returns the policies that were known before the first answer.
func (l *Learner) start(first []idrl.Candidate) *Policies {
	k := NewPolicies(l.cfg.Schedule)
	k.Adopt(l.policies.pool, first)
	return &k
}

// RegretAtStart returns the statement for stopping before the first answer, over the pool and
// the first candidates.
func (l *Learner) RegretAtStart(first []idrl.Candidate) idrl.Regret {
	prior, k := l.cfg.Model.Prior(), l.start(first)
	return l.state(k, prior, k.Known(), regret.Leader(prior, k.Known()))
}

// state returns the statement over the policies of k, where known are these under the present
// representation. Policies is the number of different ones.
func (l *Learner) state(k *Policies, p idrl.Posterior, known []idrl.Candidate, leader int) idrl.Regret {
	out := l.outlook.Statement(p, known, leader)
	out.Policies = k.Distinct()
	return out
}
