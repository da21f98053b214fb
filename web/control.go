package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/templates"
)

// atControl is the place on the session's page of the controls of the whole session.
const atControl = "#control"

// control is POST /sessions/:id/control with the fields do, "pause", "resume", "close" or
// "archive", and for the last two sure, "yes"; and page, the session's page that shows what became of it. A session
// that cannot run here can be controlled, too.
func (s running) control(c echo.Context) error {
	return s.changeAny(c, func(ctx context.Context, id idrl.SessionID, who string) error {
		do := c.FormValue("do")
		if (do == record.ActClose || do == record.ActArchive) && c.FormValue("sure") != "yes" {
			return idrl.Errorf(idrl.Invalid, "Tick the box that says that you are sure. Nothing was changed.")
		}
		_, _, err := s.cfg.Settings.Control(ctx, id, do, who, time.Now())
		return err
	})
}

// rename is POST /sessions/:id/title with the field title.
func (s running) rename(c echo.Context) error {
	return s.changeAny(c, func(ctx context.Context, id idrl.SessionID, who string) error {
		return s.cfg.Settings.Rename(ctx, id, strings.TrimSpace(c.FormValue("title")), who, time.Now())
	})
}

// setTags is POST /sessions/:id/tags with the field tags.
func setTags(s running) echo.HandlerFunc {
	return func(c echo.Context) error {
		return s.changeAny(c, func(ctx context.Context, id idrl.SessionID, who string) error {
			return s.cfg.Settings.SetTags(ctx, id, c.FormValue("tags"), who, time.Now())
		})
	}
}

// changeAny is change for a session that need not be able to run here. It leads to the controls of the page that the form names.
func (s running) changeAny(c echo.Context, do func(ctx context.Context, id idrl.SessionID, who string) error) error {
	return s.changeAnyThen(c, below(pageOf(c, settingsPage))+atControl, do)
}

// changeAnyThen is changeAny that leads to a place below the session's address.
func (s running) changeAnyThen(c echo.Context, place string, do func(ctx context.Context, id idrl.SessionID, who string) error) error {
	spec, err := s.researchersSpec(c, auth.ChangeSession)
	if err != nil {
		return err
	}
	ctx, id := c.Request().Context(), spec.ID
	who, err := s.researcher(c, auth.ChangeSession, id)
	if err != nil {
		return err
	}
	if err := do(ctx, id, who.User); err != nil {
		return err
	}
	session, err := s.session(ctx, id)
	if err == nil {
		err = session.Follow(ctx)
	}
	if err != nil && asPaused(err) == nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sessionURL(id)+place)
}

// pageOf returns the page of a session that a form names in its field page; fallback if it names none.
func pageOf(c echo.Context, fallback string) string {
	for _, p := range sessionPages {
		if c.FormValue("page") == p.page {
			return p.page
		}
	}
	return fallback
}

// clone is POST /sessions/:id/clone with the fields title and seed, "same" or "new", and anyway, "yes" if it is to
// be made although no place can train it. It leads to the new session.
func (s running) clone(c echo.Context) error {
	spec, err := s.researchersSpec(c, auth.WatchSession)
	if err != nil {
		return err
	}
	who, err := s.researcher(c, auth.CreateSession, "")
	if err != nil {
		return err
	}
	seed := spec.Seed
	switch c.FormValue("seed") {
	case "same":
	case "new":
		seed = DrawSeed()
	default:
		return idrl.Errorf(idrl.Invalid, "say whether the seed is the \"same\" or a \"new\" one")
	}
	title := strings.TrimSpace(c.FormValue("title"))
	if err := idrl.CheckTitle(title); err != nil {
		return err
	}
	var id idrl.SessionID
	err = s.admitted(c, createWork, func(ctx context.Context) (err error) {
		id, err = s.cfg.Sessions.Clone(ctx, spec.ID, title, seed, who.User, c.FormValue("anyway") == "yes")
		return err
	})
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sessionURL(id))
}

// controlPanel shows the state of a session and the possible actions on a page of it.
func (s running) controlPanel(c echo.Context, spec idrl.SessionSpec, page string) (p templates.ControlPanel, err error) {
	ctx := c.Request().Context()
	acts, err := s.cfg.Settings.Controls(ctx, spec.ID)
	state := stateOf(acts)
	p = templates.ControlPanel{
		State: string(state), Text: stateText(state, spec), Action: sessionURL(spec.ID, "control"),
		Pause: state == record.StateRunning, Resume: state != record.StateRunning, Close: !state.Ended(), Archive: state != record.StateArchived,
		TitleURL: sessionURL(spec.ID, "title"), Title: spec.Title, MaxTitle: strconv.Itoa(idrl.MaxTitle),
		TagsURL: sessionURL(spec.ID, "tags"), Tags: spec.Tags, MaxTags: strconv.Itoa(idrl.MaxTagsText),
		CopyTitle: record.CloneTitle(spec.Title), Page: page, Change: s.may(c, auth.ChangeSession, spec.ID),
	}
	if s.may(c, auth.CreateSession, "") {
		p.CloneURL = sessionURL(spec.ID, "clone")
	}
	if s.may(c, auth.ShareSession, spec.ID) {
		p.Sharing = sessionURL(spec.ID, "sharing")
	}
	if err != nil {
		return p, err
	}
	done, err := s.cfg.Settings.Acts(ctx, spec.ID, listed)
	for _, a := range acts {
		done = append(done, record.Act{At: a.At, Actor: a.Actor, Action: a.Action, Object: a.Title})
	}
	slices.SortStableFunc(done, func(a, b record.Act) int { return b.At.Compare(a.At) })
	for _, a := range done[:min(listed, len(done))] {
		p.Acts = append(p.Acts, templates.ActRow{When: clock(a.At), Who: actor(a), What: actText(a)})
	}
	return p, err
}

// stateOf returns the state after the last act.
func stateOf(acts []record.Control) record.SessionState {
	if len(acts) == 0 {
		return record.StateRunning
	}
	return acts[len(acts)-1].State
}

// ended reports whether the session is closed to new annotators.
func (s running) ended(ctx context.Context, id idrl.SessionID) (bool, error) {
	acts, err := s.cfg.Settings.Controls(ctx, id)
	return stateOf(acts).Ended(), err
}

// stateText says what a state of a session means.
func stateText(state record.SessionState, spec idrl.SessionSpec) string {
	switch state {
	case record.StatePaused:
		return "Annotators see that the session is paused. Answers to questions that are already open are recorded. No training starts."
	case record.StateClosed:
		return "No more questions are asked, and new people cannot join. Answers and exports stay."
	case record.StateArchived:
		return "The session is closed and hidden from the list of sessions. Answers and exports stay."
	case record.StateRunning:
	}
	switch {
	case spec.Budget == 0 && spec.StopByItself:
		return "Questions are asked until the session stops by itself, or you close it."
	case spec.Budget == 0:
		return "Questions are asked until you close the session, or set a number of answers."
	}
	return fmt.Sprintf("Questions are asked until there are %s.", words.Plural(spec.Budget, "answer"))
}

// actor returns who did something: nothing for commands on the server's machine.
func actor(a record.Act) string {
	if a.Action == "withdraw data" {
		return cmp.Or(a.Actor, "the person")
	}
	return a.Actor
}

// actText describes an act for people.
func actText(a record.Act) string {
	switch a.Action {
	case record.ActPause:
		return "paused"
	case record.ActResume:
		return "resumed"
	case record.ActClose:
		return "closed"
	case record.ActArchive:
		return "archived"
	case record.ActRename:
		return "renamed to “" + a.Object + "”"
	case "invite":
		return "annotator " + a.Object + " made"
	case "set budget":
		return "answers wanted set to " + a.Object + " (0: no limit)"
	case "set tags":
		if a.Object == "" {
			return "tags removed"
		}
		return "tags set to " + a.Object
	case "set data card":
		return "data card changed"
	case "set gold every":
		return "gold questions: one in " + a.Object + " (0: none)"
	case "set known answer":
		return "known answer set: " + a.Object
	case record.ActFreeze:
		return "plan frozen: " + a.Object
	case "set consent", "set instructions", "add picture", "remove picture", "cancel training", "import session":
		return a.Action + ": " + a.Object
	}
	return a.Action + " " + a.Object // "revoke link 3", "leave answers out a2", "turn answers a2"
}
