package idrl

import "context"

// A Representation turns raw steps into features, in which the reward is linear. It is
// immutable.
type Representation interface {
	// Version is above 0. Version 0 means the features of the environment, Phi.
	Version() int64

	// Dim returns d.
	Dim() int

	// Features stores in dst, of length d, the sum of the features of the steps of s,
	// undiscounted, and returns it.
	Features(dst []float64, s Steps) []float64
}

// A FeatureLearner learns representations from answers. Its methods may be called from
// any goroutine, and are functions of their arguments.
type FeatureLearner interface {
	// Name is that of the kind of representation, for records: "network".
	Name() string

	// Due reports whether a representation must be learnt once n informative answers count.
	Due(n int) bool

	// Learn returns an encoded representation of that version. It may take minutes; it
	// returns ctx.Err() soon after ctx is done.
	Learn(ctx context.Context, d Dataset, version int64, seed uint64) ([]byte, error)

	// Open returns the representation that Learn encoded, and the reward model of its
	// weights. It returns an error if b is damaged or of a later format.
	Open(version int64, b []byte) (Representation, RewardModel, error)
}

// A Dataset is the data from which a representation is learnt: informative answers that count, in
// their order, with the raw steps of their clips.
type Dataset struct {
	Queries []Query
	Answers []Answer  // Answers[i] is to Queries[i]
	Shown   [][]Steps // Shown[i][j] are those of Queries[i].Clips[j]
}
