package templates

import (
	"bytes"
	"compress/gzip"
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/static"

	"github.com/a-h/templ"
	"golang.org/x/net/html"
)

var layout = Layout{Title: "T", Static: static.Base(), User: "ada", Home: "/sessions", SignOut: "/signout"}

// running returns layout with the modules of an entry.
func running(entry string) Layout {
	l := layout
	l.Scripts = static.Modules(entry)
	return l
}

// evil is put in every field that people or sessions fill.
const evil = `<script>alert(1)</script>" onload="x`

// evilGuide has it but where the guide is HTML, which is made safe elsewhere.
var evilGuide = Guide{Purpose: evil, Look: []string{evil}, Legend: []Figure{{Name: evil, SVG: "<svg></svg>", Text: evil}}}

// pages are one of each page, and its variants.
func pages() map[string]templ.Component {
	choice := Choice{Options: []Option{{Value: "a", Label: evil, Hint: evil, Selected: true}, {Value: "b", Label: "B"}}}
	field := Field{Value: evil, Error: evil}
	evilFields := []SettingField{
		{Name: "title", Label: evil, Hint: evil, Field: field},
		{Name: "env", Label: evil, Options: choice.Options, Field: field},
		{Name: "instructions", Label: evil, Hint: evil, Field: field, Lines: 3, Most: 10},
		{Name: "budget", Label: evil, Hint: evil, Field: field, Mode: "numeric"},
	}
	out := map[string]templ.Component{
		"home":     Home(HomePage{Layout: layout, SignInCommand: evil}),
		"sign in":  SignIn(SignInPage{Layout: layout, Action: "/signin", Token: evil}),
		"dead":     SignIn(SignInPage{Layout: layout, Error: evil}),
		"join":     Join(JoinPage{Layout: layout, Heading: evil, Task: evil, Guide: evilGuide, Version: evil, Action: "/join/x", Name: field}),
		"again":    Join(JoinPage{Layout: layout, Heading: evil, Action: "/join/x", Returning: evil}),
		"empty":    Sessions(SessionsPage{Layout: layout, New: "/sessions/new"}),
		"sessions": Sessions(SessionsPage{Layout: layout, Total: 2, Search: evil, Sort: evil, Sessions: []SessionRow{{ID: evil, URL: "javascript:alert(1)", Title: evil, Done: "1", Budget: "2", Last: evil, Notices: []ListNotice{{Kind: evil, Text: evil}}}}}),
		"new":      NewSession(NewSessionPage{Layout: layout, Action: "/sessions", What: evilFields, Groups: []FieldGroup{{Heading: evil, Fields: evilFields}}, More: true, Envs: []EnvCard{{Option: Option{Value: evil, Label: evil, Hint: evil, Selected: true}, Runs: evil, Own: true, Clip: evil}}, Who: []Option{{Value: evil, Label: evil, Hint: evil}}, Sets: evil, Then: evil, HowMuch: HowMuch{Answers: evil, Unknown: evil, Command: evil}, Previews: []Preview{{Name: evil, Page: evil}}}),
		"told": Instructions(InstructionsPage{
			Layout: layout, Heading: evil, Back: "/", Action: "/sessions/s/instructions", Text: field, Most: evil, Version: evil, Preview: evilGuide, Changed: true,
			Uploaded: field, Limit: evil, Pictures: []UploadedPicture{{Source: "/p", Code: evil, Remove: evil}}, Legend: []LegendName{{Figure: Figure{SVG: "<svg></svg>"}, Code: evil}},
			Earlier: []EarlierText{{Title: evil, Text: evil}},
		}),
		"known": Known(KnownPage{
			Layout: running("known.js"), Heading: evil, Back: "/", Action: "/sessions/s/known", Sum: evil, Gold: GoldForm{Action: "/g", Every: field},
			Sources: []SourceLink{{URL: "/", Text: evil, Here: true}, {URL: "/", Text: evil}}, Export: "/e",
			Question: KnownQuestion{Clips: []NamedClip{{evil, "/c"}, {evil, "/d"}}, Names: evil, From: evil, At: evil, Place: evil, Next: "/n", Answer: "a", Note: field, Error: evil, MaxNote: evil},
			Known:    []KnownRow{{Clips: []NamedClip{{evil, "/c"}}, Names: evil, Answer: evil, Value: evil, Use: evil, Note: evil, Made: evil, Change: "/"}},
		}),
		"quality": Quality(QualityPage{
			Layout: layout, Heading: evil, Back: "/", JSON: "/j", Known: "/k", Sum: evil, None: evil, Same: evil, Shared: evil,
			People:   []QualityRow{{ID: evil, Name: evil, Left: Share{Value: evil, Interval: evil, Of: evil}, Warnings: []string{evil}, Turned: evil, Actions: AnswersActions{Name: evil, URL: "/a", Back: evil, Turned: true, Turn: true, Leave: true}}, {Actions: AnswersActions{LeftOut: true, URL: "/a"}}},
			Manners:  []MannerRow{{Name: evil, Random: evil}},
			Measures: []MeasureRow{{Name: evil, Hint: evil}},
		}),
		"welcome": Join(JoinPage{Layout: running("join.js"), Heading: evil, Action: "/join/x", Rejoin: Rejoin{Offer: true, Session: evil}}),
		"board":   Dashboard(DashboardPage{Layout: running("dashboard.js"), ID: evil, Heading: evil, Watch: "/sessions/s/watch", Facts: []Fact{{Name: evil, Value: evil}}, Invite: evil, People: peopleOf(evil)}),
		"label":   Label(LabelPage{Layout: running("annotate.js"), Heading: evil, Session: "s", Socket: "/sessions/s/ws", Comparison: true, Guide: evilGuide, Acknowledged: evil, Acknowledge: evil}),
		"rating":  Label(LabelPage{Layout: running("annotate.js"), Heading: evil, Session: "s", Still: true, Subject: evil}),
		"error":   Error(ErrorPage{Layout: layout, Status: "404", Heading: evil, Message: evil, Back: "/"}),
		"out":     Error(ErrorPage{Layout: running("join.js"), Status: "403", Heading: evil, Message: evil, Rejoin: Rejoin{Offer: true, Session: evil}}),
	}
	for _, page := range []string{"learning", "learnt", "asked", "people", "training", "data", "settings"} {
		out["board, "+page] = Dashboard(DashboardPage{
			Layout: running("dashboard.js"), ID: evil, Page: page, Heading: evil, Watch: "/sessions/s/watch", Facts: []Fact{{Name: evil, Value: evil}}, Invite: evil, People: peopleOf(evil),
			Export: true, Change: true, Reason: evil, NoPair: evil, CancelNote: evil, Tables: []ChartTable{{Name: evil, What: evil}}, Exports: "/e?format=", Tabs: []Tab{{Name: evil, URL: "javascript:alert(1)", Current: true}},
			Control: ControlPanel{Page: page, Text: evil, Title: evil, Acts: []ActRow{{When: evil, Who: evil, What: evil}}},
		})
	}
	return out
}

// peopleOf fills the lists of people and links with a text.
func peopleOf(s string) PeoplePanel {
	return PeoplePanel{
		InviteURL: s, Uses: s, Days: s, MoreLinks: s, Joined: s, MorePeople: s, ExportAll: s,
		Links:  []LinkRow{{ID: s, Made: s, Used: s, State: s, Revoke: s}},
		People: []PersonRow{{ID: s, Name: s, RemoveURL: s}, {ID: s, Name: s, Removed: true, Answers: AnswersActions{Name: s, URL: s, Leave: true}}, {ID: s, Name: s, Removed: true, Answers: AnswersActions{Name: s, LeftOut: true}}},
	}
}

// parse renders c and returns its tree and its elements.
func parse(t *testing.T, c templ.Component) []*html.Node {
	t.Helper()
	var b strings.Builder
	must.Do(t, c.Render(context.Background(), &b))
	root := must.Get(html.Parse(strings.NewReader(b.String())))(t)
	var out []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			out = append(out, n)
		}
	}
	return out
}

// attr returns the value of an attribute of n.
func attr(n *html.Node, key string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

// find returns the first element that has the attribute, with that value unless
// it is "*".
func find(nodes []*html.Node, key, value string) *html.Node {
	for _, n := range nodes {
		if v, ok := attr(n, key); ok && (value == "*" || v == value) {
			return n
		}
	}
	return nil
}

// TestPolicy holds every page to what the content security policy allows: no
// inline script, style or handler, nothing from elsewhere, whatever people type.
func TestPolicy(t *testing.T) {
	for name, c := range pages() {
		t.Run(name, func(t *testing.T) {
			for _, n := range parse(t, c) {
				if src, ok := attr(n, "src"); n.Data == "script" && (!ok || n.FirstChild != nil || !strings.HasPrefix(src, static.Base()+"/js/")) {
					t.Errorf("script with source %q", src)
				}
				sandbox, _ := attr(n, "sandbox")
				if n.Data == "style" || n.Data == "iframe" && sandbox != "allow-scripts allow-same-origin" || n.Data == "base" { // a frame sends no forms
					t.Errorf("element %s", n.Data)
				}
				for _, a := range n.Attr {
					if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
						t.Errorf("%s has attribute %s", n.Data, a.Key)
					}
					if (a.Key == "href" || a.Key == "src" || a.Key == "action") && strings.Contains(a.Val, "javascript:") {
						t.Errorf("%s leads to %q", n.Data, a.Val)
					}
				}
			}
		})
	}
}

// TestFiles holds every page to static files that exist.
func TestFiles(t *testing.T) {
	for name, c := range pages() {
		for _, n := range parse(t, c) {
			for _, key := range []string{"src", "href"} {
				v, _ := attr(n, key)
				file, ours := strings.CutPrefix(v, static.Base()+"/")
				if _, err := fs.Stat(static.FS, file); ours && err != nil {
					t.Errorf("%s: %s is not among the static files", name, file)
				}
			}
		}
	}
}

// TestSize holds the files of every page to 78 KB compressed, so that it stays below 100 KB
// with its HTML (8 KB for robots, whose legend is drawn) and the headers of 40 files (TestSpeed
// in cmd/tiebreak measures all three), and to what a server that does not compress may send.
func TestSize(t *testing.T) {
	const compressed, plain = 86_000, 256 << 10 // with headers within the 100 KB of docs/design.md
	for name, c := range pages() {
		var packed bytes.Buffer
		total, seen := 0, map[string]bool{}
		for _, n := range parse(t, c) {
			for _, key := range []string{"src", "href"} {
				v, _ := attr(n, key)
				file, ours := strings.CutPrefix(v, static.Base()+"/")
				if !ours || seen[file] {
					continue
				}
				seen[file] = true
				b := must.Get(fs.ReadFile(static.FS, file))(t)
				w := gzip.NewWriter(&packed)
				must.Get(w.Write(b))(t)
				must.Do(t, w.Close())
				total += len(b)
			}
		}
		if total == 0 || total > plain || packed.Len() > compressed {
			t.Errorf("%s: its files are %d bytes, %d compressed; budgets %d and %d", name, total, packed.Len(), plain, compressed)
		}
		t.Logf("%s: %d bytes, %d compressed", name, total, packed.Len())
	}
}

// TestVideoSize holds the modules that only clips of pictures and of video load to a limit of their own, and the
// annotator's page to naming them all: the service worker keeps what a page names.
func TestVideoSize(t *testing.T) {
	const compressed = 10_500
	var packed bytes.Buffer
	page := strings.Builder{}
	must.Do(t, pages()["label"].Render(t.Context(), &page))
	always := static.Modules("annotate.js")
	for _, file := range static.Modules("video.js") {
		if slices.Contains(always, file) {
			continue
		}
		if !strings.Contains(page.String(), `="`+static.Base()+"/js/"+file+`"`) {
			t.Errorf("the page does not name %s", file)
		}
		b := must.Get(fs.ReadFile(static.FS, "js/"+file))(t)
		w := gzip.NewWriter(&packed)
		must.Get(w.Write(b))(t)
		must.Do(t, w.Close())
	}
	if packed.Len() == 0 || packed.Len() > compressed {
		t.Errorf("the files are %d bytes compressed; the budget is %d", packed.Len(), compressed)
	}
	t.Logf("%d bytes compressed", packed.Len())
}

// TestNames checks that every control has a name for those who cannot see it.
func TestNames(t *testing.T) {
	for name, c := range pages() {
		for _, n := range parse(t, c) {
			typ, _ := attr(n, "type")
			_, labelled := attr(n, "aria-label")
			if n.Data == "button" && !labelled && strings.TrimSpace(text(n)) == "" {
				t.Errorf("%s: a button without a name", name)
			}
			if (n.Data == "input" && typ != "hidden" || n.Data == "textarea") && !within(n, "label") {
				t.Errorf("%s: a field outside a label", name)
			}
		}
	}
}

// text returns the text in n.
func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// within reports whether n lies in an element of that name.
func within(n *html.Node, name string) bool {
	for p := range n.Ancestors() {
		if p.Data == name {
			return true
		}
	}
	return false
}

func TestLabelAnswers(t *testing.T) {
	for _, test := range []struct {
		page          string
		want, wantNot []string
	}{
		{"label", []string{"left", "equal", "right", "cant_tell"}, []string{"rate:0", "rate:10"}},
		{"rating", []string{"rate:0", "rate:5", "rate:10", "cant_tell"}, []string{"left", "equal", "right"}},
	} {
		nodes := parse(t, pages()[test.page])
		for _, c := range test.want {
			if find(nodes, "data-choice", c) == nil {
				t.Errorf("%s has no button for %s", test.page, c)
			}
		}
		for _, c := range test.wantNot {
			if find(nodes, "data-choice", c) != nil {
				t.Errorf("%s has a button for %s", test.page, c)
			}
		}
		for _, part := range []string{"undo", "skip", "help", "saved", "banner", "retry", "continue", "stay", "download", "remove", "report", "help-dialog", "skip-dialog"} {
			if find(nodes, "data-"+part, "*") == nil {
				t.Errorf("%s has no part %s", test.page, part)
			}
		}
	}
}

func TestNewSessionKeepsWhatWasTyped(t *testing.T) {
	nodes := parse(t, pages()["new"])
	for _, name := range []string{"title", "env", "instructions", "budget"} {
		if find(nodes, "name", name) == nil {
			t.Errorf("no field %s", name)
		}
	}
	title := find(nodes, "name", "title")
	if got, _ := attr(title, "value"); got != evil {
		t.Errorf("title = %q, want what was typed", got)
	}
	if _, ok := attr(title, "aria-invalid"); !ok {
		t.Error("the wrong field is not marked")
	}
	if _, ok := attr(find(nodes, "value", "a"), "checked"); !ok {
		t.Error("the selected option is not checked")
	}
}

func TestStates(t *testing.T) {
	for _, test := range []struct {
		page, attribute string
		want            bool
	}{
		{"empty", "data-empty", true},
		{"sessions", "data-empty", false},
		{"sessions", "data-session", true},
		{"sign in", "data-signin", true},
		{"dead", "data-signin", false},
		{"join", "data-start", true},
		{"join", "data-rejoin", false},
		{"welcome", "data-rejoin", true},
		{"out", "data-rejoin", true},
		{"error", "data-rejoin", false},
		{"board", "data-invite-link", true},
	} {
		if got := find(parse(t, pages()[test.page]), test.attribute, "*") != nil; got != test.want {
			t.Errorf("%s: has %s = %v, want %v", test.page, test.attribute, got, test.want)
		}
	}
}
