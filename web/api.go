package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"

	"github.com/labstack/echo/v4"
)

// An api serves programs.
type api struct {
	*site
	downloads downloads
	streams   places // of programs that follow answers
	waits     places // of programs that wait for answers

	streamBeat, streamFor time.Duration // of streams of answers; tests shorten them
}

func newAPI(s *site, d downloads) *api {
	return &api{
		site: s, downloads: d, streamBeat: streamBeat, streamFor: streamAtMost,
		streams: places{all: maxStreams, own: ownStreams, errAll: errStreams, errOwn: errOwnStreams},
		waits:   places{all: maxWaits, own: ownWaits, errAll: errWaits, errOwn: errOwnWaits},
	}
}

// The HTTP API for programs (docs/api.md). A program shows a token in the header
// Authorization, never a cookie, so that no page of another site can act for it.
const (
	apiPrefix   = "/api/"
	openAPIPath = "/api/v1/openapi.json"

	maxAPIBody = 1 << 20 // bytes
)

var (
	errNoToken = idrl.Errorf(idrl.Forbidden,
		"this address needs the header \"Authorization: Bearer TOKEN\" with a token that is valid; 'tiebreak token new' makes one")
	errScope   = idrl.Errorf(idrl.Forbidden, "the scope of this token, or the account that it belongs to, does not allow this")
	errAPIBody = idrl.Errorf(idrl.Invalid, "the body is too large; at most %d KiB are allowed", maxAPIBody>>10)
)

func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, apiPrefix) }

func (s *api) apiRoutes(e *echo.Echo) {
	const session = "/api/v1/sessions/:id"
	e.GET(openAPIPath, s.apiDocument)
	e.GET("/api/v1/sessions", s.apiSessions)
	e.POST("/api/v1/sessions", s.apiCreate)
	e.POST(apiArenasPath, s.apiNewArena)
	e.GET("/api/v1/workers", s.apiWorkers)
	e.GET(apiRecordingsPath, s.apiRecordings)
	e.POST(apiRecordingsPath, s.apiImportRecordings)
	e.POST(apiStopPath, s.apiStopImport)
	e.POST(apiUploadedPath, s.apiReceive)
	e.DELETE(apiUploadedPath, s.apiDiscardUpload)
	e.GET(session, s.apiSession)
	e.GET(session+"/questions", s.apiQuestions)
	e.GET(session+"/answers", s.apiAnswers)
	e.GET(session+"/answers/stream", s.apiStream)
	e.GET(session+"/posterior", s.apiPosterior)
	e.GET(session+"/policies", s.apiPolicies)
	e.GET(session+"/scores", s.apiScores)
	e.GET(session+"/export", s.apiExport)
	e.POST(session+"/reward", s.apiReward)
	e.POST(session+"/claim", s.apiClaim)
	e.POST(session+"/answers", s.apiAnswer)
	e.GET(session+"/clips/:clip", s.apiClip)
	e.POST(session+"/control", s.apiControl)
	e.POST(apiUploadPath, s.apiUpload)
}

// bearer returns the token in the header of a request; empty if there is none.
func bearer(c echo.Context) string {
	scheme, token, _ := strings.Cut(c.Request().Header.Get(echo.HeaderAuthorization), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// program returns the program that holds the token of a request. It returns errNoToken without a
// valid token, errNoSession if the token is for another session or there is none that its account
// may watch, errScope if its scope or its account does not allow the action, or errTooMany.
func (s *api) program(c echo.Context, action auth.Action, session idrl.SessionID) (auth.Actor, error) {
	ctx := c.Request().Context()
	who, err := s.cfg.Auth.Program(ctx, bearer(c))
	switch {
	case err != nil:
		return auth.Actor{}, err
	case who.Role != auth.Program:
		return auth.Actor{}, errNoToken
	case session != "" && who.Session != "" && who.Session != session:
		return auth.Actor{}, errNoSession
	}
	if err := s.allowed(ctx, who, action, session, errScope); err != nil {
		return auth.Actor{}, err
	}
	q := requestOf(c.Request())
	q.actor, q.who = who.Role, personOf(who)
	q.pass()
	s.heavy.giveWay(c.Request().Context())
	return who, s.admit(who, 1)
}

// stillProgram returns an error if the program of a request that takes long has lost the right for
// it.
func (s *api) stillProgram(c echo.Context, who auth.Actor, action auth.Action, session idrl.SessionID) error {
	ctx := c.Request().Context()
	now, err := s.cfg.Auth.Program(ctx, bearer(c))
	if err == nil && now != who {
		err = errNoToken
	}
	if err == nil {
		err = s.allowed(ctx, now, action, session, errScope)
	}
	return err
}

// programsSpec returns the settings of the session of the URL, which may be one that cannot
// run, if the request has a token that allows the action there.
func (s *api) programsSpec(c echo.Context, action auth.Action) (spec idrl.SessionSpec, who auth.Actor, err error) {
	id, err := sessionID(c)
	if err != nil {
		return spec, who, err
	}
	if who, err = s.program(c, action, id); err != nil {
		return spec, who, err
	}
	spec, err = s.cfg.Sessions.Spec(c.Request().Context(), id)
	if idrl.KindOf(err) == idrl.NotFound {
		err = errNoSession
	}
	if err == nil {
		requestOf(c.Request()).session = id
	}
	return spec, who, err
}

// programsSession is programsSpec for a session that can run.
func (s *api) programsSession(c echo.Context, action auth.Action) (Session, auth.Actor, error) {
	spec, who, err := s.programsSpec(c, action)
	if err != nil {
		return nil, who, err
	}
	session, err := s.session(c.Request().Context(), spec.ID)
	return session, who, err
}

// readJSON reads the body into v, strictly. Numbers beyond float64 and NaN are errors. Whole
// numbers may be written as 255.0, which JSON Schema accepts as an integer.
func readJSON(c echo.Context, v any) error {
	text, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return bodyError(err)
	}
	err = decode(bytes.NewReader(text), v)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && strings.HasPrefix(wrong.Value, "number ") {
		if plain, other := wholeNumbers(text); other {
			err = decode(bytes.NewReader(plain), v)
		}
	}
	if err != nil {
		return bodyError(err)
	}
	return nil
}

// wholeNumbers writes the whole numbers of a JSON text without fraction and exponent. other reports
// whether it changed any.
func wholeNumbers(text []byte) (plain []byte, other bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case json.Number:
			if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") && f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
				other = true
				return json.Number(strconv.FormatInt(int64(f), 10))
			}
		}
		return v
	}
	plain, err := json.Marshal(walk(v))
	return plain, other && err == nil
}

// decodeJSON reads a body into v, strictly.
func decodeJSON(body io.Reader, v any) error {
	if err := decode(body, v); err != nil {
		return bodyError(err)
	}
	return nil
}

func decode(body io.Reader, v any) error {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("there is text after the object")
	}
	return err
}

func bodyError(err error) error {
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		if big.Limit == maxUpload {
			return errUpload
		}
		return errAPIBody
	}
	return idrl.Errorf(idrl.Invalid, "the body must be one JSON object as docs/api.md describes it: %v", err)
}

// apiCodes are the stable codes of errors, by status.
var apiCodes = map[int]string{
	http.StatusBadRequest: "invalid", http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "forbidden", http.StatusNotFound: "not_found",
	http.StatusMethodNotAllowed: "method_not_allowed", http.StatusConflict: "conflict", http.StatusGone: "gone", http.StatusRequestEntityTooLarge: "too_large",
	http.StatusMisdirectedRequest: "misdirected", http.StatusTooManyRequests: "too_many_requests", http.StatusServiceUnavailable: "unavailable",
}

type apiError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// failAPI sends an error to a program.
func (s *site) failAPI(c echo.Context, f failure) error {
	code := apiCodes[f.status]
	if code == "" {
		code = "internal"
	}
	if f.status == http.StatusUnauthorized {
		c.Response().Header().Set(echo.HeaderWWWAuthenticate, "Bearer")
	}
	return c.JSON(f.status, apiError{code, f.message})
}
