package settings_test

import (
	"flag"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"

	"github.com/google/go-cmp/cmp"
)

// Every field of a session is a setting, or made by the program: one that is added without a row in
// the table fails here.
func TestEveryFieldIsInTheTable(t *testing.T) {
	var spec idrl.SessionSpec
	keys := map[any]string{} // by pointer
	for _, s := range settings.All() {
		if had := keys[s.At(&spec)]; had != "" {
			t.Errorf("%s and %s are one field", had, s.Key)
		}
		keys[s.At(&spec)] = s.Key
	}
	v := reflect.ValueOf(&spec).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if setting := keys[v.Field(i).Addr().Interface()] != ""; setting == slices.Contains(settings.Made(), name) {
			t.Errorf("%s is a setting and made by the program, or neither", name)
		}
	}
}

// What the table says of each setting is complete, and its default is one that it can have.
func TestTable(t *testing.T) {
	defaults, keys := settings.Complete(settings.Defaults()), map[string]bool{}
	if err := settings.Check(defaults); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	for _, s := range settings.All() {
		if s.Label == "" || s.Words == "" || keys[s.Key] {
			t.Errorf("%s has no label, no words, or is there twice", s.Key)
		}
		keys[s.Key] = true
		var alone idrl.SessionSpec
		if err := s.Set(&alone, s.Default); s.Depends == "" && (err != nil || s.Text(alone) != s.Text(defaults) && s.Default != s.ZeroWord) {
			t.Errorf("%s: the default %q gives %q, a complete session has %q; %v", s.Key, s.Default, s.Text(alone), s.Text(defaults), err)
		}
		for _, v := range s.Values {
			if err := s.Set(&alone, v.Name); err != nil || v.Title == "" {
				t.Errorf("%s cannot be %q: %v", s.Key, v.Name, err)
			}
		}
		if len(s.Values) > 0 && s.Depends == "" && s.Values[0].Name != s.Default {
			t.Errorf("%s offers %q first, and its default is %q", s.Key, s.Values[0].Name, s.Default)
		}
	}
}

// Below and above its range each number is refused, and at the ends of it taken.
func TestRanges(t *testing.T) {
	good := settings.Complete(settings.Defaults())
	for _, s := range settings.All() {
		if s.Type() != settings.Whole && s.Type() != settings.Number || s.Low == 0 && s.High == 0 {
			continue
		}
		step := 1.0
		if s.Type() == settings.Number {
			step = 1e-6
		}
		refused := func(v float64) bool {
			spec := good
			if err := s.Set(&spec, strings.TrimSuffix(formatted(v), ".0")); err != nil {
				t.Fatalf("%s %v: %v", s.Key, v, err)
			}
			return slices.ContainsFunc(settings.Problems(spec), func(p settings.Problem) bool { return p.Key == s.Key && strings.Contains(p.Text, s.Range()) })
		}
		if math.IsInf(s.High, 1) {
			s.High = 1 << 40
			if refused(s.High) {
				t.Errorf("%s has a bound", s.Key)
			}
			continue
		}
		if !refused(s.Low-step) && s.Low-step != 0 || !refused(s.High+step) || refused(s.Low+step) {
			t.Errorf("%s is not held to %s", s.Key, s.Range())
		}
		if refused(s.High) != s.Open {
			t.Errorf("%s at its upper end: refused %v", s.Key, !s.Open)
		}
	}
}

func formatted(v float64) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 7, 64), "0"), ".")
}

// Flags read what the table says, and know the same defaults.
func TestFlags(t *testing.T) {
	var spec idrl.SessionSpec
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	settings.Declare(fs, &spec, "instructions_format")
	want := settings.Defaults()
	want.InstructionsFormat = idrl.PlainText
	if d := cmp.Diff(want, spec); d != "" {
		t.Error(d)
	}
	must.Do(t, fs.Parse([]string{"--budget", "unlimited", "--strength", "--noise-std=0.7", "--conditions", "igr=0.1", "--seed", "18446744073709551615"}))
	want.Strength, want.NoiseStd, want.Seed, want.Controls = true, 0.7, math.MaxUint64, idrl.Controls{{Strategy: "igr", Share: 0.1}}
	if d := cmp.Diff(want, spec); d != "" {
		t.Error(d)
	}
	for _, s := range settings.All() {
		f := fs.Lookup(s.Flag())
		if s.Key == "instructions_format" {
			continue
		}
		if name, usage := flag.UnquoteUsage(f); usage == "" || name == "value" {
			t.Errorf("--%s VALUE is %q, %q", f.Name, name, usage)
		}
	}
}

func TestCheck(t *testing.T) {
	good := settings.Complete(idrl.SessionSpec{Title: "t", Env: "driver"})
	if err := settings.Check(good); err != nil {
		t.Fatalf("the defaults are refused: %v", err)
	}
	for _, test := range []struct {
		name  string
		spoil func(*idrl.SessionSpec)
		want  string // in the error
	}{
		{"query type", func(s *idrl.SessionSpec) { s.Kind = "essay" }, "clip_comparison"},
		{"prior", func(s *idrl.SessionSpec) { s.Prior = "flat" }, "linear, kernel"},
		{"likelihood", func(s *idrl.SessionSpec) { s.Likelihood = "logit" }, "probit, gaussian, bradley-terry, bernoulli"},
		{"title", func(s *idrl.SessionSpec) { s.Title = "" }, "title"},
		{"long title", func(s *idrl.SessionSpec) { s.Title = strings.Repeat("x", idrl.MaxTitle+1) }, "title"},
		{"instructions", func(s *idrl.SessionSpec) { s.Instructions = strings.Repeat("x", idrl.MaxInstructions+1) }, "instructions"},
		{"negative budget", func(s *idrl.SessionSpec) { s.Budget = -1 }, "budget"},
		{"candidates", func(s *idrl.SessionSpec) { s.Candidates = 1 }, "candidates"},
		{"ahead", func(s *idrl.SessionSpec) { s.Ahead = 11 }, "ahead"},
		{"train every", func(s *idrl.SessionSpec) { s.TrainEvery = -1 }, "train_every"},
		{"adopt after", func(s *idrl.SessionSpec) { s.AdoptAfter = s.TrainEvery + 1 }, "adopt_after"},
		{"NaN noise", func(s *idrl.SessionSpec) { s.NoiseStd = math.NaN() }, "above 0"},
		{"infinite prior", func(s *idrl.SessionSpec) { s.PriorVar = math.Inf(1) }, "above 0"},
		{"a scale for each feature", func(s *idrl.SessionSpec) { s.Features, s.PriorScale = []string{"a"}, []float64{1, 2} }, "2 scales for 1 features"},
		{"a scale of zero", func(s *idrl.SessionSpec) { s.PriorScale = []float64{1, 0} }, "positive"},
		{"a scale that is none", func(s *idrl.SessionSpec) { s.PriorScale = []float64{math.NaN()} }, "positive"},
		{"negative band", func(s *idrl.SessionSpec) { s.TieBand = -1 }, "above 0"},
	} {
		s := good
		test.spoil(&s)
		if err := settings.Check(s); idrl.KindOf(err) != idrl.Invalid || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one of kind Invalid with %q", test.name, err, test.want)
		}
	}
}
