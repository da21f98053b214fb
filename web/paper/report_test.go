package paper

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/session/view"
)

// hostile is a text as somebody who wants to harm readers may write it.
const hostile = `</title></pre><script>alert(1)</script><img src=x onerror="alert(2)">{{.}}`

// written returns a report, which must be well-formed but for what HTML leaves open.
func written(t *testing.T, s Source) string {
	t.Helper()
	var b, again bytes.Buffer
	if err := errors.Join(Write(&b, s), Write(&again, s)); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Fatalf("%v, or the report differs from time to time", err)
	}
	dec := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	dec.Strict, dec.AutoClose, dec.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		el, is := token.(xml.StartElement)
		if !is {
			continue
		}
		if strings.Contains(" script img link iframe object embed audio video source base form input button ", " "+el.Name.Local+" ") {
			t.Errorf("the report has the element %s", el.Name.Local)
		}
		for _, a := range el.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src" || a.Name.Local == "href" && !ownSection(b.String(), a.Value) || strings.Contains(a.Value, "url(") {
				t.Errorf("the report has the attribute %s=%q", a.Name.Local, a.Value)
			}
		}
	}
	if bad := regexp.MustCompile(`@import|url\(|%!|NaN|&lt;nil&gt;`).FindString(b.String()); bad != "" {
		t.Errorf("the report has %q", bad)
	}
	return b.String()
}

// ownSection reports whether a link leads to a section of the same report.
func ownSection(html, href string) bool {
	id, ok := strings.CutPrefix(href, "#")
	return ok && strings.Contains(html, fmt.Sprintf(`<h2 id="%s">`, id))
}

// A report runs and loads nothing, whatever texts and names are in it, and shows them as they are.
func TestReportStandsAlone(t *testing.T) {
	s := source(func(s *idrl.SessionSpec) {
		s.Title, s.Instructions, s.Authors, s.Licence, s.Recruitment, s.Payment = hostile, hostile, hostile, hostile, hostile, hostile
	})
	s.Spec.Features, s.Env, s.Purpose = []string{hostile, "Speed"}, hostile, hostile
	s.Status.Candidates, s.Status.Weights = []view.Estimate{{ID: "g1.p0", Title: hostile, Mean: 0.1, Std: 0.1}}, []view.Estimate{{Name: hostile, Mean: 1, Std: 0.2}}
	s.Quality.People[0].Warnings = []string{hostile}
	html := written(t, s)
	if n := strings.Count(html, "&lt;script&gt;alert(1)&lt;/script&gt;"); n < 8 {
		t.Errorf("hostile texts are shown %d times", n)
	}
	arena := source(func(s *idrl.SessionSpec) { s.Arena = idrl.Arena{Entrants: make([]idrl.Entrant, 2)} })
	arena.Insight, arena.Arena = nil, bradley.Report{Answers: 1, Entrants: []bradley.ReportEntrant{{Title: hostile, Low: -1, High: 1}, {Title: "b"}}}
	if html := written(t, arena); !strings.Contains(html, "data-ranks") || !strings.Contains(html, `data-figure="strengths"`) || strings.Contains(html, `id="settings"`) {
		t.Error("the report of an arena lacks its ranking, or has the settings of a session")
	}
	recorded := source(recordedArena)
	recorded.Insight, recorded.Arena = nil, recordedReport()
	if html := written(t, recorded); !strings.Contains(html, "data-tasks") || !strings.Contains(html, `open &lt;the&gt; drawer</th><td>doors</td><td>9</td><td>0.50 (−0.20 to 1.10), 6 of 9, wider: −0.90 to 1.80</td><td></td>`) || !strings.Contains(html, "Wider interval") {
		t.Error("the report of an arena of recorded policies lacks its tasks")
	}
	cut := recorded.Arena.Partial().Cut()
	if html := written(t, recorded); strings.Contains(html, cut) {
		t.Error("the report of an arena whose clips are cut says that they are not")
	}
	recorded.Arena = recorded.Arena.Partial()
	if html := written(t, recorded); strings.Count(html, cut) != 4 { // below the headline, in the methods, below the figure, and in it
		t.Errorf("the report of an arena whose clips are being cut says %d times that they are", strings.Count(html, cut))
	}
	empty := source(func(*idrl.SessionSpec) {})
	empty.Status, empty.Quality = view.Status{}, quality.Report{}
	if html := written(t, empty); !strings.Contains(html, "There is nothing to draw yet of: ") || !strings.Contains(html, "Nobody has answered yet.") || strings.Contains(html, "<svg") {
		t.Error("a session without answers does not say so")
	}
}

// The card has what a researcher has stated, and says what is not stated.
func TestDataCardOfReport(t *testing.T) {
	cells := func(s Source) map[string]string {
		out := map[string]string{}
		for _, f := range card(s) {
			out[f.Key] = f.Value
		}
		return out
	}
	got := cells(source(func(*idrl.SessionSpec) {}))
	for _, key := range []string{"authors", "licence", "recruitment", "payment"} {
		if got[key] != unstated {
			t.Errorf("%s: %q", key, got[key])
		}
	}
	got = cells(source(func(s *idrl.SessionSpec) {
		s.Authors, s.Licence, s.Recruitment, s.Payment, s.Consent = "Ada; Bob", "CC-BY-4.0", "A notice.", "12 €", "Yes?"
	}))
	for key, want := range map[string]string{
		"authors": "Ada; Bob", "licence": "CC-BY-4.0", "recruitment": "A notice.", "payment": "12 €", "consent": "People agreed to a text before their first question.",
		"env_id": "Driver, id driver, layout by the seed 1; 2 features of the reward: Speed, Lane",
	} {
		if got[key] != want {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
}

// Charts are as wide as their text needs, and fit into the columns of the page, which no window cuts them off by.
func TestChartsFitTheirColumns(t *testing.T) {
	page := string(must.Get(os.ReadFile("report.html"))(t))
	number := func(pattern string) float64 {
		t.Helper()
		found := regexp.MustCompile(pattern).FindStringSubmatch(page)
		if found == nil {
			t.Fatalf("there is no %s", pattern)
		}
		return must.Get(strconv.ParseFloat(found[1], 64))(t)
	}
	const rem = 16
	chart := number(`figure svg \{[^}]*min-width: (\d+)px`)
	if column := rem * number(`\.charts \{[^}]*minmax\(min\(100%, (\d+)rem\)`); chart > column {
		t.Errorf("charts of %v px stand in columns of %v px", chart, column)
	}
	if room := rem * (number(`header, main \{ max-width: (\d+)rem`) - 2); room < 2*chart+2*rem {
		t.Errorf("two charts of %v px do not stand side by side in %v px", chart, room)
	}
}
