package outside

import (
	"fmt"

	"tiebreak/internal/idrl"
)

// A Code names what an outside environment did wrong. Codes do not change.
type Code string

// Codes of errors.
const (
	CodeStart   Code = "outside-start"   // it cannot be started, or nobody listens at its address
	CodeHello   Code = "outside-hello"   // it says of itself what cannot be, or something else than before
	CodeExited  Code = "outside-exited"  // it ended, or closed the connection
	CodeTimeout Code = "outside-timeout" // it did not answer in time
	CodeLine    Code = "outside-line"    // it wrote what is no line of JSON, or too long a one
	CodeReply   Code = "outside-reply"   // its answer does not fit the request or its own hello
	CodeError   Code = "outside-error"   // it answered that it failed
	CodeReplay  Code = "outside-replay"  // with the same seed and actions it did something else
	CodeScene   Code = "outside-scene"   // it draws a scene that cannot be shown
	CodePicture Code = "outside-picture" // it shows a picture that cannot be read
)

// failure is one thing that went wrong.
type failure struct {
	code Code
	text string
}

func failf(code Code, format string, args ...any) *failure {
	return &failure{code, fmt.Sprintf(format, args...)}
}

// error returns f as what a researcher reads, of kind Unavailable: it may go away when the
// program is repaired.
func (f *failure) error(title string) error {
	return idrl.Errorf(idrl.Unavailable, "environment %q failed (%s): %s", title, f.code, f.text)
}
