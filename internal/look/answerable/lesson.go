package answerable

import (
	"math"
	"slices"

	"tiebreak/internal/idrl"
)

// A Reply is an answer, which is not changed, with the clips of its question.
type Reply struct {
	*idrl.Answer
	Question
}

// Clearness of replies. An answer of equal is half clear: the person saw both clips, but there was
// little to choose. A slow answer is less clear than others, but never less than half: a person can
// be slow for many reasons.
const (
	equalClear = 0.5
	slowClear  = 0.5

	slowFrom, slowTo = 2., 4. // times the person's median: from here on slower is less clear, up to there
	fewTimes         = 8      // so many times at least make a median
)

// Lessons returns the training examples from replies, in their order. Skips and technical failures
// give none. Response times count relative to the median of the same person's replies here.
func Lessons(replies []Reply) (out []Lesson) {
	usual := medians(replies)
	for _, r := range replies {
		var clear float64
		switch r.Choice {
		case idrl.ChoseA, idrl.ChoseB, idrl.Rated, idrl.BestWorst:
			clear = promptness(r.Answer, usual[r.Annotator])
		case idrl.Equal:
			clear = equalClear
		case idrl.CantTell:
			clear = 0
		default:
			continue
		}
		out = append(out, Lesson{r.Question, clear})
	}
	return out
}

// promptness returns 1 for an answer whose time is usual or not known, and falls with the logarithm
// of longer times to slowClear.
func promptness(a *idrl.Answer, usual float64) float64 {
	if !timed(a) || !(usual > 0) {
		return 1
	}
	share := math.Log(float64(a.ResponseMS)/(slowFrom*usual)) / math.Log(slowTo/slowFrom)
	return 1 - (1-slowClear)*min(max(share, 0), 1)
}

// timed reports whether the response time of an answer is how long the person looked: the page was
// visible all the time, and the reported data can be true. Programs report any time.
func timed(a *idrl.Answer) bool {
	const untrue = idrl.DoubtDuration | idrl.DoubtHaste
	return a.ResponseMS > 0 && a.HiddenMS == 0 && a.Doubts&untrue == 0 && a.Input != "api"
}

// medians returns the median time of each person's replies, ms; 0 where there are few.
func medians(replies []Reply) map[idrl.AnnotatorID]float64 {
	times := map[idrl.AnnotatorID][]int64{}
	for _, r := range replies {
		if timed(r.Answer) {
			times[r.Annotator] = append(times[r.Annotator], r.ResponseMS)
		}
	}
	out := map[idrl.AnnotatorID]float64{}
	for who, ms := range times {
		if len(ms) >= fewTimes {
			slices.Sort(ms)
			out[who] = float64(ms[len(ms)/2])
		}
	}
	return out
}
