package session

import (
	"errors"
	"fmt"
	"testing"

	"tiebreak/internal/idrl"
)

// Researchers read why a training failed if it is about something of theirs; of a fault of this
// program only the log says more.
func TestWhyTrainingFailed(t *testing.T) {
	outside := idrl.Errorf(idrl.Unavailable, `environment "Cart" failed (outside-exited): it ended`)
	for _, test := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("train from answer 3: %w", outside), `The reason: environment "Cart" failed (outside-exited): it ended`},
		{idrl.Errorf(idrl.Invalid, "people could not distinguish the entrants."), "The reason: people could not distinguish the entrants."},
		{idrl.Errorf(idrl.Internal, "a secret path"), "The server's log says why."},
		{errors.New("a secret path"), "The server's log says why."},
	} {
		if got := why(test.err); got != test.want {
			t.Errorf("%v: %q, want %q", test.err, got, test.want)
		}
	}
}
