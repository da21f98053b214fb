package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/session/insight"
	"tiebreak/static"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// questionsListed is how many questions a page shows.
const questionsListed = 6

// questions is GET /sessions/:id/questions: the answered questions before row "before" of the log,
// the newest first. With "part" it is only the newest of them, or with "answer" the one of that
// row, without the page around it.
func (s watching) questions(c echo.Context) error {
	session, err := s.researchersSession(c, auth.WatchSession)
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c)
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
		Layout: s.layout(c, "Questions"), Heading: spec.Title, Back: sessionURL(spec.ID), CSV: chartURL(spec.ID, "questions"),
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
		p.Sum = fmt.Sprintf("Rows %d to %d of the log, the newest first. Predictions are computed from the earlier answers that count now. The reason for each question is shown as it was recorded when the question was asked.", first, last)
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
		when = fmt.Sprintf("%s, after %v", clock(a.ReceivedAt), (time.Duration(a.ResponseMS) * time.Millisecond).Round(100*time.Millisecond))
	}
	out := templates.QuestionCard{
		Seq: strconv.FormatInt(a.Seq, 10), Heading: fmt.Sprintf("Answer %d", a.Seq),
		Who:   nameOf(names, a.Annotator) + ", " + when,
		Sides: strconv.Itoa(len(as.Query.Clips)), Said: saidText(a), Facts: questionFacts(spec, as),
	}
	switch {
	case q.Undone:
		out.State = "undone"
	case q.LeftOut:
		out.State = "left out"
	case q.Turned:
		out.State = "turned"
	}
	out.Clips, out.Order = shownClips(spec.ID, as)
	out.Forecast, out.NoCast = forecastBars(q)
	addPolicies(&out, spec, q)
	return out
}

// shownClips returns the addresses of the clips in the order in which they were shown, and
// describes that order.
func shownClips(id idrl.SessionID, as idrl.Assignment) (urls, order string) {
	clips := slices.Clone(as.Query.Clips)
	switch {
	case len(clips) == 2 && as.Left == "":
		order = "Clip a, then clip b; the annotator may have seen them the other way round."
	case len(clips) == 2 && as.Left == idrl.SideB:
		slices.Reverse(clips)
		order = "Clip b, then clip a, as the annotator saw them."
	case len(clips) == 2:
		order = "Clip a, then clip b, as the annotator saw them."
	case len(clips) > 2:
		order = "The annotator saw numbers instead of letters, and perhaps another order."
	}
	var all []string
	for _, c := range clips {
		all = append(all, clipURL(id, c))
	}
	return strings.Join(all, " "), order
}

// saidText says what was answered.
func saidText(a idrl.Answer) string {
	text := map[idrl.Choice]string{
		idrl.ChoseA: "Chose clip a", idrl.ChoseB: "Chose clip b", idrl.Equal: "Said equal", idrl.CantTell: "Can’t tell",
		idrl.Skip: "Skipped", idrl.TechnicalFailure: "The clip failed",
		idrl.Rated: fmt.Sprintf("Rated %.1f of 10", 5+5*a.Rating), idrl.BestWorst: fmt.Sprintf("Best: clip %s, worst: clip %s", a.Best, a.Worst),
	}[a.Choice]
	if a.Much {
		text += ", much better"
	}
	if a.Remark != "" {
		text += map[idrl.Remark]string{idrl.BothBad: ", both bad", idrl.BothGood: ", both good"}[a.Remark]
	}
	return text + "."
}

// ofTen returns a predicted rating on the scale of the page, 0 to 10, clamped to it: models of
// ratings without ends predict more.
func ofTen(rating float64) float64 { return 5 + 5*max(-1, min(1, rating)) }

func forecastBars(q insight.Question) (out []templates.ForecastBar, none string) {
	if !q.Forecast {
		return nil, "No prediction is known: the features have changed since the question was asked, or were learnt after it."
	}
	if r := q.Predicted.Rating; r != nil {
		return nil, fmt.Sprintf("A rating of %.1f of 10 on average, and from %.1f to %.1f with a probability of 90 %%.", ofTen(r.Mean), ofTen(r.Low), ofTen(r.High))
	}
	bar := func(name string, p float64, given bool) {
		out = append(out, templates.ForecastBar{Name: name, Value: probability(p), Width: wide(p), Given: given})
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

// questionFacts describes a question: its purpose, its clips and its information.
func questionFacts(spec idrl.SessionSpec, as idrl.Assignment) (out []templates.Fact) {
	w := as.Why
	add := func(name, value string) { out = append(out, templates.Fact{Name: name, Value: value}) }
	add("Purpose", purposeText(as, spec.StrategyOf(as.Condition)))
	if as.Query.Kind.Comparison() && w.Answerable > 0 {
		add("Picture difference", fmt.Sprintf("%.2g", w.Apart))
	}
	if w.Answerable > 0 {
		add("Probability of a clear answer", probability(w.Answerable))
	}
	if w.First != "" {
		add("Expected information", fmt.Sprintf("%.3g nats", w.Info))
		add("Uncertainty of the pair", fmt.Sprintf("± %.3g", w.PairStd))
	}
	if w.BasedOn > 0 {
		add("Candidates trained", fmt.Sprintf("after answer %d", w.BasedOn))
	} else {
		add("Candidates trained", "before the first answer")
	}
	switch {
	case as.Condition == idrl.HeldOut:
		add("Condition", "held out")
	case as.Condition != "":
		add("Condition", methodText(string(as.Condition)))
	}
	if as.Reopens != "" {
		add("Kind", "asked again after an undo, for the same purpose")
	}
	return out
}

// addPolicies adds the policies that a question distinguishes.
func addPolicies(out *templates.QuestionCard, spec idrl.SessionSpec, q insight.Question) {
	w, strategy := q.Assignment.Why, spec.StrategyOf(q.Assignment.Condition)
	if w.First == "" {
		out.Reason = noPairText(q.Assignment, strategy)
		return
	}
	_, out.Past = w.Best[0].P()
	switch {
	case out.Past:
		out.PastNote = "P(best) when asked is the estimate that the strategy used, from 256 draws. Questions that were open then counted as answered."
	case w.Purpose == "":
		out.PastNote = "P(best) before the answer was not recorded: " + notRecorded(q.Assignment) + "."
	default:
		out.PastNote = "P(best) before the answer is not known: the strategy " + methodText(strategy) + " does not compute it."
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
		case i == 0:
			row.Role = "compared with those below"
		case share[p.ID] > 0:
			row.Share, row.ShareWidth = probability(share[p.ID]), wide(share[p.ID])
		}
		out.Policies = append(out.Policies, row)
	}
	switch rest := w.Rivals - known; {
	case known == 0:
		out.Rest = "The shares of the rivals were not recorded when this was asked."
	case rest > 0 && sum < 1:
		out.Rest = fmt.Sprintf("The other %s: %s of the value.", plural(rest, "rival"), probability(1-sum))
	}
	if len(q.Policies) < 2 {
		return
	}
	first, second := q.Policies[0], q.Policies[1]
	out.PairNote = fmt.Sprintf("%s, then %s", policyName(first), policyName(second))
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
	return probability(p)
}

// probability writes a probability in per cent, as 0 % or 100 % only if it is exactly that.
func probability(p float64) string {
	switch {
	case p > 0 && p < 0.005:
		return "< 1 %"
	case p < 1 && p > 0.995:
		return "> 99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*p)
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
