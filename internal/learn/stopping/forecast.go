package stopping

// Stopping says whether a session may stop (package stopping).
type Stopping struct {
	Doubt    float64  // of the rule
	ByItself bool     // the session stops when the rule is met
	Held     int      // answers in a row after which the statement held; 3 are enough
	Propose  bool     // reached: Held is large enough, the present statement holds, and there is no objection
	Left     Forecast // until then; not known while there are objections

	Objections []Objection // to the statement
}

// A Forecast is a number of answers. Its range is meant to be right in four of five cases.
type Forecast struct {
	Known bool // otherwise it is not known yet
	Least int
	About int
	Most  int
}
