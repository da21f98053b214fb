package web

import (
	"context"
	"encoding/json"
	"net/http"

	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// alive is GET /healthz: the program answers. It reads nothing from the disk: a restart does not
// help a program that cannot write.
func (s *Server) alive(c echo.Context) error { return c.String(http.StatusOK, "ok\n") }

// ready is GET /readyz: answers can be recorded now. If not, it gives the reason on one line.
func (s *Server) ready(c echo.Context) error {
	if why := s.Unready(c.Request().Context()); why != "" {
		return c.String(http.StatusServiceUnavailable, why+"\n")
	}
	return c.String(http.StatusOK, "ready\n")
}

// Unready returns why no answer can be recorded now, as GET /readyz does; empty if answers can be.
func (s *site) Unready(ctx context.Context) string {
	if s.sockets.draining() {
		return "stopping"
	}
	for _, p := range s.cfg.Health.Problems(ctx) {
		if !p.Minor {
			return p.Reason
		}
	}
	return ""
}

// problems returns the problems of the server, for researchers.
func (s *site) problems(ctx context.Context) (out []templates.Problem) {
	for _, p := range s.cfg.Health.Problems(ctx) {
		out = append(out, templates.Problem{Reason: sentence(p.Reason), Advice: p.Advice, Minor: p.Minor})
	}
	return out
}

// The problems of the server, as a researcher's page reads them.
type (
	problemsMessage struct {
		T        string         `json:"t"` // "problems"
		Problems []problemState `json:"problems"`
	}
	problemState struct {
		Reason string `json:"reason"`
		Advice string `json:"advice"`
		Minor  bool   `json:"minor"`
	}
)

// encodeProblems returns the message that makes a page show problems.
func encodeProblems(list []templates.Problem) []byte {
	m := problemsMessage{T: "problems", Problems: []problemState{}}
	for _, p := range list {
		m.Problems = append(m.Problems, problemState(p))
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic("web: problems that cannot be written: " + err.Error())
	}
	return b
}
