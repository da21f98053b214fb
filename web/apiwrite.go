package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/web/wire"
)

type apiTask struct {
	Assignment idrl.AssignmentID `json:"assignment"`
	Query      idrl.QueryID      `json:"query"`
	Kind       idrl.QueryKind    `json:"kind"`
	Clips      []idrl.ClipID     `json:"clips"`
	Left       idrl.Side         `json:"left,omitempty"`
	Order      idrl.Order        `json:"order,omitempty"`
	LeaseUntil time.Time         `json:"lease_until"`
}

// errConsent refuses programs in sessions that require consent.
var errConsent = idrl.Errorf(idrl.Forbidden, "this session asks for consent before the first answer, and a program cannot consent")

// claimant returns the session of the URL, and the annotator that answers there with the token.
func (s *api) claimant(c echo.Context) (Session, idrl.AnnotatorID, error) {
	session, who, err := s.programsSession(c, auth.Label)
	if err != nil {
		return nil, "", err
	}
	is, agreed, err := s.cfg.People.Consent(c.Request().Context(), session.Spec().ID, who.Annotator)
	if err == nil && is.Awaits(agreed) {
		err = errConsent
	}
	return session, who.Annotator, err
}

// apiClaim is POST /api/v1/sessions/:id/claim: the questions that are leased to the token's
// annotator. Its reply says no more than a person would see.
func (s *api) apiClaim(c echo.Context) error {
	session, who, err := s.claimant(c)
	if err != nil {
		return err
	}
	offer, err := session.Claim(c.Request().Context(), who)
	if err != nil {
		return err
	}
	open := []apiTask{}
	for _, a := range offer.Open {
		open = append(open, apiTask{a.ID, a.Query.ID, a.Query.Kind, a.Query.Clips, a.Left, a.Order, a.LeaseUntil.UTC()})
	}
	return c.JSON(http.StatusOK, map[string]any{
		"open": open, "done": offer.Done, "waiting": offer.Waiting, "instructions_version": offer.Instructions, "mine": offer.Mine,
	})
}

// apiAnswer is POST /api/v1/sessions/:id/answers: an answer in the form that the page sends. The
// reply comes when it is durable; the same answer sent again gets the same reply.
func (s *api) apiAnswer(c echo.Context) error {
	session, who, err := s.claimant(c)
	if err != nil {
		return err
	}
	m, err := readAnswer(c.Request().Body)
	if err != nil {
		return err
	}
	row := m.Row()
	row.Annotator, row.ReceivedAt, row.Input = who, time.Now().UTC(), "api"
	receipt, err := session.Answer(c.Request().Context(), who, row)
	s.counts.answered(row.ReceivedAt, receipt, err)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"id": receipt.ID, "seq": receipt.Seq, "replay": receipt.Replay})
}

// readAnswer reads an answer under the rules of sockets. It has no type, and input is "api".
func readAnswer(body io.Reader) (*wire.Answer, error) {
	b, err := io.ReadAll(body)
	if err != nil {
		return nil, bodyError(err)
	}
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(b), []byte("{"))
	if !ok || !json.Valid(b) {
		return nil, bodyError(errors.New("the body is not JSON"))
	}
	m, err := wire.Decode(fmt.Appendf(nil, `{"t":"answer","input":"api",%s`, rest))
	if refused := (*wire.Refused)(nil); errors.As(err, &refused) {
		return nil, idrl.Errorf(idrl.Invalid, "%s", refused.Message)
	}
	if err != nil {
		return nil, err
	}
	return m.(*wire.Answer), nil
}

// apiClip is GET /api/v1/sessions/:id/clips/:clip: the drawn form. A token of scope label gets the
// clips of questions that its annotator was given.
func (s *api) apiClip(c echo.Context) error {
	name := c.Param("clip")
	if !plainID(name) {
		return errNoClip
	}
	spec, _, err := s.programsSpec(c, auth.WatchSession)
	if errors.Is(err, errScope) {
		var who auth.Actor
		if spec, who, err = s.programsSpec(c, auth.Label); err == nil {
			var ok bool
			ok, err = s.cfg.Clips.AnnotatorMayFetch(c.Request().Context(), spec.ID, who.Annotator, idrl.ClipID(name))
			if err == nil && !ok {
				err = errNoClip
			}
		}
	}
	if err != nil {
		return err
	}
	media, err := s.cfg.Clips.ClipMedia(c.Request().Context(), spec.ID, idrl.ClipID(name))
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, echo.MIMEOctetStream, media)
}

// apiControl is POST /api/v1/sessions/:id/control with {"do": "pause"}, "resume" or "close".
func (s *api) apiControl(c echo.Context) error {
	spec, who, err := s.programsSpec(c, auth.ChangeSession)
	if err != nil {
		return err
	}
	var body struct {
		Do string `json:"do"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if body.Do == record.ActArchive {
		return idrl.Errorf(idrl.Invalid, "a program can pause, resume and close a session; archive it on its page")
	}
	ctx := c.Request().Context()
	_, after, err := s.cfg.Settings.Control(ctx, spec.ID, body.Do, fmt.Sprintf("token %d", who.Token), time.Now())
	if err != nil {
		return err
	}
	session, err := s.session(ctx, spec.ID)
	if err == nil {
		err = session.Follow(ctx)
	}
	if err != nil && asPaused(err) == nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"state": after})
}
