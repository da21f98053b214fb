package wire

import (
	"slices"
	"time"

	"tiebreak/internal/idrl"
)

// ValidID reports whether id has 1 to MaxID characters of A-Z, a-z, 0-9 and,
// after the first, ".", "_", ":" and "-".
func ValidID(id string) bool {
	if len(id) == 0 || len(id) > MaxID {
		return false
	}
	for i, r := range id {
		alnum := r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !alnum && (i == 0 || r != '.' && r != '_' && r != ':' && r != '-') {
			return false
		}
	}
	return true
}

func checkID(field, id string) error {
	if !ValidID(id) {
		return refuse(Invalid, "The field %s must be an id: 1 to %d letters, digits, and .:_- inside.", field, MaxID)
	}
	return nil
}

func (h *ClientHello) check() error {
	if len(h.Outbox) > MaxOutbox {
		return refuse(TooLarge, "The outbox lists %d ids; name at most %d in a hello.", len(h.Outbox), MaxOutbox)
	}
	for _, id := range h.Outbox {
		if err := checkID("outbox", string(id)); err != nil {
			return err
		}
	}
	return nil
}

func (u *Undo) check() error {
	if err := checkID("id", string(u.ID)); err != nil {
		return err
	}
	return checkID("of", string(u.Of))
}

func (r *Renew) check() error { return checkID("assignment", string(r.Assignment)) }

// Bounds of the data that a client reports. They keep nonsense out of the log, and are wide: a page
// may stay open for months, and a device's clock may be wrong.
const (
	maxMS     = int64(366 * 24 * time.Hour / time.Millisecond)
	maxLoops  = 1_000_000_000
	firstYear = 1970
	lastYear  = 2200
)

// choices are those that the protocol knows.
var choices = []idrl.Choice{
	idrl.ChoseA, idrl.ChoseB, idrl.Equal, idrl.CantTell, idrl.Skip, idrl.TechnicalFailure, idrl.Rated, idrl.BestWorst,
}

// check checks a by itself; the session checks whether it fits its question.
func (a *Answer) check() error {
	if err := checkID("id", string(a.ID)); err != nil {
		return err
	}
	if err := checkID("assignment", string(a.Assignment)); err != nil {
		return err
	}
	year := a.ShownAt.UTC().Year()
	switch {
	case !slices.Contains(choices, a.Choice):
		return refuse(Invalid, "The choice must be one of %v.", choices)
	case a.Choice == idrl.Rated && a.Rating == nil:
		return refuse(Invalid, "The rating is missing; send a number from -1 to 1.")
	case a.Choice != idrl.Rated && a.Rating != nil:
		return refuse(Invalid, "A rating goes only with the choice \"rated\".")
	case a.Rating != nil && !(*a.Rating >= -1 && *a.Rating <= 1):
		return refuse(Invalid, "The rating is off its scale; send a number from -1 to 1.")
	case a.WrongMS != 0 && (a.Choice != idrl.Rated || *a.Rating >= idrl.Success):
		return refuse(Invalid, "The field wrong_ms goes only with a failure or a partial success.")
	case a.WrongMS < 0 || a.WrongMS > idrl.MaxWrongMS:
		return refuse(Invalid, "wrong_ms must be 0 to %d.", idrl.MaxWrongMS)
	case a.Choice == idrl.Skip && !slices.Contains(idrl.Reasons(), a.Reason):
		return refuse(Invalid, "A skip needs a reason, one of %v.", idrl.Reasons())
	case a.Choice != idrl.Skip && a.Reason != "":
		return refuse(Invalid, "A reason goes only with the choice \"skip\".")
	case a.Much && a.Choice != idrl.ChoseA && a.Choice != idrl.ChoseB:
		return refuse(Invalid, "The field much goes only with the choices \"a\" and \"b\".")
	case a.Remark != "" && a.Remark != idrl.BothBad && a.Remark != idrl.BothGood:
		return refuse(Invalid, "The remark must be \"both_bad\" or \"both_good\".")
	case a.Remark != "" && a.Choice != idrl.ChoseA && a.Choice != idrl.ChoseB && a.Choice != idrl.Equal:
		return refuse(Invalid, "A remark goes only with the choices \"a\", \"b\" and \"equal\".")
	case a.ShownLeft != "" && a.ShownLeft != idrl.SideA && a.ShownLeft != idrl.SideB:
		return refuse(Invalid, "shown_left must be \"a\" or \"b\".")
	case a.checkGroup() != nil:
		return a.checkGroup()
	case year < firstYear || year > lastYear:
		return refuse(Invalid, "shown_at must be the time of the first painted frame, as RFC 3339; check the clock of the device.")
	case a.AnsweredMS < 0 || a.AnsweredMS > maxMS || a.HiddenMS < 0 || a.HiddenMS > maxMS:
		return refuse(Invalid, "answered_ms and hidden_ms must be 0 to %d.", maxMS)
	case a.Loops < 0 || a.Loops > maxLoops:
		return refuse(Invalid, "loops must be 0 to %d.", maxLoops)
	case !slices.Contains(idrl.Inputs(), a.Input):
		return refuse(Invalid, "The input must be one of %v.", idrl.Inputs())
	case a.Instructions < 1 || a.Instructions > 1<<31:
		return refuse(Invalid, "instructions_version must be the version that the server's hello named.")
	}
	return nil
}

// checkGroup checks the fields that only answers to groups have.
func (a *Answer) checkGroup() error {
	picked, last := a.Choice == idrl.BestWorst, idrl.SideOf(idrl.GroupSize-1)
	group := idrl.Query{Clips: make([]idrl.ClipID, idrl.GroupSize)}
	switch {
	case !picked && (a.Best != "" || a.Worst != ""):
		return refuse(Invalid, "The fields best and worst go only with the choice \"best_worst\".")
	case picked && (group.Place(a.Best) < 0 || group.Place(a.Worst) < 0):
		return refuse(Invalid, "best and worst must be clips of the question, \"a\" to %q.", last)
	case picked && a.Best == a.Worst:
		return refuse(Invalid, "One clip cannot be the best and the worst.")
	case a.ShownOrder != "" && !a.ShownOrder.Valid(idrl.GroupSize):
		return refuse(Invalid, "shown_order must name each of the clips \"a\" to %q once.", last)
	}
	return nil
}
