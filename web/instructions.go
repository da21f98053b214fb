package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/study/instructions"
	"tiebreak/templates"
)

// Pictures stores the instructions of sessions and their pictures.
type Pictures interface {
	Picture(ctx context.Context, id idrl.SessionID, picture record.PictureID) (record.Picture, error)
	// Pictures returns those of a session, without their content.
	Pictures(ctx context.Context, id idrl.SessionID) ([]record.Picture, error)
	// InstructionVersions returns all instructions that a session has had, the first one first.
	InstructionVersions(ctx context.Context, id idrl.SessionID) ([]idrl.Instructions, error)
	AddPicture(ctx context.Context, id idrl.SessionID, p record.Picture, actor string, now time.Time) error
	RemovePicture(ctx context.Context, id idrl.SessionID, picture record.PictureID, actor string, now time.Time) error
}

// editInstructions is GET /sessions/:id/instructions.
func (s running) editInstructions(c echo.Context) error {
	spec, err := s.researchersSpec(c, auth.ChangeSession)
	if err != nil {
		return err
	}
	return s.showInstructions(c, spec, http.StatusOK, templates.Field{Value: spec.Instructions}, "")
}

// postInstructions is POST /sessions/:id/instructions, a form of type multipart/form-data
// with the fields text, Markdown; do, "preview", "publish", "upload", or "remove " and the id
// of a picture; and the file picture. The text is kept whatever is done.
func (s running) postInstructions(c echo.Context) error {
	spec, err := s.researchersSpec(c, auth.ChangeSession)
	if err != nil {
		return err
	}
	who, err := s.researcher(c, auth.ChangeSession, spec.ID)
	if err != nil {
		return err
	}
	if err := c.Request().ParseMultipartForm(maxForm); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return formError(err)
	}
	text := templates.Field{Value: strings.TrimSpace(strings.ReplaceAll(c.FormValue("text"), "\r\n", "\n"))}
	ctx, do := c.Request().Context(), c.FormValue("do")
	wrong, picture := &text.Error, ""
	remove, removes := strings.CutPrefix(do, "remove ")
	switch {
	case removes:
		wrong, err = &picture, s.cfg.Pictures.RemovePicture(ctx, spec.ID, record.PictureID(remove), who.User, time.Now())
	case do == "upload":
		wrong, err = &picture, s.receivePicture(c, spec.ID, who.User)
	default:
		err = s.checkInstructions(ctx, spec, text.Value)
	}
	switch kind := kindOf(err); {
	case err == nil && do == "publish":
		return s.change(c, auth.ChangeSession, "/instructions", func(ctx context.Context, id idrl.SessionID, who string) error {
			_, err := s.cfg.Settings.SetInstructions(ctx, id, idrl.Markdown, text.Value, who, time.Now())
			return err
		})
	case err == nil:
		return s.showInstructions(c, spec, http.StatusOK, text, "")
	case kind == idrl.Invalid || kind == idrl.Conflict:
		*wrong = s.explain(err)
		status, _ := statusOf(err)
		return s.showInstructions(c, spec, status, text, picture)
	}
	return err
}

// maxForm is how much of a form is kept in memory, bytes: all of it.
const maxForm = record.MaxPicture + maxBody

// checkInstructions returns an error of kind Invalid if the text, Markdown, is too long or
// shows a picture that there is not.
func (s running) checkInstructions(ctx context.Context, spec idrl.SessionSpec, text string) error {
	if err := (idrl.Instructions{Format: idrl.Markdown, Text: text}).Check(); err != nil {
		return err
	}
	have, err := s.cfg.Pictures.Pictures(ctx, spec.ID)
	if err != nil {
		return err
	}
	return unknownPicture(text, s.env(spec.Env), have)
}

// unknownPicture returns an error of kind Invalid that names the first picture in a text that is
// neither uploaded nor in the legend.
func unknownPicture(text string, env EnvChoice, have []record.Picture) error {
	for _, address := range instructions.Pictures(text) {
		id, uploaded := strings.CutPrefix(address, instructions.PictureScheme)
		name, legend := strings.CutPrefix(address, instructions.LegendScheme)
		switch {
		case uploaded && slices.ContainsFunc(have, func(p record.Picture) bool { return string(p.ID) == id }):
		case legend && slices.ContainsFunc(env.Guide.Legend, func(f templates.Figure) bool { return f.Name == name }):
		default:
			return idrl.Errorf(idrl.Invalid, "the picture %q is not here; upload it to the session and write picture: and its name, or legend: and the name of one of the environment's", address)
		}
	}
	return nil
}

// showInstructions shows the page with a text and its preview.
func (s running) showInstructions(c echo.Context, spec idrl.SessionSpec, status int, text templates.Field, upload string) error {
	have, err := s.cfg.Pictures.Pictures(c.Request().Context(), spec.ID)
	if err != nil {
		return err
	}
	env, now := s.env(spec.Env), spec.CurrentInstructions()
	draft := spec
	changed := text.Value != now.Text
	if changed {
		draft.Instructions, draft.InstructionsFormat = text.Value, idrl.Markdown
	}
	p := templates.InstructionsPage{
		Layout: s.layout(c, "Instructions"), Heading: spec.Title, Back: sessionURL(spec.ID), Tabs: sessionTabs(spec, settingsPage), Action: sessionURL(spec.ID, "instructions"),
		Text: text, Most: strconv.Itoa(idrl.MaxInstructions), Version: fmt.Sprintf("version %d", now.Version),
		Preview: guideOf(draft, env), Changed: changed, Plain: now.Format == idrl.PlainText && now.Text != "",
		Uploaded: templates.Field{Error: upload},
		Limit:    fmt.Sprintf("Up to %d pictures: PNG, JPEG, GIF or WebP, at most %d KB each.", record.MaxPictures, record.MaxPicture/1000),
	}
	for _, picture := range have {
		p.Pictures = append(p.Pictures, templates.UploadedPicture{
			Source: pictureURL(spec.ID, picture.ID), Code: fmt.Sprintf("![](%s%s)", instructions.PictureScheme, picture.ID),
			Remove: "remove " + string(picture.ID),
		})
	}
	versions, err := s.cfg.Pictures.InstructionVersions(c.Request().Context(), spec.ID)
	if err != nil {
		return err
	}
	for _, v := range slices.Backward(versions[:max(0, len(versions)-1)]) {
		p.Earlier = append(p.Earlier, templates.EarlierText{Title: fmt.Sprintf("Version %d", v.Version), Text: cmp.Or(v.Text, "What the environment brings.")})
	}
	for _, f := range env.Guide.Legend {
		p.Legend = append(p.Legend, templates.LegendName{Figure: f, Code: fmt.Sprintf("![](%s%s)", instructions.LegendScheme, f.Name)})
	}
	return render(c, status, templates.Instructions(p))
}

func pictureURL(id idrl.SessionID, picture record.PictureID) string {
	return sessionURL(id, "pictures", string(picture))
}

// rendered returns Markdown as HTML, with the pictures of a session and its environment.
func rendered(id idrl.SessionID, env EnvChoice, text string) string {
	return instructions.Render(text, func(address, alt string) (string, bool) {
		if name, ok := strings.CutPrefix(address, instructions.LegendScheme); ok {
			i := slices.IndexFunc(env.Guide.Legend, func(f templates.Figure) bool { return f.Name == name })
			if i < 0 {
				return "", false
			}
			f := env.Guide.Legend[i]
			if alt == "" {
				alt = f.Text
			}
			return `<span class="figure" role="img" aria-label="` + html.EscapeString(alt) + `">` + f.SVG + `</span>`, true
		}
		picture := strings.TrimPrefix(address, instructions.PictureScheme)
		if !plainID(picture) {
			return "", false
		}
		return `<img src="` + html.EscapeString(pictureURL(id, record.PictureID(picture))) + `" alt="` + html.EscapeString(alt) + `">`, true
	})
}

// receivePicture adds the picture of a form to a session.
func (s running) receivePicture(c echo.Context, id idrl.SessionID, who string) error {
	header, err := c.FormFile("picture")
	if err != nil {
		return idrl.Errorf(idrl.Invalid, "choose a picture to upload")
	}
	f, err := header.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, record.MaxPicture+1))
	if err != nil {
		return err
	}
	picture, err := instructions.CheckPicture(b)
	if err != nil {
		return err
	}
	return s.cfg.Pictures.AddPicture(c.Request().Context(), id, picture, who, time.Now())
}

// picturePolicy is the Content-Security-Policy of a picture that is opened as a page.
const picturePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

// picture is GET /sessions/:id/pictures/:picture, for the annotators and researchers of the
// session.
func (s running) picture(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	_, err = s.researcher(c, auth.FetchClip, id)
	if errors.Is(err, errNotSignedIn) || errors.Is(err, errNoSession) {
		if _, refused := s.labeller(c, auth.FetchClip, id, 1); errors.Is(err, errNotSignedIn) || !errors.Is(refused, errNotAnnotator) {
			err = refused
		}
	}
	if err != nil {
		return err
	}
	p, err := s.cfg.Pictures.Picture(c.Request().Context(), id, record.PictureID(c.Param("picture")))
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", picturePolicy)
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	return c.Blob(http.StatusOK, p.Type, p.Content)
}
