package record

// A Participant is a person with the ids of a crowd platform.
type Participant struct{ ID, Study, Submission string }
