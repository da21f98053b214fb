package experiment

// SuiteName names the project's own suite on a command line.
const SuiteName = "suite"

// Suite returns the experiments by which new methods are judged against the
// paper's: three families of environments, numbers and choices, an expert as noisy as a
// person. Their pooled result, on seeds that nothing was tuned on, decides what
// sessions with people use. Seeds are left to the caller.
func Suite() (out []Config) {
	for _, name := range []string{"chain", "gridworld", "garnet"} {
		for _, queries := range []string{States, Comparisons} {
			c := Config{
				Figure: name, Queries: queries, Mode: Corrected, Expert: People, Candidates: Code, Answers: 60,
				Methods: []string{"idrl", "lvar", "tt", "err", "kg-star", "vids", "leader", "igr", "uniform"},
			}
			if queries == Comparisons {
				c.Answers = 100
			}
			out = append(out, c)
		}
	}
	return out
}
