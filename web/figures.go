package web

import (
	"context"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"tiebreak/web/figure"
)

// moment returns what a session says of itself now, as far as a table needs it.
func (s watching) moment(ctx context.Context, session Session, of figure.Part) (m figure.Moment, err error) {
	m.Spec = session.Spec()
	switch of {
	case figure.OfInsight:
		m.Insight, err = session.Insight(ctx)
	case figure.OfStatus:
		m.Status, err = session.Status(ctx)
	case figure.OfScores:
		m.Scores, err = session.Conditions(ctx)
	case figure.OfArena:
		m.Arena, _, err = s.cfg.Arenas.Arena(ctx, m.Spec.ID)
	}
	return m, err
}

// figure writes a chart as an SVG file.
func (s watching) figure(c echo.Context, session Session, name string) error {
	ctx := c.Request().Context()
	t, _ := figure.Find(name)
	m, err := s.moment(ctx, session, t.Of)
	if err != nil {
		return err
	}
	st := m.Status
	if t.Of != figure.OfStatus {
		if st, err = session.Status(ctx); err != nil {
			return err
		}
	}
	d, err := figure.Draw(name, m, figure.NewAbout(m.Spec, st, s.cfg.Program), figure.Look{Log: figureLook(c).Log})
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=\"tiebreak-%s-%s.svg\"", m.Spec.ID, name))
	h.Set(echo.HeaderCacheControl, "no-store")
	return c.Blob(http.StatusOK, "image/svg+xml", d.File())
}
