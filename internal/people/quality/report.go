package quality

import (
	"math"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/agreement"
)

// LeastShared is the least number of shared questions of which coefficients other than raw agreement
// have intervals.
const LeastShared = agreement.LeastUnits

// A Coefficient is a number with its 95 % interval; nil where it is not defined.
type Coefficient struct {
	Value     float64  `json:"value"`
	Low, High *float64 `json:",omitempty"`
	Wilson    bool     `json:",omitempty"` // whether the interval is Wilson's; else it is from the bootstrap
}

// A Person has the statistics of the answers of one annotator.
type Person struct {
	Annotator  idrl.AnnotatorID `json:"annotator"`
	LeftOut    bool             `json:"left_out"`
	Turned     int              `json:"turned"` // answers that count turned
	Answers    int              `json:"answers"`
	CantTell   int              `json:"cant_tell"`
	MedianMS   int64            `json:"median_ms"`
	LeftShare  float64          `json:"left_share"` // share of decisive comparisons with known sides that the left clip won
	LeftLow    float64          `json:"left_low"`
	LeftHigh   float64          `json:"left_high"`
	Sided      int              `json:"sided"`     // comparisons behind it
	Repeats    int              `json:"repeats"`   // answers to a question that they had answered before
	SaidSame   int              `json:"said_same"` // of these, the same as their first one; ratings within record.RatingTolerance
	SameLow    float64          `json:"same_low"`  // of the share of these
	SameHigh   float64          `json:"same_high"`
	Difference float64          `json:"difference"` // mean absolute, of two ratings of the same, on −1 to 1
	Marked     int              `json:"marked"`     // answers with doubts

	Gold      int      `json:"gold"`       // answers to gold questions with a preference
	GoldRight int      `json:"gold_right"` // of these, answered as the researcher does
	GoldLow   float64  `json:"gold_low"`   // of the share of these
	GoldHigh  float64  `json:"gold_high"`
	Warnings  []string `json:"warnings"` // warnings for the researcher

	// Agreed is how many of Compared decisive answers prefer the clip that the majority of the
	// other annotators preferred. Questions without a majority are left out.
	Agreed   int `json:"agreed"`
	Compared int `json:"compared"`

	// Reversed says that they answer the other way round than the known answers or than the others.
	// There is a warning, too.
	Reversed bool `json:"reversed"`

	Spent Spent `json:"spent"` // their time

	// Manner is the posterior of their noise, lapses and ties; nil if the reward model does not
	// distinguish annotators, and for those whose answers do not count.
	Manner *idrl.Manner `json:"manner"`
}

// A PairKappa is Cohen's κ of two annotators.
type PairKappa struct {
	A         idrl.AnnotatorID `json:"a"`
	B         idrl.AnnotatorID `json:"b"`
	Questions int              `json:"questions"`
	Kappa     *float64         `json:"kappa"`
}

// A Report has the statistics of the annotators of a session, and their agreement.
type Report struct {
	People    []Person     `json:"people"`
	Rated     bool         `json:"rated"`
	Questions int          `json:"questions"` // that two annotators or more answered
	Raw       *Coefficient `json:"raw_agreement"`
	Alpha     *Coefficient `json:"krippendorff_alpha"`
	Fleiss    *Coefficient `json:"fleiss_kappa"`
	Cohen     []PairKappa  `json:"cohen_kappa"`
}

// Of returns the report on a log, the answers to assignments. It is a function of these and
// of seed, from which the bootstrap draws.
func Of(log []idrl.Answer, assignments []record.Assignment, seed uint64) Report {
	arranged := agreement.Arrange(log, turnedOf(assignments))
	q := Report{Rated: arranged.Rated, People: peopleOf(log, arranged), Cohen: []PairKappa{}}
	var shared agreement.Units
	for _, u := range arranged.Units {
		if len(u) >= 2 {
			shared = append(shared, u)
		}
	}
	q.Questions = len(shared)
	metric := agreement.Nominal
	if arranged.Rated {
		metric = agreement.Interval
	}
	of := func(name string, f func(agreement.Units) (float64, bool)) *Coefficient {
		v, ok := f(shared)
		if !ok {
			return nil
		}
		c := &Coefficient{Value: v}
		if low, high, ok := agreement.Bootstrap(shared, rng.New(seed, "bootstrap of "+name, 0), f); ok {
			c.Low, c.High = &low, &high
		}
		return c
	}
	q.Alpha = of("alpha", func(u agreement.Units) (float64, bool) { return agreement.Alpha(u, metric) })
	if arranged.Rated { // two ratings are hardly ever the same number
		return q
	}
	if share, ok := agreement.Raw(shared); ok {
		low, high, wilson := agreement.RawInterval(shared, rng.New(seed, "bootstrap of raw agreement", 0))
		q.Raw = &Coefficient{Value: share, Low: &low, High: &high, Wilson: wilson}
	}
	q.Fleiss = of("kappa", agreement.Fleiss)
	units := make([]agreement.Units, len(arranged.Raters)) // by rater: most pairs of many raters share few
	for _, u := range shared {
		for _, v := range u {
			units[v.Rater] = append(units[v.Rater], u)
		}
	}
	for b := range arranged.Raters {
		for a := range b {
			kappa, n, ok := agreement.Cohen(units[b], a, b)
			if n == 0 {
				continue
			}
			pair := PairKappa{A: arranged.Raters[a], B: arranged.Raters[b], Questions: n}
			if ok {
				pair.Kappa = &kappa
			}
			q.Cohen = append(q.Cohen, pair)
		}
	}
	return q
}

// turnedOf returns which assignments show a query with its clips exchanged.
func turnedOf(assignments []record.Assignment) map[idrl.AssignmentID]bool {
	out := map[idrl.AssignmentID]bool{}
	for _, as := range assignments {
		if as.Query.Turned() {
			out[as.ID] = true
		}
	}
	return out
}

// Know adds the posterior of annotators.
func (q *Report) Know(manners []idrl.Manner) {
	for i := range q.People {
		for k := range manners {
			if manners[k].Annotator == q.People[i].Annotator {
				q.People[i].Manner = &manners[k]
			}
		}
	}
}

func peopleOf(log []idrl.Answer, arranged agreement.Answers) []Person {
	out := []Person{}
	for _, s := range Summarise(log, nil) {
		p := Person{
			Annotator: s.Annotator, LeftOut: s.LeftOut, Turned: s.Turned, Answers: s.Answers, CantTell: s.CantTell, MedianMS: s.MedianTime.Milliseconds(),
			LeftShare: s.LeftShare, LeftLow: s.LeftLow, LeftHigh: s.LeftHigh, Sided: s.Sided, Marked: s.Marked, GoldHigh: 1, Warnings: []string{},
		}
		for r, who := range arranged.Raters {
			if who == s.Annotator {
				p.Repeats, p.SaidSame, p.Difference = again(arranged.Again[r], arranged.Rated)
				if !arranged.Rated {
					others := withOthers(arranged.Units, r)
					p.Agreed, p.Compared = others.of()
					p.Reversed = others.reversed()
				}
			}
		}
		p.SameLow, p.SameHigh = stats.Wilson(float64(p.SaidSame), p.Repeats, stats.Z95)
		out = append(out, p)
	}
	return out
}

// withOthers counts the questions in which a rater agrees with the majority of the others, or
// contradicts it.
func withOthers(units agreement.Units, rater int) (out share) {
	for _, u := range units {
		own, turned, votes := -1., false, [2]int{}
		for _, v := range u {
			switch {
			case v.Rater == rater:
				own, turned = v.V, v.Turned
			case v.V < 2: // 2 is a tie
				votes[int(v.V)]++
			}
		}
		if own < 0 || own > 1 || votes[0] == votes[1] {
			continue
		}
		out.add((own == 1) == (votes[1] > votes[0]), turned)
	}
	return out
}

// again summarises the answers to repeated questions. Two ratings are the same if they are no further apart than a
// right answer to a gold question may be.
func again(repeats agreement.Units, rated bool) (n, same int, difference float64) {
	tolerance := 0.0
	if rated {
		tolerance = record.RatingTolerance + 1e-9 // ratings of two points are not exactly that far apart
	}
	for _, u := range repeats {
		d := math.Abs(u[1].V - u[0].V)
		if d <= tolerance {
			same++
		}
		difference += d / float64(len(repeats))
	}
	return len(repeats), same, difference
}
