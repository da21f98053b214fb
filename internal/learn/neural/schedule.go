package neural

import "math"

// LabelSchedule divides a number of labels over a training with that many steps at which
// labels may be asked for. A share is asked before it, rounded down; step i, from 1, then
// asks for ⌈c/i⌉ or as many as are left,
//
//	c = (labels − first)/Σ_{j ≤ steps} 1/j
//
// until none are. In the mode Paper it asks for min(⌈c/i⌉, left − ⌈c/i⌉), until that is
// not above zero, as the authors' code does: of 1400 labels over 1000 steps, 1399 are used
// up at step 330. perStep[i−1] is for step i. Source: the paper, appendix "Hyperparameter
// choices"; docs/paper-code.md, section 6.
func LabelSchedule(m Mode, labels, steps int, share float64) (first int, perStep []int) {
	first = int(float64(labels) * share)
	harmonic := 0.0
	for j := 1; j <= steps; j++ {
		harmonic += 1 / float64(j)
	}
	left := labels - first
	c := float64(left) / harmonic
	for i := 1; i <= steps; i++ {
		most := int(math.Ceil(c / float64(i)))
		n := min(most, left)
		if m == Paper {
			n = min(most, left-most)
		}
		if n <= 0 {
			break
		}
		perStep = append(perStep, n)
		left -= n
	}
	return first, perStep
}
