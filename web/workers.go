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
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/static"
	"tiebreak/templates"
)

// Workers are those that do the training jobs of the server.
type Workers interface {
	// Report returns what there is now.
	Report(ctx context.Context) (record.WorkerReport, error)
	// Bar records what a researcher says of a worker, and has the server act by it at once. Errors are of kind Invalid or
	// Conflict, in words for people.
	Bar(ctx context.Context, b record.WorkerBar) error
}

const workersPath = "/workers"

// workerActs are the actions of the form.
var workerActs = map[string]string{"drain": record.WorkerDrained, "ban": record.WorkerBanned, "allow": record.WorkerAllowed}

// reportFor returns what is known of workers; nothing where the server has none of its own. It does not
// name sessions that the actor may not watch.
func reportFor(ctx context.Context, s *site, who auth.Actor) (record.WorkerReport, error) {
	if s.cfg.Workers == nil {
		return record.WorkerReport{At: time.Now().UTC(), Workers: []record.WorkerState{}, Here: []record.WorkerJob{}, Waiting: []record.WaitingJob{}, Bars: []record.WorkerBar{}, Unplaced: []record.Unplaced{}}, nil
	}
	r, err := s.cfg.Workers.Report(ctx)
	if err != nil {
		return r, err
	}
	may, err := s.cfg.Auth.Watchable(ctx, who)
	return r.Hide(func(id idrl.SessionID) bool { return !may(id) }), err
}

// jobURL returns the address of a job's session; empty if the session is hidden.
func jobURL(j record.WorkerJob) string {
	if j.Session == "" {
		return ""
	}
	return sessionURL(j.Session)
}

// workers is GET /workers.
func (s watching) workers(c echo.Context) error {
	who, err := s.researcher(c, auth.ListSessions, "")
	if err != nil {
		return err
	}
	r, err := reportFor(c.Request().Context(), s.site, who)
	if err != nil {
		return err
	}
	p := workersPage(r, time.Now())
	p.Layout, p.Starts = s.layout(c, "Workers"), s.cfg.WorkerStarts
	if auth.Can(who, auth.ManageWorkers, auth.Object{}) {
		p.Action = workersPath
	}
	p.Scripts = static.Modules("workers.js")
	p.Back, p.MaxWhy = "/sessions", strconv.Itoa(record.MaxWorkerWhy)
	return render(c, http.StatusOK, templates.Workers(p))
}

// postWorker is POST /workers with the fields worker, action ("drain", "ban" or "allow") and why.
func (s watching) postWorker(c echo.Context) error {
	who, err := s.researcher(c, auth.ManageWorkers, "")
	if err != nil {
		return err
	}
	bar, ok := workerActs[c.FormValue("action")]
	if !ok || s.cfg.Workers == nil {
		return idrl.Errorf(idrl.Invalid, "say whether the worker is to \"drain\", to be \"ban\", or \"allow\"")
	}
	b := record.WorkerBar{Worker: c.FormValue("worker"), Bar: bar, Who: who.User, At: time.Now(), Why: strings.TrimSpace(c.FormValue("why"))}
	if err := s.cfg.Workers.Bar(c.Request().Context(), b); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, workersPath)
}

// workersPage fills the page, but for what is the same for all reports.
func workersPage(r record.WorkerReport, now time.Time) templates.WorkersPage {
	p := templates.WorkersPage{Elsewhere: r.Elsewhere}
	for _, w := range r.Workers {
		p.Workers = append(p.Workers, workerRow(w, r.Bar(w.Name), now))
	}
	for _, j := range r.Here {
		p.Here = append(p.Here, templates.WorkerJobRow{What: j.What(), URL: jobURL(j), Since: since(j.Since, now)})
	}
	for _, j := range r.Waiting {
		p.Waiting = append(p.Waiting, templates.WorkerJobRow{What: j.What(), URL: jobURL(j.WorkerJob), Since: since(j.Since, now), Why: j.Why})
	}
	for _, b := range r.Absent() {
		p.Absent = append(p.Absent, templates.WorkerRow{Name: b.Worker, State: b.Bar, Said: said(b, now), Allow: true})
	}
	for _, u := range r.Unplaced {
		p.Unplaced = append(p.Unplaced, templates.UnplacedRow{Needs: strings.Join(u.Needs, ", "), Why: sentence(u.Why)})
	}
	if r.LeftOut > 0 {
		p.LeftOut = fmt.Sprintf("%d more are not listed.", r.LeftOut)
	}
	return p
}

func workerRow(w record.WorkerState, b record.WorkerBar, now time.Time) templates.WorkerRow {
	row := templates.WorkerRow{
		Name: w.Name, Where: w.Where(), Version: w.Version, Since: since(w.Since, now), Done: strconv.Itoa(w.Done), State: w.State, Says: sentence(w.Says()),
	}
	for _, j := range w.Doing {
		row.Doing = append(row.Doing, templates.WorkerJobRow{What: j.What(), URL: jobURL(j), Since: since(j.Since, now)})
	}
	if w.False > 0 {
		row.False = sentence(record.Counted(w.False, "result") + map[bool]string{true: " was false", false: " were false"}[w.False == 1])
	}
	barred := b.Bar == record.WorkerDrained || b.Bar == record.WorkerBanned
	if barred {
		row.Said = said(b, now)
	}
	row.Allow = barred || w.False > 0
	row.Drain, row.Ban = b.Bar != record.WorkerDrained, b.Bar != record.WorkerBanned
	return row
}

// said says who said something of a worker, when and why.
func said(b record.WorkerBar, now time.Time) string {
	text := fmt.Sprintf("By %s, %s ago", cmp.Or(idrl.VisibleName(b.Who), "a researcher"), since(b.At, now))
	if b.Why != "" {
		text += ": " + b.Why
	}
	return text
}

// since shows for how long something has been so.
func since(t, now time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "–"
	case d < time.Minute:
		return "under 1 min"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	}
}

// apiWorkers is GET /api/v1/workers.
func (s *api) apiWorkers(c echo.Context) error {
	who, err := s.program(c, auth.ListSessions, "")
	if err != nil {
		return err
	}
	if who.Session != "" { // workers do the jobs of all sessions
		return errScope
	}
	r, err := reportFor(c.Request().Context(), s.site, who)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, r)
}
