package idrl

import (
	"slices"
	"time"
)

// Choice is the reply of an annotator. It names clips a and b, never left and right: Answer.Left
// says which clip was on which side.
type Choice string

// Choices.
const (
	ChoseA           Choice = "a"
	ChoseB           Choice = "b"
	Equal            Choice = "equal"     // "I understood both and neither is better": enters the likelihood
	CantTell         Choice = "cant_tell" // "I do not understand or cannot see": does not
	Skip             Choice = "skip"
	TechnicalFailure Choice = "technical_failure"
	Rated            Choice = "rated"      // Answer.Rating holds the rating
	BestWorst        Choice = "best_worst" // Answer.Best and Answer.Worst hold the two clips of a group

	// Of rows in which a researcher decides how an annotator's answers count (Counting).
	LeftOut Choice = "left_out" // none of them, given before or later
	Turned  Choice = "turned"   // those that were given before, turned; later ones as they are given
	TakenIn Choice = "taken_in" // all of them, as they were given

	// Of rows that remain when the data of a person are withdrawn. Neither names the person.
	Erased   Choice = "erased"   // a row of that person; only ID, which is new, Seq and ReceivedAt are left
	Withdrew Choice = "withdrew" // that person's rows before this one are erased
)

// Side is one of the clips of a query, by its place: a is the first.
type Side string

// Sides.
const (
	SideA Side = "a"
	SideB Side = "b"
)

// A Remark says how good both clips of a comparison are.
type Remark string

// Remarks.
const (
	BothBad  Remark = "both_bad"
	BothGood Remark = "both_good"
)

// SideOf returns the name of the clip at a place of a query.
func SideOf(place int) Side { return Side(rune('a' + place)) }

// Inputs returns the ways in which an answer can be given.
func Inputs() []string { return []string{"keyboard", "mouse", "touch", "api"} }

// ImportedInput is Answer.Input of an answer that was imported when the session was made. Its time,
// its response time and the side of its clips are not known: these fields are zero.
const ImportedInput = "import"

// An Answer is one row of the log of a session: a reply to a query, the withdrawal
// of an earlier reply, or the decision how the replies of Annotator count. The
// log is append-only, and the posterior is a function of it alone. Rows keep their
// positions when the data of a person are withdrawn, which empties that person's rows.
type Answer struct {
	ID         AnswerID // minted by the client; unique
	Seq        int64    // position in the session's log, from 1; given by the session
	Assignment AssignmentID
	Query      QueryID
	Annotator  AnnotatorID

	Undoes AnswerID // not empty: this row withdraws that answer, and Choice is empty
	Choice Choice
	Rating float64 // in [-1, 1]; only if Choice is Rated
	Much   bool    // the clip is much better; only if Choice is ChoseA or ChoseB, and the session asks for it
	Remark Remark  // beside ChoseA, ChoseB or Equal, if the session asks for it; empty for none, which says nothing
	Reason string  // of a skip: "broken", "offensive", "other"

	// WrongMS is when it went wrong: milliseconds from the first frame of the clip, at speed 1; 0 where nothing was
	// said. Only if Choice is Rated with less than Success, in a session of kind JudgeClip.
	WrongMS int64

	Best, Worst Side // clips of a group; only if Choice is BestWorst

	Left         Side      // which clip was shown on the left; empty but for a comparison
	Order        Order     // in which the clips of a group were shown; empty for other questions
	ShownAt      time.Time // first painted frame, the client's clock
	AnsweredAt   time.Time // the client's clock
	ReceivedAt   time.Time // the server's clock
	ResponseMS   int64     // first painted frame to commit, less hidden time; monotonic
	HiddenMS     int64     // time the page was not visible meanwhile
	Loops        int64     // times the clips played to the end
	Input        string    // one of Inputs(), or ImportedInput
	Instructions int64     // version of the instructions shown
	Consent      int64     // version of the consent text that the annotator had agreed to; 0 for none; set by the server
	Late         bool      // the lease had expired; set by the session
	Doubts       Doubts    // which of the above cannot be true; set by the session
}

// Informative reports whether the answer enters the likelihood.
func (a Answer) Informative() bool {
	return a.Choice == ChoseA || a.Choice == ChoseB || a.Choice == Equal || a.Choice == Rated || a.Choice == BestWorst
}

// Decision reports whether the row decides how the annotator's replies count.
func (a Answer) Decision() bool {
	return a.Choice == LeftOut || a.Choice == Turned || a.Choice == TakenIn
}

// Erasure reports whether the row remains of the withdrawal of a person's data.
func (a Answer) Erasure() bool { return a.Choice == Erased || a.Choice == Withdrew }

// Reply reports whether the row is a reply to a query.
func (a Answer) Reply() bool { return a.Undoes == "" && !a.Decision() && !a.Erasure() }

// ProbA returns the stated polarity of a comparison: the probability with which
// the annotator prefers clip a. ok is false where the choice states none.
func (a Answer) ProbA() (p float64, ok bool) {
	switch a.Choice {
	case ChoseA:
		return 1, true
	case ChoseB:
		return 0, true
	case Equal:
		return 0.5, true
	default:
		return 0, false
	}
}

// Reasons returns the reasons for a skip.
func Reasons() []string { return []string{"broken", "offensive", "other"} }

// Validate returns an error of kind Invalid, which says what to do, if a is not
// a possible reply to q.
func (a Answer) Validate(q Query) error {
	switch {
	case a.ID == "":
		return Errorf(Invalid, "the answer has no id; mint a UUID for it")
	case a.Query != q.ID:
		return Errorf(Invalid, "the answer is to query %s but its assignment holds %s", a.Query, q.ID)
	case a.Undoes != "":
		return Errorf(Invalid, "a withdrawal is not an answer to a query")
	}
	switch a.Choice {
	case ChoseA, ChoseB, Equal:
		if !q.Kind.Comparison() {
			return Errorf(Invalid, "choice %q answers a comparison, but this question asks for %s", a.Choice, q.Kind.asks())
		}
	case BestWorst:
		if err := a.checkGroup(q); err != nil {
			return err
		}
	case Rated:
		if q.Kind.Comparison() || q.Kind.Group() {
			return Errorf(Invalid, "a rating was sent, but this question asks for %s", q.Kind.asks())
		}
		if !(a.Rating >= -1 && a.Rating <= 1) { // so that NaN fails
			return Errorf(Invalid, "rating %v is off the scale; send a number from -1 to 1", a.Rating)
		}
	case CantTell, TechnicalFailure:
	case Skip:
		if !slices.Contains(Reasons(), a.Reason) {
			return Errorf(Invalid, "skip needs a reason, one of %v; got %q", Reasons(), a.Reason)
		}
	default:
		return Errorf(Invalid, "unknown choice %q; use a, b, equal, cant_tell, skip, technical_failure, rated or best_worst", a.Choice)
	}
	if q.Kind.Group() && !a.Order.Valid(len(q.Clips)) {
		return Errorf(Invalid, "shown_order must name each of the %d clips of the question once, in the order shown; got %q", len(q.Clips), a.Order)
	}
	if err := a.validateMore(); err != nil {
		return err
	}
	if q.Kind.Comparison() && a.Left != SideA && a.Left != SideB {
		return Errorf(Invalid, "shown_left must be \"a\" or \"b\", the clip that was on the left; got %q", a.Left)
	}
	if a.Input != "" && !slices.Contains(Inputs(), a.Input) {
		return Errorf(Invalid, "unknown input %q; use one of %v", a.Input, Inputs())
	}
	return nil
}

// MaxWrongMS is the largest Answer.WrongMS, an hour.
const MaxWrongMS = 3_600_000

// validateMore checks the strength and the remark of a comparison, and the moment of a failure.
func (a Answer) validateMore() error {
	switch {
	case a.WrongMS != 0 && a.Choice != Rated:
		return Errorf(Invalid, "when it went wrong goes only with a failure or a partial success")
	case a.WrongMS < 0 || a.WrongMS > MaxWrongMS:
		return Errorf(Invalid, "the moment when it went wrong must lie within the clip: 0 to %d ms; got %d", MaxWrongMS, a.WrongMS)
	case a.Much && a.Choice != ChoseA && a.Choice != ChoseB:
		return Errorf(Invalid, "\"much better\" goes only with the choices a and b")
	case a.Remark == "":
	case a.Remark != BothBad && a.Remark != BothGood:
		return Errorf(Invalid, "unknown remark %q; use both_bad or both_good", a.Remark)
	case a.Choice != ChoseA && a.Choice != ChoseB && a.Choice != Equal:
		return Errorf(Invalid, "a remark goes only with the choices a, b and equal")
	}
	return nil
}

// checkGroup returns an error of kind Invalid unless a picks two clips of the group q.
func (a Answer) checkGroup(q Query) error {
	switch {
	case !q.Kind.Group():
		return Errorf(Invalid, "a best and a worst clip were sent, but this question asks for %s", q.Kind.asks())
	case q.Place(a.Best) < 0 || q.Place(a.Worst) < 0:
		return Errorf(Invalid, "best and worst must be clips of the question, \"a\" to %q; got %q and %q", SideOf(len(q.Clips)-1), a.Best, a.Worst)
	case a.Best == a.Worst:
		return Errorf(Invalid, "one clip cannot be the best and the worst; got %q for both", a.Best)
	}
	return nil
}

// Implied returns the comparisons that the answer to a group of n clips implies, by places, the
// better clip first: the best over all others, and those between over the worst.
func (a Answer) Implied(n int) (out [][2]int) {
	if a.Choice != BestWorst {
		return nil
	}
	for i := range n {
		if SideOf(i) != a.Best {
			out = append(out, [2]int{place(a.Best), i})
		}
	}
	for i := range n {
		if s := SideOf(i); s != a.Best && s != a.Worst {
			out = append(out, [2]int{i, place(a.Worst)})
		}
	}
	return out
}

// Order is the order in which the clips of a group are shown, row by row: their sides, each
// once, as in "cafbed".
type Order string

// Valid reports whether o names each of n clips once.
func (o Order) Valid(n int) bool {
	seen := make([]bool, n)
	for _, r := range o {
		if k := int(r - 'a'); k < 0 || k >= n || seen[k] {
			return false
		} else {
			seen[k] = true
		}
	}
	return len(o) == n
}

// Reversed returns the order from its end.
func (o Order) Reversed() Order {
	out := []byte(o)
	slices.Reverse(out)
	return Order(out)
}
