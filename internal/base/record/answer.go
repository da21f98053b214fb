package record

import (
	"iter"

	"tiebreak/internal/idrl"
)

// Effective returns the answers of a log that count, in order and as they count: the replies
// that are not withdrawn, of annotators who are not left out.
func Effective(log []idrl.Answer) []idrl.Answer {
	how := Countings(log)
	out := collect(log, func(a *idrl.Answer) bool { return !how[a.Annotator].Out })
	for i := range out {
		out[i] = how[out[i].Annotator].Of(out[i])
	}
	return out
}

// EachEffective yields what Effective returns, without a copy of all of it.
func EachEffective(log []idrl.Answer) iter.Seq[idrl.Answer] {
	how := Countings(log)
	return func(yield func(idrl.Answer) bool) {
		for a := range EachStanding(log) {
			if c := how[a.Annotator]; !c.Out && !yield(c.Of(*a)) {
				return
			}
		}
	}
}

// Standing returns the replies of a log that are not withdrawn, in order and as they were
// given, also those of annotators who are left out.
func Standing(log []idrl.Answer) []idrl.Answer {
	return collect(log, func(*idrl.Answer) bool { return true })
}

// collect returns copies of the replies of EachStanding that count.
func collect(log []idrl.Answer, counts func(*idrl.Answer) bool) []idrl.Answer {
	n := 0
	for a := range EachStanding(log) {
		if counts(a) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	out := make([]idrl.Answer, 0, n)
	for a := range EachStanding(log) {
		if counts(a) {
			out = append(out, *a)
		}
	}
	return out
}

// EachStanding yields what Standing returns, without copies of it.
func EachStanding(log []idrl.Answer) iter.Seq[*idrl.Answer] {
	undone := map[idrl.AnswerID]bool{}
	for i := range log {
		if of := log[i].Undoes; of != "" {
			undone[of] = true
		}
	}
	return func(yield func(*idrl.Answer) bool) {
		for i := range log {
			if a := &log[i]; a.Reply() && !undone[a.ID] && !yield(a) {
				return
			}
		}
	}
}
