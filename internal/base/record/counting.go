package record

import (
	"tiebreak/internal/idrl"
)

// Counting says how the replies of an annotator count. The zero value: as they were given.
type Counting struct {
	Out    bool  // not at all
	Turned int64 // those up to this row of the log turned (Answer.Opposite); 0 for none
}

// Countings returns how the replies of annotators count after a log, for the annotators about whom
// a row decides.
func Countings(log []idrl.Answer) map[idrl.AnnotatorID]Counting {
	out := map[idrl.AnnotatorID]Counting{}
	for i := range log {
		if log[i].Decision() {
			out[log[i].Annotator] = CountingOf(&log[i])
		}
	}
	return out
}

// CountingOf returns what a, a row that decides how replies count, decides.
func CountingOf(a *idrl.Answer) Counting {
	c := Counting{Out: a.Choice == idrl.LeftOut}
	if a.Choice == idrl.Turned {
		c.Turned = a.Seq
	}
	return c
}

// Turns reports whether the reply in row seq of the log counts turned.
func (c Counting) Turns(seq int64) bool { return c.Turned > 0 && seq <= c.Turned }

// Of returns a reply as it counts; ok is false if it does not count.
func (c Counting) Of(a idrl.Answer) idrl.Answer {
	if c.Turns(a.Seq) {
		return a.Opposite()
	}
	return a
}

// Follows reports whether c, of a log, carries out the decision want of a researcher. c may turn
// more answers, because it turns those up to its own row.
func (c Counting) Follows(want Counting) bool {
	return c.Out == want.Out && (c.Turned > 0) == (want.Turned > 0) && c.Turned >= want.Turned
}
