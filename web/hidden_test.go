package web_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/people/identity"
)

// hiddenInputs are the fields of forms whose text other people see, by the address to which they are sent.
var hiddenInputs = []struct {
	route, field string
	form         url.Values // besides the field
}{
	{"/join/TOKEN", "name", nil},
	{"/tokens", "name", url.Values{"scope": {"read"}, "days": {"9"}}},
	{"/users", "name", url.Values{"do": {"add"}, "role": {"viewer"}}},
	{"/sessions", "title", url.Values{"env": {"driver"}}},
	{"/sessions", "purpose", url.Values{"env": {"driver"}, "title": {"Drive"}}},
	{"/sessions", "completion_code", url.Values{"env": {"driver"}, "title": {"Drive"}}},
	{"/sessions/s1/title", "title", nil},
	{"/sessions/s1/tags", "tags", nil},
	{"/sessions/s1/card", "authors", nil},
	{"/sessions/s1/card", "recruitment", nil},
	{"/recordings", "title", url.Values{"name": {"pick"}, "set": {"datasets/pick"}}},
	{"/recordings", "policy_column", url.Values{"name": {"pick"}, "set": {"datasets/pick"}}},
	{"/presets", "preset_name", url.Values{"file": {"budget: 3\n"}}},
	{"/sessions/s1/clone", "title", url.Values{"seed": {"same"}}},
	{"/arenas", "title", url.Values{"now": {"s1", "s2"}, "budget": {"0"}, "after-s1": {"0"}, "after-s2": {"0"}}},
	{"/sessions/s1/known", "note", url.Values{"clips": {"c1,c2"}, "answer": {"a"}, "use": {"practice"}}},
	{"/sessions/s1/flags", "note", nil},
	{"/workers", "why", url.Values{"worker": {"w1"}, "action": {"drain"}}},
	{"/sessions/s1/invitations", "participant", url.Values{"platform": {"own"}, "uses": {"1"}, "days": {"1"}}},
	{"/sessions/s1/invitations", "study", url.Values{"platform": {"own"}, "participant": {"p"}, "uses": {"1"}, "days": {"1"}}},
	{"/sessions/s1/invitations", "submission", url.Values{"platform": {"own"}, "participant": {"p"}, "uses": {"1"}, "days": {"1"}}},
}

// unseenInputs are fields whose text is shown to nobody else, or that take no free text; and documents, whose paragraphs stand by
// themselves on a page, so that marks of direction end with them.
var unseenInputs = []string{
	"username",                   // of a sign-in: must be the name of an account
	"session", "actor", "action", // what the audit trail is searched for
	"q",                               // what the list of sessions is searched for
	"instructions", "text", "consent", // documents, and the version of one
	"name-",                             // titles of entrants, which idrl.Arena checks: TestHiddenTitles
	"after-",                            // a number
	"task_groups",                       // of an arena, which idrl.Arena checks: TestHiddenTitles
	"rehearse_right", "rehearse_people", // numbers
	"wage",                     // a number
	"f.Key",                    // named by a setting of the data card, see above
	"file",                     // a study file: its settings are checked as those of the form
	"upload_name",              // must be a name of lower-case letters, digits and hyphens
	"p.Name", "f.Name", "name", // named by a setting or a field of imports; theirs are listed above
}

// Names, titles and notes with characters that are invisible or change the direction of text are refused, wherever a person types one.
func TestHiddenCharactersAreRefused(t *testing.T) {
	b := newBench(t, withWorkers(busyWorkers()))
	annotator := b.annotator("s1")
	b.record()
	admin := b.researcher()
	for _, test := range hiddenInputs {
		for _, mark := range []string{"\u202e", "\u2066", "\u200f", "\u200b"} {
			text := "Ada" + mark + "x"
			form := url.Values{test.field: {text}}
			for k, v := range test.form {
				form[k] = v
			}
			var r reply
			switch path := strings.Replace(test.route, "/join/TOKEN", strings.TrimPrefix(b.link("s1"), b.url), 1); test.route {
			case "/sessions/s1/flags":
				r = b.send(annotator, http.MethodPost, path, strings.NewReader(`{"id":"f1","assignment":"s1.a1.0","note":"`+text+`"}`), http.Header{"Content-Type": {"application/json"}})
			case "/join/TOKEN":
				r = b.post(b.browser(), path, form)
			default:
				r = b.post(admin, path, form)
			}
			about := []string{"invisible characters", "printable characters", "are invisible", "cannot be the name of a parameter", "cannot be shown in a line"}
			if r.status < 400 && r.status != http.StatusOK || r.status >= 500 || !slices.ContainsFunc(about, func(s string) bool { return strings.Contains(r.body, s) }) {
				t.Errorf("%s takes %q as %s: status %d\n%.300s", test.route, text, test.field, r.status, r.body)
			}
		}
	}
	token := b.token(identity.ScopeUpload, "")
	for _, body := range []string{`{"title":"A` + "\u202e" + `","features":["Speed"]}`, `{"title":"A","features":["Sp` + "\u200b" + `eed"]}`} {
		if r := b.api(token, http.MethodPost, "", body); r.status != http.StatusBadRequest {
			t.Errorf("the API takes %q: status %d", body, r.status)
		}
	}
}

var (
	typed     = regexp.MustCompile(`<(?:input|textarea)\b[^>]*>`)
	otherType = regexp.MustCompile(`type="(hidden|number|checkbox|radio|password|url|file|submit)"`)
	fieldName = regexp.MustCompile(`name=(?:"([^"]+)"|\{ "([a-z]+-)" \+[^}]*\}|\{ ([^}]+?) \})`)
)

// Every field for text on a page is among those that are tested, or is named with the reason why not.
func TestInputsAreTested(t *testing.T) {
	files, err := filepath.Glob("../templates/*.templ")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	n := 0
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		for _, tag := range typed.FindAllString(string(text), -1) {
			m := fieldName.FindStringSubmatch(tag)
			if m == nil || otherType.MatchString(tag) {
				continue
			}
			n++
			name := m[1] + m[2] + m[3]
			known := slices.Contains(unseenInputs, name)
			for _, test := range hiddenInputs {
				known = known || test.field == name
			}
			if !known {
				t.Errorf("%s: the field %q takes text: add it to hiddenInputs or unseenInputs (%s)", file, name, tag)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d fields were found", n)
	}
}
