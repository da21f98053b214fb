package idrl_test

import (
	"testing"

	"tiebreak/internal/idrl"
)

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
