package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/session/notice"
	"tiebreak/templates"
)

// listSessions is GET /sessions.
func (s watching) listSessions(c echo.Context) error {
	who, err := s.researcher(c, auth.ListSessions, "")
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, readWork)
	if err != nil {
		return err
	}
	defer leave()
	list, err := everySession(c.Request().Context(), s.site, who)
	if err != nil {
		return err
	}
	creates := auth.Can(who, auth.CreateSession, auth.Object{})
	p := templates.SessionsPage{Layout: s.layout(c, "Sessions"), All: c.QueryParam("archived") != "", Rehearsed: c.QueryParam("rehearsals") != ""}
	if creates {
		p.New, p.Tokens = "/sessions/new", tokensPath
	}
	if auth.Can(who, auth.ManageAccounts, auth.Object{}) {
		p.Users, p.Before = usersPath, beforePath
	}
	p.Search, p.Sort, p.Tag = strings.TrimSpace(c.QueryParam("q")), c.QueryParam("sort"), strings.TrimSpace(c.QueryParam("tag"))
	sortSessions(list, p.Sort, s.cfg.Notices)
	for _, sum := range list {
		if sum.Spec.Rehearsal {
			p.Rehearsals++
			if !p.Rehearsed {
				continue
			}
		}
		if sum.State == record.StateArchived {
			p.Archived++
			if !p.All {
				continue
			}
		}
		p.Total++
		row := s.sessionRow(sum)
		for _, tag := range row.Tags {
			if !idrl.HasTag(p.Tags, tag) {
				p.Tags = append(p.Tags, tag)
			}
		}
		if row.has(p.Search) && (p.Tag == "" || idrl.HasTag(row.Tags, p.Tag)) {
			p.Sessions = append(p.Sessions, row.SessionRow)
			if row.Compares {
				p.Comparable++
			}
		}
		if creates && !sum.Spec.IsArena() && !sum.Spec.Rehearsal {
			p.NewArena = newArenaPath
		}
	}
	if creates && p.NewArena == "" && len(s.cfg.Arenas.Recorded()) > 0 {
		p.NewArena = newArenaPath
	}
	slices.SortFunc(p.Tags, func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return render(c, http.StatusOK, templates.Sessions(p))
}

// list returns the sessions that an account or a program may watch, newest first, without rehearsals.
func (s *site) list(ctx context.Context, who auth.Actor) ([]record.Summary, error) {
	list, err := everySession(ctx, s, who)
	return slices.DeleteFunc(list, func(sum record.Summary) bool { return sum.Spec.Rehearsal }), err
}

// everySession is list with the rehearsals.
func everySession(ctx context.Context, s *site, who auth.Actor) ([]record.Summary, error) {
	may, err := s.cfg.Auth.Watchable(ctx, who)
	if err != nil {
		return nil, err
	}
	list, err := s.cfg.Sessions.List(ctx)
	return slices.DeleteFunc(list, func(sum record.Summary) bool { return !may(sum.Spec.ID) }), err
}

// sortSessions puts sessions that cannot run first, then those with notices, and all three kinds into the order of that name: by the last answer ("last"), by
// the answers that are missing ("missing"; of those without a number wanted none are), by title ("title"), else the newest first,
// as they come.
func sortSessions(list []record.Summary, by string, notices func(idrl.SessionID) []notice.Notice) {
	missing := func(s record.Summary) int { return max(0, s.Spec.Budget-s.Answers) }
	urgent := func(s record.Summary) int {
		switch {
		case s.Paused != "":
			return 2
		case notices != nil && len(notices(s.Spec.ID)) > 0:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b record.Summary) int {
		if d := cmp.Compare(urgent(b), urgent(a)); d != 0 {
			return d
		}
		switch by {
		case "last":
			return b.Last.Compare(a.Last)
		case "missing":
			return cmp.Compare(missing(b), missing(a))
		case "title":
			return cmp.Compare(strings.ToLower(a.Spec.Title), strings.ToLower(b.Spec.Title))
		}
		return 0
	})
}

// A listedSession is a row of the list of sessions.
type listedSession struct{ templates.SessionRow }

// has reports whether every word of a search stands in what the row shows, in capitals or not.
func (r listedSession) has(search string) bool {
	shown := strings.ToLower(strings.Join([]string{r.ID, r.Title, r.Env, r.Kind, r.Method, r.State, r.Over, r.Paused, strings.Join(r.Tags, "\n"), r.noticed()}, "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(search)) {
		if !strings.Contains(shown, word) {
			return false
		}
	}
	return true
}

// noticed are the notices of a row.
func (r listedSession) noticed() (text string) {
	for _, n := range r.Notices {
		text += n.Text + "\n"
	}
	return text
}

func (s watching) sessionRow(sum record.Summary) listedSession {
	spec := sum.Spec
	row := templates.SessionRow{
		ID: string(spec.ID), URL: sessionURL(spec.ID), Title: spec.Title, Env: s.env(spec.Env).Title,
		Kind: kindText(spec.Kind), Method: acquisition.Title(spec.Acquisition),
		Answers: countText(sum.Answers, sum.Skipped, spec.Budget), Done: strconv.Itoa(sum.Answers),
		Rehearsal: spec.Rehearsal, Created: spec.CreatedAt.Format("2 Jan 2006"), Tags: idrl.Tags(spec.Tags), Compares: !spec.IsArena(),
	}
	if method, err := acquisition.Find(spec.Acquisition); err == nil {
		row.Asks = cmp.Or(method.Hint, sentence(method.About))
	}
	if spec.IsArena() {
		row.Asks = ""
		row.Kind, row.Method = "Blind arena", fmt.Sprintf("%d policies", len(spec.Arena.Entrants))
	}
	reason, _, _ := strings.Cut(sum.Paused, ";") // the session's page says what to do
	row.Paused = sentence(reason)
	if sum.State != record.StateRunning {
		row.State = string(sum.State)
	}
	if spec.Budget > 0 {
		row.Budget = strconv.Itoa(spec.Budget)
	}
	decided := false
	if s.cfg.Notices != nil {
		for _, n := range s.cfg.Notices(spec.ID) {
			row.Notices = append(row.Notices, templates.ListNotice{Kind: string(n.Kind), Text: n.Text})
			decided = decided || n.Kind == notice.MayStop
		}
	}
	if spec.IsArena() && row.State == "" {
		row.Over = arenaOver(decided, sum.Answers, spec.Budget)
	}
	if !sum.Last.IsZero() {
		row.Last = clock(sum.Last)
	}
	return listedSession{row}
}

// countText writes the number of answers, and of replies without a preference.
func countText(answers, skipped, budget int) string {
	text := words.Count(answers) + " answers"
	switch {
	case budget > 0:
		text = fmt.Sprintf("%s of %s answers", words.Count(answers), words.Count(budget))
	case answers == 1:
		text = "1 answer"
	}
	if skipped > 0 {
		text += fmt.Sprintf("; %s skipped", words.Count(skipped))
	}
	return text
}
