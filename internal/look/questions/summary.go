package questions

import (
	"slices"
	"time"

	"tiebreak/internal/idrl"
)

// A Summary counts questions. Questions whose answers were withdrawn count only in Withdrawn,
// because they were asked again.
type Summary struct {
	Questions   int
	Withdrawn   int
	Unseen      int // whose clips cannot be measured
	Still       int // lacking motion
	Alike       int
	Fallen      int // both fallen, or the one to be rated
	Unanswered  int // any of these three: they could not be answered
	Repeats     int
	Often       int // that show two names which the person saw MostOften times in thirty questions
	Useless     int // about two useless clips
	SameUseless int // about two of one name
	Again       int // planned repeats, which do not count as repeats
	Easy        int
	Equal       int
	CantTell    int
	Skipped     int           // and clips that failed
	Median      time.Duration // of the response times

	// Probability is the mean probability of a clear answer when a question was chosen, over the
	// questions with a recorded one; 0 if there are none.
	Probability float64
}

// MostOften is how often a session shows the same two names to a person among thirty questions while there
// is another question.
const MostOften = 3

// Summarise counts questions.
func Summarise(list []Question) (s Summary) {
	var times []int64
	var probable, known float64
	for i := range list {
		q := &list[i]
		if q.Withdrawn {
			s.Withdrawn++
			continue
		}
		s.Questions++
		count(&s.Unseen, q.Unseen != "")
		count(&s.Still, q.Still)
		count(&s.Alike, q.Alike)
		count(&s.Fallen, q.Fallen)
		count(&s.Unanswered, q.Unseen == "" && !q.Answerable())
		count(&s.Repeats, q.Repeats > 0)
		count(&s.Often, q.Often > MostOften)
		count(&s.Useless, q.BothUseless)
		count(&s.SameUseless, q.SameUseless)
		count(&s.Again, q.Again > 0)
		count(&s.Easy, q.Easy)
		switch q.Answer.Choice {
		case idrl.Equal:
			s.Equal++
		case idrl.CantTell:
			s.CantTell++
		case idrl.Skip, idrl.TechnicalFailure:
			s.Skipped++
		default: // a preference or a rating
		}
		if q.Answer.Input != idrl.ImportedInput {
			times = append(times, q.Answer.ResponseMS)
		}
		if q.Why.Answerable > 0 {
			probable, known = probable+q.Why.Answerable, known+1
		}
	}
	if slices.Sort(times); len(times) > 0 {
		s.Median = time.Duration(times[(len(times)-1)/2]) * time.Millisecond
	}
	if known > 0 {
		s.Probability = probable / known
	}
	return s
}

func count(n *int, is bool) {
	if is {
		*n++
	}
}
