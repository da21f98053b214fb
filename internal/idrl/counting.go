package idrl

// Counting says how the replies of an annotator count. The zero value: as they were given.
type Counting struct {
	Out    bool  // not at all
	Turned int64 // those up to this row of the log turned (Answer.Opposite); 0 for none
}

// Countings returns how the replies of annotators count after a log, for the annotators about whom
// a row decides.
func Countings(log []Answer) map[AnnotatorID]Counting {
	out := map[AnnotatorID]Counting{}
	for i := range log {
		if log[i].Decision() {
			out[log[i].Annotator] = log[i].Counting()
		}
	}
	return out
}

// Counting returns what a, a row that decides how replies count, decides.
func (a *Answer) Counting() Counting {
	c := Counting{Out: a.Choice == LeftOut}
	if a.Choice == Turned {
		c.Turned = a.Seq
	}
	return c
}

// Turns reports whether the reply in row seq of the log counts turned.
func (c Counting) Turns(seq int64) bool { return c.Turned > 0 && seq <= c.Turned }

// Of returns a reply as it counts; ok is false if it does not count.
func (c Counting) Of(a Answer) Answer {
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

// Opposite returns the answer with the sides exchanged: clips a and b change places, the best and
// the worst of a group do, and a rating is mirrored at the middle of the scale. Equal and the
// choices that are not Informative stay, as do strength and remarks.
func (a Answer) Opposite() Answer {
	switch a.Choice { //nolint:exhaustive // the others stay
	case ChoseA:
		a.Choice = ChoseB
	case ChoseB:
		a.Choice = ChoseA
	case Rated:
		a.Rating = 0 - a.Rating // not -0
	case BestWorst:
		a.Best, a.Worst = a.Worst, a.Best
	}
	return a
}
