package record

import (
	"tiebreak/internal/idrl"
)

// A JobKey names a job. Kind is its task, such as "train".
type JobKey struct {
	Session idrl.SessionID
	Kind    string
	BasedOn int64 // position in the session's log
}

// A Priority says whether people wait for a job.
type Priority uint8

// Priorities of jobs.
const (
	Background Priority = iota // people label meanwhile
	Urgent                     // labelling cannot begin before it is done
)

// A JobRecord is a job as it is recorded: all that a worker needs to do it.
type JobRecord struct {
	JobKey
	Priority   Priority
	Payload    []byte // what to do, in a form that only the worker reads
	Checkpoint []byte // where to go on; nil at the start
}

// A JobAttempt is one start of a job. Its number is a fence: reports of an earlier attempt are
// refused.
type JobAttempt struct {
	JobKey
	Attempt int64 // from 1
}

// JobProgress says how far a job is.
type JobProgress struct {
	Done, Total int
	What        string // that is being done
}

// A JobState is the state of a recorded job.
type JobState string

// States of jobs.
const (
	JobQueued  JobState = "queued" // it waits for a worker, also after the server or a worker died
	JobRunning JobState = "running"
	JobDone    JobState = "done"
	JobFailed  JobState = "failed"
)
