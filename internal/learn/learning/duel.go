package learning

// A trained policy replaces the recommended one only after a duel: people compare clips of the
// two, and a sequential test of two binomial hypotheses counts their answers.
const (
	// DuelMargin is the lead, in answers, with which one of the two wins. If people are right with
	// probability p, and there were no limit of answers, the wrong one would win with probability
	// 1/(1 + (p/(1−p))²): 1.2 % for p = 0.9.
	DuelMargin = 2

	// DuelMost is the largest number of answers, with those that prefer neither. Then the
	// majority decides.
	DuelMost = 5
)

// A Verdict is the result of a duel.
type Verdict uint8

// Verdicts.
const (
	Undecided Verdict = iota
	Took              // the challenger takes the lead
	Kept              // the incumbent keeps it
)

// A Duel counts the answers that compare two policies, in their order. Its zero value has none.
type Duel struct {
	ahead   int // answers for the challenger, less those for the incumbent
	answers int
	verdict Verdict
}

// Add counts an answer: 1 for the challenger, −1 for the incumbent, 0 for neither. One that
// comes after the verdict changes nothing.
func (d *Duel) Add(answer int) {
	if d.verdict != Undecided {
		return
	}
	d.answers++
	d.ahead += answer
	switch {
	case d.ahead >= DuelMargin, d.answers == DuelMost && d.ahead > 0:
		d.verdict = Took
	case d.ahead <= -DuelMargin, d.answers == DuelMost:
		d.verdict = Kept
	}
}

// Verdict returns the result so far. A draw counts for the incumbent.
func (d *Duel) Verdict() Verdict { return d.verdict }

// Wants returns the fewest further answers that may decide the duel. No more are asked for at a
// time.
func (d *Duel) Wants() int {
	if d.verdict != Undecided {
		return 0
	}
	return min(DuelMargin-max(d.ahead, -d.ahead), DuelMost-d.answers)
}
