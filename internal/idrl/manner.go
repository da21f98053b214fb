package idrl

// A Manner is the posterior of how one annotator answers, if the model learns that along with θ. A
// Range of all zeros means that the questions give no information: tie width is only for
// comparisons, offset and scale are only for ratings.
type Manner struct {
	Annotator AnnotatorID `json:"-"`
	Random    float64     `json:"random"`    // probability that all answers are random
	Reversed  float64     `json:"reversed"`  // probability that they confuse the answers: the posterior reads theirs the other way round
	Noise     Range       `json:"noise"`     // standard deviation of answers that are not lapses, relative to the setting of the session
	Lapse     Range       `json:"lapse"`     // share of random answers; 1 for an annotator who clicks at random
	TieWidth  Range       `json:"tie_width"` // in units of the noise, relative to the setting of the session
	Offset    Range       `json:"offset"`    // of ratings, which lie in [−1, 1]
	Scale     Range       `json:"scale"`     // of ratings, relative to the mean of all annotators; zeros where there is none
}

// A Range is a posterior median with an interval of 95 %.
type Range struct {
	Middle float64 `json:"middle"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

const (
	// WidestLapse is the width from which on an interval of the share of lapses says too little of a person to be shown.
	WidestLapse = 0.5
	// LapseAnswers is the number of answers after which the share of lapses of a reliable person is usually known so well.
	LapseAnswers = 20
)

// LapseKnown reports whether the interval of the share of lapses is narrower than WidestLapse.
func (m Manner) LapseKnown() bool { return m.Lapse.High-m.Lapse.Low < WidestLapse }
