package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"unicode"
	"unicode/utf8"

	"tiebreak/internal/idrl"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// Refusals that several routes share.
var (
	errNotSignedIn = idrl.Errorf(idrl.Forbidden,
		"This page is for researchers who are signed in. Open a sign-in link; \"tiebreak user link --data DIR\" makes a fresh one.")
	errNotAnnotator = idrl.Errorf(idrl.Forbidden,
		"This page is for annotators of the session. Open the annotator link that you were sent; a researcher makes one on the session's page.")
	errCrossOrigin = idrl.Errorf(idrl.Forbidden,
		"The form came from another site. Go back to the page on this site and send it from there.")
	errTooLarge = idrl.Errorf(idrl.Invalid, "The form is too large; at most %d KiB are allowed.", maxBody>>10)
)

// formError explains why a form could not be read.
func formError(err error) error {
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		return errTooLarge
	}
	return idrl.Errorf(idrl.Invalid, "The form could not be read. Go back and send it again.")
}

// kindOf is idrl.KindOf, but for a call that took too long or was cut short.
func kindOf(err error) idrl.Kind {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return idrl.Unavailable
	}
	return idrl.KindOf(err)
}

// explain returns a sentence for people about an error. It logs a fault, whose
// text nobody else may see.
func (s *Server) explain(err error) string {
	switch kind := kindOf(err); {
	case kind == idrl.Internal:
		s.log.Error("request failed", "err", err)
		return "Something went wrong on the server; its log says what. Nothing that was saved is lost."
	case kind == idrl.Unavailable && idrl.KindOf(err) != idrl.Unavailable:
		return "The server is busy. Try again in a moment."
	}
	var e *idrl.Error
	errors.As(err, &e)
	return sentence(e.Msg)
}

// sentence returns an error's text with a capital and a full stop.
func sentence(msg string) string {
	first, size := utf8.DecodeRuneInString(msg)
	if size == 0 {
		return ""
	}
	msg = string(unicode.ToUpper(first)) + msg[size:]
	if last := msg[len(msg)-1]; last != '.' && last != '!' && last != '?' {
		msg += "."
	}
	return msg
}

// statusOf returns the HTTP status of an error and a heading for it.
func statusOf(err error) (int, string) {
	if errors.Is(err, errTooLarge) {
		return http.StatusRequestEntityTooLarge, "That is too much"
	}
	switch kindOf(err) {
	case idrl.Invalid:
		return http.StatusBadRequest, "That does not work"
	case idrl.NotFound:
		return http.StatusNotFound, "There is nothing here"
	case idrl.Conflict:
		return http.StatusConflict, "Somebody was faster"
	case idrl.Forbidden:
		return http.StatusForbidden, "Not for you"
	case idrl.Unavailable:
		return http.StatusServiceUnavailable, "Busy"
	default:
		return http.StatusInternalServerError, "Something went wrong"
	}
}

// fail is where every error of a handler ends: as a page.
func (s *Server) fail(err error, c echo.Context) {
	if c.Response().Committed {
		s.log.Error("reply broken off", "path", c.Path(), "err", err)
		return
	}
	var status int
	var heading, message string
	if e := (*echo.HTTPError)(nil); errors.As(err, &e) { // of the router
		status, heading, message = e.Code, "There is nothing here", "This page does not exist."
		if e.Code == http.StatusMethodNotAllowed {
			heading, message = "That does not work", "This page cannot be asked for in this way."
		}
	} else {
		status, heading = statusOf(err)
		message = s.explain(err)
	}
	if status == http.StatusServiceUnavailable {
		c.Response().Header().Set("Retry-After", "1")
	}
	p := templates.ErrorPage{
		Layout: s.layout(c, heading), Status: strconv.Itoa(status), Heading: heading, Message: message,
		Back: "/", BackText: "Go to the start page",
	}
	if err := render(c, status, templates.Error(p)); err != nil {
		s.log.Error("error page failed", "err", err)
	}
}
