package web

import (
	"fmt"
	"net/http"

	"tiebreak/internal/auth"
	"tiebreak/internal/export"
	"tiebreak/internal/idrl"

	"github.com/labstack/echo/v4"
)

// export is GET /sessions/:id/export?format=jsonl|csv: the log as a data set,
// streamed.
func (s *Server) export(c echo.Context) error {
	session, err := s.researchersSession(c, auth.Export)
	if err != nil {
		return err
	}
	format := c.QueryParam("format")
	if format == "" {
		format = export.Formats()[0]
	}
	if err := export.CheckFormat(format); err != nil {
		return err
	}
	spec := session.Spec()
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, export.ContentType(format))
	h.Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=\"tiebreak-%s.%s\"", spec.ID, format))
	rows := func(yield func(export.Row) error) error {
		return s.cfg.Exports.Rows(c.Request().Context(), spec.ID,
			func(a idrl.Answer, q idrl.Query, clips []idrl.Clip, why idrl.Why, undone bool) error {
				return yield(export.Row{Answer: a, Query: q, Clips: clips, Why: why, Withdrawn: undone})
			})
	}
	out := c.Response()
	out.Status = http.StatusOK
	err = export.Write(out, format, spec, rows)
	if err != nil && out.Committed {
		s.log.Error("export broken off", "session", spec.ID, "err", err)
		panic(http.ErrAbortHandler) // a reader must not take half an export for a whole one
	}
	if err != nil {
		h.Del(echo.HeaderContentDisposition)
	}
	return err
}
