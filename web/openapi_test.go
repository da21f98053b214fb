package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/pb33f/libopenapi"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/internal/study/settings"
	"tiebreak/web"

	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	"github.com/pb33f/libopenapi/datamodel/high/base"
)

// An operation of the document, as far as the test needs it to call it.
type operation struct {
	Scope      string `json:"x-scope"`
	Parameters []struct {
		Name, In string
		Schema   struct {
			Type             string
			Minimum, Maximum *int64
			Enum             []string
		}
	}
	Request *struct {
		Content map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			}
			Example json.RawMessage
		}
	} `json:"requestBody"`
	Responses map[string]struct {
		Lines []string `json:"x-lines"` // schemas, one of which each line of the reply has
	}
}

// example returns the body of the operation's example, and the name of its schema.
func (o operation) example() (body []byte, schema string) {
	if o.Request == nil {
		return nil, ""
	}
	c := o.Request.Content["application/json"]
	return c.Example, strings.TrimPrefix(c.Schema.Ref, "#/components/schemas/")
}

// A contract is the document.
type contract struct {
	validator.Validator
	paths   map[string]map[string]operation // by path and method
	schemas map[string]*base.Schema
}

func readContract(t *testing.T) contract {
	t.Helper()
	doc := must.Get(libopenapi.NewDocument(web.APIDocument()))(t)
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if ok, problems := v.ValidateDocument(); !ok {
		t.Fatal(problems)
	}
	model := must.Get(doc.BuildV3Model())(t)
	out := contract{v, map[string]map[string]operation{}, map[string]*base.Schema{}}
	for name, schema := range model.Model.Components.Schemas.FromOldest() {
		out.schemas[name] = schema.Schema()
	}
	var all struct {
		Paths map[string]map[string]json.RawMessage
	}
	must.Do(t, json.Unmarshal(web.APIDocument(), &all))
	for path, item := range all.Paths {
		out.paths[path] = map[string]operation{}
		for method, raw := range item {
			if method == "parameters" {
				continue
			}
			var op operation
			must.Do(t, json.Unmarshal(raw, &op))
			out.paths[path][strings.ToUpper(method)] = op
		}
	}
	return out
}

// operations calls do with every operation, in order.
func (c contract) operations(do func(method, path string, op operation)) {
	for _, path := range slices.Sorted(maps.Keys(c.paths)) {
		for _, method := range slices.Sorted(maps.Keys(c.paths[path])) {
			do(method, path, c.paths[path][method])
		}
	}
}

// fits returns why a value does not fit the schema of that name; empty if it does.
func (c contract) fits(schema string, value []byte) string {
	ok, problems := schema_validation.NewSchemaValidator().ValidateSchemaBytes(c.schemas[schema], value)
	if ok {
		return ""
	}
	return fmt.Sprint(problems)
}

// A caller calls a server as the document says, and holds its replies to it.
type caller struct {
	*bench
	contract
	tokens map[string]string // by scope
}

func newCaller(t *testing.T) *caller {
	t.Helper()
	b := newBench(t, nil)
	web.Stream(b.web, time.Hour, time.Second)
	b.addUploads()
	return &caller{b, readContract(t), map[string]string{
		"none": "", "label": b.token(identity.ScopeLabel, "s1"), "read": b.token(identity.ScopeRead, ""), "write": b.token(identity.ScopeWrite, ""),
		"upload": b.token(identity.ScopeUpload, ""),
	}}
}

// addUploads adds a session s3 to which clips are uploaded.
func (b *bench) addUploads() {
	spec := settings.Complete(idrl.SessionSpec{ID: "s3", Title: "Uploads", Env: idrl.RolloutsEnv, Kind: idrl.CompareClips, Return: idrl.SumReturn, Features: []string{"Speed", "Distance"}, CreatedAt: time.Now().UTC()})
	if err := b.db.CreateSession(b.t.Context(), spec); err != nil {
		b.t.Fatal(err)
	}
	b.sessions.byID["s3"] = newFakeSession(&b.hub, spec)
}

// address is that of a path of the document in session s1, or s3 where clips are uploaded.
func address(path string) string {
	id := "s1"
	if strings.HasSuffix(path, "/trajectories") {
		id = "s3"
	}
	return strings.NewReplacer("{id}", id, "{clip}", "c1", "{name}", "pens").Replace(path)
}

// call sends a request and holds the reply, which must have that status, to the document.
func (c *caller) call(method, path, token string, body []byte, want int) []byte {
	c.t.Helper()
	at, _, _ := strings.Cut(path, "?")
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if res.StatusCode != want {
		c.t.Errorf("%s %s %s: status %d (%s), want %d", method, path, body, res.StatusCode, got, want)
	}
	req.Body, res.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(got))
	if ok, problems := c.ValidateHttpResponse(req, res); !ok {
		for _, p := range problems {
			c.t.Errorf("%s %s, status %d: %s: %s %v", method, path, res.StatusCode, p.Message, p.Reason, p.SchemaValidationErrors)
		}
	}
	if ok, problems := c.ValidateHttpRequest(req); ok != (want == http.StatusOK) && want == http.StatusBadRequest {
		c.t.Errorf("%s %s %s: the document takes what the server refuses, or the other way round: %v", method, at, body, problems)
	}
	return got
}

// Every operation of the document is answered as it says, and so are its refusals.
func TestAPIKeepsItsContract(t *testing.T) {
	c := newCaller(t)
	c.record()
	c.s1.scores = twoConditions()
	c.operations(func(method, path string, op operation) {
		if _, ok := c.tokens[op.Scope]; !ok {
			t.Fatalf("%s %s has the scope %q", method, path, op.Scope)
		}
		body, _ := op.example()
		if method == http.MethodDelete { // what it removes is there
			c.call(http.MethodPost, address(path), c.tokens[op.Scope], body, http.StatusOK)
		}
		got := c.call(method, address(path), c.tokens[op.Scope], body, http.StatusOK)
		lines := op.Responses["200"].Lines
		if lines != nil && len(got) == 0 {
			t.Errorf("%s %s has no line", method, path)
		}
		for line := range bytes.Lines(got) {
			if lines != nil && !slices.ContainsFunc(lines, func(schema string) bool { return c.fits(schema, line) == "" }) {
				t.Errorf("%s %s: the line %s has none of the schemas %v: %s", method, path, line, lines, c.fits(lines[0], line))
			}
		}
		if op.Scope == "none" {
			return
		}
		c.call(method, address(path), "tbk_AAAAAAAAAAAAAAAAAAAAAA", body, http.StatusUnauthorized)
		other := map[bool]string{true: "label", false: "read"}[op.Scope == "read"]
		if !strings.HasSuffix(path, "{clip}") { // both may have clips
			c.call(method, address(path), c.tokens[other], body, http.StatusForbidden)
		}
		if strings.Contains(path, "{id}") {
			c.call(method, strings.NewReplacer("s1", "s7", "s3", "s7").Replace(address(path)), c.tokens[op.Scope], body, http.StatusNotFound)
		}
	})
	if served := c.get(http.DefaultClient, "/api/v1/openapi.json"); !json.Valid([]byte(served.body)) {
		t.Errorf("the document is served as %q", served.body)
	}
}

// Each kind of row is a line of the schema, and a line that is none is not.
func TestAPIRows(t *testing.T) {
	c := readContract(t)
	for line, fits := range map[string]bool{
		`{"seq":1,"id":"x","event":"undo","of":"y"}`:                                              true,
		`{"seq":1,"id":"x","event":"left_out","annotator":"a1"}`:                                  true,
		`{"seq":1,"id":"x","event":"turned","annotator":"a1"}`:                                    true,
		`{"seq":1,"id":"x","event":"erased"}`:                                                     true,
		`{"seq":1,"id":"x","event":"answer","answer":{"seq":1,"annotator_id":"a1","choice":"a"}}`: true,
		`{"seq":1,"id":"x","event":"undo"}`:                                                       false,
		`{"seq":1,"id":"x","event":"answer"}`:                                                     false,
		`{"seq":0,"id":"x","event":"erased"}`:                                                     false,
		`{"seq":1,"id":"x","event":"erased","of":"y"}`:                                            false,
		`{"id":"x","event":"erased"}`:                                                             false,
	} {
		if why := c.fits("Row", []byte(line)); (why == "") != fits {
			t.Errorf("%s fits: %v (%s), want %v", line, why == "", why, fits)
		}
	}
}

// wrong returns what an object of a schema may not be: with an unknown key, without one that is
// required, and with one of another type.
func (c contract) wrong(schema string, of map[string]any) map[string]any {
	out := map[string]any{}
	add := func(what string, change func(map[string]any)) {
		m := maps.Clone(of)
		change(m)
		out[what] = m
	}
	add("an unknown key", func(m map[string]any) { m["unknown"] = 1 })
	for _, key := range c.schemas[schema].Required {
		add("no "+key, func(m map[string]any) { delete(m, key) })
	}
	for key := range c.schemas[schema].Properties.KeysFromOldest() {
		add(key+" of another type", func(m map[string]any) { m[key] = map[string]any{"x": 1} })
	}
	return out
}

// What the schema of a body or a parameter does not take, the server refuses, and says so as
// the document has it.
func TestAPIRefusesWhatTheDocumentDoes(t *testing.T) {
	c := newCaller(t)
	c.operations(func(method, path string, op operation) {
		for _, p := range op.Parameters {
			bad := slices.Clone(map[string][]string{"integer": {"x", "1.5"}}[p.Schema.Type])
			if p.Schema.Minimum != nil {
				bad = append(bad, fmt.Sprint(*p.Schema.Minimum-1))
			}
			if p.Schema.Maximum != nil {
				bad = append(bad, fmt.Sprint(*p.Schema.Maximum+1))
			}
			if p.Schema.Enum != nil {
				bad = append(bad, "nonsense")
			}
			for _, v := range bad {
				c.call(method, address(path)+"?"+p.Name+"="+v, c.tokens[op.Scope], nil, http.StatusBadRequest)
			}
		}
		example, schema := op.example()
		if example == nil {
			return
		}
		var body map[string]any
		must.Do(t, json.Unmarshal(example, &body))
		refuse := func(what string, wrong any) {
			text := must.Get(json.Marshal(wrong))(t)
			if c.fits(schema, text) == "" {
				t.Errorf("%s %s: the schema takes %s (%s)", method, path, text, what)
			}
			c.call(method, address(path), c.tokens[op.Scope], text, http.StatusBadRequest)
		}
		for what, wrong := range c.wrong(schema, body) {
			refuse(what, wrong)
		}
		if list, ok := body["trajectories"].([]any); ok {
			refuse("none", map[string]any{"trajectories": []any{}})
			refuse("too many", map[string]any{"trajectories": slices.Repeat(list, 51)})
			for what, wrong := range c.wrong("Trajectory", list[0].(map[string]any)) {
				refuse("a trajectory with "+what, map[string]any{"trajectories": []any{wrong}})
			}
		}
	})
}

// The document and the server take the same bodies where JSON writes one value in several ways.
func TestAPITakesTheSameBodies(t *testing.T) {
	c := newCaller(t)
	session := func(more string) string { return `{"title":"x","features":["Speed"]` + more + `}` }
	for _, test := range []struct {
		path, scope, schema, body string
		ok                        bool
	}{
		{"/api/v1/sessions", "upload", "NewSession", session(`,"budget":255.0,"seed":2.55e2`), true},
		{"/api/v1/sessions", "upload", "NewSession", session(`,"budget":25.5`), false},
		{"/api/v1/sessions", "upload", "NewSession", session(`,"prior_scale":null`), true},
		{"/api/v1/sessions", "upload", "NewSession", session(`,"prior_scale":[0]`), false},
		{"/api/v1/sessions/s1/reward", "read", "Features", `{"features":[[]]}`, false},
	} {
		if why := c.fits(test.schema, []byte(test.body)); (why == "") != test.ok {
			t.Errorf("%s fits %s: %t (%s)", test.body, test.schema, why == "", why)
		}
		want := http.StatusBadRequest
		if test.ok {
			want = http.StatusOK
		}
		c.call("POST", test.path, c.tokens[test.scope], []byte(test.body), want)
	}
}

// Programs that know few media types can ask for these, and read the same.
func TestAPIPlainMediaTypes(t *testing.T) {
	c := newCaller(t)
	c.record()
	for path, other := range map[string]string{"answers": "text/plain", "export": "application/octet-stream", "export?format=csv": "application/octet-stream"} {
		get := func(accept string) (string, string) {
			req, err := http.NewRequestWithContext(t.Context(), "GET", c.url+"/api/v1/sessions/s1/"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+c.tokens["read"])
			req.Header.Set("Accept", accept)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != http.StatusOK {
				t.Fatalf("%s: status %d, %v", path, res.StatusCode, err)
			}
			return res.Header.Get("Content-Type"), string(body)
		}
		usual, want := get("*/*")
		if media, body := get(other); media != other || media == usual || body != want || body == "" {
			t.Errorf("%s as %s: %s, %q; want %q", path, other, media, body, want)
		}
	}
	if got := c.call("GET", "/api/v1/sessions/s1/export?format=xml", c.tokens["read"], nil, http.StatusBadRequest); !strings.Contains(string(got), "jsonl, csv, networks, bundle, lerobot, practice, flags") {
		t.Errorf("an unknown format: %s", got)
	}
}

// The document names every route, and no other.
func TestAPIDocumentIsComplete(t *testing.T) {
	var documented []string
	readContract(t).operations(func(method, path string, _ operation) { documented = append(documented, method+" "+path) })
	slices.Sort(documented)
	if routes := web.APIRoutes(); !slices.Equal(documented, routes) {
		t.Errorf("the document has\n%s\nthe server\n%s", strings.Join(documented, "\n"), strings.Join(routes, "\n"))
	}
}
