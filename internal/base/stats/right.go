package stats

import "math"

// UsualRight is the share of random pairs of clips of the first generation about which a person
// is right, where nothing else is said: the measure of how noisy people are in sessions, benches
// and rehearsals. Source: docs/methods.md, section 2.3.
const UsualRight = 0.9

// Right returns the share of comparisons in which a person chooses the better clip, who perceives
// each of some true differences of reward, positive or not, with normal noise of standard
// deviation noise > 0: the mean of Φ(|u|/noise). Where u is 0 neither clip is better, so that those
// are left out. It is ½ if there are no others.
func Right(differences []float64, noise float64) float64 {
	sum, n := 0.0, 0
	for _, u := range differences {
		if u != 0 {
			sum += 0.5 * math.Erfc(-math.Abs(u)/(noise*math.Sqrt2))
			n++
		}
	}
	if n == 0 {
		return 0.5
	}
	return sum / float64(n)
}

// NoiseOfRight returns the noise with which a person is right about a share of comparisons of some
// true differences: Right(differences, noise) = right, in (½, 1). It is 1 if all differences are 0. It
// panics if right is not in that range.
func NoiseOfRight(differences []float64, right float64) float64 {
	if !(right > 0.5 && right < 1) {
		panic("stats: the share that is right must be between one half and 1")
	}
	most := 0.0
	for _, u := range differences {
		most = max(most, math.Abs(u))
	}
	if most == 0 {
		return 1
	}
	low, high := math.Log(most*1e-9), math.Log(most*1e9)
	for range 80 {
		if middle := (low + high) / 2; Right(differences, math.Exp(middle)) > right {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp((low + high) / 2)
}

// ExpectedRight returns the expected share of comparisons in which a person with that noise is right, where
// the differences are not known yet: u is N(0, std²) of each. For one it is ½ + atan(std/noise)/π.
// Where std is 0 neither clip is better, so that those are left out. It is ½ if there are no others.
func ExpectedRight(std []float64, noise float64) float64 {
	sum, n := 0.0, 0
	for _, s := range std {
		if s > 0 {
			sum += 0.5 + math.Atan(s/noise)/math.Pi
			n++
		}
	}
	if n == 0 {
		return 0.5
	}
	return sum / float64(n)
}
