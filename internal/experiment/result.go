package experiment

// A Run is one method on one seed. Its slices run from 0, before the first
// answer, to Experiment.Answers.
type Run struct {
	Regret   []float64 `json:"regret"`    // true return of the best policy less that of the mean-optimal one; in paper mode it may be negative
	MSE      []float64 `json:"mse"`       // mean squared error of the believed rewards of what the queries are about
	Cosine   []float64 `json:"cosine"`    // of the believed with the true weights; 0 without a belief
	Solves   int       `json:"solves"`    // calls of the solver in the whole run
	SelectNS []int64   `json:"select_ns"` // wall time of each selection, nanoseconds, one an answer; it differs between machines
}

// Result holds the runs of an experiment.
type Result struct {
	Experiment Experiment
	Runs       [][]Run // by seed, then by method in the order of Experiment.Methods
}
