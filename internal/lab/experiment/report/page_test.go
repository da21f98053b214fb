package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"

	"golang.org/x/net/html"
)

// page renders and parses a page.
func page(t *testing.T, command string, r ...experiment.Result) (string, *html.Node) {
	t.Helper()
	data := must.Get(report.Page(command, r))(t)
	root := must.Get(html.Parse(bytes.NewReader(data)))(t)
	return string(data), root
}

// all returns the elements of a name below n.
func all(n *html.Node, name string) (out []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == name {
			out = append(out, d)
		}
	}
	return out
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func TestPage(t *testing.T) {
	paper := asTheirs(t, chainAsInPaper, func(int, float64) float64 { return 0 })
	driver := synthetic(t, experiment.Config{Figure: "driver", Mode: experiment.Paper, Methods: []string{"idrl", "igr"}, Seeds: 30, FirstSeed: 1, Answers: 10}, 0)
	corrected := synthetic(t, experiment.Config{Figure: "chain", Methods: []string{"idrl", "uniform"}, Seeds: 3, Answers: 10}, 0)
	_, root := page(t, "tiebreak-lab bench all --mode paper", paper, driver, corrected)
	sections := map[string]*html.Node{}
	for _, s := range all(root, "section") {
		for _, a := range s.Attr {
			if a.Key == "data-experiment" {
				sections[a.Val] = s
			}
		}
	}
	for _, test := range []struct {
		name    string
		figures int
		says    []string
		not     string
	}{
		{"chain-state-paper", 3, []string{
			"curve: 100\u00a0% of all query counts (IDRL 100\u00a0%, Uniform 100\u00a0%)", "30, from 1 on", "50\u00a0of\u00a050", "14.02\u00a0ms", "authors' code",
		}, "which are not those"},
		{"driver-comparison-paper", 3, []string{"return of 50 steps", "4600\u00a0ms", "whole run 100 queries MR", "Cosine"}, "Squared error"},
		{"chain-state-corrected", 2, []string{"corrected: what the paper's text says"}, "Against the authors' curves"},
	} {
		s, ok := sections[test.name]
		if !ok {
			t.Fatalf("no section %s", test.name)
		}
		if got := len(all(s, "svg")); got != test.figures {
			t.Errorf("%s: %d figures, want %d", test.name, got, test.figures)
		}
		said := text(s)
		for _, want := range test.says {
			if !strings.Contains(said, want) {
				t.Errorf("%s does not say %q", test.name, want)
			}
		}
		if strings.Contains(said, test.not) {
			t.Errorf("%s says %q", test.name, test.not)
		}
	}
	if said := text(root); !strings.Contains(said, "tiebreak-lab bench all --mode paper") || !strings.Contains(said, "pooled") {
		t.Error("no command line or no table over all experiments")
	}
}

// The page needs nothing from elsewhere and runs nothing.
func TestPageIsSelfContained(t *testing.T) {
	text, root := page(t, "tiebreak-lab bench chain", synthetic(t, chainAsInPaper, 0))
	for _, name := range []string{"script", "link", "img", "iframe", "object"} {
		if n := len(all(root, name)); n > 0 {
			t.Errorf("%d elements %s", n, name)
		}
	}
	text = regexp.MustCompile(`xmlns(:\w+)?="[^"]*"`).ReplaceAllString(text, "") // names, not addresses
	for _, bad := range []string{"http:", "https:", "url(", "@import", "src=", "ZgotmplZ"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{`name="viewport"`, "prefers-color-scheme: dark"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestPageEscapes(t *testing.T) {
	r := synthetic(t, experiment.Config{Figure: "chain", Methods: []string{"idrl"}, Seeds: 2, Answers: 3}, 0)
	r.Experiment.Title = `<b onclick="x">&amp;"`
	r.Experiment.Unit = "<i>unit</i>"
	text, root := page(t, "tiebreak-lab bench <u>", r)
	if len(all(root, "b"))+len(all(root, "i"))+len(all(root, "u")) > 0 || strings.Contains(text, "<b onclick") {
		t.Error("a title, a unit or the command line became markup")
	}
	if got := all(root, "h2"); len(got) != 1 || got[0].FirstChild.Data != r.Experiment.Title {
		t.Errorf("the title does not read %q", r.Experiment.Title)
	}
}

func TestPageSaysThatSeedsDiffer(t *testing.T) {
	c := chainAsInPaper
	c.Seeds, c.FirstSeed = 3, 7
	text, _ := page(t, "", synthetic(t, c, 0))
	if !strings.Contains(text, "which are not those run here") {
		t.Error("it does not")
	}
}
