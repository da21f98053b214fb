package wire

import (
	"encoding/json"
	"slices"
	"time"

	"tiebreak/internal/idrl"
)

// Subprotocol is the websocket subprotocol that both ends must name.
const Subprotocol = "tiebreak.v1"

// Limits of a message from a client.
const (
	MaxMessage = 16 << 10 // bytes
	MaxOutbox  = 200      // ids in a hello
	MaxID      = 64       // bytes of an id
)

// Code says why a message was refused. Clients act on it; people read Nak.Message.
type Code string

// Codes. The set is closed.
const (
	Invalid     Code = "invalid"     // wrong in itself
	NotFound    Code = "not_found"   // speaks of something that does not exist
	Conflict    Code = "conflict"    // clashes with what is recorded
	Forbidden   Code = "forbidden"   // not allowed for this annotator
	Unavailable Code = "unavailable" // valid, but not now: send it again after RetryMS
	Internal    Code = "internal"    // a fault of the server: send it again after RetryMS
	TooLarge    Code = "too_large"   // over a limit of this package
	Unknown     Code = "unknown"     // no such type of message
)

// FromClient is a message that a client sends: *ClientHello, *Answer, *Undo or *Renew.
type FromClient interface{ fromClient() }

// ClientHello opens a conversation: it names the answers that the client has
// not seen acknowledged.
type ClientHello struct {
	Outbox []idrl.AnswerID `json:"outbox"` // at most MaxOutbox
}

// Answer is a reply to a question.
type Answer struct {
	ID           idrl.AnswerID     `json:"id"` // minted once by the client; the same in every resend
	Assignment   idrl.AssignmentID `json:"assignment"`
	Choice       idrl.Choice       `json:"choice"`
	Rating       *float64          `json:"rating,omitempty"`   // in [-1, 1]; present only if Choice is Rated
	WrongMS      int64             `json:"wrong_ms,omitempty"` // when it went wrong, ms from the first frame; only beside a rating below 1, in sessions of kind clip_success
	Much         bool              `json:"much,omitempty"`     // the clip is much better; only if Choice is ChoseA or ChoseB
	Remark       idrl.Remark       `json:"remark,omitempty"`   // beside ChoseA, ChoseB or Equal
	Best         idrl.Side         `json:"best,omitempty"`     // clip of a group, by its place "a" to "f"; present only if Choice is BestWorst
	Worst        idrl.Side         `json:"worst,omitempty"`    // likewise
	Reason       string            `json:"reason,omitempty"`   // of a skip
	ShownLeft    idrl.Side         `json:"shown_left,omitempty"`
	ShownOrder   idrl.Order        `json:"shown_order,omitempty"` // of the clips of a group, as in "cafbed"
	ShownAt      time.Time         `json:"shown_at"`              // first painted frame, the client's clock
	AnsweredMS   int64             `json:"answered_ms"`           // first painted frame to commit, less hidden time
	Loops        int64             `json:"loops"`
	HiddenMS     int64             `json:"hidden_ms"`
	Input        string            `json:"input"`
	Instructions int64             `json:"instructions_version"`
}

// Undo withdraws an earlier answer of the same annotator.
type Undo struct {
	ID idrl.AnswerID `json:"id"` // of the withdrawal, minted by the client
	Of idrl.AnswerID `json:"of"`
}

// Renew extends the lease of an open assignment.
type Renew struct {
	Assignment idrl.AssignmentID `json:"assignment"`
}

func (*ClientHello) fromClient() {}
func (*Answer) fromClient()      {}
func (*Undo) fromClient()        {}
func (*Renew) fromClient()       {}

// Row returns the log row for a; the session fills in annotator, query and position.
func (a *Answer) Row() idrl.Answer {
	row := idrl.Answer{
		ID: a.ID, Assignment: a.Assignment, Choice: a.Choice, Much: a.Much, Remark: a.Remark, Reason: a.Reason, WrongMS: a.WrongMS, Left: a.ShownLeft,
		Best: a.Best, Worst: a.Worst, Order: a.ShownOrder,
		ShownAt: a.ShownAt.UTC(), ResponseMS: a.AnsweredMS, HiddenMS: a.HiddenMS, Loops: a.Loops,
		Input: a.Input, Instructions: a.Instructions,
	}
	row.AnsweredAt = row.ShownAt.Add(time.Duration(a.AnsweredMS+a.HiddenMS) * time.Millisecond)
	if a.Rating != nil {
		row.Rating = *a.Rating
	}
	return row
}

// Encode returns m, one of the message types of this package, as JSON.
func Encode(m any) []byte {
	b, err := json.Marshal(m)
	if err != nil {
		panic("wire: a message that cannot be written: " + err.Error())
	}
	head := `{"t":"` + typeName(m) + `"`
	if len(b) > len("{}") {
		head += ","
	}
	return slices.Concat([]byte(head), b[1:])
}

// typeName returns what stands in the field "t" of m.
func typeName(m any) string {
	switch m.(type) {
	case *ClientHello, *Hello:
		return "hello"
	case *Answer:
		return "answer"
	case *Undo:
		return "undo"
	case *Renew:
		return "renew"
	case *Query:
		return "query"
	case *Ack:
		return "ack"
	case *Nak:
		return "nak"
	case *Status:
		return "status"
	case *Bye:
		return "bye"
	}
	panic("wire: not a message type")
}
