package main

import (
	"regexp"
	"strings"
	"testing"
)

// The command counts as the equations do, with the answers that say nothing and those that are not held out on top.
func TestSessionSamples(t *testing.T) {
	t.Parallel()
	out := mustCLI(t, "session", "samples", "--from", "80", "--to", "85", "--decisive", "90", "--held-out", "10")
	for _, row := range []string{
		`two rewards, by the same answers; they differ in 29\.0 % .* 1215 +1350 +13500\n`,
		`one reward with a fixed 80 % +617 +686 +6860\n`,
		`two rewards, each by answers of its own +1212 each +1347 each +13470 each\n`,
		`Set held_out to 0\.1,`,
	} {
		if !regexp.MustCompile(row).MatchString(out) {
			t.Errorf("no %q in\n%s", row, out)
		}
	}
	for _, wrong := range [][]string{
		{"--from", "0"}, {"--to", "100"}, {"--to", "80"}, {"--power", "4"}, {"--level", "NaN"}, {"--decisive", "0"}, {"--held-out", "51"}, {"--apart", "4"},
	} {
		if status, _, _ := cli(t, append([]string{"session", "samples"}, wrong...)...); status != 1 {
			t.Errorf("%s: exit status %d", strings.Join(wrong, " "), status)
		}
	}
}
