package web

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/recordings"
)

// maxBody is the size of a form at most, in bytes: of the longest texts, of which a character may take twelve.
const maxBody = 256 << 10

// policy is the Content-Security-Policy of every reply: scripts, styles and
// data from this site only, nothing inline, in no frame. Videos play from memory, as parts of clips.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src blob:; connect-src 'self'; worker-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// headers sets the headers that every reply carries, also of errors.
func (s *Server) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store") // replies that may be kept set this header themselves
		if s.cfg.SecureCookies {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// limitBody refuses requests whose body is too large or is not a form.
func (s *Server) limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		switch {
		case isAPI(r):
			most := int64(maxAPIBody)
			switch c.Path() {
			case apiUploadPath:
				most = maxUpload
			case apiUploadedPath:
				most = recordings.MaxArchive
			}
			r.Body = http.MaxBytesReader(c.Response(), r.Body, most)
		case r.Method == http.MethodPost:
			most := int64(maxBody)
			switch c.Path() {
			case instructionsPath:
				most += record.MaxPicture
			case receivePath: // no form, whatever it says: what is sent stays out of memory
				r.Body = http.MaxBytesReader(c.Response(), r.Body, recordings.MaxArchive)
				return next(c)
			}
			r.Body = http.MaxBytesReader(c.Response(), r.Body, most)
			if err := r.ParseForm(); err != nil {
				return formError(err)
			}
		}
		return next(c)
	}
}

// recover turns a panic of a handler into an Internal error.
func (s *Server) recover(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			switch fault := recover(); fault {
			case nil:
			case http.ErrAbortHandler:
				panic(fault) // net/http breaks the connection off
			default:
				err = fmt.Errorf("handler panicked: %v\n%s", fault, debug.Stack())
			}
		}()
		return next(c)
	}
}

// wrongHost shows an explanation to browsers that reached the server by an unknown address, instead
// of pages whose sockets would be refused. With an origin in the configuration every name passes: a
// proxy may use any.
func (s *Server) wrongHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		path := c.Path()
		if len(s.cfg.Origins) > 0 || loopback(c.Request().Host) || probe(path) || strings.HasPrefix(path, "/static/") {
			return next(c)
		}
		return errMisdirected
	}
}

// probe reports whether path is one by which programs check the server.
func probe(path string) bool { return path == "/healthz" || path == "/readyz" }
