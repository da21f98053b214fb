package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
	"tiebreak/web/paper"
)

// report is GET /sessions/:id/report: a session or an arena as one HTML file for a publication.
func (s watching) report(c echo.Context) error {
	spec, err := s.researchersSpec(c, auth.WatchSession)
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, fileWork)
	if err != nil {
		return err
	}
	defer leave()
	source, err := s.paperSource(c.Request().Context(), spec)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := paper.Write(&b, source); err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=\"tiebreak-%s-report.html\"", spec.ID))
	h.Set(echo.HeaderCacheControl, "no-store")
	return c.Blob(http.StatusOK, "text/html; charset=utf-8", b.Bytes())
}

// paperSource returns what a report on a session is written from.
func (s watching) paperSource(ctx context.Context, spec idrl.SessionSpec) (out paper.Source, err error) {
	session, err := s.session(ctx, spec.ID)
	if err != nil {
		return out, err
	}
	env := s.env(spec.Env)
	out.Spec, out.Env, out.Purpose, out.Program = spec, env.Title, PurposeOf(env, spec), s.cfg.Program
	if out.Status, err = session.Status(ctx); err != nil {
		return out, err
	}
	if spec.IsArena() {
		out.Arena, _, err = s.cfg.Arenas.Arena(ctx, spec.ID)
	} else {
		out.Insight, err = session.Insight(ctx)
	}
	if err == nil && spec.Compares() {
		out.Scores, err = session.Conditions(ctx)
	}
	if err != nil {
		return out, err
	}
	if out.Quality, err = s.cfg.Quality.Quality(ctx, spec.ID); err != nil {
		return out, err
	}
	joined, err := s.cfg.People.Annotators(ctx, spec.ID)
	out.Withdrawn = Withdrawn(joined)
	return out, err
}

// Withdrawn returns how many people withdrew their data.
func Withdrawn(joined []identity.Annotator) (n int) {
	for _, a := range joined {
		if !a.WithdrawnAt.IsZero() {
			n++
		}
	}
	return n
}

// PurposeOf returns what annotators of a session are told to judge by, beside the researcher's instructions.
func PurposeOf(env EnvChoice, spec idrl.SessionSpec) string { return guideOf(spec, env).Purpose }
