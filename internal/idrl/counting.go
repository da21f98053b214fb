package idrl

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
