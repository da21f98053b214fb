package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"

	"github.com/labstack/echo/v4"
)

const (
	mostTelling = 3   // answers that are shown as the most telling ones
	lastReplies = 200 // replies of everybody among which they are looked for
)

// A surprise is an answer to a comparison with its probability under the posterior before it.
type surprise struct {
	insight.Question
	p        float64
	expected bool // no other answer was more probable
}

// surprises returns the annotator's answers among the last replies that count and whose probability
// is known, the least probable one first.
func surprises(ctx context.Context, session Session, who idrl.AnnotatorID, replies int) ([]surprise, error) {
	var out []surprise
	order := idrl.Outcomes()
	for w := (insight.Wanted{Recorded: true}); replies > 0; replies -= w.N {
		w.N = min(replies, insight.MostWanted)
		list, more, err := session.Questions(ctx, w)
		if err != nil {
			return nil, err
		}
		for _, q := range list {
			w.Before = q.Answer.Seq
			i := slices.Index(order[:], q.Answer.Choice)
			if q.Answer.Annotator != who || q.Undone || q.LeftOut || q.Turned || !q.Forecast || i < 0 || len(q.Predicted.Reply) != len(order) {
				continue
			}
			p := q.Predicted.Reply[i]
			out = append(out, surprise{q, p, p >= slices.Max(q.Predicted.Reply)})
		}
		if !more {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b surprise) int { return cmp.Compare(a.p, b.p) })
	return out, nil
}

// told returns which of list, an annotator's answers, was the least expected one: none where all were expected, or annotators
// are not to see what is learnt.
func (s labelling) told(c echo.Context, session Session, who idrl.AnnotatorID, list []view.Given) (idrl.AnswerID, error) {
	if !session.Spec().ShowLearnt || len(list) == 0 {
		return "", nil
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return "", err
	}
	defer leave()
	found, err := surprises(c.Request().Context(), session, who, insight.MostWanted)
	if err != nil {
		return "", err
	}
	for _, f := range found {
		if !f.expected && slices.ContainsFunc(list, func(g view.Given) bool { return g.ID == f.Answer.ID }) {
			return f.Answer.ID, nil
		}
	}
	return "", nil
}

// tellingAnswers are the annotator's answers that were expected least. Of them only that is said: what
// was expected would tell what was learnt from others.
type tellingAnswers struct {
	Of         int           `json:"of"`         // answers that were looked at
	Unexpected int           `json:"unexpected"` // of these, another answer was more probable before
	Answers    []givenAnswer `json:"answers"`    // the least expected one first
}

// telling is GET /sessions/:id/telling.
func (s labelling) telling(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	who, err := s.labeller(c, auth.Recall, id, 1)
	if err != nil {
		return err
	}
	session, err := s.session(c.Request().Context(), id)
	if err != nil {
		return err
	}
	if !session.Spec().ShowLearnt {
		return idrl.Errorf(idrl.NotFound, "Annotators of this session do not see what is learnt.")
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	found, err := surprises(c.Request().Context(), session, who.Annotator, lastReplies)
	if err != nil {
		return err
	}
	out := tellingAnswers{Of: len(found), Answers: []givenAnswer{}}
	for i, f := range found {
		if !f.expected {
			out.Unexpected++
		}
		if i < mostTelling {
			a := f.Answer
			out.Answers = append(out.Answers, givenOf(id, view.Given{
				ID: a.ID, Clips: f.Assignment.Query.Clips, Choice: a.Choice, Much: a.Much, Remark: a.Remark, Left: a.Left,
			}))
		}
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, out)
}
