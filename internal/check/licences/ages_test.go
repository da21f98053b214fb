package licences

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"
)

const agesFile = "../../../docs/dependencies.md"

var agesTable = regexp.MustCompile(`(?s)As of (\d{4}-\d\d-\d\d)\.\n\n\|.*\|\n`)

var agesRow = regexp.MustCompile(`(?m)^\| (\S+) \| (v\S+) \| (\d{4}-\d\d-\d\d) \|`)

// TestAges: docs/dependencies.md lists the modules that the program needs directly, as of its day; one that was older than a year
// then has a reason. The day changes when the list is made anew, so that the test does not fail by itself.
func TestAges(t *testing.T) {
	text := must.Get(os.ReadFile(agesFile))(t)
	kept := agesTable.FindStringSubmatch(string(text))
	if kept == nil {
		t.Fatal("docs/dependencies.md has no list")
	}
	asOf := must.Get(time.Parse(time.DateOnly, kept[1]))(t)
	known, update := map[string]string{}, flag.Lookup("update").Value.String() == "true"
	for _, row := range agesRow.FindAllStringSubmatch(kept[0], -1) {
		known[row[1]+" "+row[2]] = row[3]
	}
	if update {
		asOf, known = time.Now().UTC(), nil
	}
	table := must.Get(Ages(t.Context(), "../../..", asOf, known))(t)
	if update {
		must.Do(t, os.WriteFile(agesFile, []byte(strings.Replace(string(text), kept[0], table, 1)), 0o644))
		return
	}
	if kept[0] != table {
		t.Errorf("docs/dependencies.md is not that of the present modules: run 'go tool task licences' and commit it; it should say\n%s", table)
	}
}

// A release of a year and a day needs a reason, and a reason needs such a release.
func TestOldReleasesNeedReasons(t *testing.T) {
	asOf := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	old := release{"example.org/old", "v1.0.0", asOf.AddDate(-1, 0, -1)}
	for _, test := range []struct {
		name    string
		list    []release
		reasons map[string]string
		wrong   string
	}{
		{"young", []release{{"example.org/young", "v1.0.0", asOf.AddDate(-1, 0, 0)}}, nil, ""},
		{"old", []release{old}, nil, "example.org/old v1.0.0 is of 2025-11-26"},
		{"old, with a reason", []release{old}, map[string]string{"example.org/old v1.0.0": "It is right."}, ""},
		{"a reason for another version", []release{old}, map[string]string{"example.org/old v0.9.0": "It was right."}, "example.org/old v1.0.0"},
		{"a reason that is not needed", nil, map[string]string{"example.org/old v1.0.0": "It is right."}, "of 1 reasons for old releases 0 are needed"},
	} {
		table, err := ageTable(test.list, asOf, test.reasons)
		if test.wrong == "" && err != nil || test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)) {
			t.Errorf("%s: %v\n%s", test.name, err, table)
		}
	}
}
