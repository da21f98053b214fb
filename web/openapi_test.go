package web_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/web"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
)

// An operation of the document, as far as the test needs it to call it.
type operation struct {
	Scope   string `json:"x-scope"`
	Request *struct {
		Content map[string]struct{ Example json.RawMessage }
	} `json:"requestBody"`
}

func contract(t *testing.T) (validator.Validator, map[string]map[string]operation) {
	t.Helper()
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := libopenapi.NewDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if ok, problems := v.ValidateDocument(); !ok {
		t.Fatal(problems)
	}
	var all struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]operation{}
	for path, item := range all.Paths {
		out[path] = map[string]operation{}
		for method, raw := range item {
			if method == "parameters" {
				continue
			}
			var op operation
			if err := json.Unmarshal(raw, &op); err != nil {
				t.Fatal(err)
			}
			out[path][strings.ToUpper(method)] = op
		}
	}
	return v, out
}

// Every operation of the document is answered as it says, and so is its refusal.
func TestAPIKeepsItsContract(t *testing.T) {
	v, paths := contract(t)
	b := newBench(t, nil)
	tokens := map[string]string{"none": "", "label": b.token(idrl.ScopeLabel, "s1"), "read": b.token(idrl.ScopeRead, ""), "write": b.token(idrl.ScopeWrite, "")}
	b.record()
	check := func(method, path, token string, body []byte, want int) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, b.url+strings.NewReplacer("{id}", "s1", "{clip}", "c1").Replace(path), bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		got, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != want {
			t.Errorf("%s %s: status %d (%s), want %d", method, path, res.StatusCode, got, want)
		}
		req.Body, res.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(got))
		if ok, problems := v.ValidateHttpRequestResponse(req, res); !ok {
			for _, p := range problems {
				t.Errorf("%s %s, status %d: %s: %s %v", method, path, res.StatusCode, p.Message, p.Reason, p.SchemaValidationErrors)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, method := range slices.Sorted(maps.Keys(paths[path])) {
			op := paths[path][method]
			token, ok := tokens[op.Scope]
			if !ok {
				t.Fatalf("%s %s has the scope %q", method, path, op.Scope)
			}
			var body []byte
			if op.Request != nil {
				body = op.Request.Content["application/json"].Example
			}
			check(method, path, token, body, http.StatusOK)
			if op.Scope != "none" {
				check(method, path, "tbk_AAAAAAAAAAAAAAAAAAAAAA", body, http.StatusUnauthorized)
			}
		}
	}
	if served := b.get(http.DefaultClient, "/api/v1/openapi.json"); served.body == "" || !json.Valid([]byte(served.body)) {
		t.Errorf("the document is served as %q", served.body)
	}
}

// The document names every route, and no other.
func TestAPIDocumentIsComplete(t *testing.T) {
	_, paths := contract(t)
	var documented []string
	for path, ops := range paths {
		for method := range ops {
			documented = append(documented, method+" "+path)
		}
	}
	slices.Sort(documented)
	if routes := web.APIRoutes(); !slices.Equal(documented, routes) {
		t.Errorf("the document has\n%s\nthe server\n%s", strings.Join(documented, "\n"), strings.Join(routes, "\n"))
	}
}
