package record

import (
	"time"

	"tiebreak/internal/idrl"
)

// A Part says which replies of a session are read.
type Part struct {
	After    int64 // only those after this row of the log
	Counting bool  // only those that count: not withdrawn, and not of annotators who are left out
}

// Whole reports whether nothing is left out.
func (p Part) Whole() bool { return p == Part{} }

// A Member is an annotator whose data are not withdrawn, without a name, with the versions that
// they have agreed to and read.
type Member struct {
	ID        idrl.AnnotatorID
	JoinedAt  time.Time
	RevokedAt time.Time // zero if they may answer
	LeftOut   bool      // a researcher wants their answers left out
	Turned    int64     // as of Annotator
	Read      int64     // latest version of the instructions that they acknowledged; 0 for none
	Agreed    int64     // latest version of the consent text that they agreed to; 0 for none
	AgreedAt  time.Time
}

// An Adopted is a generation, or a learnt representation, with the log row after which it
// was in use.
type Adopted struct {
	Kind      string // "generation" or "fit"
	BasedOn   int64  // log row of the posterior, or of the answers, from which it was made
	AdoptedAt int64
	Engine    string // Generation.Engine; of a fit LearntFit.Learner
	Policies  int    // of a generation
	Version   int64  // of a fit
	At        time.Time
}

// A RecordTable is a table of a store.
type RecordTable struct {
	Name    string
	Columns []RecordColumn
}

// A RecordColumn is a column of a RecordTable. Values may be absent.
type RecordColumn struct {
	Name string
	Type string // "TEXT", "INTEGER", "REAL" or "BLOB"
}

// Summary is a row in the list of sessions.
type Summary struct {
	Spec    idrl.SessionSpec
	Answers int // as in Status
	Skipped int // as in Status
	State   SessionState
	Last    time.Time // the server received the last row of the log; zero if there is none, or it was imported

	Paused string // why the session cannot run on this server; empty if it can, as far as is known
}

// A Problem is a reason why a server cannot do all of its work.
type Problem struct {
	Reason string // one line; it names no file
	Advice string // what to do, for researchers
	Minor  bool   // all else works: answers can be given and recorded
}
