package session_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
)

// Kinds of expert.
const (
	asAssumed    = "matched"       // answers by the likelihood that the session assumes
	bradleyTerry = "bradley-terry" // with a temperature of 0.1 of the range; never says 'equal'
	tenthAtWill  = "lapses"        // one answer in ten is at random: a or b, or a rating from the whole scale
	halfAtWill   = "mistakes"      // every second answer is at random, likewise
)

// experts returns the kinds of expert that can answer questions of a kind.
func experts(kind idrl.QueryKind) []string {
	if kind.Comparison() {
		return []string{asAssumed, bradleyTerry, tenthAtWill}
	}
	return []string{asAssumed, tenthAtWill}
}

// newExpert returns the expert of a run; of matched if kind is empty.
func (m *matched) newExpert(t testing.TB, kind string) sim.Expert {
	t.Helper()
	if kind == bradleyTerry {
		scale := sim.Range(m.env, m.theta, m.spec.Kind, rng.New(m.spec.Seed, "range", 0))
		e := must.Get(sim.NewExpert(kind, sim.Task{Env: m.env.Spec().ID, Theta: m.theta}, sim.Options{Range: scale, Temperature: 0.1}))(t)
		return e
	}
	e := must.Get(sim.NewMatched(m.spec, m.theta))(t)
	switch kind {
	case tenthAtWill:
		return lapsing{of: e, rate: 0.1}
	case halfAtWill:
		return lapsing{of: e, rate: 0.5}
	}
	return e
}

// lapsing is an expert who answers at random with a probability.
type lapsing struct {
	of   sim.Expert
	rate float64
}

func (l lapsing) Answer(q idrl.QueryVector, stream *rand.Rand) idrl.Answer {
	switch {
	case stream.Float64() >= l.rate:
		return l.of.Answer(q, stream)
	case !q.Kind.Comparison():
		return idrl.Answer{Choice: idrl.Rated, Rating: 2*stream.Float64() - 1}
	case stream.Float64() < 0.5:
		return idrl.Answer{Choice: idrl.ChoseA}
	}
	return idrl.Answer{Choice: idrl.ChoseB}
}

// Where one answer in ten is at random the statements
// that average over noise, lapses and ties hold; those that assume what they are told
// fail the same test.
func TestStatementOfOtherExperts(t *testing.T) {
	const runs = 40
	var now, assuming []snapshot
	for _, of := range benchmarks() {
		switch of.name {
		case "chain clip_comparison", "chain clip_rating", "gridworld clip_rating":
		default:
			continue
		}
		of.expert = tenthAtWill
		averaged, plain := make([][]snapshot, runs), make([][]snapshot, runs)
		t.Run(of.name, func(t *testing.T) { // ends when all runs have
			for n := range runs {
				t.Run(strconv.Itoa(n), func(t *testing.T) {
					t.Parallel()
					averaged[n], plain[n], _ = newMatched(t, of, n).stopped(t, 30)
				})
			}
		})
		now, assuming = append(now, slices.Concat(averaged...)...), append(assuming, slices.Concat(plain...)...)
		t.Logf("%s\n  averaged: %s\n  assuming: %s", of.name, summary(slices.Concat(averaged...)), summary(slices.Concat(plain...)))
	}
	holds := func(all []snapshot) bool {
		coverage, ratio, bias := truth(all)
		t.Logf("%.1f %% of the losses below the bound, true/stated %.2f, P(small) %+.3f", 100*coverage, ratio, bias)
		return coverage >= 0.92 && coverage <= 0.99 && ratio >= 0.7 && ratio <= 1.25 && math.Abs(bias) <= 0.04
	}
	if !holds(now) {
		t.Error("want 92 to 99 % of the losses below the bound, a ratio of 0.7 to 1.25 and a bias of at most 0.04")
	}
	if holds(assuming) {
		t.Error("statements that assume what they are told pass: this test tells nothing apart")
	}
}
