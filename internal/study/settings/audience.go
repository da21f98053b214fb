package settings

import (
	"strings"

	"tiebreak/internal/idrl"
)

// An Audience is a kind of people who answer a session. It has defaults of its own for some settings. Settings
// that are given explicitly take precedence.
type Audience struct {
	Name, Title, Hint string

	// Then says what the program shows once the session is made.
	Then string

	// Sets are the settings whose defaults differ from those of Defaults.
	Sets []Preset
}

// A Preset is the value of a setting as text that Set reads.
type Preset struct{ Key, Value string }

// Names of audiences.
const (
	Alone        = "alone"
	Lab          = "lab"
	Participants = "participants"
	Programs     = "programs"
)

// consentText is the consent text of sessions with participants, unless another is given.
const consentText = `Taking part is voluntary. You can stop at any time without giving a reason.

Your answers and the time that each of them takes are stored under a pseudonym and are used for research. They may be published in this form.

You can erase your data yourself for 30 days, by the link *Withdraw my data*.`

// Audiences returns who can answer a session, the first one first.
func Audiences() []Audience {
	return []Audience{
		{
			Name: Alone, Title: "I try it alone", Hint: "You see what was learnt while you answer.", Then: "a link for you to answer",
			Sets: []Preset{{"show_learnt", "true"}, {"gold_every", "0"}},
		},
		{Name: Lab, Title: "My lab", Hint: "A few people whom you know, by one link.", Then: "one link that all of them open"},
		{
			Name: Participants, Title: "Participants", Hint: "People whom you recruit: consent, a part for each, a completion code.", Then: "the form for the link, with codes of a crowd platform",
			Sets: []Preset{{"consent", consentText}, {"withdraw_days", "30"}, {"answers_each", "30"}, {"repeat_every", "20"}},
		},
		{
			Name: Programs, Title: "Programs", Hint: "A program answers through the HTTP API.", Then: "the form for its token",
			Sets: []Preset{{"gold_every", "0"}, {"min_dwell", "0"}, {"max_rate", "0"}},
		},
	}
}

// FindAudience returns the audience of that name; of any other name, Lab, which has the defaults of
// Defaults.
func FindAudience(name string) Audience {
	all := Audiences()
	for _, a := range all {
		if a.Name == name {
			return a
		}
	}
	return all[1]
}

// Fits returns the audience whose defaults a spec has; Lab if it has those of none.
func Fits(spec idrl.SessionSpec) Audience {
	for _, a := range Audiences() {
		fits := len(a.Sets) > 0
		for _, p := range a.Sets {
			fits = fits && Get(p.Key).Text(spec) == p.Value
		}
		if fits {
			return a
		}
	}
	return FindAudience(Lab)
}

// Defaults returns the settings of a session of a if nothing is said of them, as the function of
// that name does for any.
func (a Audience) Defaults() idrl.SessionSpec {
	spec := Defaults()
	for _, p := range a.Sets {
		_ = Get(p.Key).Set(&spec, p.Value) // tested
	}
	return spec
}

// Default returns the default of s for the audience, as text that Set reads; that of a setting whose
// default depends on others alone is empty.
func (a Audience) Default(s Setting) string {
	for _, p := range a.Sets {
		if p.Key == s.Key {
			return p.Value
		}
	}
	return s.Default
}

// Says lists in one line what the audience sets, for people; empty if nothing.
func (a Audience) Says() string {
	parts := make([]string, 0, len(a.Sets))
	for _, p := range a.Sets {
		s := Get(p.Key)
		value := s.Title(p.Value)
		switch {
		case s.Lines > 0:
			value = "a text that you can change"
		case s.isZeroText(p.Value) && s.Zero != "":
			value = s.Zero
		}
		parts = append(parts, s.Label+": "+value)
	}
	return strings.Join(parts, "; ")
}

// Differs returns the keys of the settings of a spec that differ from the defaults of the audience, given the other
// settings.
func (a Audience) Differs(spec idrl.SessionSpec) (keys []string) {
	spec = Complete(spec)
	usual := a.Defaults()
	for _, s := range table {
		if s.fill == nil {
			s.Copy(&usual, spec)
		}
	}
	usual = Complete(usual)
	own := Complete(a.Defaults())
	for _, s := range table {
		than := own
		if s.fill != nil { // its default follows from the others
			than = usual
		}
		if s.Text(spec) != s.Text(than) {
			keys = append(keys, s.Key)
		}
	}
	return keys
}
