package studyfile_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/study/studyfile"

	"github.com/google/go-cmp/cmp"
)

// fill sets a field of a spec to something that is not its zero value.
func fill(t *testing.T, v reflect.Value, name string, r *rand.Rand) {
	t.Helper()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + int64(r.Uint64()>>1)%1e15)
	case reflect.Uint64:
		v.SetUint(r.Uint64() | 1)
	case reflect.Float64:
		v.SetFloat(math.Exp(40 * (r.Float64() - 0.5)))
	case reflect.String:
		if name == "instructions_format" {
			v.SetString([]string{idrl.Markdown, idrl.PlainText}[r.IntN(2)])
			return
		}
		v.SetString(text(r))
	case reflect.Slice:
		var list idrl.Controls
		for range r.IntN(3) {
			list = append(list, idrl.StrategyShare{Strategy: text(r), Share: math.Exp(40 * (r.Float64() - 0.5))})
		}
		v.Set(reflect.ValueOf(list))
	default:
		t.Fatalf("%s is of a type that study files do not know", name)
	}
}

// text returns one that is easy to get wrong in YAML.
func text(r *rand.Rand) string {
	parts := []string{
		"a", "b c", "\n", "\n\n", " ", "  ", "\t", ": ", "#", " # no comment", "'", `"`, "\\", "- ", "null", "~", "1e3", "0x1f", "true", "no", "2024-01-02", "{", "}", "[", "]", "&x", "*x", "!t",
		"|", ">", "%", "@", "`", "ä", "日本", "😀", "\u2028", "\u00a0", "\u0085", "\ufeff", "---", "...", "\r\n", "<<", "=", "\x7f", strings.Repeat("long ", 40),
	}
	var b strings.Builder
	for range 1 + r.IntN(8) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

// Every setting comes back from a file as it was.
func TestRoundTrip(t *testing.T) {
	r := rng.New(1, "study", 0)
	for range 300 {
		var spec idrl.SessionSpec
		for _, s := range settings.All() {
			fill(t, reflect.ValueOf(s.At(&spec)).Elem(), s.Key, r)
		}
		if r.IntN(4) == 0 {
			spec.Budget = 0
		}
		if r.IntN(4) == 0 { // zero is a value, too, of those that have no default in its place
			spec.GoldEvery, spec.TrainEvery, spec.MinDwell, spec.Strength, spec.Instructions, spec.Consent = 0, 0, 0, false, "", ""
		}
		b, err := studyfile.Write(spec)
		if err != nil {
			t.Fatal(err)
		}
		f, err := studyfile.Read("study.yaml", b)
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		if d := cmp.Diff(spec, f.Spec); d != "" {
			t.Fatalf("%s\n%s", d, b)
		}
		again, err := studyfile.Write(f.Spec)
		if err != nil || string(again) != string(b) {
			t.Fatalf("written again: %v\n%s", err, again)
		}
	}
}

// The template means nothing but the defaults, also with its settings switched on.
func TestTemplate(t *testing.T) {
	f, err := studyfile.Read("study.yaml", studyfile.Template())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(settings.Defaults(), f.Spec); d != "" {
		t.Error(d)
	}
	var on strings.Builder
	for _, f := range settings.All() {
		if f.Depends == "" && f.DefaultText() != "" {
			fmt.Fprintf(&on, "%s: %s\n", f.Key, f.DefaultText())
		}
	}
	if f, err = studyfile.Read("study.yaml", []byte(on.String())); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(settings.Complete(settings.Defaults()), settings.Complete(f.Spec)); d != "" {
		t.Error(d)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for _, test := range []struct {
		name, content string
		want          []string
	}{
		{"unknown key", "title: x\nbugdet: 3\n", []string{"s.yaml:2:", `"bugdet"`, "did you mean budget?"}},
		{"a flag's name", "noise-model: own", []string{"s.yaml:1:", "noise_model"}},
		{"nothing like it", "colour: red", []string{"s.yaml:1:", "docs/study.md"}},
		{"budget of zero", "title: x\n\nbudget: 0\n", []string{"s.yaml:3: budget is 0", "unlimited"}},
		{"duplicate key", "budget: 3\ntitle: x\nbudget: 4\n", []string{"s.yaml:3: budget was already set in line 1"}},
		{"text for a number", "candidates: many", []string{"s.yaml:1: candidates must be a whole number", `"many"`}},
		{"fraction for a whole number", "budget: 2.5", []string{"s.yaml:1: budget must be a whole number"}},
		{"number for text", "title: 2024", []string{"s.yaml:1: title must be text", "quotes"}},
		{"text for a switch", "strength: yes please", []string{"s.yaml:1: strength must be true or false"}},
		{"a list", "title: [a, b]", []string{"s.yaml:1: title must be text"}},
		{"no value", "budget:\n", []string{"s.yaml:1: budget must be a whole number"}},
		{"not a number", "prior_var: .nan", []string{"s.yaml:1: prior_var must be a finite number"}},
		{"zero for a default", "prior_var: 0", []string{"s.yaml:1: prior_var must be a number above 0", "default, 1"}},
		{"too large", "budget: 99999999999999999999", []string{"s.yaml:1: budget must be a whole number"}},
		{"negative seed", "seed: -1", []string{"s.yaml:1: seed must be a whole number"}},
		{"alias", "title: &a x\nenv: *a", []string{"s.yaml:2: env must be text"}},
		{"not YAML", "title: x\n  budget: {", []string{"s.yaml: line 2"}},
		{"no list", "title: x\nconditions: uniform=0.25", []string{"s.yaml:2: conditions must be a list"}},
		{"no mapping", "conditions:\n  - strategy: igr\n    share: 0.1\n  - uniform", []string{"s.yaml:4: conditions has an item that is not a strategy"}},
		{"a key of a condition", "conditions:\n  - strategy: uniform\n    part: 0.25", []string{"s.yaml:3: conditions allows only the keys strategy and share", `"part"`}},
		{"no share", "conditions: [{strategy: uniform}]", []string{"s.yaml:1: conditions has an item without"}},
		{"a share in words", "conditions:\n  - strategy: uniform\n    share: half", []string{`s.yaml:3: conditions has a share that is not a number: "half"`}},
		{"a share that is not a number", "conditions: [{strategy: uniform, share: .nan}]", []string{"s.yaml:1: conditions has a share"}},
		{"a share twice", "conditions: [{strategy: uniform, share: 0.1, share: 0.2}]", []string{"s.yaml:1: conditions has share twice"}},
		{"a list of settings", "- title: x", []string{"s.yaml:1:", "key: value"}},
		{"two documents", "title: x\n---\ntitle: y", []string{"s.yaml:", "one document"}},
		{"two errors", "budget: 0\nbugdet: 1", []string{"s.yaml:1: budget is 0", "\ns.yaml:2: unknown"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := studyfile.Read("s.yaml", []byte(test.content))
			if idrl.KindOf(err) != idrl.Invalid || err == nil {
				t.Fatalf("error %v, want one of kind Invalid", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q:\n%v", want, err)
				}
			}
		})
	}
	if _, err := studyfile.Read("s.yaml", make([]byte, studyfile.MaxFile+1)); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a file that is too large: %v", err)
	}
}

// What is wrong by the rules of sessions is found in its line.
func TestChecksNameTheLine(t *testing.T) {
	valid := func(s idrl.SessionSpec) error { return settings.Check(settings.Complete(s)) }
	for content, want := range map[string]string{
		"title: x\ncandidates: 1\n":                "s.yaml:2: candidates ",
		"kind: essay\n":                            "s.yaml:1: kind ",
		"title: x\n\ntolerance: 2\n":               "s.yaml:3: tolerance ",
		"kind: clip_rating\nmodel: network\n":      "s.yaml:2: model ", // the later one of the two that clash
		"budget: 20000\n":                          "s.yaml:1: budget ",
		"title: ''\n":                              "s.yaml:1: title ",
		"strength: true\ntie_band: 10\n":           "s.yaml:2: tie_band: much_band",
		"train_every: 2\nadopt_after: 3\n":         "s.yaml:2: adopt_after ",
		"title: x\nbudget: 40\nseed: 3\nahead: 99": "s.yaml:4: ahead ",

		"conditions: [{strategy: uniform, share: -0.1}]":                                           "s.yaml:1: conditions: the share of the condition",
		"title: x\nconditions: [{strategy: uniform, share: 0.6}, {strategy: igr, share: 0.4}]":     "s.yaml:2: conditions: the shares of the conditions must add up to less than 1",
		"title: x\nconditions: [{strategy: uniform, share: 0.1}, {strategy: uniform, share: 0.1}]": "s.yaml:2: conditions: the condition \"uniform\" is given twice",
		"conditions: [{strategy: igr, share: 0.1}]\nacquisition: igr":                              "s.yaml:2: acquisition: conditions: the condition \"igr\" is the session's own",
		"model: network\nconditions: [{strategy: igr, share: 0.1}]":                                "s.yaml:2: conditions need",
		"held_out: 0.6":                    "s.yaml:1: held_out ",
		"held_out: -0.1":                   "s.yaml:1: held_out ",
		"kind: clip_rating\nheld_out: 0.1": "s.yaml:2: held_out is possible for comparisons",
		"kind: clip_group\nheld_out: 0.1":  "s.yaml:2: held_out is possible for comparisons",
	} {
		f := must.Get(studyfile.Read("s.yaml", []byte(content)))(t)
		if err := f.Check(valid); idrl.KindOf(err) != idrl.Invalid || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %s…", content, err, want)
		}
	}
	f, err := studyfile.Read("s.yaml", []byte("title: x"))
	if err != nil || f.Check(valid) != nil {
		t.Errorf("a valid file: %v, %v", err, f.Check(valid))
	}
}

// The document has the table of settings that the code has.
func TestDocument(t *testing.T) {
	b := must.Get(os.ReadFile("../../../docs/study.md"))(t)
	if !strings.Contains(string(b), studyfile.Table()) {
		t.Errorf("docs/study.md lacks this table:\n%s", studyfile.Table())
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("title: x\nbudget: 3"))
	f.Add(studyfile.Template())
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := studyfile.Read("s.yaml", b)
		if err != nil {
			return
		}
		if _, err := studyfile.Write(file.Spec); err != nil {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}
