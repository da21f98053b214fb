package nn

import "math"

// LabelSchedule divides a number of labels over a training with that many steps
// at which labels may be asked for. The share is asked before it, rounded down;
// then step i, from 1, asks for
//
//	n_i = min(⌈c/i⌉, left − ⌈c/i⌉),  c = (labels − first)/Σ_{j ≤ steps} 1/j
//
// until n_i ≤ 0. It returns the first labels and perStep[i−1] = n_i of the steps
// that ask for any. The minimum, which the paper does not have, makes the labels
// run out early: of 1400 labels over 1000 steps, 1399 are used up at step 330.
// Source: docs/paper-code.md, section 6.
func LabelSchedule(labels, steps int, share float64) (first int, perStep []int) {
	first = int(float64(labels) * share)
	harmonic := 0.0
	for j := 1; j <= steps; j++ {
		harmonic += 1 / float64(j)
	}
	left := labels - first
	c := float64(left) / harmonic
	for i := 1; i <= steps; i++ {
		most := int(math.Ceil(c / float64(i)))
		n := min(most, left-most)
		if n <= 0 {
			break
		}
		perStep = append(perStep, n)
		left -= n
	}
	return first, perStep
}
