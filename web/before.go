package web

import (
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/installation"
	"tiebreak/internal/people/auth"
	"tiebreak/templates"
)

const (
	beforePath = "/before"
	lacksFor   = time.Minute // for which hints of other pages repeat what was found
)

// lacks remembers whether something is missing, for the hints of other pages.
type lacks struct {
	mu    sync.Mutex // guards all below
	at    time.Time
	found bool
}

// before is GET /before, what is missing before people are invited.
func (s watching) before(c echo.Context) error {
	if _, err := s.researcher(c, auth.ManageAccounts, ""); err != nil {
		return err
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	p := templates.BeforePage{Layout: s.layout(c, "Before you invite people"), Back: "/sessions"}
	if s.cfg.Before == nil {
		return render(c, http.StatusOK, templates.Before(p))
	}
	list, err := findings(s.site, c)
	if err != nil {
		return err
	}
	missing, lookAt := installation.Count(list, installation.Missing), installation.Count(list, installation.LookAt)
	p.Ready, p.Says = missing == 0, beforeText(missing, lookAt)
	for _, state := range installation.States() {
		rows := &p.Rows
		if state == installation.OK {
			rows = &p.Well
		}
		for _, f := range list {
			if f.State == state {
				*rows = append(*rows, templates.BeforeRow{Name: f.Name, State: string(state), Says: f.Says, Do: f.Do, Command: f.Command})
			}
		}
	}
	return render(c, http.StatusOK, templates.Before(p))
}

// beforeText sums findings up.
func beforeText(missing, lookAt int) string {
	switch {
	case missing == 1:
		return "One thing is missing. Do it before people come."
	case missing > 1:
		return fmt.Sprintf("%d things are missing. Do them before people come.", missing)
	case lookAt == 1:
		return "Nothing is missing. Look at one thing."
	case lookAt > 1:
		return fmt.Sprintf("Nothing is missing. Look at %d things.", lookAt)
	}
	return "Nothing is missing: people can come."
}

// findings checks the server, for the address at which a browser has opened it.
func findings(s *site, c echo.Context) ([]installation.Finding, error) {
	list, err := s.cfg.Before(c.Request().Context(), reached(s, c.Request().Host))
	if err != nil {
		return nil, err
	}
	s.lacks.mu.Lock()
	defer s.lacks.mu.Unlock()
	s.lacks.at, s.lacks.found = time.Now(), installation.Count(list, installation.Missing) > 0
	return list, nil
}

// reached returns the address at which a browser has opened the server. A proxy may ask by a name of its own, which tells nothing.
func reached(s *site, host string) (r installation.Reach) {
	if loopback(host) {
		r.URL = "http://" + host
	}
	for _, origin := range s.cfg.Origins {
		if u, err := url.Parse(origin); err == nil && u.Host == host {
			r.URL = origin
		}
	}
	return r
}

// beforeHint returns the address of the page if it says that something is missing, for people who can do something about it; else
// an empty text.
func beforeHint(s *site, c echo.Context) string {
	if s.cfg.Before == nil || !s.may(c, auth.ManageAccounts, "") {
		return ""
	}
	s.lacks.mu.Lock()
	known, found := time.Since(s.lacks.at) < lacksFor, s.lacks.found
	s.lacks.mu.Unlock()
	if !known {
		list, err := findings(s, c)
		if err != nil {
			s.log.Error("what people need before they are invited cannot be checked", "err", err)
			return ""
		}
		found = installation.Count(list, installation.Missing) > 0
	}
	if !found {
		return ""
	}
	return beforePath
}
