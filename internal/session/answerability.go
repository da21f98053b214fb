package session

import (
	"slices"

	"tiebreak/internal/answerable"
)

// The model of clear answers is fitted after log rows whose number is a multiple of
// lessonRows, from the last lessons replies that are not withdrawn by now: who comes later
// may see better, and the fit stays short.
const (
	lessonRows = 5
	lessons    = 500
)

// clarity is the model of clear answers, kept until the log says something else.
type clarity struct {
	known bool
	at    int64 // log rows that it was fitted to
	edits int   // rows among all that are no replies
	model answerable.Model
}

// clarity returns the model of clear answers. It is a function of the log.
func (s *Session) clarity() answerable.Model {
	at := s.log.seq() / lessonRows * lessonRows
	if c := &s.clear; !c.known || c.at != at || c.edits != len(s.log.edits) {
		s.clear = clarity{known: true, at: at, edits: len(s.log.edits), model: answerable.Fit(answerable.Lessons(s.replies(at)))}
	}
	return s.clear.model
}

// replies returns the last replies up to a log row that teach what can be answered, in order.
func (s *Session) replies(upTo int64) (out []answerable.Reply) {
	for _, a := range slices.Backward(s.log.rows[:upTo]) {
		if len(out) == lessons {
			break
		}
		if !a.Reply() || s.log.undone[a.ID] || s.log.out[a.Annotator] {
			continue
		}
		if as := s.asked.get(a.Assignment); as != nil && as.Why.Answerable > 0 {
			out = append(out, answerable.Reply{Answer: a, Question: answerable.Of(as.Query.Kind, as.Why)})
		}
	}
	slices.Reverse(out)
	return out
}
