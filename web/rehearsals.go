package web

import (
	"fmt"
	"net/url"
	"strconv"

	"tiebreak/internal/study/rehearsed"
	"tiebreak/internal/study/settings"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// lastRehearsals lists those of the account that is signed in, and for an admin those of all.
func (s launching) lastRehearsals(c echo.Context) (out []templates.RehearsalRow) {
	if s.cfg.Rehearser == nil {
		return nil
	}
	who, err := s.actor(c.Request().Context(), s.researcherCookie(c))
	owner := who.User
	if seesAllRehearsals(who) {
		owner = ""
	}
	var list []RehearsalState
	if err == nil && who.User != "" {
		list, err = s.cfg.Rehearser.Rehearsals(c.Request().Context(), owner)
	}
	if err != nil {
		s.log.Warn("rehearsals are not listed", "err", err)
	}
	for _, r := range list {
		row := templates.RehearsalRow{Title: r.Title, URL: rehearsalsPath + "/" + url.PathEscape(r.Name), How: clock(r.Began) + ", " + stateOfRehearsal(r)}
		if r.Owner != who.User {
			row.How += ", by " + r.Owner
		}
		out = append(out, row)
	}
	return out
}

// stateOfRehearsal says in a word or two how a rehearsal is.
func stateOfRehearsal(r RehearsalState) string {
	switch {
	case r.Says != "":
		return "under way"
	case r.interrupted():
		return "interrupted"
	case r.Wrong != "":
		return "no result"
	}
	return "done"
}

// whenRehearsed says when a rehearsal began and ended, and who began it.
func whenRehearsed(r RehearsalState) string {
	if r.Ended.IsZero() {
		return fmt.Sprintf("Begun %s, by %s.", clock(r.Began), r.Owner)
	}
	return fmt.Sprintf("Begun %s, ended %s, by %s.", clock(r.Began), clock(r.Ended), r.Owner)
}

// askedLines say what a rehearsal was asked for.
func (s launching) askedLines(ask Rehearsal) []rehearsed.Line {
	line := func(name, value string) rehearsed.Line { return rehearsed.Line{Name: name, Value: value} }
	spec := settings.Complete(ask.Spec)
	what := line("environment", s.env(spec.Env).Title+", "+kindText(spec.Kind))
	if n := len(ask.Entrants); n > 0 {
		what = line("arena", fmt.Sprintf("of %d policies", n))
	}
	wanted, people, wage := "no number: it stops by itself", "as many as needed", "not given"
	if spec.Budget > 0 {
		wanted = strconv.Itoa(spec.Budget)
	}
	if ask.People > 0 {
		people = fmt.Sprintf("at most %d", ask.People)
	}
	if ask.Wage > 0 {
		wage = costText(ask.Wage) + " for an hour"
	}
	return []rehearsed.Line{
		what, line("answers wanted", wanted), line("simulated people", people), line("right about", percentText(ask.Right)+" of random pairs of clips"),
		line("time for an answer", strconv.FormatFloat(ask.MedianS, 'g', 3, 64)+" s, the median"), line("wage", wage), line("seed", strconv.FormatUint(spec.Seed, 10)),
	}
}
