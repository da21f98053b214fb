package foreign

import (
	"fmt"

	"tiebreak/internal/idrl"
)

// Limits of what is said of a recorded trajectory, in characters.
const (
	maxPolicy = 64
	maxTask   = 200
	maxStart  = 64
)

// CheckActed returns an error unless each of a is a line that is not too long.
func CheckActed(a idrl.Acted) error {
	for _, f := range []struct {
		name, text string
		most       int
	}{{"policy", a.Policy, maxPolicy}, {"task", a.Task, maxTask}, {"start", a.Start, maxStart}} {
		if !IsLine(f.text, f.most) {
			return fmt.Errorf("its %s must be one line of at most %d characters: %.80q", f.name, f.most, f.text)
		}
	}
	return nil
}
