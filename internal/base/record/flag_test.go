package record_test

import (
	"strings"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

func TestFlagValidate(t *testing.T) {
	for _, test := range []struct {
		name, note string
		ok         bool
	}{
		{"a word", "blurred", true},
		{"lines", "left:\nblurred", true},
		{"the longest", strings.Repeat("ä", record.MaxFlagNote), true},
		{"too long", strings.Repeat("a", record.MaxFlagNote+1), false},
		{"a megabyte", strings.Repeat("a", 1<<20), false},
		{"nothing", " \n", false},
		{"a bell", "ding\a", false},
		{"not UTF-8", "a\xff", false},
	} {
		f := record.Flag{ID: "1", Assignment: "as1", Note: test.note}
		if err := f.Validate(); (err == nil) != test.ok || err != nil && idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	for _, f := range []record.Flag{{Assignment: "a", Note: "n"}, {ID: "1", Note: "n"}, {ID: strings.Repeat("1", 65), Assignment: "a", Note: "n"}} {
		if err := f.Validate(); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
