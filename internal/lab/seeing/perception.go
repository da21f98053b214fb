package seeing

import (
	"math"

	"tiebreak/internal/look/measure"
)

// DefaultThreshold is half-way between what looks alike and what differs at a glance.
const DefaultThreshold = 1.5

// DefaultMistake is the probability that a person gives the opposite answer.
const DefaultMistake = 0.1

// steepness is the exponent of the psychometric function.
const steepness = 4

// sees returns the probability that the difference of two clips is seen: a Weibull psychometric
// function of how far they look apart,
//
//	P = 1 − 2^−(contrast/threshold)⁴
//
// which is ½ at the threshold. Source: Weibull functions are usual for detection thresholds; Quick,
// "A vector-magnitude model of contrast detection", Kybernetik 16, 1974.
func (p Person) sees(pair measure.Pair, onMap bool) float64 {
	if p.Threshold == 0 {
		return 1
	}
	return 1 - math.Exp2(-math.Pow(Contrast(pair, onMap)/p.Threshold, steepness))
}

// Contrast returns how far apart two clips look in one number: the largest of those of measure.Pair,
// each on a scale on which clips look alike below 1 and differ at a glance from 2 on. On a map
// it counts, too, where the clips end: a walk that turns at the last moment is another one.
func Contrast(p measure.Pair, onMap bool) float64 {
	place := scaled(p.Place, measure.AlikePlace, measure.EasyPlace)
	if onMap {
		place = max(place, scaled(p.End, measure.AlikePlace, measure.EasyPlace))
	}
	if p.A.Whirling() && p.B.Whirling() {
		return max(scaled(p.End, measure.AlikePose, measure.EasyPose), place)
	}
	return max(scaled(p.Pose, measure.AlikePose, measure.EasyPose), scaled(p.Path, measure.AlikePath, measure.EasyPath), place)
}

// scaled returns v on a scale on which alike is 1 and easy is 2, if it is not below that.
func scaled(v, alike, easy float64) float64 {
	switch {
	case v < alike:
		return v / alike
	case v < easy:
		return 1 + (v-alike)/(easy-alike)
	}
	return 2 * v / easy
}
