package web_test

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/session/view"
	"tiebreak/internal/study/settings"
)

// option matches a radio button of the form with what stands beside it.
var option = regexp.MustCompile(`<input type="radio" name="(\w+)" value="([^"]+)"[^>]*>\s*<span>\s*<strong>([^<]*)</strong>\s*(?:<em>([^<]*)</em>)?`)

// TestFormSaysWhatThereIs: every choice of a method, likelihood, prior and kind
// of question is on the form, in order, with a name of its own and a line of help.
func TestFormSaysWhatThereIs(t *testing.T) {
	b := newBench(t, nil)
	page := b.get(b.researcher(), "/sessions/new").body
	got := map[string][]string{}
	seen := map[string]bool{}
	for _, m := range option.FindAllStringSubmatch(page, -1) {
		field, value, label, hint := m[1], m[2], html.UnescapeString(m[3]), html.UnescapeString(m[4])
		got[field] = append(got[field], value)
		if label == "" || label == value || seen[field+label] {
			t.Errorf("%s %s is called %q on the form", field, value, label)
		}
		if field != "env" && (len(hint) < 20 || len(hint) > 110 || !strings.ContainsAny(hint[len(hint)-1:], ".?")) {
			t.Errorf("%s %s is explained by %q", field, value, hint)
		}
		seen[field+label] = true
	}
	delete(got, "env")
	delete(got, "who")
	want := map[string][]string{"acquisition": acquisition.Names(acquisition.Live())}
	for _, setting := range settings.All() {
		if setting.Key != "instructions_format" && len(setting.Values) > 0 {
			want[setting.Key] = setting.Names()
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("choices (-want +got):\n%s", diff)
	}
}

// fact returns what the dashboard says of a session.
func fact(page, name string) string {
	_, rest, _ := strings.Cut(page, "<dt>"+name+"</dt><dd>")
	value, _, _ := strings.Cut(rest, "</dd>")
	return html.UnescapeString(value)
}

// TestDashboardNamesMethods: the dashboard and the list name what a session was
// made with in the words of the form, and say why its questions are asked.
func TestDashboardNamesMethods(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	reasons := map[string]bool{}
	for _, test := range []struct{ acquisition, title, pair string }{
		{"idrl", "IDRL", "drawn at random"},
		{"uniform", "Uniform", "drawn at random"},
		{"igr", "IGR", "the reward"},
		{"evr", "EVR", "the two shown"},
		{"lvar", "LVAR", "drawn at random"},
		{"tt", "TT", "drawn at random"},
		{"err", "ERR", "leader – all others"},
		{"kg-star", "KG*", "leader – all others"},
		{"vids", "V-IDS", "all policies"},
		{"leader", "Leader against one", "drawn at random"},
	} {
		b.s1.spec.Acquisition = test.acquisition
		page := b.get(c, "/sessions/s1/asked").body
		if got := fact(b.get(c, "/sessions/s1/settings").body, "Strategy"); got != test.title {
			t.Errorf("%s is called %q on the dashboard, want %q", test.acquisition, got, test.title)
		}
		_, rest, _ := strings.Cut(page, "Why these questions <em>")
		reason, _, _ := strings.Cut(rest, "</em>")
		if len(reason) < 20 || reasons[reason] {
			t.Errorf("%s: questions are asked because %q", test.acquisition, reason)
		}
		reasons[reason] = true
		if want := `data-no-pair="` + test.pair + `"`; !strings.Contains(page, want) {
			t.Errorf("%s: the dashboard lacks %s", test.acquisition, want)
		}
		if list := b.get(c, "/sessions").body; !strings.Contains(list, test.title) {
			t.Errorf("%s: the list of sessions lacks %q", test.acquisition, test.title)
		}
	}
	if len(reasons) != len(acquisition.Names(acquisition.Live())) {
		t.Errorf("%d reasons for %d acquisition functions", len(reasons), len(acquisition.Names(acquisition.Live())))
	}
}

func TestDashboardNamesModels(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	for _, test := range []struct{ likelihood, prior, want string }{
		{"probit", "linear", "Probit with ties, linear prior"},
		{"gaussian", "linear", "Gaussian ±1, linear prior"},
		{"bradley-terry", "kernel", "Bradley–Terry with ties, kernel prior"},
		{"bernoulli", "kernel", "Linear chance, kernel prior"},
		{"of old", "linear", "of old, linear prior"},
	} {
		b.s1.spec.Likelihood, b.s1.spec.Prior = test.likelihood, test.prior
		if got := fact(b.get(c, "/sessions/s1/settings").body, "Model"); got != test.want {
			t.Errorf("%s: the model is %q, want %q", test.likelihood, got, test.want)
		}
	}
	b.s1.spec.Model = idrl.NetworkModel
	for noise, want := range map[string]string{
		idrl.SharedNoise: "Neural network, Bradley–Terry with ties",
		idrl.OwnNoise:    "Neural network, Probit with ties",
	} {
		b.s1.spec.Noise = noise
		if got := fact(b.get(c, "/sessions/s1/settings").body, "Model"); got != want {
			t.Errorf("of a network with noise %q, the model is %q, want %q", noise, got, want)
		}
	}
	b.s1.spec.Kind, b.s1.spec.Model = idrl.RateClip, idrl.FeaturesModel
	if got, want := fact(b.get(c, "/sessions/s1/settings").body, "Model"), "Gaussian rating, linear prior"; got != want {
		t.Errorf("of ratings, the model is %q, want %q", got, want)
	}
}

// TestWatchNamesPoliciesOfThePast: a question may tell apart policies that are no
// candidates any more, or no two policies.
func TestWatchNamesPoliciesOfThePast(t *testing.T) {
	b := newBench(t, nil)
	b.s1.recent = []view.Asked{
		{Answer: idrl.Answer{Seq: 2}, Why: record.Why{First: "g9.p1", Second: "g0.p3", Info: 0.5}},
		{Answer: idrl.Answer{Seq: 1}},
	}
	b.s1.titles = map[idrl.PolicyID]string{"g0.p3": "jumps"} // as recorded policies have
	var state struct {
		Candidates []struct{ ID string }
		Recent     []struct{ First, Second string }
	}
	must.Do(t, json.Unmarshal(b.open(b.researcher(), "/sessions/s1/watch").hear(), &state))
	if len(state.Candidates) != 1 || state.Candidates[0].ID == "g0.p3" || len(state.Recent) != 2 {
		t.Fatalf("state %+v, want one candidate, not g0.p3, and two questions", state)
	}
	if q := state.Recent[0]; q.First != "g9.p1" || q.Second != "jumps" {
		t.Errorf("the last question is about %q and %q, want g9.p1 and jumps", q.First, q.Second)
	}
	if q := state.Recent[1]; q.First != "" || q.Second != "" {
		t.Errorf("the first question is about %q and %q, want no policies", q.First, q.Second)
	}
}
