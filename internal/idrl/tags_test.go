package idrl_test

import (
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
)

func TestTags(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, " , ,": nil, "pilot": {"pilot"}, " pilot ,two words,pilot, Pilot,b": {"pilot", "two words", "b"},
	} {
		if got := idrl.Tags(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	many := func(n int) string { return strings.Join(strings.Split("abcdefghijklmnopqrstuvwxyz"[:n], ""), ",") }
	for text, ok := range map[string]bool{
		"": true, "pilot, 2026": true, many(idrl.MaxTags): true, many(idrl.MaxTags + 1): false,
		strings.Repeat("ü", idrl.MaxTag): true, strings.Repeat("ü", idrl.MaxTag+1): false,
		"a\nb": false, "a\u202eb": false, "a\u200bb": false, strings.Repeat(" ", idrl.MaxTagsText+1): false,
	} {
		if err := idrl.CheckTags(text); (err == nil) != ok || err != nil && idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}
