package learning

// A policy that was trained takes the lead from one that people were shown by a duel: people
// compare clips of the two, and a sequential test of two binomial hypotheses counts their answers.
const (
	// DuelMargin is by how many answers one of the two must be ahead. If people are right with
	// probability p, and the number of answers had no limit, the wrong one would win with
	// probability 1/(1 + (p/(1−p))²): 1.2 % for p = 0.9.
	DuelMargin = 2

	// DuelMost is how many answers are asked for at most; equal ones are among them. The majority
	// decides then.
	DuelMost = 5
)

// A Verdict is how a duel stands.
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

// Verdict returns how the duel stands. A draw leaves the lead with the incumbent.
func (d *Duel) Verdict() Verdict { return d.verdict }

// Wants returns how many answers may decide the duel from here, the fewest: more are not asked for
// at a time.
func (d *Duel) Wants() int {
	if d.verdict != Undecided {
		return 0
	}
	return min(DuelMargin-max(d.ahead, -d.ahead), DuelMost-d.answers)
}
