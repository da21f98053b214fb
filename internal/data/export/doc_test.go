package export_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"

	"github.com/google/go-cmp/cmp"
)

// A described column is a row of the table in docs/datasets.md.
type described struct {
	name, kind string
	words      []string // of its meaning that are set as code
}

var code = regexp.MustCompile("`([^`]+)`")

func words(cell string) (out []string) {
	for _, m := range code.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

// document returns the table of the section with that heading. A row with two names
// describes two columns.
func document(t *testing.T, heading string) (out []described) {
	t.Helper()
	doc := must.Get(os.ReadFile("../../../docs/datasets.md"))(t)
	_, section, ok := strings.Cut(string(doc), "\n### "+heading+"\n")
	if !ok {
		t.Fatalf("docs/datasets.md has no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n### ")
	for _, line := range strings.Split(section, "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		for _, name := range words(cells[0]) {
			last := cells[len(cells)-1]
			out = append(out, described{name, strings.TrimSpace(cells[1]), words(last)})
		}
	}
	return out
}

// The document lists the columns, in their order, and of what type they are.
func TestTheDocumentListsTheColumns(t *testing.T) {
	head, _, _ := strings.Cut(string(write(t, "csv", nil)), "\n")
	columns := strings.Split(strings.TrimSpace(head), ",")
	columns = columns[:slices.IndexFunc(columns, func(c string) bool { return strings.HasPrefix(c, "features_") })]
	var names []string
	values := readJSONL(t, write(t, "jsonl", rows()))
	for _, d := range document(t, "Columns") {
		names = append(names, d.name)
		for _, v := range values {
			if kind := kindOf(v[d.name], d.kind); kind != d.kind {
				t.Errorf("%s is a %s, %v, and not a %s as the document says", d.name, kind, v[d.name], d.kind)
			}
		}
	}
	if diff := cmp.Diff(columns, names); diff != "" {
		t.Errorf("docs/datasets.md lists other columns than the file has (-file +document):\n%s", diff)
	}
	for _, name := range []string{"features_a_NAME", "features_b_NAME"} {
		doc, err := os.ReadFile("../../../docs/datasets.md")
		if err != nil || !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("docs/datasets.md does not describe %s, %v", name, err)
		}
	}
	if !slices.Contains(export.Formats(), "jsonl") || export.ContentType("csv") != "text/csv; charset=utf-8" {
		t.Error("formats or media types have changed; adapt docs/datasets.md")
	}
}

// kindOf returns the document's word for the type of a value; said, where it is absent.
func kindOf(v any, said string) string {
	switch v := v.(type) {
	case nil:
		return said
	case bool:
		return "boolean"
	case float64:
		if v == math.Trunc(v) && said == "integer" {
			return "integer"
		}
		return "number"
	case string:
		if regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(v) {
			return "time"
		}
		return "text"
	default:
		return fmt.Sprintf("%T", v)
	}
}

// Where a column takes one of a closed set of values, the document names them all.
func TestTheDocumentListsTheValues(t *testing.T) {
	texts := func(list any) []string { return strings.Fields(strings.Trim(fmt.Sprint(list), "[]")) }
	choices := texts([]idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal, idrl.CantTell, idrl.Skip, idrl.TechnicalFailure, idrl.Rated})
	sets := map[string][]string{
		"kind": texts(idrl.QueryKinds()), "choice": choices, "reason": append([]string{"skip"}, idrl.Reasons()...),
		"input": append(idrl.Inputs(), idrl.ImportedInput), "strategy": acquisition.Names(acquisition.Live()),
	}
	for _, d := range document(t, "Columns") {
		if want, ok := sets[d.name]; ok {
			if diff := cmp.Diff(want, d.words); diff != "" {
				t.Errorf("%s (-code +document):\n%s", d.name, diff)
			}
			delete(sets, d.name)
		}
	}
	for name := range sets {
		t.Errorf("docs/datasets.md has no column %s", name)
	}
	var doubts []string
	for _, d := range document(t, "Doubts") {
		doubts = append(doubts, d.name)
	}
	if diff := cmp.Diff(strings.Split(idrl.Doubts(math.MaxUint8).String(), ","), doubts); diff != "" {
		t.Errorf("doubts (-code +document):\n%s", diff)
	}
}
