package idrl

import (
	"errors"
	"fmt"
)

// Kind classes an error by what the caller can do about it.
type Kind uint8

// Kinds of error.
const (
	Internal    Kind = iota // a fault; the message is for the log only
	Invalid                 // the request is wrong
	NotFound                // the thing does not exist
	Conflict                // the request is right but clashes with what is recorded
	Forbidden               // the actor may not do this
	Unavailable             // cannot be done now; try again later
	Damaged                 // recorded data can no longer be read and must be restored
)

// Error is an error with a kind. Its message may be shown to a user.
type Error struct {
	Kind Kind
	Msg  string
}

func (e *Error) Error() string { return e.Msg }

// Errorf returns an *Error.
func Errorf(k Kind, format string, args ...any) error {
	return &Error{Kind: k, Msg: fmt.Sprintf(format, args...)}
}

// KindOf returns the kind of the first *Error in err's chain, or Internal.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}
