package session

import (
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/look/answerable"
)

// The model of clear answers is fitted to the last 500 replies (lessons) that are not withdrawn: later annotators may see
// better, and the cost of a fit is bounded. It is fitted after each log row whose number is a multiple of lessonRows. From
// 20·lessonRows rows on the interval is doubled, again from 20 times the doubled interval, up to mostLessonRows, because one
// row then changes little.
const (
	lessonRows     = 5
	mostLessonRows = 80
	lessons        = 500
)

// lessonsUpTo returns the log row up to which replies are learnt from after row seq.
func lessonsUpTo(seq int64) int64 {
	every := int64(lessonRows)
	for seq >= 20*every && every < mostLessonRows {
		every *= 2
	}
	return seq / every * every
}

// clarity is the model of clear answers, kept until the log says something else.
type clarity struct {
	known bool
	at    int64 // log rows that it was fitted to
	edits int   // rows among all that are no replies
	model answerable.Model
}

// clarity returns the model of clear answers. It is a function of the log.
func (s *selector) clarity() answerable.Model {
	at := lessonsUpTo(s.log.seq())
	if c := &s.clear; !c.known || c.at != at || c.edits != len(s.log.edits) {
		c.known, c.at, c.edits, c.model = true, at, len(s.log.edits), answerable.Fit(answerable.Lessons(s.replies(at)))
	}
	return s.clear.model
}

// replies returns the last replies up to a log row that teach what can be answered, in order.
func (s *selector) replies(upTo int64) (out []answerable.Reply) {
	out = make([]answerable.Reply, 0, min(lessons, upTo))
	for i := upTo - 1; i >= 0 && len(out) < lessons; i-- {
		a := &s.log.rows[i]
		if !a.Reply() || s.log.undone[a.ID] || s.log.how[a.Annotator].Out {
			continue
		}
		if as := s.asked.get(a.Assignment); as != nil && as.Why.Answerable > 0 && as.Condition != record.HeldOut {
			out = append(out, answerable.Reply{Answer: a, Question: answerable.Of(as.Query.Kind, as.Why)})
		}
	}
	slices.Reverse(out)
	return out
}
