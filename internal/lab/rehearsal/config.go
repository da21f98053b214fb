package rehearsal

import (
	"context"
	"io"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
)

// Config is what a simulated annotator is made of.
type Config struct {
	Link    string // annotator link of the session; required
	Answers int    // to give; required, ≥ 1
	Seed    uint64 // of the true reward, the answers and the response times
	Expert  Expert // required

	// NewEnv returns the environment of a session, of which Env and Seed are set at
	// least. Equal specs give equal environments. Required.
	NewEnv func(idrl.SessionSpec) (idrl.Environment, error)

	// Data is what the server has stored. Without it nothing is compared with the
	// truth. Required for a matched expert, whose prior and likelihood it holds.
	Data Data

	// People are the simulated people who answer one after another, each until their part is done; 0 or 1: one. They share the true
	// reward, and differ in their mistakes and response times. Each is the number of answers of one of them; 0: as the session says.
	People, Each int

	// Practise has people do the practice questions before their first answer.
	Practise bool

	// Ready is called when the first question is there, with the true weights, nil of a person who sees; nil: nothing is called.
	Ready func(ctx context.Context, theta []float64) error

	// Between is called when one of the people has ended and others are left. It reports whether the session still asks questions.
	// Required where there are several People.
	Between func(context.Context) (bool, error)

	Every    int              // compare after every Every answers, besides at the end; 0: at the end alone
	Compared func(Comparison) // hears of each comparison; may be nil

	Pace     time.Duration // median of the response times (log-normal), for "seeing" of questions of middling difficulty; 0 answers at once
	Pause    time.Duration // before each answer, besides Pace
	Clock    Clock         // of Pace and Pause; default RealTime
	Patience time.Duration // how long to keep trying while the server is away

	Out io.Writer // hears what happens, for people; default io.Discard

	person int // which of the People, from 0
	before int // answers of those before
}

// Data reads what a server has stored, while it runs or not.
type Data interface {
	// Record returns what is stored of a session.
	Record(ctx context.Context, id idrl.SessionID) (record.Record, error)

	// Config returns what the session of a record is made of, without Trainer,
	// Journal, Publisher and Log.
	Config(rec record.Record) (session.Config, error)

	// PolicyClips returns the drawn forms of the clips of the policy that a clip of a session
	// shows (store.DB).
	PolicyClips(ctx context.Context, id idrl.SessionID, clip idrl.ClipID) ([][]byte, error)
}

// check returns an error of kind Invalid if no annotator can be made of c.
func (c Config) check() error {
	switch {
	case c.Answers < 1:
		return idrl.Errorf(idrl.Invalid, "--answers must be at least 1; got %d", c.Answers)
	case c.Patience < 0:
		return idrl.Errorf(idrl.Invalid, "--patience must not be negative; got %v", c.Patience)
	case c.Pace < 0 || c.Pause < 0:
		return idrl.Errorf(idrl.Invalid, "--pace and --pause must not be negative; got %v and %v", c.Pace, c.Pause)
	case c.Every < 0 || c.Every > 0 && c.Data == nil:
		return idrl.Errorf(idrl.Invalid, "--every needs --data and a number of answers; got %d", c.Every)
	case c.Expert.Matched && c.Data == nil:
		return idrl.Errorf(idrl.Invalid, "--matched needs --data: the session's prior and likelihood are read from there")
	}
	return c.Expert.Check()
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = RealTime{}
	}
	if c.Out == nil {
		c.Out = io.Discard
	}
	if c.Compared == nil {
		c.Compared = func(Comparison) {}
	}
	return c
}
