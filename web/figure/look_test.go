package figure

import (
	"cmp"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
)

// On a small screen every figure is drawn within its narrower width, with letters of the same size.
func TestFiguresForSmallScreens(t *testing.T) {
	m := moment()
	for _, name := range Names() {
		if name == "covariance" { // its rows cannot be made outside of a session
			continue
		}
		d := must.Get(Draw(name, m, About{}, Look{Narrow: true}))(t)
		svg := d.Inline()
		if !strings.Contains(svg, `width="308"`) || strings.Contains(svg, `width="480"`) {
			t.Errorf("%s is not drawn for a small screen", name)
		}
		for _, coordinate := range regexp.MustCompile(` (?:x|x1|x2|cx)="([^"]+)"`).FindAllStringSubmatch(svg, -1) {
			if v, err := strconv.ParseFloat(coordinate[1], 64); err != nil || v < 0 || v > phone {
				t.Errorf("%s draws at x = %s", name, coordinate[1])
			}
		}
		for _, size := range regexp.MustCompile(`font-size="([^"]+)"`).FindAllStringSubmatch(svg, -1) {
			if v, err := strconv.ParseFloat(size[1], 64); err != nil || v < 11 {
				t.Errorf("%s has letters of %s", name, size[1])
			}
		}
	}
}

// On a small screen the names of people have the whole width, and are not cut where a laptop shows them.
func TestNamesOfTimesOnSmallScreens(t *testing.T) {
	const long = "Maximiliane-Charlotte von Hohen"
	person := func(string) string { return long }
	d := must.Get(Draw("times", moment(), About{}, Look{Narrow: true, Person: person}))(t)
	if svg := d.Inline(); !strings.Contains(svg, ">"+long+"</text>") {
		t.Error("a name is cut")
	}
}

// On a logarithmic scale equal factors are equally far apart, and what is 0 is drawn at the bottom.
func TestRegretOnALogarithmicScale(t *testing.T) {
	m := moment()
	m.Status.Regret = nil
	for i, v := range []float64{1, 0.1, 0.01, 0} {
		m.Status.Regret = append(m.Status.Regret, idrl.Regret{Seq: int64(i), Answers: i, Definition: idrl.RegretDefinition, Mean: v, Bound: v})
	}
	d := must.Get(Draw("regret", m, About{}, Look{Log: true}))(t)
	line := regexp.MustCompile(`<path d="M[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)" fill="none"`).FindStringSubmatch(d.Inline())
	if line == nil {
		t.Fatal("no curve of four points is drawn")
	}
	var y []float64
	for _, s := range line[1:] {
		v := must.Get(strconv.ParseFloat(s, 64))(t)
		y = append(y, v)
	}
	if y[0] != 24 || math.Abs(y[1]-122) > 0.01 || y[2] != 220 || y[3] != 220 { // the frame is from 24 to 220
		t.Errorf("1, 0.1, 0.01 and 0 are drawn at %v", y)
	}
	for _, want := range []string{">1 %<", ">10 %<", ">100 %<"} {
		if !strings.Contains(d.Inline(), want) {
			t.Errorf("the axis does not name %s", want)
		}
	}
	if !strings.Contains(d.Caption, "logarithmic") {
		t.Errorf("the caption does not say that the scale is logarithmic: %s", d.Caption)
	}
}

// A long curve is thinned to what can be seen, keeps its end, and does not begin with numbers of another meaning.
func TestRegretIsThinned(t *testing.T) {
	var list []idrl.Regret
	for i := range 5001 {
		list = append(list, idrl.Regret{Seq: int64(i), Answers: i, Definition: idrl.RegretDefinition, Mean: 0.5, Bound: 0.75, Within: 0.25})
	}
	list[2].Definition = 1
	list[5000].Mean = 0.125
	d := must.Get(Draw("regret", Moment{Status: view.Status{Regret: list}}, About{}, Look{}))(t)
	line := regexp.MustCompile(`<path d="([^"]+)" fill="none"`).FindStringSubmatch(d.Inline())[1]
	if n := 1 + strings.Count(line, "L"); n > mostPoints || n < mostPoints/2 {
		t.Errorf("%d points are drawn", n)
	}
	if last := d.Values[len(d.Values)-1]; strings.Join(last, "; ") != "5000; 12.5 %; 75 %; 25 %" || len(d.Values) > mostReadouts {
		t.Errorf("%d rows, of which the last is %q", len(d.Values), last)
	}
	if n := strings.Count(d.Inline(), `pointer-events="all"`); n != len(d.Values) {
		t.Errorf("%d places say their numbers, of %d rows", n, len(d.Values))
	}
	if !strings.Contains(d.Caption, "begins after row 2 of the log:") {
		t.Errorf("nothing is said of earlier numbers: %s", d.Caption)
	}
}

// What the drawing says only to eyes is in a table too, in words.
func TestFiguresHaveTables(t *testing.T) {
	m := moment()
	for name, want := range map[string]string{
		"regret": "40; 3.12 %; 12 %; 67 %", "candidates": "g3.p1; mean; –; −10.0 ± 3.9", "weights": "Speed; −0.50 ± 0.98",
		"history": "42; 1.50 ± 0.49; −0.50 ± 0.98", "networks": "20; −0.75; does not vary", "calibration": "90 to 100 %; 2; 95 %; 100 %; 34 to 100 %",
		"transforms": "90 to 100 %; 2; 0 to 5", "rate": "23 Nov 09:00; 40", "answers": "Equal; 12; 29 %; 17 to 44 %", "times": "Ada; 30; 3.0 s; 2.0 s to 4.0 s; 1.0 s to 5.0 s",
	} {
		m.Status.Candidates[1].Name = "mean"
		d := must.Get(Draw(name, m, About{}, Look{Person: func(id string) string { return map[string]string{"a1": "Ada"}[id] }}))(t)
		last := d.Values[len(d.Values)-1]
		if strings.Join(last, "; ") != want || len(d.Head) != len(last) {
			t.Errorf("%s: %q under %q, want %s", name, last, d.Head, want)
		}
	}
}

// Across a page are drawn the figures that have more to show there, and no other.
func TestFiguresAcrossAPage(t *testing.T) {
	m := moment()
	for _, name := range []string{"regret", "calibration", "history", "networks", "rate", "answers", "times"} {
		d := must.Get(Draw(name, m, About{}, Look{Wide: true}))(t)
		want := map[string]string{"history": `width="1180"`, "networks": `width="1180"`, "times": `width="1180"`}[name]
		if got := regexp.MustCompile(`width="\d+"`).FindString(d.Inline()); got != cmp.Or(want, `width="480"`) {
			t.Errorf("%s is drawn with %s", name, got)
		}
	}
	m.Insight.Posterior.Weights, m.Insight.Posterior.Trace = nil, []insight.Point{{Mean: make([]float64, 9), Std: make([]float64, 9)}}
	for i := range 9 {
		m.Insight.Posterior.Weights = append(m.Insight.Posterior.Weights, insight.Weight{Index: i, Name: strings.Repeat("wide ", i)})
	}
	for k, look := range []Look{{}, {Narrow: true}, {Wide: true}} {
		beside := []int{2, 2, 5}[k]
		d := must.Get(Draw("history", m, About{}, look))(t)
		places := map[string]bool{}
		for _, at := range regexp.MustCompile(`<text x="([0-9.]+)" y="[0-9.]+" text-anchor="start" font-size="11.5">0.00</text>`).FindAllStringSubmatch(d.Inline(), -1) {
			places[at[1]] = true
		}
		if len(places) != beside {
			t.Errorf("%+v: %d plots beside one another, want %d", look, len(places), beside)
		}
	}
}

// The plot of the best clips of groups is drawn without that of the worst ones, under a name of its own.
func TestFigureOfOneKind(t *testing.T) {
	m := moment()
	m.Insight.FitBest, m.Insight.FitWorst = m.Insight.Fit, m.Insight.Fit
	m.Insight.FitWorst.Bins[6].Right = 7
	d, err := Draw("calibration", m, About{}, Look{Of: "best"})
	if svg := d.Inline(); err != nil || d.Title != "Predicted and actual best clips" || !strings.Contains(svg, `id="calibration-best-desc"`) ||
		!strings.Contains(svg, "most probable best clip") || strings.Contains(svg, "worst") || len(d.Values) != 2 {
		t.Errorf("%v, %q, %q:\n%s", err, d.Title, d.Values, svg)
	}
}

// Pages give every colour of a figure another one in the dark: by rules for the attributes of the files.
func TestPagesKnowTheColours(t *testing.T) {
	css := must.Get(os.ReadFile("../../static/css/charts.css"))(t)
	m := moment()
	m.Insight.FitRatings.Bins[0] = 9 // outside of the band
	for _, name := range Names() {
		if name == "covariance" || name == "strengths" { // pages have tables in their place
			continue
		}
		for _, colour := range regexp.MustCompile(`(?:fill|stroke)="#[0-9a-f]{6}"`).FindAllString(drawn(t, name, m).Inline(), -1) {
			if !strings.Contains(string(css), ".charted ["+colour+"]") && colour != `fill="`+inkColour+`"` { // which is the root's
				t.Errorf("%s: the pages have no colour for %s", name, colour)
			}
		}
	}
}

// TestRegretIsOverAnswers: the curve of regret stands over the answers that the posterior had learnt from, not over rows of the log: a skip adds none, and where
// answers were taken back or left out, what was said of them before is left out.
func TestRegretIsOverAnswers(t *testing.T) {
	m := moment()
	m.Status.Regret = nil
	for seq, answers := range []int{0, 1, 2, 2, 3, 1, 2, 3, 4} { // the fourth row is a skip, the sixth leaves out two answers
		m.Status.Regret = append(m.Status.Regret, idrl.Regret{Seq: int64(seq), Answers: answers, Definition: idrl.RegretDefinition, Mean: 0.9 - 0.1*float64(seq), Bound: 1})
	}
	d := drawn(t, "regret", m)
	var got []string
	for _, row := range d.Values {
		got = append(got, row[0]+" "+row[1])
	}
	if want := []string{"0 90 %", "1 40 %", "2 30 %", "3 20 %", "4 10 %"}; !slices.Equal(got, want) || d.Head[0] != "Answers" {
		t.Errorf("%q are %q, want %q", d.Head, got, want)
	}
	file := string(d.File())
	line := regexp.MustCompile(`<path d="([^"]+)" fill="none"`).FindStringSubmatch(file)
	if points := strings.Count(line[1], "L"); points != 4 || !strings.Contains(file, ">answers</text>") || strings.Contains(file, "after row") || !strings.Contains(d.Caption, "so many answers that the posterior had learnt from") {
		t.Errorf("a line of %d points, %q:\n%s", points+1, d.Caption, file)
	}
	table, _ := Find("regret")
	var cells []any
	if err := table.Write(m, func(row ...any) error { cells = row; return nil }); err != nil || table.Columns[1] != "answers" || cells[0] != int64(8) || cells[1] != 4 {
		t.Errorf("the last row of the table is %v, %v", cells, err)
	}
}

// A bound may be below the expected loss, if few draws lose much: captions say why where it is so.
func TestBoundsBelowTheExpectedLoss(t *testing.T) {
	const why = "larger losses in the other 5 % raise the expected loss"
	for bound, want := range map[float64]bool{0.02: false, 0.0001: true, 0: true} {
		m := moment()
		m.Status.Regret = []idrl.Regret{{Definition: idrl.RegretDefinition, Mean: 0.5, Bound: 1}, {Seq: 1, Answers: 1, Definition: idrl.RegretDefinition, Mean: 0.001, Bound: bound}}
		d := drawn(t, "regret", m)
		compared := must.Get(Compare([]Compared{{Session: "a", Regret: m.Status.Regret}}, "tiebreak"))(t)
		if strings.Contains(d.Caption, why) != want || strings.Contains(compared.Caption, why) != want {
			t.Errorf("bound %v: %s %s", bound, d.Caption, compared.Caption)
		}
	}
}

// Numbers of many answers are neither cut at the edge of a figure nor drawn over its marks.
func TestFiguresOfManyAnswers(t *testing.T) {
	m := moment()
	m.Insight.Labour.Hours[1].Replies = 100_000
	m.Insight.Labour.Times = []insight.Times{{N: 100_000, Q: [5]time.Duration{1.9e9, 1.9e9, 1.9e9, 1.9e9, 1.9e9}}}
	for _, narrow := range []bool{false, true} {
		for _, name := range []string{"rate", "times"} {
			svg := must.Get(Draw(name, m, About{}, Look{Narrow: narrow}))(t).Inline()
			mark := 0.0 // the rightmost
			for _, x := range regexp.MustCompile(` x2="([^"]+)"`).FindAllStringSubmatch(svg, -1) {
				mark = max(mark, must.Get(strconv.ParseFloat(x[1], 64))(t))
			}
			for _, at := range regexp.MustCompile(`<text x="([^"]+)" y="[^"]+" text-anchor="end" font-size="([^"]+)">([^<]+100,000|100,000)<`).FindAllStringSubmatch(svg, -1) {
				left := must.Get(strconv.ParseFloat(at[1], 64))(t) - letter*must.Get(strconv.ParseFloat(at[2], 64))(t)*float64(len(at[3]))
				if left < 0 || (name == "times" && left < mark) {
					t.Errorf("%s, narrow %v: %q begins at %.0f; the last mark is at %.0f", name, narrow, at[3], left, mark)
				}
			}
			if !strings.Contains(svg, "100,000") {
				t.Errorf("%s has no number of answers", name)
			}
		}
	}
}

// Names that are too long for their line are written in two, whole, beside rows and in the matrix of correlations. No number touches what is drawn.
func TestLongNames(t *testing.T) {
	const name = "flies-high-checkpoint-500000-seed-3-4"
	m := moment()
	m.Status.Candidates = []view.Estimate{{ID: "g1.p0", Title: name, Mean: 0.1, Std: 1}}
	m.Spec.Features = []string{name, "Speed"}
	m.Arena.Entrants = []bradley.ReportEntrant{{Title: name, Strength: -1.6, Low: -14.53, High: 10.07}}
	for _, of := range []string{"candidates", "covariance", "strengths"} {
		shapes := drawn(t, of, m).shapes
		if text := regexp.MustCompile(`</text>\n<text [^>]*>`).ReplaceAllString(shapes, ""); !strings.Contains(text, name) || strings.Contains(shapes, "…") {
			t.Errorf("%s: the name is cut: %s", of, shapes)
		}
	}
	if d := must.Get(Draw("candidates", m, About{}, Look{Narrow: true}))(t); !strings.Contains(d.shapes, "00-seed-3-4<title>"+name) {
		t.Errorf("on a small screen the end of the name, which tells it from others, is cut: %s", d.shapes)
	}
	svg := must.Get(Draw("strengths", m, About{}, Look{}))(t).shapes
	end := must.Get(strconv.ParseFloat(regexp.MustCompile(`x2="([^"]+)" y2="[^"]+" stroke="#1f4e79"`).FindStringSubmatch(svg)[1], 64))(t)
	if begins := column - margin - room("−1.60 (−14.53 to 10.07)", smallSize); begins < end {
		t.Errorf("the numbers begin at %.0f, and the interval ends at %.0f", begins, end)
	}
}

// A scale of a few answers has whole numbers only.
func TestScaleOfFewAnswers(t *testing.T) {
	m := moment()
	m.Status.Regret = []idrl.Regret{{Definition: idrl.RegretDefinition, Mean: 0.5, Bound: 1}}
	if s := drawn(t, "regret", m).shapes; !strings.Contains(s, ">0</text>") || !strings.Contains(s, ">1</text>") || strings.Contains(s, ">0.5</text>") {
		t.Errorf("the scale: %s", s)
	}
}

// Names have the width that they need: those of the features that come with the program are written whole in a file, and a scale shows
// no differences that the numbers beside it do not have.
func TestNamesAndScaleOfIntervals(t *testing.T) {
	m := moment()
	m.Status.Weights = []view.Estimate{{Name: "Close to the other car", Mean: -0.4, Std: 0.45}, {Name: "Off the target speed", Mean: 1.08, Std: 0.37}}
	if d := must.Get(Draw("weights", m, About{}, Look{}))(t); !strings.Contains(d.shapes, ">Close to the other car</text>") {
		t.Errorf("a name is cut: %s", d.shapes)
	}
	m.Status.Weights[0].Name = strings.Repeat("long ", 30)
	if d := must.Get(Draw("weights", m, About{}, Look{Narrow: true}))(t); !strings.Contains(d.shapes, "<title>long") {
		t.Errorf("a long name is not cut: %s", d.shapes)
	}
	m.Status.Candidates = []view.Estimate{{ID: "g50.p0", Mean: 1.4e-5, Std: 1.6e-5}}
	if d := must.Get(Draw("candidates", m, About{}, Look{}))(t); !strings.Contains(d.shapes, ">0.0 ± 0.0</text>") || strings.Contains(d.shapes, ">0.002</text>") {
		t.Errorf("the scale has digits that 0.0 ± 0.0 has not: %s", d.shapes)
	}
}
