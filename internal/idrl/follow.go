package idrl

// A LogRow is a row of a session's log, for programs that follow it.
type LogRow struct {
	Answer
	Reply *Labelled // answered question of a reply; nil for other rows
}

// Held is the posterior of a session at one moment.
type Held struct {
	Seq            int64 // of the last log row in it
	Representation int64 // version of the features that it is about; 0 for those of the environment
	Posterior      Posterior
}
