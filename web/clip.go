package web

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/people/auth"

	"github.com/labstack/echo/v4"
)

// clip is GET /sessions/:id/clips/:clip?plays=CODECS. The id of a clip depends on its content, so a browser may
// keep it forever.
func (s labelling) clip(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	name := c.Param("clip")
	if !plainID(name) {
		return errNoClip
	}
	if err := s.mayFetch(c, id, idrl.ClipID(name)); err != nil {
		return err
	}
	h := c.Response().Header()
	etag := `"` + strings.Join(append([]string{name}, plays(c)...), ",") + `"`
	h.Set("ETag", etag)
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	if c.Request().Header.Get("If-None-Match") == etag {
		return c.NoContent(http.StatusNotModified)
	}
	media, err := s.cfg.Clips.ClipMedia(c.Request().Context(), id, idrl.ClipID(name))
	if err != nil {
		h.Del("ETag")
		h.Set("Cache-Control", "no-store")
		return err
	}
	return sendClip(c, media)
}

// codecs matches the value of ?plays=, as avc1,vp09.
var codecs = regexp.MustCompile(`^[a-z0-9]{3,5}(,[a-z0-9]{3,5}){0,7}$`)

// plays returns the codecs of videos that a browser says it plays, none if it says something else.
func plays(c echo.Context) []string {
	if p := c.QueryParam("plays"); codecs.MatchString(p) {
		return strings.Split(p, ",")
	}
	return nil
}

// sendClip sends a clip to a page. Of a clip of video it sends one video that the browser plays, or the stills.
func sendClip(c echo.Context, media []byte) error {
	media, _ = clip.ForBrowser(media, plays(c))
	return c.Blob(http.StatusOK, echo.MIMEOctetStream, media)
}

// effect is GET /sessions/:id/learnt/before and /now: a clip of the policy that was recommended
// before the first answer, or of the one that is recommended now. The reply does not name the
// policy.
func (s labelling) effect(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	if _, err := s.labeller(c, auth.FetchClip, id, 1); err != nil {
		return err
	}
	session, err := s.session(c.Request().Context(), id)
	if err != nil {
		return err
	}
	e, err := session.Effect(c.Request().Context())
	if err != nil {
		return err
	}
	name := map[string]idrl.ClipID{"before": e.Before, "now": e.Now}[c.Param("when")]
	if name == "" {
		return errNoClip
	}
	media, err := s.cfg.Clips.ClipMedia(c.Request().Context(), id, name)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store") // the clip changes with further answers
	return sendClip(c, media)
}

// errNoClip is the error for annotators, also for clips that exist but are not theirs.
var errNoClip = idrl.Errorf(idrl.NotFound, "This clip does not exist.")

// mayFetch lets accounts fetch every clip of a session that they may watch, and annotators the clips of their questions.
func (s labelling) mayFetch(c echo.Context, id idrl.SessionID, clip idrl.ClipID) error {
	_, err := s.researcher(c, auth.FetchClip, id)
	if err == nil || errors.Is(err, errTooMany) {
		return err
	}
	who, refused := s.labeller(c, auth.FetchClip, id, 1)
	if errors.Is(refused, errNotAnnotator) && !errors.Is(err, errNotSignedIn) {
		return err
	}
	if err = refused; err != nil {
		return err
	}
	ok, err := s.cfg.Clips.AnnotatorMayFetch(c.Request().Context(), id, who.Annotator, clip)
	if err == nil && !ok {
		ok, err = s.isExample(c, id, clip)
	}
	if err == nil && !ok {
		return errNoClip
	}
	return err
}

// joinExample is GET /join/:token/example: the clip that the page of the link shows of what is to be
// judged. It may be another one after a restart.
func (s entry) joinExample(c echo.Context) error {
	v, err := s.visit(c)
	if err != nil {
		return err
	}
	clip, err := exampleClip(s.site, c, v.session)
	if err != nil {
		return err
	}
	if clip == "" {
		return errNoClip
	}
	media, err := s.cfg.Clips.ClipMedia(c.Request().Context(), v.session, clip)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return sendClip(c, media)
}

// exampleClip returns a clip that shows what is to be judged, empty if there is none yet.
func exampleClip(s *site, c echo.Context, id idrl.SessionID) (idrl.ClipID, error) {
	session, err := s.session(c.Request().Context(), id)
	if err != nil {
		return "", err
	}
	list, err := session.Examples(c.Request().Context())
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[0].Clips[0], nil
}
