package quality

import (
	"fmt"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
)

// hesitation is the response time, in multiples of the person's median, from which on an answer
// counts as hesitation. Of log-normal times whose logarithm has the standard deviation 0.6, which
// is usual for people, 3.4 % are slower.
const hesitation = 3

// Spent has sums of the response times of a person: of answers that are not withdrawn or imported. Times
// are those with the page in view.
type Spent struct {
	Answers   int   `json:"answers"` // with a time
	MS        int64 `json:"ms"`      // sum of their times
	Hesitated int   `json:"hesitated"`
	CantTell  int64 `json:"cant_tell_ms"` // of MS, for answers of can't tell and skips

	// Of the answers after which it is known which policy was recommended, and before:
	Known     int   `json:"known"`
	KnownMS   int64 `json:"known_ms"`
	Changed   int   `json:"changed"` // another policy was recommended after it
	ChangedMS int64 `json:"changed_ms"`
}

// Seconds returns the mean time for a question, in seconds; 0 if there is none.
func (s Spent) Seconds() float64 {
	if s.Answers == 0 {
		return 0
	}
	return float64(s.MS) / float64(s.Answers) / 1000
}

// KnowSpent adds the times of annotators. changed says, by log row, whether another policy was recommended
// after the row than before, by the policies known at the row. Of rows without an entry this is not known.
func (q *Report) KnowSpent(log []idrl.Answer, changed map[int64]bool) {
	times := map[idrl.AnnotatorID][]int64{}
	for a := range record.EachStanding(log) {
		if a.Input != idrl.ImportedInput {
			times[a.Annotator] = append(times[a.Annotator], a.ResponseMS)
		}
	}
	spent := map[idrl.AnnotatorID]*Spent{}
	median := map[idrl.AnnotatorID]float64{}
	for who, of := range times {
		spent[who], median[who] = &Spent{}, stats.Median(of)
	}
	for a := range record.EachStanding(log) {
		if a.Input == idrl.ImportedInput {
			continue
		}
		s := spent[a.Annotator]
		s.Answers++
		s.MS += a.ResponseMS
		if m := median[a.Annotator]; m > 0 && float64(a.ResponseMS) >= hesitation*m {
			s.Hesitated++
		}
		if !a.Informative() {
			s.CantTell += a.ResponseMS
		}
		if is, known := changed[a.Seq]; known {
			s.Known++
			s.KnownMS += a.ResponseMS
			if is {
				s.Changed++
				s.ChangedMS += a.ResponseMS
			}
		}
	}
	for i := range q.People {
		if s := spent[q.People[i].Annotator]; s != nil {
			q.People[i].Spent = *s
		}
	}
}

// SpentWords are the parts of a Spent for people.
type SpentWords struct{ Time, Each, Changes, CantTell, Hesitations string }

// Words returns s for people; "-" stands for what is not known.
func (s Spent) Words() SpentWords {
	w := SpentWords{Time: "-", Each: "-", Changes: "-", CantTell: "-", Hesitations: "-"}
	if s.Answers == 0 || s.MS == 0 {
		return w
	}
	w.Time = words.Took(time.Duration(s.MS) * time.Millisecond)
	w.Each = fmt.Sprintf("%.1f", s.Seconds())
	w.CantTell = fmt.Sprintf("%.0f %%", 100*float64(s.CantTell)/float64(s.MS))
	w.Hesitations = fmt.Sprintf("%d of %d", s.Hesitated, s.Answers)
	if s.KnownMS > 0 {
		w.Changes = fmt.Sprintf("%.0f %% (%d of %d answers)", 100*float64(s.ChangedMS)/float64(s.KnownMS), s.Changed, s.Known)
	}
	return w
}
