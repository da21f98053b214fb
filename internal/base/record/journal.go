package record

import (
	"context"
	"time"

	"tiebreak/internal/idrl"
)

// A Snapshot has results that were computed after a log row. It is a cache: the log determines all
// of it.
type Snapshot struct {
	Seq        int64
	Definition int       // of the posterior
	Mean       []float64 // of the weights; nil if it was removed, and in rows of earlier versions

	// Foretold are the probabilities of the outcomes of the row's answer by the posterior
	// before it, under learnt features; nil where none were computed.
	Foretold []float64

	// Belief is the encoded posterior. A journal keeps it for the last row, and for the last row of
	// each Slot; in other rows it is nil, except in those of earlier versions.
	Belief []byte
	Slot   int

	Representation int64 // version of the representation of its weights
	Regret         idrl.Regret

	// Cov is Generation.Cov of the generation that was trained from this row. Only a reading of a
	// store sets it.
	Cov []float64
}

// Emptied reports whether the posterior was removed because data from which it was learnt were
// withdrawn.
func (s Snapshot) Emptied() bool { return s.Definition == 0 && len(s.Belief) == 0 && s.Mean == nil }

// PosteriorDefinition is the version of the function of the log that a Snapshot's belief is: today
// that of package posterior. Definition 0 was one-by-one updates since the last withdrawal; under
// definition 1 every fit of a model of annotators began without a state, and fits were rarer; under
// definition 2 it had neither annotators who confuse the answers nor a variable for the scale of rewards; under
// definition 3 a fit could take all answers for clicks at random, for good.
const PosteriorDefinition = 4

// Journal is the durable record of sessions. Its methods may be called from any
// goroutine; each write is durable before it returns.
type Journal interface {
	// Load returns everything recorded of a session, or an error of kind NotFound.
	Load(ctx context.Context, id idrl.SessionID) (Record, error)

	// Append records rows of the log, closes their assignments, and issues what
	// comes next, in one transaction: all of it or nothing. It returns an error of
	// kind Conflict if an answer's ID or Seq is taken or its assignment is closed. A
	// row that turns an annotator's answers becomes theirs in Settings.Turned, if they are there.
	Append(ctx context.Context, id idrl.SessionID, rows ...Row) error

	// Issue records new assignments with their queries and clips.
	Issue(ctx context.Context, id idrl.SessionID, as []Assignment) error

	// Renew extends the lease of an open assignment.
	Renew(ctx context.Context, id idrl.SessionID, a idrl.AssignmentID, until time.Time) error

	// Adopt records that generation g is in use from log position seq on, and the training that made it, if one did, as
	// NoteTraining does: all of it or nothing.
	Adopt(ctx context.Context, id idrl.SessionID, g idrl.Generation, seq int64, by ...PastTraining) error

	// Extend records that from log position seq on, the generation in use is g: the same generation
	// with further candidates, which begin with g.Candidates[from]. Earlier candidates are already
	// recorded; Queries and Clips are all that are in use now; Steps and Agents are those of the
	// further candidates. If there are none, and from is the number of candidates, only Agents are
	// recorded, with Queries and Clips where the queries are others. Repeating the call changes nothing. It returns an error of kind Conflict if another
	// generation is in use, or one with another number of candidates; of kind NotFound if none is;
	// and of kind Invalid if g has fewer candidates than from.
	Extend(ctx context.Context, id idrl.SessionID, g idrl.Generation, from int, seq int64) error

	// StageAgents records states of agents in small steps before a generation with these Agents is
	// adopted or extended, so that this has little to write. It changes nothing else, and may be
	// left out.
	StageAgents(ctx context.Context, id idrl.SessionID, agents map[string][]byte) error

	// AdoptFit records that fit f is in use from f.AdoptedAt on. Its Version follows the
	// last one; to adopt that again changes nothing, and another of that version is an
	// error of kind Conflict.
	AdoptFit(ctx context.Context, id idrl.SessionID, f LearntFit) error

	// NoteTraining records a training that has ended, and sets its N. If it fails, only the list of
	// past trainings lacks a row.
	NoteTraining(ctx context.Context, id idrl.SessionID, t PastTraining) error

	// Trainings returns the trainings that have ended, the last one first, at most so many; all
	// if that is 0.
	Trainings(ctx context.Context, id idrl.SessionID, most int) ([]PastTraining, error)

	// Steps returns the encoded raw steps with that name (package steps), or an error of
	// kind NotFound.
	Steps(ctx context.Context, id idrl.SessionID, name idrl.StepsID) ([]byte, error)

	// ClipMedia returns Clip.Media of a clip of any generation, or an error of kind NotFound
	// if there is none, and of kind Damaged if it is not what was recorded.
	ClipMedia(ctx context.Context, id idrl.SessionID, clip idrl.ClipID) ([]byte, error)

	// ClipPlaces returns the clips of all generations that are drawn, in the order of their IDs: ID, From, Start and
	// Steps of each. There are none of a session that is not recorded.
	ClipPlaces(ctx context.Context, id idrl.SessionID) ([]idrl.Clip, error)

	// Settings returns the present settings by researchers of the session, or an error of kind
	// NotFound.
	Settings(ctx context.Context, id idrl.SessionID) (Settings, error)
}

// Row is a row of a session's log with what is recorded along with it.
type Row struct {
	Answer idrl.Answer
	After  Snapshot     // of the same Seq
	Next   []Assignment // what the annotator is asked next, as for Journal.Issue
}

// Record is the content of a Journal about one session.
type Record struct {
	Spec        idrl.SessionSpec
	Settings    Settings
	Log         []idrl.Answer      // by Seq
	Assignments []Assignment       // by N, open and closed
	Snapshots   []Snapshot         // by Seq, from 1
	Generation  *idrl.Generation   // adopted last; nil if none. Its clips have no Media
	AdoptedAt   int64              // log position at which it was adopted
	Pool        []idrl.Candidate   // of the first generation; empty for sessions of earlier versions
	Archive     [][]idrl.Candidate // of the generations before it, oldest first; without Policy and Theta

	Clips map[idrl.ClipID]idrl.Clip // that were asked about, without Media
	Fits  []LearntFit               // by Version, from 1; one that is damaged has no Content
}

// A LogRow is a row of a session's log, for programs that follow it.
type LogRow struct {
	idrl.Answer
	Reply *Labelled // answered question of a reply; nil for other rows
}

// A LearntFit is a learnt representation that is in use. It is recorded like a Generation: the
// posterior is a function of the log and of the earlier fits.
type LearntFit struct {
	Learner   string // FeatureLearner.Name
	Version   int64  // 1 for the first of a session
	BasedOn   int64  // log row up to which it saw the answers
	AdoptedAt int64  // log row after which it is in use
	Seed      uint64 // that it was learnt with
	Content   []byte // of FeatureLearner.Learn
}

// A TrainingEnd says how a training ended.
type TrainingEnd string

const (
	TrainingDone      TrainingEnd = "done"      // its result is in use
	TrainingCancelled TrainingEnd = "cancelled" // by a researcher
	TrainingFailed    TrainingEnd = "failed"
)

// A PastTraining is a training that has ended.
type PastTraining struct {
	N          int64 // from 1
	BasedOn    int64 // log row that names the generation: that of the posterior, except in a follow-up
	Answers    int   // informative ones that counted in the posterior that it trained from
	FollowUp   bool  // a follow-up, which extended the generation in use (TrainJob.From), from the posterior at its start
	Began      time.Time
	Ended      time.Time // when its result was there
	End        TrainingEnd
	Candidates int    // policies that it gave; 0 unless End is TrainingDone
	Why        string // of TrainingFailed, for researchers
}
