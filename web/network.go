package web

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/session/view"
)

// cancelTraining is POST /sessions/:id/training/cancel with sure, "yes".
func (s watching) cancelTraining(c echo.Context) error {
	session, err := s.researchersSession(c, auth.ChangeSession)
	if err != nil {
		return err
	}
	ctx, id := c.Request().Context(), session.Spec().ID
	who, err := s.researcher(c, auth.ChangeSession, id)
	if err != nil {
		return err
	}
	if c.FormValue("sure") != "yes" {
		return idrl.Errorf(idrl.Invalid, "Say that you are sure. Nothing was cancelled.")
	}
	status, err := session.Status(ctx)
	if err != nil {
		return err
	}
	if err := session.CancelTraining(ctx); err != nil {
		return err
	}
	if err := s.cfg.Settings.Audit(ctx, id, who.User, "cancel training", fmt.Sprintf("from answer %d", status.Training.BasedOn), time.Now()); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sessionURL(session.Spec().ID)+atTraining)
}

// cancelNote says what happens after a training is cancelled.
func cancelNote(spec idrl.SessionSpec) string {
	const stay = "The candidates in use stay. The next training begins after the next answer, "
	if spec.GoesOn() {
		return stay + "from the state of the last finished training. The results of this training are lost."
	}
	return stay + "from the last saved state of this training."
}

// networkState describes the reward network of a session, in sentences.
type networkState struct {
	Use         string `json:"use"`         // which network is in use
	Predictions string `json:"predictions"` // how many answers were the most probable
	Calibration string `json:"calibration"` // log loss and ECE; empty before the first prediction
}

// networkOf returns nil for sessions without a network.
func networkOf(st view.Status) *networkState {
	n := st.Network
	if !n.Used {
		return nil
	}
	out := &networkState{Use: networkUse(n)}
	p := n.Predictions
	if p.Answers == 0 {
		out.Predictions = "No answer has been predicted by a network yet."
		return out
	}
	out.Predictions = fmt.Sprintf("Of %s, each predicted before it was given, %.0f %% were the most probable of clip a, clip b and equal.", answersText(p.Answers), 100*finite(p.Right))
	out.Calibration = fmt.Sprintf("Log loss %.2f nats (%.2f if all three answers were equally probable). Calibration error (ECE) %.2f.",
		finite(p.LogLoss), math.Log(3), finite(p.ECE))
	return out
}

func networkUse(n view.Network) string {
	use := fmt.Sprintf("Network %d is in use. It has learnt from answers 1 to %d; later answers adjust its last layer.", n.Version, n.BasedOn)
	if n.Version == 0 {
		use = "No network is in use yet: the first is learnt from 10 answers. Until then the reward is a sum of hand-made features."
	}
	if n.Fitting {
		use += " Another is being fitted."
	}
	return use
}

func answersText(n int) string {
	if n == 1 {
		return "1 answer"
	}
	return words.Count(n) + " answers"
}
