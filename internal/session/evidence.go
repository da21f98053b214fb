package session

import (
	"context"
	"math"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session/insight"
)

// mostEvidence is the number of answers up to which the test is made. With more answers the model itself
// recognises people who answer at random, and the predictions of long lists take long to compute again.
const mostEvidence = 100

// guessing is the level of the test, as a share of the doubt of the session.
const guessing = 0.1

// An evidence compares how the comparisons that count were predicted, each by the posterior before
// it, with guessing between the two clips: it is a function of the list of answers and the model.
type evidence struct {
	version int64            // of the features
	items   []posterior.Item // in their order
	last    *posterior.History
	nats    float64 // Σ log p(answer) − log p(answer by one who guesses)
	told    bool    // there was a comparison among items
}

// follow makes e that of items under the model of f: by what is new if the items before are those that
// e has. ok is false where a posterior cannot be computed.
func (e *evidence) follow(ctx context.Context, f features, items []posterior.Item) (ok bool) {
	if e.last == nil || e.version != f.version() || !continues(items, e.items) {
		*e = evidence{version: f.version(), last: posterior.New(posterior.Config{Model: f.model})}
	}
	for _, i := range items[len(e.items):] {
		if said, ok := insight.Foretell(f.model, e.last.Posterior(), i.Query, i.Answer()); ok {
			e.nats += gain(said)
			e.told = true
		}
		next, err := e.last.With(ctx, i)
		if err != nil {
			e.last = nil
			return false
		}
		e.last, e.items = next, append(e.items, i)
	}
	return true
}

// continues reports whether items begin with those before.
func continues(items, before []posterior.Item) bool {
	same := func(a, b posterior.Item) bool { return a.Seq == b.Seq && a.Choice == b.Choice }
	return len(items) >= len(before) && slices.EqualFunc(before, items[:len(before)], same)
}

// gain returns log p − log p₀ of an answer, nats: p is its predicted probability, and p₀ its probability if the annotator
// guesses. An annotator who guesses says 'equal' as often as was predicted, and names each clip in half of the other cases.
func gain(f insight.Forecast) float64 {
	order := idrl.Outcomes()
	equal := slices.Index(order[:], idrl.Equal)
	if f.Actual == equal {
		return 0
	}
	const least = 1e-9
	return math.Log(max(least, f.P[f.Actual])) - math.Log(max(least, (1-f.P[equal])/2))
}

// unpredicted reports whether the present statement is sure although the comparisons so far were predicted no better than by
// guessing. If annotators guess, the sum of gains exceeds log 1/α in at most a share α of the sessions, for all questions and
// all numbers of looks (Ville's inequality). α is guessing times the doubt of the session. The test is left out where that
// doubt is ½ or more, because a statement that is sure enough then claims little.
func (s *statements) unpredicted() bool {
	if n := s.history.Len(); n == 0 || n > mostEvidence || s.spec.Doubt >= 0.5 || !s.spec.Kind.Comparison() || !s.sure(s.present().Within) {
		return false
	}
	ok := s.evidence.follow(context.Background(), s.features, s.history.After(0))
	return ok && s.evidence.told && s.evidence.nats < -math.Log(guessing*s.spec.Doubt)
}
