package web

import (
	"errors"
	"hash/fnv"
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
	"tiebreak/web/wire"
)

// A practiceList is the practice questions of an annotator's page. It contains the right answers,
// so that it works without network: no other data depend on a practice answer.
type practiceList struct {
	Due       []int64            `json:"due"` // versions, in order: to be answered before the first question
	Questions []practiceQuestion `json:"questions"`

	// Examples is set where the program chose the questions: there are no right answers, nothing
	// is sent, and the page decides which are due.
	Examples bool `json:"examples,omitempty"`
}

type practiceQuestion struct {
	Version int64       `json:"version"`
	Clips   []string    `json:"clips"`            // URLs: a then b, or one
	Left    idrl.Side   `json:"left"`             // which clip to show on the left; empty for a rating
	Choice  idrl.Choice `json:"choice,omitempty"` // the right one; empty if nobody knows
	Rating  *float64    `json:"rating,omitempty"`
	Note    string      `json:"note"`
}

// practice is GET /sessions/:id/practice.
func (s labelling) practice(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	who, err := s.labeller(c, auth.Label, id, 1)
	if err != nil {
		return err
	}
	all, due, err := s.cfg.Known.Practice(c.Request().Context(), id, who.Annotator)
	if err != nil {
		return err
	}
	out := practiceList{Due: append([]int64{}, due...), Questions: []practiceQuestion{}}
	for _, k := range all {
		q := practiceQuestion{Version: k.Version, Choice: k.Choice, Note: k.Note}
		if k.Query.Kind.Comparison() {
			q.Left = practiceSide(who.Annotator, k.Version)
		} else {
			q.Rating = &k.Rating
		}
		for _, clip := range k.Query.Clips {
			q.Clips = append(q.Clips, clipURL(id, clip))
		}
		out.Questions = append(out.Questions, q)
	}
	if len(all) == 0 {
		if out, err = s.practiceExamples(c, id, who.Annotator); err != nil {
			return err
		}
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, out)
}

// practiceExamples are the practice questions of a session whose researcher gave none. They say no
// right answer, and are due before an annotator's first answer. There are none while there are no
// clips: nobody waits for practice.
func (s labelling) practiceExamples(c echo.Context, id idrl.SessionID, who idrl.AnnotatorID) (practiceList, error) {
	out := practiceList{Due: []int64{}, Questions: []practiceQuestion{}, Examples: true}
	session, err := s.session(c.Request().Context(), id)
	if err != nil {
		return out, err
	}
	list, err := session.Examples(c.Request().Context())
	if err != nil {
		return out, err
	}
	began, err := s.began(c, session, who)
	if err != nil {
		return out, err
	}
	for i, query := range list {
		q := practiceQuestion{Version: int64(i) + 1}
		if query.Kind.Comparison() {
			q.Left = practiceSide(who, q.Version)
		}
		for _, clip := range query.Clips {
			q.Clips = append(q.Clips, clipURL(id, clip))
		}
		if out.Questions = append(out.Questions, q); !began {
			out.Due = append(out.Due, q.Version)
		}
	}
	return out, nil
}

// began reports whether an annotator has answered a question of a session.
func (s labelling) began(c echo.Context, session Session, who idrl.AnnotatorID) (bool, error) {
	given, err := session.Given(c.Request().Context(), who)
	return len(given) > 0, err
}

// isExample reports whether a clip is of a question that the program chose for practice.
func (s labelling) isExample(c echo.Context, id idrl.SessionID, clip idrl.ClipID) (bool, error) {
	session, err := s.session(c.Request().Context(), id)
	if err != nil {
		return false, err
	}
	list, err := session.Examples(c.Request().Context())
	return slices.ContainsFunc(list, func(q idrl.Query) bool { return slices.Contains(q.Clips, clip) }), err
}

// practiceSide returns the clip of a practice question that an annotator sees on the left. It
// depends on both alone, so that it stays after a reload.
func practiceSide(who idrl.AnnotatorID, version int64) idrl.Side {
	h := fnv.New32a()
	_, _ = h.Write([]byte(string(who) + " " + strconv.FormatInt(version, 10))) // never fails
	if h.Sum32()>>16&1 == 0 {
		return idrl.SideA
	}
	return idrl.SideB
}

// practicePrefix begins the assignment of a practice answer; the version of the question follows.
const practicePrefix = "practice."

// postPractice is POST /sessions/:id/practice: an answer as over the socket, in which the
// assignment is "practice." and the version of the question.
func (s labelling) postPractice(c echo.Context) error {
	id, err := sessionID(c)
	if err != nil {
		return err
	}
	who, err := s.labeller(c, auth.Label, id, 1)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(c.Request().Body, wire.MaxMessage+1))
	if err != nil {
		return err
	}
	m, err := wire.Decode(b)
	if refused := (*wire.Refused)(nil); errors.As(err, &refused) {
		return idrl.Errorf(idrl.Invalid, "%s", refused.Message)
	}
	answer, is := m.(*wire.Answer)
	if err != nil || !is {
		return idrl.Errorf(idrl.Invalid, "send an answer to a practice question")
	}
	number, ok := strings.CutPrefix(string(answer.Assignment), practicePrefix)
	version, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil {
		return idrl.Errorf(idrl.Invalid, "%q is no practice question", answer.Assignment)
	}
	p := record.Practice{ID: answer.ID, Annotator: who.Annotator, Version: version, Answer: answer.Row(), ReceivedAt: time.Now()}
	if err := s.cfg.Known.AddPractice(c.Request().Context(), id, p); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
