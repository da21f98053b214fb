package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"
)

// This file has everything in which echo 4 and echo 5 differ, except the type of a context. Its
// other form is internal/check/tools/echo5/echo.go.txt, with which 'go tool task test:echo5' tests
// this package.

// A route is a method and a pattern that the router knows.
type route struct{ method, path string }

// routesOf returns all routes of e.
func routesOf(e *echo.Echo) (out []route) {
	for _, r := range e.Routes() {
		out = append(out, route{r.Method, r.Path})
	}
	return out
}

// pathOf returns the pattern of the route that a request takes; empty if there is none.
func pathOf(e *echo.Echo, c echo.Context) string {
	e.Router().Find(c.Request().Method, c.Request().URL.Path, c)
	return c.Path()
}

// onError sends all errors of handlers to fail.
func onError(e *echo.Echo, fail func(c echo.Context, err error)) {
	e.HTTPErrorHandler = func(err error, c echo.Context) { fail(c, err) }
}

// statusOfRouter returns the status of an error of the router, and whether err is one.
func statusOfRouter(err error) (status int, ok bool) {
	if e := (*echo.HTTPError)(nil); errors.As(err, &e) {
		return e.Code, true
	}
	return 0, false
}

// committed reports whether the header of the reply has been sent.
func committed(c echo.Context) bool { return c.Response().Committed }

// swapWriter replaces the writer of the reply, and returns the one before.
func swapWriter(c echo.Context, wrap func(http.ResponseWriter) http.ResponseWriter) (before http.ResponseWriter) {
	out := c.Response()
	before = out.Writer
	out.Writer = wrap(before)
	return before
}
