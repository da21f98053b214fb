package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/session/insight"
	"tiebreak/templates"
	"tiebreak/web/figure"
	"tiebreak/web/questionpage"
)

// chartURL returns the address of the data of a chart.
func chartURL(id idrl.SessionID, table string) string { return sessionURL(id, "charts", table) }

// charts is GET /sessions/:id/charts?page=learning|learnt|asked|people|training: the parts of a page of a session that the
// server draws, without the page around them. narrow=1 asks for figures of a small screen, scale=log for logarithmic ones.
func (s watching) charts(c echo.Context) error {
	session, err := s.researchersSession(c, auth.WatchSession)
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	p := templates.Charts{Page: c.QueryParam("page")}
	switch p.Page {
	case learningPage, peoplePage:
		err = s.insightCharts(c, session, &p)
	case learntPage:
		err = learntParts(c.Request().Context(), session, &p)
	case askedPage:
		err = s.leases(c, session, &p)
	case trainingPage:
		var trainings []record.PastTraining
		if trainings, err = session.Trainings(c.Request().Context(), trainingsListed+1); err == nil {
			p.Trainings = trainingTable(session.Spec().ID, trainings)
		}
	default:
		err = idrl.Errorf(idrl.NotFound, "There are no charts for such a page.")
	}
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.ChartParts(p))
}

// insightCharts fills in what is drawn of all answers of a session.
func (s watching) insightCharts(c echo.Context, session Session, p *templates.Charts) error {
	ctx, spec := c.Request().Context(), session.Spec()
	report, err := session.Insight(ctx)
	if err != nil {
		return err
	}
	st, err := session.Status(ctx)
	if err != nil {
		return err
	}
	p.Seq = fmt.Sprint(report.Seq)
	pen := pen{m: figure.Moment{Spec: spec, Status: st, Insight: report}, about: figure.NewAbout(spec, st, s.cfg.Program), look: figureLook(c)}
	if p.Page == peoplePage {
		names, err := s.cfg.People.AnnotatorNames(ctx, spec.ID)
		pen.look.Person = func(id string) string { return nameOf(names, idrl.AnnotatorID(id)) }
		pen.people(p)
		return cmp.Or(err, pen.err)
	}
	if spec.Compares() {
		if pen.m.Scores, err = session.Conditions(ctx); err != nil {
			return err
		}
	}
	pen.learning(p)
	return pen.err
}

// leases fills in the questions that are reserved for annotators.
func (s watching) leases(c echo.Context, session Session, p *templates.Charts) error {
	ctx, id := c.Request().Context(), session.Spec().ID
	st, err := session.Status(ctx)
	if err != nil {
		return err
	}
	names, err := s.cfg.People.AnnotatorNames(ctx, id)
	here := func(a idrl.AnnotatorID) bool { return s.sockets.has(person{auth.Annotator, id, string(a)}) }
	p.Leases = leaseTable(id, st.Open, st.Titles, names, here)
	return err
}

// people draws how labelling goes.
func (p *pen) people(out *templates.Charts) {
	l, id := p.m.Insight.Labour, p.m.Spec.ID
	none := map[bool]string{true: "All answers were imported: the times at which they were given and the response times are not known."}[len(l.Times) == 0]
	if l.Replies == 0 {
		none = "Shown from the first answer on."
	}
	rate := p.card("rate", "those that count, with skipped questions; hours in UTC", none)
	if none == "" {
		rate.Said = rateSum(l)
	}
	out.Cards = []templates.ChartCard{rate}
	if l.Replies == 0 {
		return
	}
	answers := p.card("answers", "with 95 % interval of the share", "")
	answers.Said, answers.Quality = agreementSum(l.Agree), sessionURL(id, "quality")
	out.Cards = append(out.Cards, answers)
	out.Wide = []templates.ChartCard{p.card("times", "box: the middle half; line: 5 to 95 %; mark: median", none)}
	p.fold(out)
}

func agreementSum(a *insight.Agreement) string {
	switch {
	case a == nil:
		return "No two people have answered the same question yet."
	case a.Rated:
		return fmt.Sprintf("Agreement over %s that two people or more answered: Krippendorff’s alpha %s.", plural(a.Questions, "question"), words.Signed(a.Alpha, 2))
	}
	return fmt.Sprintf("Agreement over %s that two people or more answered: %.0f %% of pairs of answers are the same, Krippendorff’s alpha %s.",
		plural(a.Questions, "question"), 100*a.Raw, words.Signed(a.Alpha, 2))
}

func rateSum(l insight.Labour) string {
	most, sum, busy := 0, 0, 0
	for _, h := range l.Hours {
		most, sum = max(most, h.Replies), sum+h.Replies
		if h.Replies > 0 {
			busy++
		}
	}
	first, last := l.Hours[0].Begin, l.Hours[len(l.Hours)-1].Begin
	text := fmt.Sprintf("%s; in hours with answers %s on average, %s at most. From %s to %s UTC.",
		plural(sum, "answer"), words.Signed(float64(sum)/float64(max(1, busy)), 0), words.Count(most), first.Format("2 Jan 15:04"), last.Add(time.Hour).Format("2 Jan 15:04"))
	if l.Earlier > 0 {
		text += fmt.Sprintf(" Before that: %s.", plural(l.Earlier, "answer"))
	}
	return text
}

func leaseTable(id idrl.SessionID, open []record.Assignment, titles map[idrl.PolicyID]string, names map[idrl.AnnotatorID]string, here func(idrl.AnnotatorID) bool) templates.LeaseTable {
	t := templates.LeaseTable{CSV: chartURL(id, "leases")}
	for _, as := range open {
		row := templates.LeaseRow{
			Name: nameOf(names, as.Annotator), Page: "closed",
			Asked: as.IssuedAt.UTC().Format("15:04:05"), Until: as.LeaseUntil.UTC().Format("15:04:05") + " UTC", Apart: cmp.Or(questionpage.ShortPurpose(as.Why), "–"), Info: "–",
		}
		if here(as.Annotator) {
			row.Page = "open"
		}
		if as.Why.First != "" {
			row.Apart, row.Info = fmt.Sprintf("%s – %s", called(titles, as.Why.First), called(titles, as.Why.Second)), fmt.Sprintf("%.3g nats", as.Why.Info)
			switch more := as.Why.Rivals - 1; {
			case as.Why.Purpose == record.ForDuel:
				row.Apart = "duel: " + row.Apart
			case more > 0:
				row.Apart += fmt.Sprintf(" and %d more", more)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// chartTable is GET /sessions/:id/charts/:table: the data of a chart as CSV, or with .svg behind its name the chart as a figure for papers.
func (s watching) chartTable(c echo.Context) error {
	session, err := s.researchersSession(c, auth.WatchSession)
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	name, drawn := strings.CutSuffix(c.Param("table"), ".svg")
	if drawn && figure.Fits(session.Spec(), name) {
		return s.figure(c, session, name)
	}
	for _, t := range chartTables(session.Spec()) {
		if t.name == name && !drawn {
			return s.writeTable(c, session, t)
		}
	}
	return idrl.Errorf(idrl.NotFound, "There is no such table in a session of this kind.")
}

func (s watching) writeTable(c echo.Context, session Session, t table) error {
	out := &csvFile{c: c, name: fmt.Sprintf("tiebreak-%s-%s.csv", session.Spec().ID, t.name), columns: t.columns}
	err := t.write(c.Request().Context(), s, session, out.put)
	if err == nil {
		err = out.end()
	}
	if err != nil && committed(c) {
		s.log.Error("table broken off", "session", session.Spec().ID, "table", t.name, "err", err)
		panic(http.ErrAbortHandler) // a reader must not mistake half a table for a whole one
	}
	return err
}

// A table is the data of a chart: docs/dashboard.md says what its columns mean.
type table struct {
	name    string
	what    string // that it holds, for people
	columns []string
	write   func(ctx context.Context, s watching, session Session, put func(...any) error) error
}
