package web

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"tiebreak/internal/data/recordings"
	"tiebreak/internal/study/settings"

	"github.com/labstack/echo/v4"
)

// routes describes the API, but for the settings of sessions that programs can make.
//
//go:embed openapi.json
var routes []byte

// APIDocument returns the description of the API (OpenAPI 3.1). A test walks it.
func APIDocument() []byte { return document() }

var document = sync.OnceValue(func() []byte {
	var all map[string]any
	if err := json.Unmarshal(routes, &all); err != nil {
		panic(err) // the file is part of the program, and tested
	}
	properties := all["components"].(map[string]any)["schemas"].(map[string]any)["NewSession"].(map[string]any)["properties"].(map[string]any)
	for _, s := range settings.All() {
		if !slices.Contains(notOfUploads, s.Key) && properties[s.Key] == nil {
			properties[s.Key] = s.Schema()
		}
	}
	properties = all["components"].(map[string]any)["schemas"].(map[string]any)["ImportRecordings"].(map[string]any)["properties"].(map[string]any)
	for _, f := range importFields() {
		properties[f.Key()] = importSchema(f)
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		panic(err)
	}
	return text
})

// importSchema describes a field of an import.
func importSchema(f recordings.Field) map[string]any {
	if f.Number {
		return map[string]any{"type": "number", "description": f.Hint()}
	}
	out := map[string]any{"type": "string", "maxLength": f.Most, "description": f.Hint()}
	if f.Name == "name" {
		out["pattern"], out["minLength"] = "^[a-z0-9][a-z0-9-]*$", 1
	}
	return out
}

// apiDocument is GET /api/v1/openapi.json; it needs no login.
func (s *api) apiDocument(c echo.Context) error {
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, APIDocument())
}
