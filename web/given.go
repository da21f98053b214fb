package web

import (
	"net/http"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/session/view"

	"github.com/labstack/echo/v4"
)

// A givenAnswer is an answer as its annotator sees it.
type givenAnswer struct {
	ID     idrl.AnswerID `json:"id"`
	Clips  []string      `json:"clips"` // URLs: a then b, or one
	Left   idrl.Side     `json:"left"`  // which clip was on the left; empty for a rating
	Best   idrl.Side     `json:"best,omitempty"`
	Worst  idrl.Side     `json:"worst,omitempty"`
	Choice idrl.Choice   `json:"choice"`
	Rating *float64      `json:"rating,omitempty"` // in [-1, 1]; present only if Choice is Rated
	Wrong  int64         `json:"wrong_ms,omitempty"`
	Much   bool          `json:"much,omitempty"`
	Remark idrl.Remark   `json:"remark,omitempty"`
	Told   bool          `json:"told,omitempty"` // of those in a list, it was the least expected one (surprises)
}

// given is GET /sessions/:id/answers: the annotator's own last answers that can still be changed,
// the last one first.
func (s labelling) given(c echo.Context) error {
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
	list, err := session.Given(c.Request().Context(), who.Annotator)
	if err != nil {
		return err
	}
	told, err := s.told(c, session, who.Annotator, list)
	if err != nil {
		return err
	}
	out := []givenAnswer{}
	for _, g := range list {
		a := givenOf(id, g)
		a.Told = g.ID == told
		out = append(out, a)
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, out)
}

func givenOf(id idrl.SessionID, g view.Given) givenAnswer {
	a := givenAnswer{ID: g.ID, Left: g.Left, Best: g.Best, Worst: g.Worst, Choice: g.Choice, Wrong: g.WrongMS, Much: g.Much, Remark: g.Remark}
	if g.Choice == idrl.Rated {
		a.Rating = &g.Rating
	}
	for _, clip := range g.Clips {
		a.Clips = append(a.Clips, clipURL(id, clip))
	}
	return a
}
