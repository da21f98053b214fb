package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/session/insight"
	"tiebreak/templates"
	"tiebreak/web/figure"
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
	p.Seq = fmt.Sprint(report.Seq)
	if p.Page == learningPage {
		p.Calibration, p.Ratings, p.Posterior = calibrationCharts(spec, report), ratingChart(spec, report), posteriorChart(spec, report)
		p.Figures, err = s.learningFigures(ctx, session, figureLook(c.QueryParam("narrow"), c.QueryParam("scale")))
		return err
	}
	names, err := s.cfg.People.AnnotatorNames(ctx, spec.ID)
	p.Labour = labourCharts(spec.ID, report.Labour, names)
	return err
}

// leases fills in the questions that are reserved for annotators.
func (s watching) leases(c echo.Context, session Session, p *templates.Charts) error {
	ctx, id := c.Request().Context(), session.Spec().ID
	open, err := session.Open(ctx)
	if err != nil {
		return err
	}
	names, err := s.cfg.People.AnnotatorNames(ctx, id)
	here := func(a idrl.AnnotatorID) bool { return s.sockets.has(person{auth.Annotator, id, string(a)}) }
	p.Leases = leaseTable(id, open, names, here)
	return err
}

const (
	weightsDrawn    = 8  // histories on a page
	weightsCompared = 12 // rows of the table of correlations
)

func posteriorChart(spec idrl.SessionSpec, r *insight.Report) templates.PosteriorChart {
	if spec.Model == idrl.NetworkModel {
		return networkChart(spec, r)
	}
	c := templates.PosteriorChart{
		Title: "History of the weights", Hint: "mean and 95 % interval by answers that count, in standard deviations of the prior",
		History: chartURL(spec.ID, "history"), Covariance: chartURL(spec.ID, "covariance"),
	}
	p := r.Posterior
	switch {
	case len(p.Weights) == 0:
		c.None = "The reward has too many weights to follow each."
	case r.Answers == 0:
		c.None = "Shown from the first answer on."
	}
	if c.None != "" {
		return c
	}
	drawn := p.Largest[:min(len(p.Largest), weightsDrawn)]
	c.Sum = "All weights, the largest first. The dashed line is 0."
	if n := len(p.Weights); n > len(drawn) {
		c.Sum = fmt.Sprintf("The %d largest of %d weights now, the largest first; all are in the CSV. The dashed line is 0.", len(drawn), n)
	}
	drawHistories(&c, p, drawn, r.Answers)
	compared := p.Largest[:min(len(p.Largest), weightsCompared)]
	c.MatrixSum = fmt.Sprintf("Of %s, the largest first. ± is one standard deviation, in that of the prior.", plural(len(compared), "weight"))
	if n := len(p.Weights); n > len(compared) {
		c.MatrixSum = fmt.Sprintf("Of the %d largest of %d weights; all are in the CSV. ± is one standard deviation, in that of the prior.", len(compared), n)
	}
	for i, row := range p.Correlation(compared) {
		w := p.Weights[compared[i]]
		out := templates.CorrelationRow{Name: w.Name, Std: fmt.Sprintf("%.2f", w.Std)}
		for j, v := range row {
			out.Cells = append(out.Cells, correlationCell(i == j, v))
		}
		c.Names, c.Rows = append(c.Names, w.Name), append(c.Rows, out)
	}
	return c
}

// correlationCell shows a correlation as text, and by a class how far it is from 0.
func correlationCell(self bool, v float64) templates.CorrelationCell {
	if self {
		return templates.CorrelationCell{Text: "1", Class: "self"}
	}
	class, size := "p", v
	if v < 0 {
		class, size = "n", -v
	}
	return templates.CorrelationCell{Text: signed(v, 2), Class: fmt.Sprintf("%s%d", class, min(4, int(5*size)))}
}

// labourCharts shows how labelling goes; names are those of annotators.
func labourCharts(id idrl.SessionID, l insight.Labour, names map[idrl.AnnotatorID]string) templates.LabourCharts {
	c := templates.LabourCharts{TimesCSV: chartURL(id, "times"), MixCSV: chartURL(id, "answers"), Quality: sessionURL(id, "quality")}
	c.Rate.CSV = chartURL(id, "rate")
	if l.Replies == 0 {
		c.None = "Shown from the first answer on."
		return c
	}
	if len(l.Times) == 0 {
		c.Untimed = "All answers were imported: the times at which they were given and the response times are not known."
	} else {
		c.Rate = rateChart(c.Rate.CSV, l)
	}
	most := time.Duration(1)
	for _, t := range l.Times {
		most = max(most, t.Q[4])
	}
	x := axis{low: 0, high: most.Seconds(), from: 1, to: 99}
	for _, t := range l.Times {
		name := "Everybody"
		if t.Annotator != "" {
			name = nameOf(names, t.Annotator)
		}
		at := func(i int) string { return x.place(t.Q[i].Seconds()) }
		c.Times = append(c.Times, templates.TimesRow{
			Name: name, N: fmt.Sprint(t.N), Median: took(t.Q[2]), Middle: took(t.Q[1]) + " to " + took(t.Q[3]), Most: took(t.Q[0]) + " to " + took(t.Q[4]),
			Low: at(0), Q1: at(1), Q2: at(2), Width: percentage(x.at(t.Q[3].Seconds()) - x.at(t.Q[1].Seconds())), High: at(4),
		})
	}
	for _, m := range l.Mix {
		c.Mix = append(c.Mix, templates.MixRow{
			Name: replyName(m.Choice), N: fmt.Sprint(m.N), Share: stats.Percent(m.Of), Interval: fmt.Sprintf("%.0f to %.0f %%", 100*m.From, 100*m.To),
			Width: wide(m.Of), Low: wide(m.From), High: wide(m.To),
		})
	}
	c.Agree = "No two people have answered the same question yet."
	if a := l.Agree; a != nil && a.Rated {
		c.Agree = fmt.Sprintf("Agreement over %s that two people or more answered: Krippendorff’s alpha %.2f.", plural(a.Questions, "question"), a.Alpha)
	} else if a != nil {
		c.Agree = fmt.Sprintf("Agreement over %s that two people or more answered: %.0f %% of pairs of answers are the same, Krippendorff’s alpha %.2f.",
			plural(a.Questions, "question"), 100*a.Raw, a.Alpha)
	}
	return c
}

// took shows a time to tenths of a second.
func took(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func replyName(c idrl.Choice) string {
	text := map[idrl.Choice]string{
		idrl.ChoseA: "Clip a", idrl.ChoseB: "Clip b", idrl.Equal: "Equal", idrl.CantTell: "Can’t tell", idrl.Skip: "Skipped",
		idrl.TechnicalFailure: "Clip failed", idrl.Rated: "Rated", idrl.BestWorst: "Best and worst",
	}[c]
	if text == "" {
		return string(c)
	}
	return text
}

func rateChart(csv string, l insight.Labour) templates.RateChart {
	c := templates.RateChart{CSV: csv}
	most, sum, busy := 0, 0, 0
	for _, h := range l.Hours {
		most, sum = max(most, h.Replies), sum+h.Replies
		if h.Replies > 0 {
			busy++
		}
	}
	n := float64(len(l.Hours))
	x, y := axis{low: 0, high: n, from: 12, to: 98}, axis{low: 0, high: float64(most), from: 84, to: 8}
	each := (x.to - x.from) / n
	width := min(0.8*each, 8)
	for i, h := range l.Hours {
		top := y.at(float64(h.Replies))
		c.Bars = append(c.Bars, templates.RateBar{
			X: percentage(x.at(float64(i)+0.5) - width/2), Width: percentage(width), Y: percentage(top), Height: percentage(y.from - top),
			Hour: h.Begin.Format("2 Jan 15:04"), N: plural(h.Replies, "answer"),
		})
	}
	marks, _ := figure.Ticks(0, float64(most), 3)
	for _, v := range marks {
		if v == float64(int(v)) {
			c.Y = append(c.Y, templates.Tick{Place: y.place(v), Text: fmt.Sprintf("%.0f", v)})
		}
	}
	for _, i := range hourMarks(len(l.Hours)) {
		c.X = append(c.X, templates.Tick{Place: percentage(x.at(float64(i) + 0.5)), Text: l.Hours[i].Begin.Format("15:04")})
	}
	first, last := l.Hours[0].Begin, l.Hours[len(l.Hours)-1].Begin
	c.Sum = fmt.Sprintf("%s; in hours with answers %.0f on average, %d at most. From %s to %s UTC.",
		plural(sum, "answer"), float64(sum)/float64(max(1, busy)), most, first.Format("2 Jan 15:04"), last.Add(time.Hour).Format("2 Jan 15:04"))
	if l.Earlier > 0 {
		c.Sum += fmt.Sprintf(" Before that: %s.", plural(l.Earlier, "answer"))
	}
	c.Desc = c.Sum
	return c
}

// hourMarks are the hours of n that are named: at most four, the first and the last among them.
func hourMarks(n int) (out []int) {
	parts := min(3, n-1)
	if parts < 1 {
		return []int{0}
	}
	for k := range parts + 1 {
		out = append(out, k*(n-1)/parts)
	}
	return out
}

func leaseTable(id idrl.SessionID, open []record.Assignment, names map[idrl.AnnotatorID]string, here func(idrl.AnnotatorID) bool) templates.LeaseTable {
	t := templates.LeaseTable{CSV: chartURL(id, "leases")}
	for _, as := range open {
		row := templates.LeaseRow{
			N: fmt.Sprint(as.N), Name: nameOf(names, as.Annotator), Page: "closed",
			Asked: as.IssuedAt.UTC().Format("15:04:05"), Until: as.LeaseUntil.UTC().Format("15:04:05") + " UTC", Apart: "–",
		}
		if here(as.Annotator) {
			row.Page = "open"
		}
		if as.Why.First != "" {
			row.Apart = fmt.Sprintf("%s – %s", as.Why.First, as.Why.Second)
			if as.Why.Purpose == record.ForDuel {
				row.Apart = "duel: " + row.Apart
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
	if drawn {
		return s.figure(c, session, name)
	}
	for _, t := range chartTables() {
		if t.name == name {
			return s.writeTable(c, session, t)
		}
	}
	return idrl.Errorf(idrl.NotFound, "There is no such table.")
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
	columns []string
	write   func(ctx context.Context, s watching, session Session, put func(...any) error) error
}
