package web

import (
	_ "embed"
	"net/http"

	"github.com/labstack/echo/v4"
)

// openAPI describes the API. A test walks it.
//
//go:embed openapi.json
var openAPI []byte

// apiDocument is GET /api/v1/openapi.json, for everybody.
func (s *Server) apiDocument(c echo.Context) error {
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, openAPI)
}
