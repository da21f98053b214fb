package trainer

import (
	"tiebreak/internal/idrl"
)

// A Recorded policy acted in another program, which recorded its episodes.
type Recorded interface {
	idrl.Policy
	// Episode makes the next Reset of env begin the n-th episode, and returns a policy that repeats
	// its actions. It reports false if there are fewer episodes, or env is not the environment of
	// the recordings.
	Episode(env idrl.Environment, n int) (idrl.Policy, bool)
}
