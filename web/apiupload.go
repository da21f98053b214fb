package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"tiebreak/internal/data/rollouts"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/study/settings"

	"github.com/labstack/echo/v4"
)

// maxUpload is the size of an upload at most, in bytes.
const maxUpload = 32 << 20

// apiUploadPath is the route of uploads.
const apiUploadPath = "/api/v1/sessions/:id/trajectories"

// errUpload refuses the body of an upload that is too large.
var errUpload = idrl.Errorf(idrl.Invalid, "the body is too large; at most %d MiB are allowed: send fewer trajectories at a time", maxUpload>>20)

// apiCreate is POST /api/v1/sessions: a session over clips that programs upload.
func (s *api) apiCreate(c echo.Context) error {
	who, err := s.program(c, auth.CreateSession, "")
	if err != nil {
		return err
	}
	spec, anyway, err := readUploadSession(c)
	if err != nil {
		return err
	}
	if err := settings.Check(settings.Complete(spec)); err != nil {
		return err
	}
	var id idrl.SessionID
	err = s.admitted(c, createWork, func(ctx context.Context) (err error) {
		id, err = s.cfg.Sessions.Create(ctx, spec, who.User, anyway)
		return err
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"id": id})
}

// notOfUploads are the settings that sessions over uploaded clips do not have: they train nothing,
// and their environment and format of instructions are fixed.
var notOfUploads = []string{"env", "instructions_format", "candidates", "train_every", "adopt_after", "solver", "return", "model", "prior"}

// readUploadSession reads the settings of a session over uploaded clips from a body, and whether to make it although no
// place can do its jobs.
func readUploadSession(c echo.Context) (spec idrl.SessionSpec, anyway bool, err error) {
	var body map[string]json.RawMessage
	if err := readJSON(c, &body); err != nil {
		return spec, false, err
	}
	spec = settings.Defaults()
	spec.Title, spec.Env, spec.Seed = "", idrl.RolloutsEnv, anySeed()
	for _, key := range slices.Sorted(maps.Keys(body)) {
		setting, known := settings.Find(key)
		switch {
		case key == "anyway":
			if err = json.Unmarshal(body[key], &anyway); err != nil {
				err = errors.New("is true or false")
			}
		case key == "features":
			err = listOf(body[key], &spec.Features, "names")
		case key == "prior_scale":
			err = listOf(body[key], &spec.PriorScale, "numbers")
		case !known || slices.Contains(notOfUploads, key):
			err = errors.New("is not a setting of such sessions; the description of the API lists the settings")
		default:
			err = setting.SetJSON(&spec, body[key])
		}
		if err != nil {
			return spec, false, idrl.Errorf(idrl.Invalid, "%s %v", key, err)
		}
	}
	return spec, anyway, nil
}

// listOf reads a list; its error continues the name of the key.
func listOf[T any](raw json.RawMessage, list *[]T, of string) error {
	if json.Unmarshal(raw, list) != nil {
		return errors.New("must be a list of " + of)
	}
	return nil
}

// anySeed returns a random seed that JSON holds exactly.
func anySeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return binary.LittleEndian.Uint64(b[:]) >> 11
}

type apiUploaded struct {
	Name string      `json:"name"`
	Clip idrl.ClipID `json:"clip"`
	New  bool        `json:"new"`
}

// apiUpload is POST /api/v1/sessions/:id/trajectories: clips for questions from now on, with their
// raw steps. The reply comes when they are durable and in use; repeating the request changes
// nothing.
func (s *api) apiUpload(c echo.Context) error {
	session, _, err := s.programsSession(c, auth.Upload)
	if err != nil {
		return err
	}
	if !session.Spec().Uploads() {
		return errNoUploads
	}
	given, clips, names, err := s.readUpload(c, session.Spec())
	if err != nil {
		return err
	}
	done, err := session.Upload(c.Request().Context(), given)
	if err != nil {
		return err
	}
	fresh := map[idrl.ClipID]bool{}
	for i, id := range done.Clips {
		fresh[id] = done.New[i]
	}
	out := make([]apiUploaded, len(clips))
	for i, id := range clips {
		out[i] = apiUploaded{names[i], id, fresh[id]}
	}
	return c.JSON(http.StatusOK, map[string]any{"trajectories": out, "total": done.Total, "seq": done.Seq})
}

var errNoUploads = idrl.Errorf(idrl.Conflict, "the clips of this session come from its environment; make a session for uploaded clips with POST /api/v1/sessions")

// readUpload reads the body of an upload. While it comes it takes no place; each trajectory takes one in its turn.
func (s *api) readUpload(c echo.Context, spec idrl.SessionSpec) (g idrl.Generation, clips []idrl.ClipID, names []string, err error) {
	w := uploadWork
	size := c.Request().ContentLength
	if size < 0 || size > maxUpload {
		size = maxUpload
	}
	w.bytes += uploadCopies * size
	entering, cancel := context.WithCancel(c.Request().Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	ticket, err := s.heavy.enter(entering, s.actorOf(c.Request()), w)
	if err != nil {
		return g, nil, nil, err
	}
	defer ticket.leave()
	ticket.rest()
	_ = http.NewResponseController(c.Response()).SetReadDeadline(time.Now().Add(uploadRead)) // the time spent waiting does not count
	content := bytes.NewBuffer(make([]byte, 0, min(max(0, c.Request().ContentLength), maxUpload)+bytes.MinRead))
	if _, err := content.ReadFrom(rollouts.Limited(c.Request().Body)); err != nil {
		return g, nil, nil, bodyError(err)
	}
	ctx := c.Request().Context()
	turn := func(ctx context.Context) (func(), error) { return s.heavy.decode(ctx, ticket) }
	leave, err := turn(ctx)
	if err != nil {
		return g, nil, nil, err
	}
	var body struct {
		Trajectories []rollouts.Trajectory `json:"trajectories"`
	}
	err = decodeJSON(content, &body)
	leave()
	if err != nil {
		return g, nil, nil, err
	}
	for _, t := range body.Trajectories {
		names = append(names, t.Name)
	}
	g, clips, err = rollouts.Read(ctx, spec, body.Trajectories, turn)
	return g, clips, names, err
}

const (
	uploadRead   = 30 * time.Second // for the body of an upload, as for that of any request
	uploadCopies = 4                // of the body that are in memory at a time: as it came, as the decoder holds it, which is up to two, and decoded
)
