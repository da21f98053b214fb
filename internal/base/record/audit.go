package record

import (
	"time"

	"tiebreak/internal/idrl"
)

// An AuditEntry is a row of the audit trail.
type AuditEntry struct {
	Position int64          `json:"position"`
	At       time.Time      `json:"at"`
	Session  idrl.SessionID `json:"session"` // empty where none is concerned
	Actor    string         `json:"actor"`   // a researcher's name, an annotator's id, the name of a command or token; empty: the server, or a command
	Action   string         `json:"action"`
	Object   string         `json:"object"` // the form depends on Action
	Erased   bool           `json:"erased"` // actor and object were erased with somebody's data
	Hash     string         `json:"hash"`   // in hexadecimal; empty: a row of an earlier version that has none yet
}

// An AuditFilter chooses rows of the audit trail.
type AuditFilter struct {
	Session idrl.SessionID // empty: all
	Actor   string         // empty: all
	Action  string         // empty: all but answers and their withdrawals, unless Answers
	Answers bool
	Before  int64 // a position; 0: none
	Limit   int   // rows at most; 0: all
}

// An AuditHead names the last row of the audit trail. Kept elsewhere, it shows later whether rows up to it were changed or removed.
type AuditHead struct {
	Position int64  `json:"position"` // 0: there is no row
	Hash     string `json:"hash"`     // in hexadecimal
}

// An AuditCheck is the result of a check of the audit trail.
type AuditCheck struct {
	Rows    int64     `json:"rows"`
	Erased  int64     `json:"erased"`  // rows whose actor and object were erased with somebody's data
	Waiting int64     `json:"waiting"` // rows of an earlier version that have no hash yet
	Head    AuditHead `json:"head"`
}
