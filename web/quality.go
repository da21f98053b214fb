package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"tiebreak/internal/base/words"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/quality"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// Quality reports how the annotators of sessions answer.
type Quality interface {
	// Quality returns the report on a session, whether it runs or not.
	Quality(ctx context.Context, id idrl.SessionID) (quality.Report, error)
}

// quality is GET /sessions/:id/quality, with format=json as JSON: how annotators answer, and how
// well they agree.
func (s watching) quality(c echo.Context) error {
	spec, err := s.researchersSpec(c, auth.WatchSession)
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	ctx := c.Request().Context()
	q, err := s.cfg.Quality.Quality(ctx, spec.ID)
	if err != nil {
		return err
	}
	if c.QueryParam("format") == "json" {
		c.Response().Header().Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=\"tiebreak-%s-quality.json\"", spec.ID))
		return c.JSONPretty(http.StatusOK, q, "  ")
	}
	people, err := s.cfg.People.Annotators(ctx, spec.ID)
	if err != nil {
		return err
	}
	called := map[idrl.AnnotatorID]string{}
	for _, a := range people {
		called[a.ID] = personRow(spec.ID, a).Name
	}
	p := qualityPage(spec, q, called)
	if !s.may(c, auth.Remove, spec.ID) {
		for k := range p.People {
			p.People[k].Actions.URL = ""
		}
	}
	flags, err := s.cfg.Flags.Flags(ctx, spec.ID)
	if err != nil {
		return err
	}
	p.Flags, p.FlagsURL = flagRows(flags, called), sessionURL(spec.ID, "export")+"?format="+export.FlagsFormat
	p.Layout = s.layout(c, "How people answer")
	return render(c, http.StatusOK, templates.Quality(p))
}

// qualityPage shows a report; called has the people's names.
func qualityPage(spec idrl.SessionSpec, q quality.Report, called map[idrl.AnnotatorID]string) templates.QualityPage {
	p := templates.QualityPage{
		Heading: spec.Title, Back: sessionURL(spec.ID), Tabs: sessionTabs(spec, peoplePage), JSON: sessionURL(spec.ID, "quality") + "?format=json", Known: sessionURL(spec.ID, "known"),
		Rated: q.Rated, Same: "Same on repeat",
		LapseRule: fmt.Sprintf("the 95 %% interval is narrower than %.0f percentage points, for reliable people after about %d answers", 100*idrl.WidestLapse, idrl.LapseAnswers),
	}
	if q.Rated {
		p.Same = "Difference on repeat"
	}
	answers, repeats, gold := 0, 0, 0
	for _, a := range q.People {
		answers, repeats, gold = answers+a.Answers, repeats+a.Repeats, gold+a.Gold
		name := called[a.Annotator]
		if name == "" {
			name = string(a.Annotator)
		}
		p.People = append(p.People, qualityRow(spec.ID, name, a, q.Rated))
		if a.Spent.Answers > 0 {
			w := a.Spent.Words()
			p.Spent = append(p.Spent, templates.SpentRow{Name: name, Time: w.Time, Each: w.Each, Changes: w.Changes, CantTell: w.CantTell, Hesitations: w.Hesitations})
		}
		if a.Manner != nil {
			p.Manners = append(p.Manners, mannerRow(name, *a.Manner))
		}
	}
	p.Sum = fmt.Sprintf("%s, %s; %s repeated, %s", words.People(len(q.People)), plural(answers, "answer"), plural(repeats, "question"), plural(gold, "gold answer"))
	if q.Questions > 0 {
		p.Shared = fmt.Sprintf("Computed over %s that two or more people answered, including gold questions and repeats. 1: they always agree; 0: they agree as often as by chance (raw agreement is not corrected for chance). The other coefficients have an interval from %d questions on, if not all answers agree.",
			plural(q.Questions, "question"), quality.LeastShared)
		p.Measures = measures(q, called)
	}
	switch {
	case len(q.People) == 0:
		p.None = "There are no answers yet."
	case repeats == 0 && gold == 0 && q.Questions == 0:
		p.None = fmt.Sprintf("Nothing to compare yet: %s of %s. Give the right answers to some questions (Practice and gold), or set “Repeat every” when you create a session.",
			plural(answers, "answer"), words.People(len(q.People)))
	}
	return p
}

// medianText writes a median response time; imported answers have none.
func medianText(ms int64) string {
	if ms == 0 {
		return "–"
	}
	return words.Took(time.Duration(ms) * time.Millisecond)
}

func qualityRow(id idrl.SessionID, name string, a quality.Person, rated bool) templates.QualityRow {
	row := templates.QualityRow{
		ID: string(a.Annotator), Name: name, Answers: words.Count(a.Answers), CantTell: words.Count(a.CantTell), Marked: words.Count(a.Marked),
		Time: medianText(a.MedianMS),
		Left: shareOf(a.LeftShare, a.Sided, a.LeftLow, a.LeftHigh), Same: ofN(a.SaidSame, a.Repeats, a.SameLow, a.SameHigh),
		Gold: ofN(a.GoldRight, a.Gold, a.GoldLow, a.GoldHigh),
		Actions: templates.AnswersActions{
			Name: name, URL: answersURL(id, a.Annotator), Back: "quality", LeftOut: a.LeftOut, Turned: a.Turned > 0, Turn: a.Reversed, Leave: true,
		},
	}
	if a.Turned > 0 {
		row.Turned = plural(a.Turned, "answer") + " turned"
	}
	if rated {
		row.Left, row.Same = templates.Share{}, templates.Share{}
		if a.Repeats > 0 { // two ratings are hardly ever the same number
			row.Same = templates.Share{Value: fmt.Sprintf("%.1f of 10", 5*a.Difference), Of: fmt.Sprintf("over %d", a.Repeats)}
		}
	}
	for _, w := range a.Warnings {
		row.Warnings = append(row.Warnings, sentence(w))
	}
	return row
}

// shareOf shows a share of n with its interval.
func shareOf(v float64, n int, low, high float64) templates.Share {
	if n == 0 {
		return templates.Share{}
	}
	return templates.Share{Value: fmt.Sprintf("%.0f %%", 100*v), Interval: fmt.Sprintf("%.0f to %.0f %%", 100*low, 100*high)}
}

// ofN is shareOf with the text "k of n".
func ofN(k, n int, low, high float64) templates.Share {
	s := shareOf(float64(k)/float64(max(1, n)), n, low, high)
	if n > 0 {
		s.Of = fmt.Sprintf("%d of %d", k, n)
	}
	return s
}

func mannerRow(name string, m idrl.Manner) templates.MannerRow {
	times := func(format string, r idrl.Range) templates.Share {
		if r == (idrl.Range{}) {
			return templates.Share{}
		}
		return templates.Share{Value: fmt.Sprintf(format, r.Middle), Interval: fmt.Sprintf(format+" to "+format, r.Low, r.High)}
	}
	var lapse templates.Share
	if m.LapseKnown() {
		lapse = templates.Share{Value: fmt.Sprintf("%.0f %%", 100*m.Lapse.Middle), Interval: fmt.Sprintf("%.0f to %.0f %%", 100*m.Lapse.Low, 100*m.Lapse.High)}
	}
	return templates.MannerRow{
		Name: name, Random: fmt.Sprintf("%.0f %%", 100*m.Random), Reversed: fmt.Sprintf("%.0f %%", 100*m.Reversed), Noise: times("%.2f", m.Noise), Lapse: lapse, TieWidth: times("%.2f", m.TieWidth),
		Offset: times("%+.2f", m.Offset), Scale: times("%.2f", m.Scale),
	}
}

// measures lists how well people agree.
func measures(q quality.Report, called map[idrl.AnnotatorID]string) (out []templates.MeasureRow) {
	add := func(name, hint string, c *quality.Coefficient) {
		row := templates.MeasureRow{Name: name, Hint: hint, Share: templates.Share{Value: "not defined"}}
		if c != nil {
			row.Share.Value = words.Signed(c.Value, 2)
			if c.Low != nil {
				row.Share.Interval = words.Signed(*c.Low, 2) + " to " + words.Signed(*c.High, 2)
			}
		}
		out = append(out, row)
	}
	if !q.Rated {
		add("Raw agreement", "share of pairs of answers that are the same", q.Raw)
	}
	add("Krippendorff’s alpha", "any number of people, also where some did not answer", q.Alpha)
	if !q.Rated {
		add("Fleiss’ kappa", "the same number of people for each question", q.Fleiss)
	}
	for _, k := range q.Cohen {
		var c *quality.Coefficient
		if k.Kappa != nil {
			c = &quality.Coefficient{Value: *k.Kappa}
		}
		add("Cohen’s kappa", fmt.Sprintf("%s and %s, over %d", nameOf(called, k.A), nameOf(called, k.B), k.Questions), c)
	}
	return out
}

func nameOf(called map[idrl.AnnotatorID]string, id idrl.AnnotatorID) string {
	if name := called[id]; name != "" {
		return name
	}
	return string(id)
}
