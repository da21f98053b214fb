package experiment

// A Run is one method on one seed. The first three of its slices have an element
// for each of Experiment.Counts.
type Run struct {
	Regret []float64 `json:"regret"` // true return of the best policy less that of the mean-optimal one; in paper mode and in corridors, whose solvers are not exact, it may be negative
	MSE    []float64 `json:"mse"`    // mean squared error of the believed rewards: of all states, or of what the figure's queries are about
	Cosine []float64 `json:"cosine"` // of the believed with the true weights; 0 without a belief
	Solves int       `json:"solves"` // calls of the solver in the whole run

	// SelectNS is the wall time of each selection in nanoseconds, one an answer:
	// what somebody who has just answered would wait for the next question, were
	// the candidate policies there. It holds the update of the belief and of the
	// table of products with the answer before, a new table where candidate
	// queries are drawn, the products with new candidate policies, and the values
	// of the queries, with EPD's solves; not the Thompson samples, nor the solves
	// and rollouts that make candidate policies, nor the solve for the mean. In a session
	// it is about each question that was given out, without the update of the belief. It
	// differs between machines.
	SelectNS []int64 `json:"select_ns"`

	// Steps is the number of environment steps of the solves, and of the episodes
	// behind the regret; 0 where solvers need none. It does not depend on what
	// other runs have found already.
	Steps int64 `json:"steps,omitempty"`

	// WallNS is the wall time of the run in nanoseconds, where Steps is not 0; else
	// 0. Solves that another run of the seed had made count with the time that they
	// took there. It differs between machines.
	WallNS int64 `json:"wall_ns,omitempty"`
}

// Result holds the runs of an experiment.
type Result struct {
	Experiment Experiment
	Runs       [][]Run // by seed, then by method in the order of Experiment.Methods
}
