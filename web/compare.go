package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/people/auth"
	"tiebreak/templates"
	"tiebreak/web/figure"
	"tiebreak/web/statement"
)

// How many sessions can be compared.
const (
	leastCompared = 2
	mostCompared  = 6
)

const comparePath = "/compare"

// comparing is for researchers who compare sessions.
type comparing struct{ *site }

// comparedSpecs returns the settings of the sessions of the request's parameters "session", each once, if a researcher who may watch
// all of them is signed in.
func (s comparing) comparedSpecs(c echo.Context) (out []idrl.SessionSpec, err error) {
	if _, err := s.researcher(c, auth.ListSessions, ""); err != nil {
		return nil, err
	}
	var ids []string
	for _, id := range c.QueryParams()["session"] {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if n := len(ids); n < leastCompared || n > mostCompared {
		return nil, idrl.Errorf(idrl.Invalid, "Tick %d to %d sessions in the list of sessions, to compare them; these are %d.", leastCompared, mostCompared, n)
	}
	for _, id := range ids {
		if _, err := s.researcher(c, auth.WatchSession, idrl.SessionID(id)); err != nil {
			return nil, err
		}
		spec, err := s.cfg.Sessions.Spec(c.Request().Context(), idrl.SessionID(id))
		if err != nil {
			return nil, err
		}
		if spec.IsArena() {
			return nil, idrl.Errorf(idrl.Invalid, "“%s” is an arena: it learns no reward, and states no loss that could be compared.", spec.Title)
		}
		out = append(out, spec)
	}
	return out, nil
}

// incomparable says why losses of sessions must not be drawn in one chart, in sentences; empty if they may.
func (s comparing) incomparable(specs []idrl.SessionSpec) string {
	var envs, returns []string
	for _, spec := range specs {
		if env := s.env(spec.Env).Title; !slices.Contains(envs, env) {
			envs = append(envs, env)
		}
		if !slices.Contains(returns, spec.Return) {
			returns = append(returns, spec.Return)
		}
	}
	const unit = " A loss is a share of the range from the worst to the best policy of a session, so that their losses have different units, and are not drawn in one chart."
	switch {
	case len(envs) > 1:
		return "These sessions are about different environments: " + strings.Join(envs, ", ") + "." + unit
	case len(returns) > 1:
		return "These sessions compare policies by different returns: of some the mean reward of a step counts, of others the sum." + unit
	}
	return ""
}

// compared reads what a comparison says of a session. Its loss is empty where it states none, and where it cannot run here.
func (s comparing) compared(ctx context.Context, spec idrl.SessionSpec, wage float64) (row templates.ComparedRow, of figure.Compared, err error) {
	row = templates.ComparedRow{ID: string(spec.ID), URL: sessionURL(spec.ID), Title: spec.Title, Strategy: acquisition.Title(spec.Acquisition), Loss: "–"}
	of = figure.Compared{Session: spec.ID, Title: spec.Title, About: figure.About{Seed: spec.Seed}}
	session, err := s.session(ctx, spec.ID)
	switch {
	case asPaused(err) != nil:
		row.Statement = "It cannot run on this server."
		return row, of, nil //nolint:nilerr // the table says it
	case err != nil:
		return row, of, err
	}
	st, err := session.Status(ctx)
	if err != nil {
		return row, of, err
	}
	of.About = figure.NewAbout(spec, st, s.cfg.Program)
	row.Answers = countText(st.Answers, st.Skipped, spec.Budget)
	switch {
	case !spec.StatesRegret():
		row.Statement = "For a reward network no loss is stated."
	case len(st.Regret) == 0:
		row.Statement = "Nothing is stated yet."
	default:
		of.Regret = slices.DeleteFunc(slices.Clone(st.Regret), func(r idrl.Regret) bool { return r.Definition != idrl.RegretDefinition })
		row.Statement, row.Loss = statement.Of(st).Headline+".", statement.Loss(finite(st.Regret[len(st.Regret)-1].Mean))
	}
	q, err := s.cfg.Quality.Quality(ctx, spec.ID)
	if err != nil {
		return row, of, err
	}
	row.Agreement = "not known"
	if q.Alpha != nil {
		row.Agreement = "α " + q.Alpha.String()
	}
	report, err := session.Insight(ctx)
	if err != nil {
		return row, of, err
	}
	row.Time = words.Took(report.Labour.Time)
	if wage > 0 {
		row.Cost = costText(report.Labour.Time.Hours() * wage)
	}
	return row, of, nil
}

// comparison reads all that is compared.
func (s comparing) comparison(c echo.Context, specs []idrl.SessionSpec, wage float64) (table []templates.ComparedRow, list []figure.Compared, err error) {
	for _, spec := range specs {
		row, of, err := s.compared(c.Request().Context(), spec, wage)
		if err != nil {
			return nil, nil, err
		}
		table, list = append(table, row), append(list, of)
	}
	return table, list, nil
}

// readWage returns a wage for an hour that was typed; 0 if nothing was. Its error is of kind Invalid.
func readWage(typed string) (float64, error) {
	text := strings.TrimSpace(strings.ReplaceAll(typed, ",", "."))
	if text == "" {
		return 0, nil
	}
	wage, err := strconv.ParseFloat(text, 64)
	if err != nil || !(wage > 0 && wage <= mostWage) {
		return 0, idrl.Errorf(idrl.Invalid, "The wage for an hour must be a number above 0, up to %d.", mostWage)
	}
	return wage, nil
}

// compareSessions is GET /compare?session=A&session=B with two to six sessions, and perhaps wage: their losses in one chart, and a table.
func (s comparing) compareSessions(c echo.Context) error {
	specs, err := s.comparedSpecs(c)
	if err != nil {
		return err
	}
	wage, err := readWage(c.QueryParam("wage"))
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	table, list, err := s.comparison(c, specs, wage)
	if err != nil {
		return err
	}
	p := templates.ComparePage{Layout: s.layout(c, "Compare sessions"), Back: "/sessions", Rows: table, Env: s.env(specs[0].Env).Title, Problem: s.incomparable(specs), Wage: c.QueryParam("wage"), Priced: wage > 0}
	p.Styles = []string{"charts.css"}
	q := url.Values{}
	for _, spec := range specs {
		q.Add("session", string(spec.ID))
	}
	p.SVG, p.CSV = comparePath+"/regret.svg?"+q.Encode(), comparePath+"/regret.csv?"+q.Encode()
	if p.Problem == "" {
		d, err := figure.Compare(list, s.cfg.Program)
		if err != nil {
			return err
		}
		if p.Caption = d.Caption; !d.Empty {
			p.Chart = d.Inline()
		}
	}
	return render(c, http.StatusOK, templates.Compare(p))
}

// compareFile is GET /compare/regret.svg and /compare/regret.csv with the sessions as parameters: the chart of a comparison, and its data.
func (s comparing) compareFile(c echo.Context) error {
	specs, err := s.comparedSpecs(c)
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	_, list, err := s.comparison(c, specs, 0)
	if err != nil {
		return err
	}
	switch c.Param("file") {
	case "regret.csv":
		out := &csvFile{c: c, name: "tiebreak-compared.csv", columns: figure.ComparedColumns()}
		if err := figure.WriteCompared(list, out.put); err != nil {
			return err
		}
		return out.end()
	case "regret.svg":
		if why := s.incomparable(specs); why != "" {
			return idrl.Errorf(idrl.Conflict, "%s", why)
		}
		d, err := figure.Compare(list, s.cfg.Program)
		if err != nil {
			return err
		}
		h := c.Response().Header()
		h.Set(echo.HeaderContentDisposition, `attachment; filename="tiebreak-compared.svg"`)
		h.Set(echo.HeaderCacheControl, "no-store")
		return c.Blob(http.StatusOK, "image/svg+xml", d.File())
	}
	return idrl.Errorf(idrl.NotFound, "There is no such file.")
}
