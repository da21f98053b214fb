package idrl_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"tiebreak/internal/idrl"
)

// Titles of sessions and of entrants of an arena have no hidden characters; text of several lines may have their ends.
func TestHiddenTitles(t *testing.T) {
	for _, mark := range []string{"\u202a", "\u202e", "\u2066", "\u2069", "\u200e", "\u200f", "\u200b", "\ufeff"} {
		title := "Ada" + mark + "x"
		if idrl.IsVisible(title) || idrl.CheckTitle(title) == nil {
			t.Errorf("%q is taken", title)
		}
		arena := idrl.Arena{Entrants: []idrl.Entrant{{Title: "One", Session: "a", Policy: "p"}, {Title: title, Session: "b", Policy: "p"}}}
		if err := arena.Validate(); err == nil || !strings.Contains(err.Error(), "title of entrant 2 contains invisible") {
			t.Errorf("an arena with %q: %v", title, err)
		}
		arena.Entrants[1].Title, arena.Tasks, arena.Planned = "Two", []idrl.ArenaTask{{Name: "open the drawer", Group: title}}, []int{1}
		if err := arena.Validate(); err == nil || !strings.Contains(err.Error(), "the group of task") {
			t.Errorf("a group of tasks called %q: %v", title, err)
		}
	}
	if !idrl.IsVisible("one\r\ntwo\tthree 👩\u200D🔬") {
		t.Error("lines, tabs and emoji are refused")
	}
}

func TestVisibleName(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"plain", "Ada Łovelace-O'Neil", "Ada Łovelace-O'Neil"},
		{"right-to-left override", "Ada\u202Eecila", "Adaecila"},
		{"isolates and marks", "\u2066Ada\u2069\u200F\u061C", "Ada"},
		{"zero width", "A\u200Bd\uFEFFa\u00AD\u2060", "Ada"},
		{"joiners in Latin", "A\u200Dd\u200Ca", "Ada"},
		{"Hangul filler", "\u3164", ""},
		{"tags", "Ada\U000E0041\U000E007F", "Ada"},
		{"line separator", "Ada\u2028Bob", "AdaBob"},
		{"Persian with a non-joiner", "می\u200Cخواهم", "می\u200Cخواهم"},
		{"Sinhala with a joiner", "ශ්\u200Dරී", "ශ්\u200Dරී"},
		{"joiner at the end", "می\u200C", "می"},
		{"emoji", "👩\u200D🔬 ❤\uFE0F", "👩\u200D🔬 ❤\uFE0F"},
		{"Hebrew", "עדה", "עדה"},
	} {
		if got := idrl.VisibleName(test.in); got != test.want {
			t.Errorf("%s: %q becomes %q, want %q", test.name, test.in, got, test.want)
		}
	}
}

// A title that is made of another one has at most MaxTitle characters, and no character of it is cut in two.
func TestMadeTitles(t *testing.T) {
	long := strings.Repeat("好", idrl.MaxTitle)
	for _, got := range []string{idrl.Titled("Copy of ", long, ""), idrl.Titled("", long, ", row 7")} {
		if err := idrl.CheckTitle(got); err != nil || utf8.RuneCountInString(got) != idrl.MaxTitle {
			t.Errorf("%d characters, %v", utf8.RuneCountInString(got), err)
		}
	}
	if got := idrl.Titled("", "short", " (2)"); got != "short (2)" {
		t.Errorf("title %q", got)
	}
}
