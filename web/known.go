package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/words"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/static"
	"tiebreak/templates"
)

// Known stores the questions to which researchers have given the right answer.
type Known interface {
	Known(ctx context.Context, id idrl.SessionID) ([]record.Known, error)
	// Askable returns the questions without a known answer: those that were asked, or those that
	// may be asked.
	Askable(ctx context.Context, id idrl.SessionID, asked bool) ([]idrl.Query, error)
	SetKnown(ctx context.Context, id idrl.SessionID, clips []idrl.ClipID, k record.Known, actor string, now time.Time) (version int64, err error)
	SetGoldEvery(ctx context.Context, id idrl.SessionID, every int, actor string, now time.Time) error

	// Practice returns the practice questions, and the versions of those that the annotator
	// is to answer before the first question.
	Practice(ctx context.Context, id idrl.SessionID, who idrl.AnnotatorID) (all []record.Known, due []int64, err error)
	AddPractice(ctx context.Context, id idrl.SessionID, p record.Practice) error
	PracticeAnswers(ctx context.Context, id idrl.SessionID, yield func(record.Practice, record.Known) error) error
}

// Sources of questions to judge.
const (
	fromAsked = "asked"
	fromNew   = "new"
)

// A judgement is what the page of known questions shows of one.
type judgement struct {
	clips   []idrl.ClipID // of a question that is judged again, or was judged wrongly
	from    string        // source of the others
	at      int           // number in it, from 0
	answer  string
	note    string
	problem string // with the answer
	every   string // of the form of gold questions, that was wrong
	wrong   string // with every
}

// editKnown is GET /sessions/:id/known[?from=asked|new&at=N|?clips=A,B]: questions to judge, and
// those with known answers.
func (s running) editKnown(c echo.Context) error {
	spec, err := s.researchersSpec(c, auth.ChangeSession)
	if err != nil {
		return err
	}
	if _, err := s.session(c.Request().Context(), spec.ID); err != nil && asPaused(err) == nil { // it makes the first clips
		return err
	}
	return s.showKnown(c, spec, http.StatusOK, judgement{clips: clipNames(c.QueryParam("clips")), from: c.QueryParam("from"), at: placeOf(c.QueryParam("at"))})
}

// placeOf reads a number from 0; 0 if it is none.
func placeOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return max(0, n)
}

func clipNames(text string) (out []idrl.ClipID) {
	for name := range strings.SplitSeq(text, ",") {
		if name != "" {
			out = append(out, idrl.ClipID(name))
		}
	}
	return out
}

// postKnown is POST /sessions/:id/known with the fields clips, answer, note and use: the right
// answer to a question, and its use; the page continues at the place that from and at name.
func (s running) postKnown(c echo.Context) error {
	spec, err := s.researchersSpec(c, auth.ChangeSession)
	if err != nil {
		return err
	}
	j := judgement{clips: clipNames(c.FormValue("clips")), from: c.FormValue("from"), at: placeOf(c.FormValue("at")), answer: c.FormValue("answer"), note: strings.TrimSpace(c.FormValue("note"))}
	k := record.Known{Use: record.Use(c.FormValue("use")), Note: j.note}
	k.SetAnswer(spec.Kind, j.answer)
	query := url.Values{"at": {strconv.Itoa(j.at)}}
	if j.from != "" {
		query.Set("from", j.from)
	}
	err = s.change(c, auth.ChangeSession, "/known?"+query.Encode(), func(ctx context.Context, id idrl.SessionID, who string) error {
		_, err := s.cfg.Known.SetKnown(ctx, id, j.clips, k, who, time.Now())
		return err
	})
	if kind := kindOf(err); err != nil && (kind == idrl.Invalid || kind == idrl.Conflict) {
		j.problem = s.explain(err)
		status, _ := statusOf(err)
		return s.showKnown(c, spec, status, j)
	}
	return err
}

// postGold is POST /sessions/:id/gold with the field every.
func (s running) postGold(c echo.Context) error {
	spec, err := s.researchersSpec(c, auth.ChangeSession)
	if err != nil {
		return err
	}
	every, err := number(c, "every", 0, 0, idrl.MaxBudget)
	if err == nil {
		err = s.change(c, auth.ChangeSession, "/known#known", func(ctx context.Context, id idrl.SessionID, who string) error {
			return s.cfg.Known.SetGoldEvery(ctx, id, every, who, time.Now())
		})
	}
	if err != nil && kindOf(err) == idrl.Invalid {
		return s.showKnown(c, spec, http.StatusBadRequest, judgement{every: c.FormValue("every"), wrong: s.explain(err)})
	}
	return err
}

// showKnown shows the page of known questions.
func (s running) showKnown(c echo.Context, spec idrl.SessionSpec, status int, j judgement) error {
	ctx := c.Request().Context()
	known, err := s.cfg.Known.Known(ctx, spec.ID)
	if err != nil {
		return err
	}
	p := templates.KnownPage{
		Layout: s.layout(c, "Practice and gold questions"), Heading: spec.Title, Back: sessionURL(spec.ID), Tabs: sessionTabs(spec, peoplePage), Action: sessionURL(spec.ID, "known"),
		Gold: templates.GoldForm{Action: sessionURL(spec.ID, "gold"), Every: templates.Field{Value: strconv.Itoa(spec.GoldEvery)}},
	}
	if j.wrong != "" {
		p.Gold.Every = templates.Field{Value: j.every, Error: j.wrong}
	}
	p.Scripts = static.Modules("known.js")
	uses := map[record.Use]int{}
	for _, k := range slices.Backward(known) {
		uses[k.Use]++
		p.Known = append(p.Known, knownRow(spec.ID, k))
	}
	p.Sum = fmt.Sprintf("%s, %s", plural(uses[record.ForPractice], "practice question"), plural(uses[record.AsGold], "gold question"))
	if uses[record.ForPractice] > 0 {
		p.Export = sessionURL(spec.ID, "export") + "?format=" + export.PracticeFormat
	}
	asked, err := s.cfg.Known.Askable(ctx, spec.ID, true)
	if err != nil {
		return err
	}
	fresh, err := s.cfg.Known.Askable(ctx, spec.ID, false)
	if err != nil {
		return err
	}
	lists := map[string][]idrl.Query{fromAsked: asked, fromNew: fresh}
	if lists[j.from] == nil {
		if j.from = fromAsked; len(asked) == 0 {
			j.from = fromNew
		}
	}
	for _, source := range []struct{ name, text string }{{fromAsked, "Asked before"}, {fromNew, "Not asked yet"}} {
		p.Sources = append(p.Sources, templates.SourceLink{
			URL: p.Action + "?from=" + source.name, Text: fmt.Sprintf("%s (%d)", source.text, len(lists[source.name])), Here: source.name == j.from && len(j.clips) == 0,
		})
	}
	p.Question, p.None = s.toJudge(spec, p.Action, known, lists[j.from], j)
	return render(c, status, templates.Known(p))
}

// toJudge returns the question that the page shows enlarged, or the reason why there is none.
func (s running) toJudge(spec idrl.SessionSpec, action string, known []record.Known, list []idrl.Query, j judgement) (q templates.KnownQuestion, none string) {
	clips := j.clips
	q = templates.KnownQuestion{
		From: j.from, At: strconv.Itoa(j.at), Answer: j.answer, Note: templates.Field{Value: j.note}, Error: j.problem, MaxNote: strconv.Itoa(record.MaxNote),
		Next: fmt.Sprintf("%s?from=%s&at=%d", action, j.from, j.at+1),
	}
	if len(clips) == 0 {
		if len(list) == 0 {
			return q, "There are no questions yet. They appear as soon as the first clips are made."
		}
		at := j.at % len(list) // after the last one comes the first
		q.At, q.Place = strconv.Itoa(at), fmt.Sprintf("%d of %d", at+1, len(list))
		clips = list[at].Clips
	} else if i := slices.IndexFunc(known, func(k record.Known) bool { return slices.Equal(k.Query.Clips, clips) }); i >= 0 {
		q.Again, q.Next = true, action+"#known"
		if j.problem == "" {
			q.Answer, q.Note.Value = known[i].Answer(), known[i].Note
		}
	}
	if want := map[bool]int{true: 2, false: 1}[spec.Kind.Comparison()]; len(clips) != want || slices.ContainsFunc(clips, func(id idrl.ClipID) bool { return !plainID(string(id)) }) {
		return templates.KnownQuestion{}, "These clips do not belong to this session. Choose a question below the heading."
	}
	q.Clips, q.Names = namedClips(spec.ID, clips)
	return q, ""
}

// namedClips returns clips as the page shows them, and their ids for a form.
func namedClips(id idrl.SessionID, clips []idrl.ClipID) (out []templates.NamedClip, names string) {
	called := []string{"Left clip", "Right clip"}
	if len(clips) == 1 {
		called = []string{"The clip"}
	}
	ids := make([]string, len(clips))
	for i, clip := range clips {
		out = append(out, templates.NamedClip{Name: called[i], Source: clipURL(id, clip)})
		ids[i] = string(clip)
	}
	return out, strings.Join(ids, ",")
}

func knownRow(id idrl.SessionID, k record.Known) templates.KnownRow {
	row := templates.KnownRow{
		Value: k.Answer(), Use: string(k.Use), Note: k.Note,
		Made: fmt.Sprintf("version %d, %s, %s", k.Version, k.By, clock(k.At)),
	}
	row.Clips, row.Names = namedClips(id, k.Query.Clips)
	row.Change = sessionURL(id, "known") + "?" + url.Values{"clips": {row.Names}}.Encode() + "#judge"
	switch k.Choice {
	case idrl.ChoseA:
		row.Answer = "The left one is better."
	case idrl.ChoseB:
		row.Answer = "The right one is better."
	case idrl.Equal:
		row.Answer = "They are equal."
	default:
		row.Answer = row.Value + " of 10."
	}
	return row
}

// plural writes a number of things.
func plural(n int, thing string) string {
	return words.Plural(n, thing)
}
