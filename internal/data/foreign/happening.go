package foreign

import (
	"fmt"

	"tiebreak/internal/base/drawing"
)

// A Happening is a drawing.Happening on the wire. Both fields may be missing.
type Happening struct {
	Happens string `json:"happens,omitempty"`
	Useless bool   `json:"useless,omitempty"`
}

// Check returns an error unless w is a line of at most drawing.MaxHappening bytes, and only what has a name is
// useless.
func (w Happening) Check() error {
	switch {
	case len(w.Happens) > drawing.MaxHappening || !IsLine(w.Happens, drawing.MaxHappening):
		return fmt.Errorf("what happens must be one line of at most %d bytes: %.80q", drawing.MaxHappening, w.Happens)
	case w.Useless && w.Happens == "":
		return fmt.Errorf("it is useless, and does not say what happens")
	}
	return nil
}

// Read returns w for a clip.
func (w Happening) Read() drawing.Happening {
	return drawing.Happening{Name: w.Happens, Useless: w.Useless}
}
