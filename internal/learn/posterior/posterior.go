package posterior

import (
	"context"

	"tiebreak/internal/idrl"
)

// A RatingLikelihood is a Likelihood of ratings that says how they are distributed.
type RatingLikelihood interface {
	idrl.Likelihood

	// Distribution returns P(Y < y), P(Y ≤ y) and E[Y] of a rating Y where u ~ N(m, v). The
	// two probabilities differ at the ends of a scale that ends.
	Distribution(y, m, v float64) (below, upTo, mean float64)
}

// A Personal reward model distinguishes annotators: it learns the noise of each along with θ.
type Personal interface {
	idrl.RewardModel

	// Asking returns the model whose Likelihood is that of the answers of who, according to p, a
	// posterior of the model.
	Asking(p idrl.Posterior, who idrl.AnnotatorID) idrl.RewardModel

	// ConditionOnPendingWith is ConditionOnPending where qs[i] is open with annotator with[i].
	ConditionOnPendingWith(p idrl.Posterior, qs []idrl.QueryVector, with []idrl.AnnotatorID) idrl.Posterior
}

// A Resumer is a Filter whose fit of a list can continue from the fit of the first answers of that
// list.
type Resumer interface {
	idrl.Filter

	// Resume is Fit that begins with the state of the fit of the first answers: all that it
	// computed. nil means a fit from the beginning. It may end sooner than a fit from the
	// beginning, before its tolerance is reached.
	Resume(ctx context.Context, from idrl.Posterior, left Factors, qs []idrl.QueryVector, as []idrl.Answer) (idrl.Posterior, Factors, idrl.FitReport, error)
}

// Factors are the state of a fit from which the next fit begins, in a form of the model. They are
// immutable; nil means no state.
type Factors any
