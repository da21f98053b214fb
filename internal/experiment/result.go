package experiment

// A Run is one method on one seed. Its slices run from 0, before the first
// answer, to Experiment.Answers.
type Run struct {
	Regret []float64 `json:"regret"` // true return of the best policy less that of the mean-optimal one; in paper mode it may be negative
	MSE    []float64 `json:"mse"`    // mean squared error of the believed rewards: of all states, or of what the figure's queries are about
	Cosine []float64 `json:"cosine"` // of the believed with the true weights; 0 without a belief
	Solves int       `json:"solves"` // calls of the solver in the whole run

	// SelectNS is the wall time of each selection in nanoseconds, one an answer:
	// what somebody who has just answered would wait for the next question, were
	// the candidate policies there. It holds the update of the belief and of the
	// table of products with the answer before, a new table where candidate
	// queries are drawn, the products with new candidate policies, and the values
	// of the queries, with EPD's solves; not the Thompson samples, nor the solves
	// and rollouts that make candidate policies, nor the solve for the mean. It
	// differs between machines.
	SelectNS []int64 `json:"select_ns"`
}

// Result holds the runs of an experiment.
type Result struct {
	Experiment Experiment
	Runs       [][]Run // by seed, then by method in the order of Experiment.Methods
}
