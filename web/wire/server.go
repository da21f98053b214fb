package wire

import (
	"encoding/json"
	"fmt"
	"time"

	"tiebreak/internal/idrl"
)

// FromServer is a message that a server sends: *Hello, *Query, *Ack, *Nak,
// *Status or *Bye.
type FromServer interface{ fromServer() }

// Hello answers a ClientHello.
type Hello struct {
	Session      idrl.SessionID   `json:"session"`
	Annotator    idrl.AnnotatorID `json:"annotator"` // annotator of the socket; a page of another annotator must not send
	Seq          int64            `json:"seq"`       // of the last log row
	Kind         idrl.QueryKind   `json:"kind"`
	Env          string           `json:"env"`
	Instructions int64            `json:"instructions_version"`
	Have         []idrl.AnswerID  `json:"have"` // ids of the client's outbox that are durable
}

// Query is a question leased to the annotator. It is sent once a socket, before
// the Status that first lists it.
type Query struct {
	Assignment idrl.AssignmentID `json:"assignment"`
	Query      idrl.QueryID      `json:"query"`
	Kind       idrl.QueryKind    `json:"kind"`
	Clips      []string          `json:"clips"`            // URLs: a then b, or one; a to f of a group
	Left       idrl.Side         `json:"left"`             // which clip to show on the left; empty but for a comparison
	Order      idrl.Order        `json:"order,omitempty"`  // in which to show the clips of a group, row by row; only of a group
	Seen       []float64         `json:"seen,omitempty"`   // of pictures: left, top, right and bottom, as shares, outside of which no clip of the session shows anything
	Before     idrl.AssignmentID `json:"before,omitempty"` // the question that this is asked before, unless that is on the screen
	LeaseUntil time.Time         `json:"lease_until"`
}

// Ack says that a row is durable.
type Ack struct {
	ID     idrl.AnswerID `json:"id"`
	Seq    int64         `json:"seq"`
	Replay bool          `json:"replay"` // it had been recorded before
}

// Nak refuses a message.
type Nak struct {
	ID      string `json:"id"` // of the answer, withdrawal or assignment refused; empty if it could not be read
	Code    Code   `json:"code"`
	Message string `json:"message"`  // for people: what to do
	RetryMS int64  `json:"retry_ms"` // send it again after this; 0: do not
}

// Status is the state of the session for the annotator's page. It is coalesced.
type Status struct {
	Answers int                 `json:"answers"` // of everybody, that count towards the budget
	Mine    int                 `json:"mine"`    // of this annotator, also those that do not
	Skipped int                 `json:"skipped"` // those of Mine that do not: skipped, can't tell, clip failed
	Budget  int                 `json:"budget"`  // 0: no limit
	Open    []idrl.AssignmentID `json:"open"`    // questions to show, in this order; a client drops all others
	Done    bool                `json:"done"`
	Enough  bool                `json:"enough,omitempty"` // more answers change little: the annotator is done, and may go on
	Waiting string              `json:"waiting"`          // why Open is empty, for people
	Undo    idrl.AnswerID       `json:"undo"`             // the answer that Undo would withdraw; empty if none

	// ToGo is about how many answers of everybody are still expected: until the session is
	// complete or, without a budget, until more of them change little. Absent if that is not known.
	ToGo *int `json:"to_go,omitempty"`

	// Consent is the address of the text to which the annotator must agree before the next
	// question; empty if there is none. Open is then empty.
	Consent string `json:"consent,omitempty"`

	Code   string `json:"code,omitempty"`   // for the annotator to copy, once Done or Enough
	Return string `json:"return,omitempty"` // address on the platform that they came from, once Done or Enough

	Learnt       bool  `json:"learnt"`               // the annotator may fetch clips of what was learnt
	Same         bool  `json:"same"`                 // these look like those before the first answer
	Instructions int64 `json:"instructions_version"` // those of now

	// Learning says that answers have not been used for training yet; absent if all have.
	Learning *Learning `json:"learning,omitempty"`
}

// Learning describes the answers that the policies in use have not learnt from yet.
type Learning struct {
	Answers   int    `json:"answers"`             // of everybody, the newest
	Untrained bool   `json:"untrained,omitempty"` // nothing in use was learnt from any answer
	Running   bool   `json:"running"`             // they are being learnt from, or that waits for its turn
	Waits     bool   `json:"waits,omitempty"`     // it waits for other sessions
	Done      int    `json:"done,omitempty"`      // steps of the training under way
	Total     int    `json:"total,omitempty"`
	Left      string `json:"left,omitempty"` // how long that still takes, for people: "about 20 seconds"
	Why       string `json:"why,omitempty"`  // why they are not being learnt from, for people
}

// Bye announces that the server closes the socket.
type Bye struct {
	RetryMS int64 `json:"retry_ms"` // connect again after this
}

func (*Hello) fromServer()  {}
func (*Query) fromServer()  {}
func (*Ack) fromServer()    {}
func (*Nak) fromServer()    {}
func (*Status) fromServer() {}
func (*Bye) fromServer()    {}

// DecodeServer reads a message from a server. It ignores unknown fields, so that an older client
// works with a newer server.
func DecodeServer(b []byte) (FromServer, error) {
	var head struct {
		T string `json:"t"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("read a message of the server: %w", err)
	}
	m, ok := map[string]FromServer{
		"hello": &Hello{}, "query": &Query{}, "ack": &Ack{}, "nak": &Nak{}, "status": &Status{}, "bye": &Bye{},
	}[head.T]
	if !ok {
		return nil, fmt.Errorf("read a message of the server: unknown type %q", head.T)
	}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("read a %s of the server: %w", head.T, err)
	}
	return m, nil
}
