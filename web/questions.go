package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/session/insight"
	"tiebreak/static"
	"tiebreak/templates"
	"tiebreak/web/questionpage"
	"tiebreak/web/statement"
)

// questionsListed is how many questions a page shows.
const questionsListed = 3

// questions is GET /sessions/:id/questions: the answered questions before row "before" of the log,
// the newest first. With "part" it is only the newest of them, or with "answer" the one of that
// row, without the page around it.
func (s watching) questions(c echo.Context) error {
	session, err := s.researchersSession(c, auth.WatchSession)
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	spec, ctx := session.Spec(), c.Request().Context()
	names, err := s.cfg.People.AnnotatorNames(ctx, spec.ID)
	if err != nil {
		return err
	}
	if c.QueryParam("answer") != "" {
		return s.oneQuestion(c, session, names)
	}
	before, err := rowParam(c, "before")
	if err != nil {
		return err
	}
	n := questionsListed
	if c.QueryParam("part") != "" {
		n = 1
	}
	st, err := session.Status(ctx)
	if err != nil {
		return err
	}
	list, more, err := session.Questions(ctx, insight.Wanted{Before: before, N: n, Best: true})
	switch {
	case err != nil:
		return err
	case n == 1 && len(list) == 0:
		return c.NoContent(http.StatusNoContent)
	case n == 1:
		return render(c, http.StatusOK, templates.QuestionArticle(questionCard(spec, list[0], names)))
	}
	p := templates.QuestionsPage{
		Layout: s.layout(c, "Questions"), Heading: spec.Title, Back: sessionURL(spec.ID), Tabs: sessionTabs(spec, askedPage), CSV: chartURL(spec.ID, "questions"),
	}
	p.Scripts, p.Styles = static.Modules("asked-page.js"), []string{"charts.css"}
	for _, q := range list {
		p.Questions = append(p.Questions, questionCard(spec, q, names))
	}
	at := sessionURL(spec.ID, "questions")
	switch {
	case len(list) == 0 && before > 0:
		p.None, p.Newest = "There are no earlier answers.", at
	case len(list) == 0:
		p.None = "No question has been answered yet."
	default:
		last, first := list[0].Answer.Seq, list[len(list)-1].Answer.Seq
		p.Sum = fmt.Sprintf("Rows %d to %d of the log, the newest first. Predictions are from the earlier answers that count now; why a question was asked is as it was recorded then.", first, last)
		if about := statement.About(st.Recordings); about != "" {
			p.Sum += " " + about
		}
		if more {
			p.Older = fmt.Sprintf("%s?before=%d", at, first)
		}
		if before > 0 {
			p.Newest = at
		}
	}
	return render(c, http.StatusOK, templates.Questions(p))
}

// oneQuestion writes one question, for a page that is open.
func (s watching) oneQuestion(c echo.Context, session Session, names map[idrl.AnnotatorID]string) error {
	row, err := rowParam(c, "answer")
	if err != nil {
		return err
	}
	list, _, err := session.Questions(c.Request().Context(), insight.Wanted{Before: row + 1, N: 1, Best: true})
	if err != nil {
		return err
	}
	if len(list) == 0 || list[0].Answer.Seq != row {
		return idrl.Errorf(idrl.NotFound, "Row %d of the log is not an answer to a question.", row)
	}
	return render(c, http.StatusOK, templates.QuestionArticle(questionCard(session.Spec(), list[0], names)))
}

// rowParam reads the number of a log row; 0 where it is not given.
func rowParam(c echo.Context, name string) (int64, error) {
	text := c.QueryParam(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > 1<<53 {
		return 0, idrl.Errorf(idrl.Invalid, "%s must be the number of a row of the log, from 1 on.", name)
	}
	return n, nil
}

func questionCard(spec idrl.SessionSpec, q insight.Question, names map[idrl.AnnotatorID]string) templates.QuestionCard {
	a, as := q.Answer, q.Assignment
	when := "imported " + clock(a.ReceivedAt)
	if a.Input != idrl.ImportedInput {
		when = fmt.Sprintf("%s, after %s", clock(a.ReceivedAt), words.Took(time.Duration(a.ResponseMS)*time.Millisecond))
	}
	out := questionpage.Card(spec, as, q.Clips, a, nameOf(names, a.Annotator)+", "+when)
	switch {
	case q.Undone:
		out.State = "undone"
	case q.LeftOut:
		out.State = "left out"
	case q.Turned:
		out.State = "turned"
	}
	var urls []string
	for _, id := range questionpage.Shown(as) {
		urls = append(urls, clipURL(spec.ID, id))
	}
	out.Clips = strings.Join(urls, " ")
	out.Forecast, out.NoCast = forecastBars(spec.Kind, q)
	addPolicies(&out, spec, q)
	return out
}

// ofTen returns a predicted rating on the scale of the page, 0 to 10, clamped to it: models of
// ratings without ends predict more.
func ofTen(rating float64) float64 { return 5 + 5*max(-1, min(1, rating)) }

// verdictScale says which ratings verdicts are, where questions are about success.
func verdictScale(kind idrl.QueryKind) string {
	if kind != idrl.JudgeClip {
		return ""
	}
	return " A success counts as 10, a partial success as 5, a failure as 0."
}

func forecastBars(kind idrl.QueryKind, q insight.Question) (out []templates.ForecastBar, none string) {
	if !q.Forecast {
		return nil, "No prediction is known: the features have changed since the question was asked, or were learnt after it."
	}
	if r := q.Predicted.Rating; r != nil {
		return nil, fmt.Sprintf("A rating of %.1f of 10 on average, and from %.1f to %.1f with a probability of 90 %%.", ofTen(r.Mean), ofTen(r.Low), ofTen(r.High)) + verdictScale(kind)
	}
	bar := func(name string, p float64, given bool) {
		out = append(out, templates.ForecastBar{Name: name, Value: stats.Percent(p), Width: wide(p), Given: given})
	}
	order, names := idrl.Outcomes(), []string{"Clip a", "Clip b", "Equal"}
	for k, p := range q.Predicted.Reply {
		bar(names[k], p, order[k] == q.Answer.Choice)
	}
	for k, p := range q.Predicted.Best {
		bar(fmt.Sprintf("Best: clip %s", idrl.SideOf(k)), p, q.Answer.Choice == idrl.BestWorst && idrl.SideOf(k) == q.Answer.Best)
	}
	for k, p := range q.Predicted.Worst {
		bar(fmt.Sprintf("Worst: clip %s", idrl.SideOf(k)), p, q.Answer.Choice == idrl.BestWorst && idrl.SideOf(k) == q.Answer.Worst)
	}
	return out, ""
}

// addPolicies adds the policies that a question distinguishes.
func addPolicies(out *templates.QuestionCard, spec idrl.SessionSpec, q insight.Question) {
	w, strategy := q.Assignment.Why, record.StrategyOf(spec, q.Assignment.Condition)
	if w.First == "" {
		return
	}
	_, out.Past = w.Best[0].P()
	switch {
	case out.Past:
		out.PastNote = "P(best) when asked is the estimate that the strategy used, from 256 draws. Questions that were open then counted as answered."
	case w.Purpose == "":
		out.PastNote = "P(best) before the answer was not recorded: " + questionpage.NotRecorded(q.Assignment) + "."
	case w.Purpose == record.ForDuel:
		out.PastNote = "P(best) before the answer is not known: a question of a duel is not chosen by the strategy."
	default:
		out.PastNote = "P(best) before the answer is not known: the strategy " + acquisition.Title(strategy) + " does not compute it."
	}
	share := map[idrl.PolicyID]float64{}
	sum, known := 0.0, 0
	for _, s := range w.Shares {
		if s.Policy != "" {
			share[s.Policy], sum, known = s.Part, sum+s.Part, known+1
		}
	}
	for i, p := range q.Policies {
		row := templates.PolicyRow{ID: policyName(p), Now: best(p.Now, p.Known), Then: best(p.Then.P())}
		switch {
		case i == 0 && w.Purpose == record.ForDuel:
			row.Role = "the challenger"
		case w.Purpose == record.ForDuel:
			row.Role = "recommended when this was asked"
		case i == 0:
			row.Role = "compared with those below"
		case share[p.ID] > 0:
			row.Share, row.ShareWidth = stats.Percent(share[p.ID]), wide(share[p.ID])
		}
		out.Policies = append(out.Policies, row)
	}
	switch rest := w.Rivals - known; {
	case w.Purpose == record.ForDuel:
	case known == 0:
		out.Rest = "The shares of the rivals were not recorded when this was asked."
	case rest > 0 && sum < 1:
		out.Rest = fmt.Sprintf("The value that is left, %s, is about %s.", stats.Percent(1-sum), plural(rest, "other rival"))
	}
	if len(q.Policies) < 2 {
		return
	}
	first, second := q.Policies[0], q.Policies[1]
	out.PairNote = fmt.Sprintf("%s, then %s", cmp.Or(first.Title, string(first.ID)), cmp.Or(second.Title, string(second.ID)))
	if first.Clip == "" || second.Clip == "" {
		out.NoPair = "They cannot be played: the clips of one of them are not kept. A policy that equals another one, or that a newer one has replaced, keeps no clips."
		return
	}
	out.Pair = clipURL(spec.ID, first.Clip) + " " + clipURL(spec.ID, second.Clip)
}

// policyName returns the name of a policy for researchers.
func policyName(p insight.Policy) string {
	if p.Title == "" {
		return string(p.ID)
	}
	return fmt.Sprintf("%s (%s)", p.Title, p.ID)
}

// best writes the probability that a policy is the best.
func best(p float64, known bool) string {
	if !known {
		return "–" // it equals another one, was replaced, or was not recorded
	}
	return stats.Percent(p)
}

// wide is a share as a length in a drawing.
func wide(share float64) string { return fmt.Sprintf("%.2f%%", 100*max(0, min(1, finite(share)))) }

// questionTable is the table of all questions.
func (s watching) questionTable(ctx context.Context, session Session, put func(...any) error) error {
	before := int64(0)
	for {
		list, more, err := session.Questions(ctx, insight.Wanted{Before: before, N: insight.MostWanted, Recorded: true})
		if err != nil {
			return err
		}
		for _, q := range list {
			if err := put(questionCells(q)...); err != nil {
				return err
			}
			before = q.Answer.Seq
		}
		if !more {
			return nil
		}
	}
}

func questionCells(q insight.Question) []any {
	a, w := q.Answer, q.Assignment.Why
	p := [3]any{nil, nil, nil}
	for k, v := range q.Predicted.Reply {
		p[k] = v
	}
	var shares []string
	for _, s := range w.Shares {
		if s.Policy != "" {
			shares = append(shares, fmt.Sprintf("%s %s", s.Policy, exact(s.Part)))
		}
	}
	then, rivals := any(nil), []string{}
	if best, recorded := w.Best[0].P(); recorded {
		then = best
	}
	for i, s := range w.Shares {
		if best, recorded := w.Best[1+i].P(); recorded {
			rivals = append(rivals, fmt.Sprintf("%s %s", s.Policy, exact(best)))
		}
	}
	known := func(v float64) any {
		if w.Answerable == 0 {
			return nil
		}
		return v
	}
	took := any(a.ResponseMS)
	if a.Input == idrl.ImportedInput {
		took = nil
	}
	return []any{
		a.Seq, string(a.Annotator), string(a.Choice), !q.Undone && !q.LeftOut, p[0], p[1], p[2], known(w.Apart), known(w.Answerable),
		string(w.First), string(w.Second), w.Rivals, strings.Join(shares, "; "), w.Info, w.PairStd, w.BasedOn, took,
		string(w.Purpose), then, strings.Join(rivals, "; "), q.Turned,
	}
}
