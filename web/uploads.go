package web

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// An uploader receives what researchers upload for imports. Errors are as those of an Importer.
type uploader interface {
	// Receive reads an upload from body, and returns the name by which it is imported. A data set is unpacked afterwards, in a turn.
	Receive(up Upload, body io.Reader, turn ImportTurn) (set string, err error)
	// Uploads returns the uploads of an account, or of all if it is empty.
	Uploads(owner string) ([]UploadState, error)
	// Discard removes one, unless recordings show its videos, or an import reads it or can go on with it.
	Discard(name string) error
}

// An Upload is a file that a researcher sends: a data set as a zip, tar or tar.gz file, or a table of episodes.
type Upload struct {
	Name, Owner string
	Bytes       int64
	Table       bool // of episodes, as CSV
}

// An UploadState is how far an upload is.
type UploadState struct {
	Name, Set, Owner string // Set: name by which it is imported
	Began            time.Time
	Says             string // how far it is; empty if it is not under way
	Wrong            string // why there is none; empty if there is one

	Bytes   int64    // of its files; 0 until it is there
	Sets    []string // environments that show its videos
	Imports []string // that read it, or were interrupted and can go on
}

const (
	receivePath     = recordingsPath + "/upload"
	apiUploadedPath = apiRecordingsPath + "/uploads/:name"
)

// receiveWork is that of an upload while it comes: it takes no place, and one account sends one at a time.
var receiveWork = work{bytes: 1 << 20, alone: true, busy: errUploads}

// take reads the upload that is the body of a request.
func (s importing) take(c echo.Context, owner, name string) (set string, err error) {
	r := c.Request()
	up := Upload{Name: name, Owner: owner, Bytes: r.ContentLength, Table: c.QueryParam("kind") == "table"}
	if kind := c.QueryParam("kind"); kind != "" && kind != "archive" && kind != "table" {
		return "", idrl.Errorf(idrl.Invalid, "an upload is of the kind archive or table, not %.40q", kind)
	}
	entering, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	ticket, err := s.heavy.enter(entering, s.actorOf(r), receiveWork)
	if err != nil {
		return "", err
	}
	defer ticket.leave()
	ticket.rest()
	return s.cfg.Importer.Receive(up, &slowBody{r.Body, http.NewResponseController(c.Response())}, s.importTurn(owner))
}

// A slowBody is a body that may take long to come, as long as it comes.
type slowBody struct {
	io.Reader
	reply *http.ResponseController
}

// Read implements io.Reader.
func (b *slowBody) Read(p []byte) (int, error) {
	_ = b.reply.SetReadDeadline(time.Now().Add(uploadRead))
	return b.Reader.Read(p)
}

// receive is POST /recordings/upload?name=…: a script of the page sends the file as the body. The reply is the name by which it is imported, or an error, as JSON.
func (s importing) receive(c echo.Context) error {
	owner, err := s.importer(c)
	if err != nil {
		return err
	}
	set, err := s.take(c, owner, c.QueryParam("name"))
	if kind := kindOf(err); err != nil && (kind == idrl.Invalid || kind == idrl.Conflict || kind == idrl.Unavailable) {
		return c.JSON(http.StatusBadRequest, map[string]string{"error": plainCode(s.explain(err))})
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"set": set})
}

// apiReceive is POST /api/v1/recordings/uploads/:name: the same for programs.
func (s *api) apiReceive(c echo.Context) error {
	who, err := s.importingProgram(c)
	if err != nil {
		return err
	}
	set, err := importing{s.site}.take(c, who.User, c.Param("name"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"set": set})
}

// apiDiscardUpload is DELETE /api/v1/recordings/uploads/:name.
func (s *api) apiDiscardUpload(c echo.Context) error {
	who, err := s.importingProgram(c)
	if err != nil {
		return err
	}
	if err := (importing{s.site}).discard(who, c.Param("name")); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"name": c.Param("name")})
}

// discard removes an upload of the account, or of any for an admin.
func (s importing) discard(who auth.Actor, name string) error {
	list, err := s.cfg.Importer.Uploads(seesOf(who))
	if err != nil {
		return err
	}
	for _, u := range list {
		if u.Name == name {
			return s.cfg.Importer.Discard(name)
		}
	}
	return idrl.Errorf(idrl.NotFound, "There is no such upload.")
}

// sessionsAbout returns those of the sessions and arenas that may be watched which are about the recordings that show each upload, in the order of list.
func (s importing) sessionsAbout(ctx context.Context, who auth.Actor, list []UploadState) (about [][]record.Summary, err error) {
	about = make([][]record.Summary, len(list))
	if !slices.ContainsFunc(list, func(u UploadState) bool { return len(u.Sets) > 0 }) {
		return about, nil
	}
	all, err := everySession(ctx, s.site, who)
	for _, sum := range all {
		env, _, _ := strings.Cut(sum.Spec.Env, "@")
		for i, u := range list {
			if slices.Contains(u.Sets, env) && !sum.Spec.Rehearsal {
				about[i] = append(about[i], sum)
			}
		}
	}
	return about, err
}

// showUploads adds the uploads that an account sees to a page.
func (s importing) showUploads(ctx context.Context, p *templates.RecordingsPage, who auth.Actor) error {
	list, err := s.cfg.Importer.Uploads(seesOf(who))
	if err != nil {
		return err
	}
	about, err := s.sessionsAbout(ctx, who, list)
	for i, u := range list {
		row := templates.UploadRow{Name: u.Name, Set: u.Set, When: "Sent " + clock(u.Began) + bySomebody(u.Owner, who.User) + ".", Says: u.Says, Wrong: plainCode(u.Wrong)}
		if u.Bytes > 0 {
			row.Size = ": " + words.Bytes(u.Bytes)
		}
		row.Sets, row.Imports = words.List(u.Sets), words.List(u.Imports)
		for _, sum := range about[i] {
			row.Sessions = append(row.Sessions, templates.UploadSession{Title: sum.Spec.Title, URL: sessionURL(sum.Spec.ID)})
		}
		p.Uploads = append(p.Uploads, row)
		p.Waits = p.Waits || u.Says != ""
	}
	p.Waits = p.Waits || p.Busy
	p.Receive = receivePath
	return err
}

type apiUploadState struct {
	Name  string    `json:"name"`
	Set   string    `json:"set"`
	State string    `json:"state"`
	Says  string    `json:"says,omitempty"`
	Wrong string    `json:"wrong,omitempty"`
	Began time.Time `json:"began"`

	Bytes      int64            `json:"bytes"`
	Recordings []string         `json:"recordings"`
	Imports    []string         `json:"imports"`
	Sessions   []idrl.SessionID `json:"sessions"`
}

// apiUploads returns the uploads that a program may see.
func (s importing) apiUploads(ctx context.Context, who auth.Actor) ([]apiUploadState, error) {
	list, err := s.cfg.Importer.Uploads(seesOf(who))
	if err != nil {
		return nil, err
	}
	about, err := s.sessionsAbout(ctx, who, list)
	out := []apiUploadState{}
	for i, u := range list {
		state := "there"
		switch {
		case u.Says != "":
			state = "under way"
		case u.Wrong != "":
			state = "refused"
		}
		sessions := []idrl.SessionID{}
		for _, sum := range about[i] {
			sessions = append(sessions, sum.Spec.ID)
		}
		out = append(out, apiUploadState{
			u.Name, u.Set, state, u.Says, u.Wrong, u.Began.UTC(),
			u.Bytes, append([]string{}, u.Sets...), append([]string{}, u.Imports...), sessions,
		})
	}
	return out, err
}
