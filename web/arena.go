package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/base/words"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/episodes"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/bradley"
	"tiebreak/static"
	"tiebreak/templates"
)

// Arenas makes arenas and reports their results.
type Arenas interface {
	// NewArena makes an arena and starts it. spec has the title, the budget and the other settings
	// that differ between arenas; the rest follows from the entrants. The account owner owns it.
	// Errors are of kind NotFound or Invalid, in words for people, if an entrant cannot be used.
	NewArena(ctx context.Context, spec idrl.SessionSpec, entrants []Entrant, owner string) (idrl.SessionID, error)
	// Arena returns the result of an arena, and the answers on which it is based.
	Arena(ctx context.Context, id idrl.SessionID) (bradley.Report, []bradley.Outcome, error)
	// Recorded returns the sets of imported rollouts whose policies may enter.
	Recorded() []RecordedSet
	// Uploaded returns what was uploaded to a session: Env is its id, and there is no title.
	Uploaded(ctx context.Context, id idrl.SessionID) (RecordedSet, error)
}

// newArenaPath is the address of the form of an arena.
const newArenaPath = "/arenas/new"

// toNewArena leads from the address that a form was sent to back to the form.
func (s watching) toNewArena(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, newArenaPath)
}

// newArena is GET /arenas/new.
func (s watching) newArena(c echo.Context) error {
	who, err := s.researcher(c, auth.CreateSession, "")
	if err != nil {
		return err
	}
	return s.arenaForm(c, who, http.StatusOK, url.Values{"title": {"Which do you prefer?"}, "detect": {fmt.Sprint(idrl.DefaultDetect)}}, "")
}

// createArena is POST /arenas. After an error it shows the form again, with the values and the
// errors.
func (s watching) createArena(c echo.Context) error {
	who, err := s.researcher(c, auth.CreateSession, "")
	if err != nil {
		return err
	}
	form := c.Request().PostForm
	spec, entrants, err := readArenaForm(form)
	var id idrl.SessionID
	if err == nil {
		err = mayEnter(c.Request().Context(), s.site, who, entrants)
	}
	if err == nil && c.FormValue("do") == "rehearse" {
		if err = launching(s).rehearseArena(c, spec, entrants, who.User); err == nil {
			return nil
		}
	}
	if err == nil {
		err = s.admitted(c, createWork, func(ctx context.Context) (err error) {
			id, err = s.cfg.Arenas.NewArena(ctx, spec, entrants, who.User)
			return err
		})
	}
	switch kind := kindOf(err); {
	case err == nil:
		return launching(s).linked(c, id, invitationUses)
	case kind != idrl.Invalid && kind != idrl.NotFound:
		return err
	}
	return s.arenaForm(c, who, http.StatusBadRequest, form, s.explain(err))
}

// arenaForm shows an account the form with values and errors.
func (s watching) arenaForm(c echo.Context, who auth.Actor, status int, v url.Values, wrong string) error {
	list, err := s.list(c.Request().Context(), who)
	if err != nil {
		return err
	}
	field := func(name string) templates.Field { return templates.Field{Value: v.Get(name)} }
	p := templates.NewArenaPage{
		Recordings: recordingsLink(s.site),
		Layout:     s.layout(c, "Compare policies"), Action: "/arenas", Cancel: "/sessions", Error: wrong,
		Title: field("title"), Detect: field("detect"), Budget: field("budget"), AnswersEach: field("answers_each"), Wage: field("wage"), Code: field("completion_code"), Instructions: field("instructions"),
		Most: strconv.Itoa(idrl.MaxEntrants), Rehearse: launching(s).rehearsalPanel(c),
	}
	p.Styles = []string{"arena.css", "rehearsal.css"}
	sessions, sets, err := s.arenaChoices(c.Request().Context(), list, v)
	if err != nil {
		return err
	}
	p.Sessions, p.Groups, p.Sets = sessions, field("task_groups"), recordedChoices(sets, v["policy"])
	return render(c, status, templates.NewArena(p))
}

// readArenaForm reads the form, or returns an error for people. The entrants are in the order of
// the sessions' ids.
func readArenaForm(v url.Values) (spec idrl.SessionSpec, entrants []Entrant, err error) {
	spec = idrl.SessionSpec{
		Title: strings.TrimSpace(v.Get("title")), Instructions: strings.TrimSpace(strings.ReplaceAll(v.Get("instructions"), "\r\n", "\n")),
		CompletionCode: strings.TrimSpace(v.Get("completion_code")), Seed: DrawSeed(), MinDwell: record.DefaultMinDwell, MaxRate: record.DefaultMaxRate,
	}
	spec.InstructionsFormat = idrl.Markdown
	if text := strings.TrimSpace(strings.ReplaceAll(v.Get("detect"), ",", ".")); text != "" {
		if spec.Arena.Detect, err = strconv.ParseFloat(text, 64); err != nil {
			return spec, nil, idrl.Errorf(idrl.Invalid, "the smallest preference to find must be a share such as %g, or 0 for no test; got %.100q", idrl.DefaultDetect, text)
		}
	}
	for _, n := range []struct {
		name, title string
		dst         *int
	}{{"budget", "answers wanted", &spec.Budget}, {"answers_each", "answers per annotator", &spec.AnswersEach}} {
		if text := strings.TrimSpace(v.Get(n.name)); text != "" {
			if *n.dst, err = strconv.Atoi(text); err != nil {
				return spec, nil, idrl.Errorf(idrl.Invalid, "%s must be a whole number, or 0 for no limit", n.title)
			}
		}
	}
	if err := idrl.CheckTitle(spec.Title); err != nil {
		return spec, nil, err
	}
	named := func(id string) string { return strings.TrimSpace(v.Get("name-" + id)) }
	for _, id := range slices.Sorted(slices.Values(v["now"])) {
		entrants = append(entrants, Entrant{Session: idrl.SessionID(id), After: -1, Title: named(id)})
	}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		id, ok := strings.CutPrefix(key, "after-")
		text := strings.TrimSpace(v.Get(key))
		if !ok || text == "" {
			continue
		}
		row, err := strconv.ParseInt(text, 10, 64)
		if err != nil || row < 0 {
			return spec, nil, idrl.Errorf(idrl.Invalid, "the log row after which a policy was recommended must be a whole number, 0 for before the first answer; got %q", text)
		}
		title := ""
		if n := named(id); n != "" {
			title = n + ", row " + text
		}
		entrants = append(entrants, Entrant{Session: idrl.SessionID(id), After: row, Title: title})
	}
	for _, text := range v["policy"] {
		set, policy, _ := strings.Cut(text, ":")
		entrants = append(entrants, Entrant{Set: set, Policy: policy})
	}
	if text := strings.TrimSpace(v.Get("task_groups")); text != "" {
		spec.Arena.Tasks, err = TaskGroups(text)
	}
	return spec, entrants, err
}

// arenaFile is GET /sessions/:id/arena?format=json|csv|tasks|answers: the result of an arena as a file.
// Without a format it redirects to the page.
func (s watching) arenaFile(c echo.Context) error {
	format, need := c.QueryParam("format"), auth.WatchSession
	if format == "answers" {
		need = auth.Export
	}
	spec, err := s.researchersSpec(c, need)
	if err != nil {
		return err
	}
	if format == "" {
		return c.Redirect(http.StatusSeeOther, sessionURL(spec.ID))
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	r, outcomes, err := s.cfg.Arenas.Arena(c.Request().Context(), spec.ID)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	name, kind := "", "text/csv; charset=utf-8"
	switch format {
	case "json":
		name, kind = "arena.json", "application/json; charset=utf-8"
		err = r.WriteJSON(&b)
	case "csv":
		name, err = "strengths.csv", r.WriteCSV(&b)
	case "tasks":
		name, err = "tasks.csv", r.WriteTasks(&b)
	case "answers":
		name, err = "answers.csv", bradley.WriteOutcomes(&b, spec.Arena, outcomes)
	default:
		err = idrl.Errorf(idrl.Invalid, "unknown format %q; known: json, csv, tasks, answers", format)
	}
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=\"tiebreak-%s-%s\"", spec.ID, name))
	return c.Blob(http.StatusOK, kind, b.Bytes())
}

// arena shows the page of an arena in place of a session's dashboard.
func (s watching) arena(c echo.Context, spec idrl.SessionSpec) error {
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	ctx := c.Request().Context()
	r, _, err := s.cfg.Arenas.Arena(ctx, spec.ID)
	if err != nil {
		return err
	}
	joined, err := s.cfg.People.Annotators(ctx, spec.ID)
	if err != nil {
		return err
	}
	called := map[idrl.AnnotatorID]string{}
	for _, a := range joined {
		called[a.ID] = personRow(spec.ID, a).Name
	}
	p := arenaPage(r, called)
	session, err := s.session(ctx, spec.ID)
	if err != nil {
		return err
	}
	st, err := session.Status(ctx)
	if err != nil {
		return err
	}
	p.Training = arenaTraining(st)
	if recordings.OfUpload(spec.Env) {
		p.About += " " + keptUploads
		for i := range p.Entrants {
			p.Entrants[i].After = ""
		}
	}
	p.Layout, p.Heading, p.Back = s.layout(c, spec.Title), spec.Title, "/sessions"
	p.InviteURL, p.InstructionsURL, p.QualityURL = sessionURL(spec.ID, "invitations"), sessionURL(spec.ID, "instructions"), sessionURL(spec.ID, "quality")
	file := sessionURL(spec.ID, "arena") + "?format="
	p.SVG, p.Report = chartURL(spec.ID, "strengths.svg"), sessionURL(spec.ID, "report")
	p.JSON, p.CSV, p.TasksCSV, p.Answers, p.ExportAll = file+"json", file+"csv", file+"tasks", file+"answers", sessionURL(spec.ID, "export")+"?format="+bundle.Format
	if episodes.About(spec) {
		p.ExportLabels = sessionURL(spec.ID, "export") + "?format=" + episodes.Format
	}
	p.Budget = templates.BudgetForm{Action: sessionURL(spec.ID, "budget"), Value: strconv.Itoa(spec.Budget), Most: strconv.Itoa(idrl.MaxBudget)}
	if p.Control, err = running(s).controlPanel(c, spec, overviewPage); err != nil {
		return err
	}
	if p.Control.State == string(record.StateRunning) {
		p.Control.Over, p.Control.Text = arenaOver(st.Decided, st.Answers, st.Budget), untilText(st, r.Test != nil, p.Control.Text)
	}
	p.Control.CloneURL, p.Change, p.Export = "", p.Control.Change, s.may(c, auth.Export, spec.ID)
	if p.Joined, err = s.peoplePanel(c, spec.ID); err != nil {
		return err
	}
	p.Scripts, p.Styles = static.Modules("arena.js"), []string{"arena.css"}
	var made templates.DashboardPage
	running(s).showLink(c, spec, &made)
	p.Invite, p.InviteSays, p.InviteNote = made.Invite, made.InviteSays, made.InviteNote
	return render(c, http.StatusOK, templates.Arena(p))
}

// arenaPage shows a report; called has the people's names.
func arenaPage(r bradley.Report, called map[idrl.AnnotatorID]string) templates.ArenaPage {
	p := templates.ArenaPage{Headline: r.Headline(), Sum: r.Sum(), Guarantee: r.Guarantee(), Meetings: r.Meetings(), Accounts: r.Accounts(), TaskAccounts: r.AccountsOfTasks()}
	p.About, p.Different = arenaAbout(r)
	low, high := 0.0, 0.0
	for _, e := range r.Entrants {
		low, high = min(low, e.Low), max(high, e.High)
		if e.Population != nil {
			low, high = min(low, e.Population.Low), max(high, e.Population.High)
		}
	}
	place := func(v float64) string { return strconv.FormatFloat(2+96*(v-low)/(high-low), 'f', 2, 64) }
	p.Low, p.High, p.Zero = signed(low, 2), signed(high, 2), place(0)
	for i, e := range r.Entrants {
		row := templates.ArenaEntrant{
			Rank: strconv.Itoa(i + 1), Title: e.Title, Session: string(e.Session), SessionURL: sessionURL(e.Session), Policy: string(e.Policy), After: strconv.FormatInt(e.After, 10),
			Strength: signed(e.Strength, 2), Interval: signed(e.Low, 2) + " to " + signed(e.High, 2), Best: stats.Percent(e.Best), Answers: words.Count(e.Answers),
			Low: place(e.Low), At: place(e.Strength), High: place(e.High),
		}
		if e.Population != nil {
			row.Wider, row.WiderLow, row.WiderHigh = signed(e.Population.Low, 2)+" to "+signed(e.Population.High, 2), place(e.Population.Low), place(e.Population.High)
		}
		p.Entrants = append(p.Entrants, row)
	}
	p.Pairs, p.Tasks, p.Groups = arenaPairs(r), taskRows(r.Tasks), taskRows(r.Groups)
	for _, a := range r.People {
		row := templates.ArenaPerson{ID: string(a.ID), Name: cmp.Or(called[a.ID], string(a.ID)), Answers: words.Count(a.Answers)}
		if a.Compared > 0 {
			row.Agreed = templates.Share{
				Value: stats.Percent(float64(a.Agreed) / float64(a.Compared)), Of: fmt.Sprintf("%d of %d", a.Agreed, a.Compared),
				Interval: stats.Percent(a.Low) + " to " + stats.Percent(a.High),
			}
			row.Expected = stats.Percent(a.Expected)
		}
		if a.Chance {
			row.Warning = "The answers look random in comparisons in which all others prefer one policy."
		}
		if a.Reversed {
			row.Warning = "This annotator prefers the policies that all others like less. Ask whether they mistook the keys or the question. You can turn their answers, or leave them out, in the list of people."
		}
		p.People = append(p.People, row)
	}
	return p
}

// arenaPairs returns the matrix of a report, rows and columns in the order of the entrants.
func arenaPairs(r bradley.Report) (rows []templates.ArenaRow) {
	cells := map[[2]string]templates.ArenaCell{}
	for _, q := range r.Pairs {
		one := func(against string, p, low, high float64, wins, losses int) templates.ArenaCell {
			cell := templates.ArenaCell{
				Against: against, Separated: q.Separated, Count: fmt.Sprintf("%d : %d, %d equal", wins, losses, q.Ties), LeftOut: leftOutText(q, len(r.Tasks) > 0),
			}
			if r.ShareKnown(q) {
				cell.Share = templates.Share{Value: stats.Percent(p), Interval: stats.Percent(low) + " to " + stats.Percent(high)}
			}
			return cell
		}
		cells[[2]string{q.A, q.B}] = one(q.B, q.P, q.Low, q.High, q.WinsA, q.WinsB)
		cells[[2]string{q.B, q.A}] = one(q.A, 1-q.P, 1-q.High, 1-q.Low, q.WinsB, q.WinsA)
	}
	for _, e := range r.Entrants {
		row := templates.ArenaRow{Title: e.Title}
		for _, o := range r.Entrants {
			row.Cells = append(row.Cells, cells[[2]string{e.Title, o.Title}])
		}
		rows = append(rows, row)
	}
	return rows
}

// leftOutText says for how many starts, or pairs of recorded episodes, no question is asked about a pair of entrants.
func leftOutText(q bradley.ReportPair, recorded bool) string {
	of := "starts"
	if recorded {
		of = "pairs of episodes"
	}
	if q.Unasked == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d %s left out", q.Unasked, q.Starts, of)
}

// after returns text, if there is any, after what joins it to a sentence.
func after(join, text string) string {
	if text == "" {
		return ""
	}
	return join + text
}
