package web

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"

	"github.com/labstack/echo/v4"
)

const (
	apiRecordingsPath = "/api/v1/recordings"
	apiStopPath       = apiRecordingsPath + "/stop"
)

type apiSet struct {
	Set      string   `json:"set"`
	Version  string   `json:"version"`
	Robot    string   `json:"robot"`
	FPS      float64  `json:"fps"`
	Episodes int      `json:"episodes"`
	Frames   int      `json:"frames"`
	Cameras  []string `json:"cameras"`
	Wrong    string   `json:"wrong,omitempty"`
}

type apiImport struct {
	Name  string    `json:"name"`
	Set   string    `json:"set"`
	State string    `json:"state"`
	Says  string    `json:"says,omitempty"`
	Wrong string    `json:"wrong,omitempty"`
	Env   string    `json:"env,omitempty"`
	Began time.Time `json:"began"`
}

// importingProgram returns the program that sends a request, if it may import.
func (s *api) importingProgram(c echo.Context) (auth.Actor, error) {
	who, err := s.program(c, auth.CreateSession, "")
	if err == nil && s.cfg.Importer == nil {
		err = idrl.Errorf(idrl.NotFound, "this server imports no recordings")
	}
	return who, err
}

// apiRecordings is GET /api/v1/recordings: data sets that can be imported, and the last imports.
func (s *api) apiRecordings(c echo.Context) error {
	who, err := s.importingProgram(c)
	if err != nil {
		return err
	}
	sets, imports, more := []apiSet{}, []apiImport{}, false
	var uploads []apiUploadState
	err = s.admitted(c, readWork, func(ctx context.Context) error {
		list, left, err := s.cfg.Importer.Recordings(ctx, seesOf(who))
		for _, f := range list {
			sets = append(sets, apiSet{f.Name, f.Version, f.Robot, f.FPS, f.Episodes, f.Frames, append([]string{}, f.Cameras...), f.Wrong})
		}
		if more = left; err == nil {
			uploads, err = importing{s.site}.apiUploads(ctx, who)
		}
		return err
	})
	if err != nil {
		return err
	}
	states, err := importing{s.site}.importsOf(who)
	for _, i := range states {
		imports = append(imports, apiImportOf(i))
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"recordings": sets, "more": more, "imports": imports, "uploads": uploads})
}

func apiImportOf(i ImportState) apiImport {
	out := apiImport{Name: i.Ask.Name(), Set: i.Ask.Set, Says: i.Says, Wrong: i.Wrong, Began: i.Began.UTC()}
	switch {
	case i.Says != "":
		out.State = "under way"
	case i.Again:
		out.State = "interrupted"
	case i.Wrong != "":
		out.State = "refused"
	default:
		out.State, out.Env = "imported", recordings.IDPrefix+i.Ask.Name()
	}
	return out
}

// apiImportRecordings is POST /api/v1/recordings: tells what an import takes, with plan_only, or begins it.
func (s *api) apiImportRecordings(c echo.Context) error {
	who, err := s.importingProgram(c)
	if err != nil {
		return err
	}
	ask, planOnly, err := readImport(c)
	if err != nil {
		return err
	}
	ask.Sees = seesOf(who)
	plan, err := importing{s.site}.planImport(c, ask)
	if err == nil && !planOnly {
		err = importing{s.site}.startImport(c.Request().Context(), ask, who.User)
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"name": ask.Name(), "plan": plan, "begun": !planOnly})
}

// readImport reads the body of apiImportRecordings.
func readImport(c echo.Context) (ask ImportAsk, planOnly bool, err error) {
	var body map[string]json.RawMessage
	if err := readJSON(c, &body); err != nil {
		return ask, false, err
	}
	ask.Values = map[string]string{}
	wrong := func(key, must string) error { return idrl.Errorf(idrl.Invalid, "%.80q must be %s", key, must) }
	fields := importFields()
	for key, raw := range body {
		at := slices.IndexFunc(fields, func(f recordings.Field) bool { return f.Key() == key })
		var text string
		var number float64
		switch {
		case string(raw) == "null":
			err = wrong(key, "given or left out; it cannot be null")
		case key == "set":
			if json.Unmarshal(raw, &ask.Set) != nil || ask.Set == "" {
				err = wrong(key, "the name of a data set of the list")
			}
		case key == "plan_only":
			if json.Unmarshal(raw, &planOnly) != nil {
				err = wrong(key, "true or false")
			}
		case at < 0:
			err = idrl.Errorf(idrl.Invalid, "%.80q is no field of an import", key)
		case fields[at].Number:
			if json.Unmarshal(raw, &number) != nil {
				err = wrong(key, "a number")
			}
			ask.Values[key] = strings.TrimSpace(string(raw))
		default:
			if json.Unmarshal(raw, &text) != nil {
				err = wrong(key, "text")
			}
			ask.Values[key] = text
		}
		if err != nil {
			return ask, false, err
		}
	}
	if ask.Set == "" {
		err = idrl.Errorf(idrl.Invalid, "\"set\" is missing: the name of a data set of the list")
	}
	return ask, planOnly, err
}

// apiStopImport is POST /api/v1/recordings/stop: ends an import, which can go on later.
func (s *api) apiStopImport(c echo.Context) error {
	who, err := s.importingProgram(c)
	if err != nil {
		return err
	}
	var body struct {
		Name string `json:"name"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if body.Name == "" {
		return idrl.Errorf(idrl.Invalid, "\"name\" is missing: that of an import")
	}
	if _, err := (importing{s.site}).importOf(who, body.Name); err != nil {
		return err
	}
	if err := s.cfg.Importer.StopImport(body.Name); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"name": body.Name})
}
