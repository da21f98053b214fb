package idrl

// A Manner is what a posterior knows of how one annotator answers, where it learns that along
// with θ. A Range of all zeros is of what the questions do not tell: the width of ties is that
// of comparisons, offset and scale are those of ratings.
type Manner struct {
	Annotator AnnotatorID `json:"-"`
	Random    float64     `json:"random"`    // probability that they click at random, whatever they see
	Noise     Range       `json:"noise"`     // standard deviation of meant answers, as a multiple of what the session is told
	Lapse     Range       `json:"lapse"`     // share of answers that say nothing; 1 of somebody who clicks at random
	TieWidth  Range       `json:"tie_width"` // in units of the noise, as a multiple of what the session is told
	Offset    Range       `json:"offset"`    // of ratings, which lie in [−1, 1]
	Scale     Range       `json:"scale"`     // of ratings, as a multiple of the mean of all annotators; zeros where there is none
}

// A Range is a posterior median with an interval of 95 %.
type Range struct {
	Middle float64 `json:"middle"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}
