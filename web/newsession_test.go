package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/rehearsed"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/study/studyfile"
	"tiebreak/web"

	"golang.org/x/net/html"
)

// sent returns what a browser would send of the form for a new session on a page.
func sent(t *testing.T, page string) url.Values {
	t.Helper()
	root := must.Get(html.Parse(strings.NewReader(page)))(t)
	out, inForm := url.Values{}, false
	get := func(n *html.Node, key string) (string, bool) {
		for _, a := range n.Attr {
			if a.Key == key {
				return a.Val, true
			}
		}
		return "", false
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if v, _ := get(n, "data-form"); v == "session" {
			inForm = true
			defer func() { inForm = false }()
		}
		name, named := get(n, "name")
		kind, _ := get(n, "type")
		_, checked := get(n, "checked")
		value, _ := get(n, "value")
		switch {
		case !inForm || !named:
		case n.Data == "input" && (kind != "radio" && kind != "checkbox" || checked):
			out.Set(name, value)
		case n.Data == "textarea":
			if out.Set(name, ""); n.FirstChild != nil {
				out.Set(name, n.FirstChild.Data)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	return out
}

// A session that is not named is named by its environment and the day, which the field shows; a study file of the form has no such name.
func TestSuggestedTitle(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	page := b.get(c, "/sessions/new").body
	_, field, _ := strings.Cut(page, `name="title"`)
	_, shown, _ := strings.Cut(field, `placeholder="`)
	shown, _, _ = strings.Cut(shown, `"`)
	env, day, _ := strings.Cut(shown, ", ")
	if at := must.Get(time.Parse("2 January 2006", day))(t); !strings.Contains(page, "<strong>"+env) || time.Since(at) > 48*time.Hour {
		t.Fatalf("the title that is suggested is %q", shown)
	}
	post := sent(t, page)
	must.Do(t, b.db.CreateSession(t.Context(), settings.Complete(idrl.SessionSpec{ID: "s9", Title: "T", Env: "driver"})))
	b.post(c, "/sessions", post)
	post.Set("title", "Mine")
	b.post(c, "/sessions", post)
	if made := b.sessions.created; len(made) != 2 || made[0].Title != shown || made[1].Title != "Mine" {
		t.Errorf("sessions are made with the settings %+v", made)
	}
	post.Set("title", "")
	post.Set("do", "export")
	if file := b.post(c, "/sessions", post).body; strings.Contains(file, shown) {
		t.Errorf("the study file has the title of the day:\n%s", file)
	}
}

// What is typed or chosen takes precedence over what the choice of who answers sets, and that over the
// defaults, whichever way the form was shown before.
func TestWhoAnswers(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	values := sent(t, b.get(c, "/sessions/new").body)
	if values.Get("who") != settings.Alone || values.Get("show_learnt") != "true" {
		t.Fatalf("the form begins with %q, show_learnt %q", values.Get("who"), values.Get("show_learnt"))
	}
	values.Set("title", "T")
	made := settings.Complete(idrl.SessionSpec{ID: "s9", Title: "T", Env: "driver"}) // which the fake sessions do not record
	must.Do(t, b.db.CreateSession(t.Context(), made))
	for _, test := range []struct {
		name       string
		change     map[string]string
		learnt     bool
		gold, each int
		days       int
		goes       string
	}{
		{"as shown", nil, true, 0, 0, 0, "/sessions/"},
		{"another audience", map[string]string{"who": settings.Lab}, false, 20, 0, 0, "/sessions/"},
		{"participants", map[string]string{"who": settings.Participants}, false, 20, 30, 30, "/people"},
		{"programs", map[string]string{"who": settings.Programs}, false, 0, 0, 0, "/tokens?scope=label&session="},
		{"typed", map[string]string{"who": settings.Participants, "answers_each": "12"}, false, 20, 12, 30, "/people"},
		{"chosen", map[string]string{"show_learnt": "false"}, false, 0, 0, 0, "/sessions/"},
		{"chosen by hand, as another audience has it", map[string]string{"who": settings.Lab, "hand": "show_learnt"}, true, 20, 0, 0, "/sessions/"},
	} {
		post := url.Values{}
		for key := range values {
			post.Set(key, values.Get(key))
		}
		for key, v := range test.change {
			post.Set(key, v)
		}
		before := len(b.sessions.created)
		r := b.post(c, "/sessions", post)
		if r.status != http.StatusSeeOther || len(b.sessions.created) != before+1 || !strings.Contains(r.header.Get("Location"), test.goes) {
			t.Errorf("%s: status %d, leads to %q", test.name, r.status, r.header.Get("Location"))
			continue
		}
		spec := b.sessions.created[before]
		if spec.ShowLearnt != test.learnt || spec.GoldEvery != test.gold || spec.AnswersEach != test.each || spec.WithdrawDays != test.days {
			t.Errorf("%s: show_learnt %v, gold_every %d, answers_each %d, withdraw_days %d", test.name, spec.ShowLearnt, spec.GoldEvery, spec.AnswersEach, spec.WithdrawDays)
		}
		if people := post.Get("who") == settings.Participants; (spec.Consent != "") != people || (spec.CompletionCode != "") != people {
			t.Errorf("%s: consent %q, code %q", test.name, spec.Consent, spec.CompletionCode)
		}
	}
}

// What was changed is marked and counted, and the form shows it again as it was sent.
func TestChangedSettingsAreMarked(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	values := sent(t, b.get(c, "/sessions/new").body)
	for key, v := range map[string]string{"do": "look", "candidates": "7", "ahead": "3", "likelihood": "bradley-terry", "gold_every": "5"} {
		values.Set(key, v)
	}
	r := b.post(c, "/sessions", values)
	if r.status != 200 || strings.Count(r.body, " data-changed") != 3 || r.lacks(`data-setting="candidates" data-changed`, `data-setting="likelihood" data-changed`, `data-setting="gold_every" data-changed`, "3 changed") != nil {
		t.Errorf("status %d, %d marks", r.status, strings.Count(r.body, " data-changed"))
	}
	again := sent(t, r.body)
	if again.Get("hand") != "likelihood" || again.Get("likelihood") != "bradley-terry" || again.Get("candidates") != "7" {
		t.Errorf("the form has %v", again)
	}
	if len(b.sessions.created) > 0 {
		t.Error("looking makes a session")
	}
}

// What the page says of time, cost and loss is what the rehearsals and the fields say.
func TestWhatToExpect(t *testing.T) {
	row := rehearsed.Row{Env: "driver", Kind: idrl.CompareClips, Right: 0.8, PaceS: 3, Against: "known", Answers: []int{10, 50}}
	for run := range 10 {
		row.Regret = append(row.Regret, []float64{float64(run+1) / 100, float64(run+1) / 200})
	}
	b := newBench(t, func(c *web.Config) {
		c.Rehearsals = func() rehearsed.Table { return rehearsed.Table{Rows: []rehearsed.Row{row}} }
		c.RehearsalsFile = "kept.json"
	})
	c := b.researcher()
	look := func(change map[string]string) reply {
		values := url.Values{"do": {"look"}, "title": {"T"}, "env": {"driver"}}
		for key, v := range change {
			values.Set(key, v)
		}
		r := b.post(c, "/sessions", values)
		r.body = html.UnescapeString(r.body)
		return r
	}
	// 30 answers: half of the way from (run+1) % to (run+1)/2 %: the median of (run+1)·0.75 % is 4.1 %.
	at, _ := row.At(30)
	says := fmt.Sprintf("<td>%.1f %%</td><td>%.1f %% to %.1f %%</td>", 100*at.Median, 100*at.Low, 100*at.High)
	for _, test := range []struct {
		change map[string]string
		says   []string
	}{
		{map[string]string{"budget": "30", "wage": "12"}, []string{"30 answers take about 1 min 48 s", "cost about 0.36.", says, "4.1 %", "0.8 % to 7.5 %", "right about 80 % of random pairs", "From 10 rehearsals", "the best one that the session found"}},
		{map[string]string{"hours": "0.5"}, []string{"500 answers take about 30 min of", "500 answers were not rehearsed", "after 50."}},
		{map[string]string{"hours": "0,5", "seconds": "9"}, []string{"200 answers take about 30 min of"}},
		{map[string]string{"hours": "0.5", "budget": "20"}, []string{"20 answers take about 1 min 12 s"}},
		{map[string]string{"hours": "much"}, []string{"Must be a number above 0", "No limit is set"}},
		{map[string]string{"env": "gridworld"}, []string{"There is no rehearsal of Gridworld", "tiebreak simulate --runs 20 --env gridworld --matched", "--keep kept.json"}},
		{map[string]string{"kind": "clip_group", "budget": "10"}, []string{"There is no rehearsal of Driver", "10 answers take about 1 min 48 s"}},
	} {
		if r := look(test.change); r.status != 200 || r.lacks(test.says...) != nil {
			t.Errorf("%v: status %d, lacks %q", test.change, r.status, r.lacks(test.says...))
		}
	}
}

// A preset is a study file: it is saved, listed, used and exported without a change, imported, and
// deleted; no other account sees it.
func TestPresetsOfTheForm(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	values := sent(t, b.get(c, "/sessions/new").body)
	for key, v := range map[string]string{
		"env": "gridworld", "kind": "state_rating", "budget": "55", "who": "participants", "answers_each": "11", "candidates": "9",
		"instructions": "Fruit is **good**.\nThorns are not.", "stop_by_itself": "true", "preset_name": "Fruit & thorns",
	} {
		values.Set(key, v)
	}
	want := settings.FindAudience(settings.Participants).Defaults()
	want.Env, want.Kind, want.Budget, want.AnswersEach, want.Candidates, want.StopByItself = "gridworld", idrl.RateState, 55, 11, 9, true
	want.Instructions = "Fruit is **good**.\nThorns are not."
	file := must.Get(studyfile.Write(settings.Complete(want)))(t)
	export := func(values url.Values) string {
		values.Set("do", "export")
		r := b.post(c, "/sessions", values)
		if r.status != 200 || !strings.Contains(r.header.Get("Content-Disposition"), "study.yaml") {
			t.Errorf("export: status %d, %v", r.status, r.header)
		}
		return r.body
	}
	if got := export(values); got != string(file) {
		t.Errorf("the form exports\n%s\nwant\n%s", got, file)
	}
	values.Set("do", "save")
	r := b.post(c, "/sessions", values)
	if r.status != http.StatusSeeOther || r.header.Get("Location") != "/sessions/new?preset=Fruit+%26+thorns" {
		t.Fatalf("saving: status %d, leads to %q", r.status, r.header.Get("Location"))
	}
	page := b.get(c, r.header.Get("Location"))
	if got := export(sent(t, page.body)); got != string(file) {
		t.Errorf("the preset is used as\n%s", got)
	}
	if page.lacks("data-use-preset", "data-delete-preset") != nil {
		t.Error("the preset is not listed")
	}
	if r := b.post(c, "/presets", url.Values{"preset_name": {"Imported"}, "file": {strings.ReplaceAll(string(file), "\n", "\r\n")}}); r.status != http.StatusSeeOther {
		t.Errorf("import: status %d: %s", r.status, r.body)
	}
	if got := export(sent(t, b.get(c, "/sessions/new?preset=Imported").body)); got != string(file) {
		t.Errorf("what was imported is used as\n%s", got)
	}
	for name, bad := range map[string]url.Values{
		"a key that is not known": {"preset_name": {"x"}, "file": {"colour: red\n"}},
		"no name":                 {"preset_name": {" "}, "file": {"budget: 3\n"}},
		"plain instructions":      {"preset_name": {"x"}, "file": {"instructions: Look.\ninstructions_format: plain\n"}},
	} {
		if r := b.post(c, "/presets", bad); r.status != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, r.status)
		}
	}
	b.post(c, "/presets/delete", url.Values{"preset_name": {"Imported"}})
	if r := b.get(c, "/sessions/new?preset=Imported"); r.status != http.StatusNotFound {
		t.Errorf("after it was deleted: status %d", r.status)
	}
}

// exampleClips has two clips of driver.
func exampleClips(_ context.Context, env string, kind idrl.QueryKind) ([][]byte, error) {
	if env != "driver" {
		return nil, idrl.Errorf(idrl.NotFound, "there is no environment %q to show", env)
	}
	return [][]byte{[]byte("one " + kind), []byte("two " + kind)}, nil
}

// Clips of environments are for those who may make sessions.
func TestClipsOfEnvironments(t *testing.T) {
	b := newBench(t, func(c *web.Config) {
		c.Examples = exampleClips
		c.Catalogue = func() []web.EnvChoice {
			return []web.EnvChoice{{ID: "driver", Title: "Driver", Shown: true}, {ID: "own", Title: "Mine", Own: true, Runs: "Your program runs here."}}
		}
	})
	c := b.researcher()
	for path, status := range map[string]int{
		"/environments/driver/clips/1": 200, "/environments/driver/clips/2?kind=state_rating": 200, "/environments/driver/clips/3": 404,
		"/environments/driver/clips/0": 404, "/environments/driver/clips/x": 404, "/environments/driver/clips/1?kind=essay": 404, "/environments/moon/clips/1": 404,
	} {
		if r := b.get(c, path); r.status != status {
			t.Errorf("%s: status %d, want %d", path, r.status, status)
		}
	}
	if r := b.get(c, "/sessions/new"); r.lacks(`src="/environments/driver/clips/1"`, "Your program runs here.", "Your own") != nil || strings.Contains(r.body, "/environments/own/") {
		t.Error("the cards lack clips or what it takes to run them")
	}
}

// The form takes texts of the greatest lengths in any script: a character may have four bytes, which a form sends as twelve.
func TestFormTakesLongTexts(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	values := sent(t, b.get(c, "/sessions/new").body)
	values.Set("title", strings.Repeat("𠮷", idrl.MaxTitle))
	values.Set("consent", strings.Repeat("𠮷", idrl.MaxConsent))
	values.Set("instructions", strings.Repeat("𠮷", idrl.MaxInstructions))
	must.Do(t, b.db.CreateSession(t.Context(), settings.Complete(idrl.SessionSpec{ID: "s9", Title: "T", Env: "driver"})))
	if r := b.post(c, "/sessions", values); r.status != http.StatusSeeOther || len(b.sessions.created) != 1 {
		t.Errorf("status %d: %.300s", r.status, r.body)
	}
}
