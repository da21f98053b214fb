package web

import (
	"cmp"
	"math"
	"net/http"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"

	"github.com/labstack/echo/v4"
)

// maxRewardRows limits the rows of a request to apiReward.
const maxRewardRows = 10_000

// apiPosterior is GET /api/v1/sessions/:id/posterior: N(mean, covariance) of the weights.
func (s *api) apiPosterior(c echo.Context) error {
	session, _, err := s.programsSession(c, auth.WatchSession)
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	held, err := session.Posterior(c.Request().Context())
	if err != nil {
		return err
	}
	d := held.Posterior.Dim()
	cov := make([][]float64, d)
	unit := make([]float64, d)
	for k := range cov {
		unit[k] = 1
		cov[k] = make([]float64, d)
		held.Posterior.CovMul(cov[k], unit)
		unit[k] = 0
	}
	features := []string{}
	if spec := session.Spec(); spec.IsArena() {
		features = append(features, spec.Arena.Titles()...)
	} else if held.Representation == 0 {
		features = append(features, spec.Features...)
	}
	return c.JSON(http.StatusOK, map[string]any{
		"seq": held.Seq, "representation": held.Representation, "features": features, "mean": held.Posterior.Mean(nil), "covariance": cov,
	})
}

type apiPolicy struct {
	ID    string      `json:"id"`
	Name  string      `json:"name"`
	Mean  float64     `json:"mean"`
	Std   float64     `json:"std"`
	Draws int         `json:"draws"`
	Clip  idrl.ClipID `json:"clip"`
}

// apiPolicies is GET /api/v1/sessions/:id/policies: the recommended policy, and the candidates with
// their predicted returns relative to the average candidate.
func (s *api) apiPolicies(c echo.Context) error {
	session, _, err := s.programsSession(c, auth.WatchSession)
	if err != nil {
		return err
	}
	st, err := session.Status(c.Request().Context())
	if err != nil {
		return err
	}
	list, unit := []apiPolicy{}, "reward"
	if len(st.Regret) > 0 {
		unit = "share_of_range"
	}
	for _, e := range st.Candidates {
		list = append(list, apiPolicy{e.ID, cmp.Or(e.Title, e.Name), finite(e.Mean), finite(e.Std), e.Draws, e.Clip})
	}
	return c.JSON(http.StatusOK, map[string]any{
		"seq": st.Seq, "generation": st.BasedOn, "recommended": st.Best, "unit": unit, "candidates": list,
		"return": session.Spec().Return, "may_stop": st.Stopping.Propose, "objections": objectionsOf(st),
	})
}

// apiScores is GET /api/v1/sessions/:id/scores: how well each condition predicts held-out
// comparisons.
func (s *api) apiScores(c echo.Context) error {
	session, _, err := s.programsSession(c, auth.WatchSession)
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	scores, err := session.Conditions(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, scores)
}

// apiReward is POST /api/v1/sessions/:id/reward with {"features": [[…]]}: mean and standard
// deviation of θ·φ for each row φ.
func (s *api) apiReward(c echo.Context) error {
	session, _, err := s.programsSession(c, auth.WatchSession)
	if err != nil {
		return err
	}
	if session.Spec().IsArena() {
		return idrl.Errorf(idrl.Conflict, "this session is an arena, which learns no reward")
	}
	var body struct {
		Features [][]float64 `json:"features"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	held, err := session.Posterior(c.Request().Context())
	if err != nil {
		return err
	}
	if held.Representation != 0 {
		return idrl.Errorf(idrl.Conflict, "the reward of this session is a network, not a function of named features; export it with format=networks")
	}
	mean, std, err := rewards(held.Posterior, body.Features)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"seq": held.Seq, "mean": mean, "std": std})
}

// rewards returns mean and standard deviation of θ·φ for rows φ.
func rewards(p idrl.Posterior, rows [][]float64) (mean, std []float64, err error) {
	d := p.Dim()
	if len(rows) == 0 || len(rows) > maxRewardRows {
		return nil, nil, idrl.Errorf(idrl.Invalid, "features must have 1 to %d rows; got %d", maxRewardRows, len(rows))
	}
	theta, work := p.Mean(nil), make([]float64, d)
	for i, phi := range rows {
		if len(phi) != d {
			return nil, nil, idrl.Errorf(idrl.Invalid, "row %d of features has %d numbers; the session has %d features", i, len(phi), d)
		}
		m, v := idrl.Moments(p, phi, theta, work)
		if math.IsNaN(m) || math.IsInf(m, 0) || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil, idrl.Errorf(idrl.Invalid, "row %d of features is too large: its reward is not finite", i)
		}
		mean, std = append(mean, m), append(std, math.Sqrt(max(0, v)))
	}
	return mean, std, nil
}
