package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/static"
	"tiebreak/templates"
)

// Refusals that several routes share.
var (
	errNotSignedIn = idrl.Errorf(idrl.Forbidden,
		"This page is for researchers who are signed in.")
	errNotAllowed = idrl.Errorf(idrl.Forbidden,
		"Your account may not do this. The owner of the session can give you more rights in it; an admin can give you another role.")
	errNotAnnotator = idrl.Errorf(idrl.Forbidden,
		"This page is for annotators of the session. Open the annotator link that you were sent, or ask the person who sent it for a new one.")
	errRemoved = idrl.Errorf(idrl.Forbidden,
		"A researcher has ended your part in this session. There is nothing more to do; thank you for your answers.")
	errCrossOrigin = idrl.Errorf(idrl.Forbidden,
		"The form came from another site. Go back to the page on this site and send it from there.")
	errMisdirected = idrl.Errorf(idrl.Forbidden,
		"The server does not know this address, so its pages do not work here. "+
			"If you run the server, start it with --origin and this address. If you were sent a link with this address, tell the sender.")
	errTooLarge = idrl.Errorf(idrl.Invalid, "The form is too large; at most %d KiB are allowed.", maxBody>>10)
)

// formError explains why a form could not be read.
func formError(err error) error {
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		return errTooLarge
	}
	return idrl.Errorf(idrl.Invalid, "The form could not be read. Go back and send it again.")
}

// kindOf is idrl.KindOf, except for a call that took too long or was cancelled.
func kindOf(err error) idrl.Kind {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return idrl.Unavailable
	}
	return idrl.KindOf(err)
}

// explain returns a sentence for people about an error. It logs an internal error, whose text is
// for the operator alone, with attrs.
func (s *site) explain(err error, attrs ...slog.Attr) string {
	if p := asPaused(err); p != nil {
		s.log.Error("a session cannot go on", "err", p.cause)
		return p.message()
	}
	switch kind := kindOf(err); {
	case kind == idrl.Internal:
		s.log.LogAttrs(context.Background(), slog.LevelError, "request failed", append(attrs, slog.Any("err", err))...)
		return "The server met an internal error; its log has the details. No saved data are lost."
	case kind == idrl.Damaged:
		s.log.LogAttrs(context.Background(), slog.LevelError, "request met damaged data", append(attrs, slog.Any("err", err))...)
	case kind == idrl.Unavailable && idrl.KindOf(err) != idrl.Unavailable:
		return "The server is busy. Try again in a moment."
	}
	var e *idrl.Error
	errors.As(err, &e)
	if errors.Is(err, errNotSignedIn) {
		return sentence(e.Msg) + " " + s.howToSignIn()
	}
	return sentence(e.Msg)
}

// howToSignIn tells a researcher how to get a sign-in link.
func (s *site) howToSignIn() string {
	return fmt.Sprintf("For a new sign-in link, run this where the server runs: %s", s.cfg.SignInCommand)
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
	if asPaused(err) != nil {
		return http.StatusConflict, "This session is paused" // not 503: a program is not to try again
	}
	if errors.Is(err, errTooLarge) || errors.Is(err, errAPIBody) || errors.Is(err, errUpload) {
		return http.StatusRequestEntityTooLarge, "Too large"
	}
	if errors.Is(err, errNoToken) {
		return http.StatusUnauthorized, "No valid token"
	}
	if errors.Is(err, errTooMany) || errors.Is(err, errGuesses) || errors.Is(err, errOwnStreams) || errors.Is(err, errOwnWaits) {
		return http.StatusTooManyRequests, "Too many requests"
	}
	if errors.Is(err, errMisdirected) {
		return http.StatusMisdirectedRequest, "Wrong address"
	}
	if errors.Is(err, errRemoved) {
		return http.StatusGone, "Your part has ended"
	}
	if errors.Is(err, record.ErrEnded) {
		return http.StatusConflict, "This session has ended"
	}
	if errors.Is(err, record.ErrWithdrew) {
		return http.StatusGone, "You have withdrawn from this study"
	}
	switch kindOf(err) {
	case idrl.Invalid:
		return http.StatusBadRequest, "Request not accepted"
	case idrl.NotFound:
		return http.StatusNotFound, "Not found"
	case idrl.Conflict:
		return http.StatusConflict, "Changed in the meantime"
	case idrl.Forbidden:
		return http.StatusForbidden, "No access"
	case idrl.Unavailable:
		return http.StatusServiceUnavailable, "Not possible right now"
	case idrl.Damaged:
		return http.StatusInternalServerError, "Data are damaged"
	default:
		return http.StatusInternalServerError, "Something went wrong"
	}
}

// plain reports whether the client is a program that wants an error as a sentence.
func plain(c echo.Context) bool {
	return c.Request().Header.Get(echo.HeaderAccept) == echo.MIMETextPlain
}

// A failure is the description of an error in a reply.
type failure struct {
	status           int
	heading, message string
}

func (s *site) failureOf(c echo.Context, err error) failure {
	if status, ok := statusOfRouter(err); ok {
		if status == http.StatusMethodNotAllowed {
			return failure{status, "Request not accepted", "This page does not accept this kind of request."}
		}
		return failure{status, "Not found", "This page does not exist. Check the address, or open again the link that you were sent."}
	}
	id := requestOf(c.Request()).id
	status, heading := statusOf(err)
	f := failure{status, heading, s.explain(err, slog.String("id", id))}
	if status == http.StatusInternalServerError {
		f.message += " Load the page again. If that does not help, tell the person who runs the server that the log names this request " + id + "."
	}
	return f
}

// fail ends every request with an error: it sends a page, or text to a script.
func (s *site) fail(c echo.Context, err error) {
	if committed(c) {
		s.log.Error("reply broken off", "path", c.Path(), "err", err)
		return
	}
	f := s.failureOf(c, err)
	if s.chargeRefusal(c.Request(), f.status) {
		f = s.failureOf(c, errTooMany)
	}
	switch f.status {
	case http.StatusTooManyRequests:
		s.hold(c.Request())
		fallthrough
	case http.StatusServiceUnavailable:
		wait := retryWait
		if errors.Is(err, errHeavy) {
			wait = heavyAgain
		}
		c.Response().Header().Set("Retry-After", strconv.Itoa(retrySeconds(wait)))
	}
	if isAPI(c.Request()) {
		err = s.failAPI(c, f)
	} else if plain(c) {
		err = c.String(f.status, f.message)
	} else {
		err = render(c, f.status, templates.Error(s.errorPage(c, f)))
	}
	if err != nil {
		s.log.Error("error page failed", "err", err)
	}
}

// errorPage links to the start page if that is useful. The page for too many requests is shown
// often, so it does not read the database.
func (s *site) errorPage(c echo.Context, f failure) templates.ErrorPage {
	p := templates.ErrorPage{
		Layout: templates.Layout{Title: f.heading, Static: static.Base(), Home: "/"},
		Status: strconv.Itoa(f.status), Heading: f.heading, Message: f.message,
	}
	if f.status == http.StatusTooManyRequests || f.status == http.StatusMisdirectedRequest {
		return p
	}
	p.Layout = s.layout(c, f.heading)
	p.Back, p.BackText = "/", "Go to the start page"
	return p
}
