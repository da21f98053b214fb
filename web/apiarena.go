package web

import (
	"context"
	"net/http"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"

	"github.com/labstack/echo/v4"
)

// apiArenasPath is the route that makes arenas.
const apiArenasPath = "/api/v1/arenas"

type apiEntrant struct {
	Session idrl.SessionID `json:"session"`
	Set     string         `json:"set"`
	Policy  string         `json:"policy"`
	Title   string         `json:"title"`
}

type apiArena struct {
	Title          string       `json:"title"`
	Entrants       []apiEntrant `json:"entrants"`
	Detect         *float64     `json:"detect"`
	Budget         int          `json:"budget"`
	AnswersEach    int          `json:"answers_each"`
	Instructions   string       `json:"instructions"`
	CompletionCode string       `json:"completion_code"`
	TaskGroups     string       `json:"task_groups"`
	Seed           *uint64      `json:"seed"`
}

// apiNewArena is POST /api/v1/arenas: an arena of policies of sessions, of recordings or of uploads.
func (s *api) apiNewArena(c echo.Context) error {
	who, err := s.program(c, auth.CreateSession, "")
	if err != nil {
		return err
	}
	var body apiArena
	if err := readJSON(c, &body); err != nil {
		return err
	}
	spec, entrants, err := body.read()
	if err == nil {
		err = mayEnter(c.Request().Context(), s.site, who, entrants)
	}
	if err != nil {
		return err
	}
	var id idrl.SessionID
	err = s.admitted(c, createWork, func(ctx context.Context) (err error) {
		id, err = s.cfg.Arenas.NewArena(ctx, spec, entrants, who.User)
		return err
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"id": id})
}

// read returns the settings of an arena and its entrants, or an error of kind Invalid.
func (b *apiArena) read() (spec idrl.SessionSpec, entrants []Entrant, err error) {
	spec = idrl.SessionSpec{
		Title: strings.TrimSpace(b.Title), Instructions: b.Instructions, InstructionsFormat: idrl.Markdown, CompletionCode: b.CompletionCode, Budget: b.Budget, AnswersEach: b.AnswersEach,
		Seed: anySeed(), MinDwell: record.DefaultMinDwell, MaxRate: record.DefaultMaxRate, Arena: idrl.Arena{Detect: idrl.DefaultDetect},
	}
	if b.Seed != nil {
		spec.Seed = *b.Seed
	}
	if b.Detect != nil {
		spec.Arena.Detect = *b.Detect
	}
	if err := idrl.CheckTitle(spec.Title); err != nil {
		return spec, nil, err
	}
	if len(b.Entrants) == 0 || len(b.Entrants) > idrl.MaxEntrants {
		return spec, nil, idrl.Errorf(idrl.Invalid, "entrants must be a list of 1 to %d policies, or sets of them", idrl.MaxEntrants)
	}
	for _, e := range b.Entrants {
		if (e.Session == "") == (e.Set == "") || e.Session != "" && e.Policy != "" {
			return spec, nil, idrl.Errorf(idrl.Invalid, "an entrant has either \"session\", whose recommended policy enters, or \"set\", of which \"policy\" enters, or all policies")
		}
		entrants = append(entrants, Entrant{Session: e.Session, After: -1, Title: strings.TrimSpace(e.Title), Set: e.Set, Policy: e.Policy})
	}
	if b.TaskGroups != "" {
		spec.Arena.Tasks, err = TaskGroups(b.TaskGroups)
	}
	return spec, entrants, err
}
