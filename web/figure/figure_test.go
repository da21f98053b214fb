package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
)

// hostile is a name as an environment of somebody else may give it.
const hostile = `<script>alert("&amp; 'x'")</script>` + "\x00\x1b"

// moment is one of a session with something in every part.
func moment() Moment {
	const now = idrl.RegretDefinition
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	m := Moment{Spec: idrl.SessionSpec{Title: hostile, Kind: idrl.CompareClips, Seed: 7, Features: []string{hostile, "Speed"}}, Insight: &insight.Report{}}
	m.Status = view.Status{
		Answers: 40, Skipped: 2, Annotators: []quality.AnnotatorStats{{Annotator: "a1", Answers: 30}, {Annotator: "a2", Answers: 12}, {Annotator: "a3", Answers: 5, LeftOut: true}},
		Recent:     []view.Asked{{Answer: idrl.Answer{ReceivedAt: at}}},
		Regret:     []idrl.Regret{{Definition: now, Mean: 0.5, Bound: 1}, {Seq: 20, Answers: 19, Definition: now, Mean: 0.2, Bound: 0.6}, {Seq: 30, Answers: 28, Definition: now, Mean: math.NaN(), Bound: math.Inf(1)}, {Seq: 42, Answers: 40, Definition: now, Mean: 0.0312, Bound: 0.12, Within: 0.6789}},
		Candidates: []view.Estimate{{ID: "g3.p0", Title: hostile, Mean: 0.2, Std: 0.05}, {ID: "g3.p1", Mean: -0.1, Std: 0.02}},
		Weights:    []view.Estimate{{Name: hostile, Mean: 1.5, Std: 0.25}, {Name: "Speed", Mean: -0.5, Std: 0.5}},
	}
	in := m.Insight
	in.Posterior = insight.Posterior{
		Weights: []insight.Weight{{Index: 0, Name: hostile}, {Index: 1, Name: "Speed"}},
		Trace:   []insight.Point{{Answers: 0, Mean: []float64{0, 0}, Std: []float64{1, 1}}, {Answers: 42, Mean: []float64{1.5, -0.5}, Std: []float64{0.25, 0.5}}},
	}
	in.Networks = []insight.Network{{Version: 1, BasedOn: 10, Clips: 18, Correlation: []float64{-0.25, math.NaN()}}, {Version: 2, BasedOn: 20, Clips: 18, Correlation: []float64{-0.75, math.NaN()}}}
	in.Fit = insight.Calibration{N: 42}
	in.Fit.Bins[6] = insight.Bin{Low: 0.6, High: 0.7, N: 40, Right: 30, Predicted: 0.65, Share: 0.75, From: 0.6, To: 0.86}
	in.Fit.Bins[9] = insight.Bin{Low: 0.9, High: 1, N: 2, Right: 2, Predicted: 0.95, Share: 1, From: 0.34, To: 1}
	in.FitRatings = insight.RatingCalibration{N: 20, Bins: [10]int{1, 2, 3, 2, 2, 2, 2, 2, 2, 2}, Band: [2]int{0, 5}}
	in.Labour = insight.Labour{
		Replies: 42, Hours: []insight.Hour{{Begin: at.Add(-time.Hour), Replies: 2}, {Begin: at, Replies: 40}},
		Times: []insight.Times{{N: 42, Q: [5]time.Duration{1e9, 2e9, 3e9, 5e9, 9e9}}, {Annotator: "a1", N: 30, Q: [5]time.Duration{1e9, 2e9, 3e9, 4e9, 5e9}}},
		Mix:   []insight.Share{{Choice: idrl.ChoseA, N: 30, Of: 0.714, From: 0.56, To: 0.83}, {Choice: idrl.Equal, N: 12, Of: 0.286, From: 0.17, To: 0.44}},
	}
	in.Verdicts = insight.Verdicts{Rates: []insight.SuccessRate{{Policy: hostile, Failures: 2, Success: 6, Share: 0.75, Low: 0.3, High: 0.96}, {Policy: "other", Task: hostile, Failures: 3, Partial: 1, Share: 0.125, Low: 0, High: 0.7}}}
	m.Scores = view.ConditionScores{
		All:        view.ConditionScore{Share: 1, Answers: 20, Points: []view.ScorePoint{{Answers: 10, Decisive: 20, Right: 15, Low: 0.53, High: 0.89}}},
		Conditions: []view.ConditionScore{{Name: "lvar", Share: 0.7, Points: []view.ScorePoint{{Answers: 10, Decisive: 20, Right: 15, Low: 0.53, High: 0.89}}}, {Name: "uniform", Share: 0.3}},
	}
	m.Arena = bradley.Report{Answers: 60, Entrants: []bradley.ReportEntrant{{Title: hostile, Strength: 0.4, Low: 0.1, High: 0.7}, {Title: "other", Strength: -0.4, Low: -0.7, High: -0.1}}}
	return m
}

// drawn draws a figure, that of correlations from rows of its own: their source cannot be made outside of a session.
func drawn(t *testing.T, name string, m Moment) Drawing {
	t.Helper()
	if name == "covariance" {
		c, r := &canvas{width: column}, rows{column: map[string]int{"weight_1": 0, "weight_2": 1, "covariance": 2, "correlation": 3}}
		for i, a := range m.Spec.Features {
			for j, b := range m.Spec.Features {
				r.cells = append(r.cells, []any{a, b, 0.1, []float64{1, -0.31}[(i+j)%2]})
			}
		}
		height, caption := drawCorrelations(c, r, m)
		return Drawing{Name: name, Title: "Correlations", Caption: caption + " " + NewAbout(m.Spec, m.Status, "tiebreak 1.2").Text(), width: column, height: height, shapes: c.b.String(), Head: c.head, Values: c.values}
	}
	d, err := Draw(name, m, NewAbout(m.Spec, m.Status, "tiebreak 1.2"), Look{})
	if err != nil || d.Empty {
		t.Fatalf("%s: %v, empty %v", name, err, d.Empty)
	}
	return d
}

// Every figure is well-formed, is drawn within its size, runs nothing, loads nothing and needs no style sheet, whatever names
// are in it, and says what every caption must.
func TestFiguresStandAlone(t *testing.T) {
	m := moment()
	for _, name := range Names() {
		d := drawn(t, name, m)
		file := d.File()
		if again := drawn(t, name, m).File(); !bytes.Equal(file, again) {
			t.Errorf("%s differs from time to time", name)
		}
		elements := map[string]int{}
		for dec := xml.NewDecoder(bytes.NewReader(file)); ; {
			token, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, file)
			}
			if el, is := token.(xml.StartElement); is {
				elements[el.Name.Local]++
				for _, a := range el.Attr {
					if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || a.Name.Local == "style" || a.Name.Local == "class" || strings.Contains(a.Value, "url(") || a.Name.Local != "xmlns" && strings.Contains(a.Value, "//") {
						t.Errorf("%s: attribute %s=%q", name, a.Name.Local, a.Value)
					}
				}
			}
		}
		for el := range elements {
			if !strings.Contains(" svg title desc rect g text line circle path ", " "+el+" ") {
				t.Errorf("%s has the element %s", name, el)
			}
		}
		for _, want := range []string{"n = 42 answers of 2 people", "seed of the session 7", "23 November 2026, 09:00 UTC", "tiebreak 1.2"} {
			if !strings.Contains(d.Caption, want) || !strings.Contains(string(file), "<desc id=\""+name+"-desc\">"+escaped(d.Caption)) {
				t.Errorf("%s: the caption lacks %q: %s", name, want, d.Caption)
			}
		}
		if !strings.Contains(d.Caption, "interval") && !strings.Contains(d.Caption, "95 %") && !strings.Contains(d.Caption, "5 to 95") {
			t.Errorf("%s: the caption says nothing of intervals: %s", name, d.Caption)
		}
		if bad := regexp.MustCompile(`NaN|Inf|<script`).Find(file); bad != nil {
			t.Errorf("%s has %q", name, bad)
		}
		for _, coordinate := range regexp.MustCompile(` (?:x|x1|x2|cx)="([^"]+)"`).FindAllSubmatch(file, -1) {
			if v, err := strconv.ParseFloat(string(coordinate[1]), 64); err != nil || v < 0 || v > column {
				t.Errorf("%s draws at x = %s", name, coordinate[1])
			}
		}
	}
	if _, err := Draw("questions", m, About{}, Look{}); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("a table that is no chart: %v", err)
	}
}

// The places of marks, read back by the numbers on the axes, are the numbers of the table.
func TestFiguresSayTheirTables(t *testing.T) {
	m := moment()
	file := string(drawn(t, "regret", m).File())
	label := regexp.MustCompile(`<text x="[0-9.]+" y="([0-9.]+)" text-anchor="end" font-size="12">([0-9]+) %</text>`).FindAllStringSubmatch(file, -1)
	if len(label) < 3 {
		t.Fatalf("%d numbers on the axis", len(label))
	}
	number := func(s string) float64 {
		v := must.Get(strconv.ParseFloat(s, 64))(t)
		return v
	}
	first, last := label[0], label[len(label)-1]
	each := (number(last[2]) - number(first[2])) / (number(last[1]) - number(first[1])) / 100 // share of a pixel
	read := func(y string) float64 {
		return number(first[2])/100 + (number(y)+0.35*textSize-number(first[1]))*each // a number stands 0.35 of its size below its line
	}
	line := regexp.MustCompile(`<path d="([^"]+)" fill="none"`).FindStringSubmatch(file)
	points := strings.FieldsFunc(line[1], func(r rune) bool { return r == 'M' || r == 'L' })
	want := []float64{0.5, 0.2, 0, 0.0312} // what is not finite is drawn as the CSV file has it: as nothing
	for i, p := range points {
		_, y, _ := strings.Cut(p, " ")
		if got := read(y); math.Abs(got-want[i]) > 1e-3 { // a tenth of a pixel of 196 a whole
			t.Errorf("point %d of the regret is drawn at %.4f, want %.4f", i, got, want[i])
		}
	}
	for _, test := range []struct{ name, want string }{
		{"weights", "1.50 ± 0.49"},
		{"weights", "−0.50 ± 0.98"},
		{"candidates", "20.0 ± 9.8"},
		{"strengths", "0.40 (0.10 to 0.70)"},
		{"answers", "30: 71 % (56 to 83 %)"},
		{"times", "3.0 s, n = 42"},
		{"calibration", "40 answers of 65 % predicted, 75 % came true (60 to 86 %)"},
		{"covariance", "−0.31"},
		{"regret", "after 40 answers: expected loss 3.12 %, at most 12 %"},
		{"rate", "23 Nov 09:00: 40 answers"},
		{"conditions", "20 held-out answers"},
		{"transforms", "20 to 30 %: 3 ratings"},
		{"history", "−0.50 ± 0.98 after 42 answers"},
		{"networks", "−0.25 at row 10"},
	} {
		d := drawn(t, test.name, m)
		if !strings.Contains(string(d.File()), ">"+test.want+"<") && !strings.Contains(string(d.File()), test.want) && !strings.Contains(d.Caption, test.want) {
			t.Errorf("%s does not say %q", test.name, test.want)
		}
	}
}

// The wider intervals of an arena are drawn to scale behind the others, are written out, and the caption says what they are about.
func TestStrengthsHaveWiderIntervals(t *testing.T) {
	m := moment()
	if d := drawn(t, "strengths", m); strings.Contains(string(d.File()), "wider") || strings.Contains(d.Caption, "wider") {
		t.Errorf("without wider intervals: %s", d.Caption)
	}
	m.Arena.Entrants[0].Population, m.Arena.Entrants[1].Population = &bradley.ReportInterval{Low: -0.5, High: 1.3}, &bradley.ReportInterval{Low: -1.3, High: 0.5}
	m.Arena.Spread = bradley.ReportSpread{Tasks: 4, People: 7}
	d := drawn(t, "strengths", m)
	part := m
	if part.Arena = m.Arena.Partial(); strings.Contains(d.Caption, "Not all clips of this arena") || !strings.Contains(drawn(t, "strengths", part).Caption, part.Arena.Cut()) {
		t.Errorf("of a part of the clips the caption says %q", drawn(t, "strengths", part).Caption)
	}
	if want := m.Arena.Accounts(); !strings.Contains(want, "4 tasks") && !strings.Contains(want, "7 people") || !strings.Contains(d.Caption, want) {
		t.Errorf("the caption says %q, not %q", d.Caption, want)
	}
	lines := regexp.MustCompile(`<line x1="([0-9.]+)" y1="[0-9.]+" x2="([0-9.]+)" y2="[0-9.]+" stroke="#(9fb3c8|1f4e79)"`).FindAllStringSubmatch(string(d.File()), -1)
	if len(lines) != 4 || lines[0][3] != "9fb3c8" || lines[1][3] != "1f4e79" {
		t.Fatalf("the lines are %v in\n%s", lines, d.File())
	}
	number := func(s string) float64 {
		v := must.Get(strconv.ParseFloat(s, 64))(t)
		return v
	}
	for i, e := range m.Arena.Entrants {
		wide, narrow := lines[2*i], lines[2*i+1]
		each := (e.High - e.Low) / (number(narrow[2]) - number(narrow[1])) // of a pixel
		for k, want := range []float64{e.Population.Low, e.Population.High} {
			if got := e.Low + each*(number(wide[k+1])-number(narrow[1])); math.Abs(got-want) > 0.01 {
				t.Errorf("an end of the wider interval of entrant %d is drawn at %.3f, want %.3f", i, got, want)
			}
		}
	}
	for _, want := range []string{"wider: −0.50 to 1.30", "wider: −1.30 to 0.50"} {
		if !strings.Contains(string(d.File()), ">"+want+"<") {
			t.Errorf("it does not write %q", want)
		}
	}
}

// A session without answers has figures that say so.
func TestFiguresOfNothing(t *testing.T) {
	for _, name := range Of(idrl.SessionSpec{Kind: idrl.CompareClips}) {
		d, err := Draw(name, Moment{Insight: &insight.Report{}}, About{Program: "tiebreak"}, Look{})
		if err != nil || !d.Empty || !strings.Contains(string(d.File()), "There is nothing to draw yet.") {
			t.Errorf("%s: %v\n%s", name, err, d.File())
		}
	}
}

// Which figures a session has follows from its settings.
func TestFiguresOf(t *testing.T) {
	for _, test := range []struct {
		name string
		spec idrl.SessionSpec
		want string
	}{
		{"comparisons", idrl.SessionSpec{Kind: idrl.CompareClips}, "regret candidates weights history covariance calibration rate answers times"},
		{"ratings", idrl.SessionSpec{Kind: idrl.RateClip}, "regret candidates weights history covariance transforms rate answers times"},
		{"groups with held-out ones", idrl.SessionSpec{Kind: idrl.GroupClips, HeldOut: 0.2}, "regret candidates weights history covariance calibration conditions rate answers times"},
		{"a network", idrl.SessionSpec{Kind: idrl.CompareClips, Model: idrl.NetworkModel}, "candidates networks calibration rate answers times"},
		{"an arena", idrl.SessionSpec{Arena: idrl.Arena{Entrants: make([]idrl.Entrant, 2)}}, "strengths"},
	} {
		if got := strings.Join(Of(test.spec), " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// A converter makes a PDF file with text, not pictures of it, of every figure, and complains of none.
func TestFiguresAsPDF(t *testing.T) {
	program, err := exec.LookPath("rsvg-convert")
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal("CI needs the package librsvg2-bin")
	} else if err != nil {
		t.Skip("no rsvg-convert found: install the package librsvg2-bin")
	}
	dir, args := t.TempDir(), []string{"-f", "pdf", "-o", "all.pdf"}
	for i, name := range Names() {
		file := fmt.Sprintf("%d.svg", i)
		must.Do(t, os.WriteFile(filepath.Join(dir, file), drawn(t, name, moment()).File(), 0o600))
		args = append(args, file)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	pdf, err := os.ReadFile(filepath.Join(dir, "all.pdf"))
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		t.Fatalf("no PDF file: %v", err)
	}
	if pages := regexp.MustCompile(`/Count (\d+)`).FindSubmatch(pdf); pages == nil || string(pages[1]) != strconv.Itoa(len(Names())) {
		t.Errorf("%q pages, want %d", pages, len(Names()))
	}
	if !bytes.Contains(pdf, []byte("/Font")) || bytes.Contains(pdf, []byte("/Subtype /Image")) {
		t.Error("text has become pictures")
	}
}

// Each cell of the matrix of correlations has its number, is the darker the farther that is from 0, has a frame of dashes where it is
// negative, and is a cell of the table beside it.
func TestCorrelations(t *testing.T) {
	d := drawn(t, "covariance", moment())
	if len(d.Head) != 3 || len(d.Values) != 2 || d.Values[0][1] != "1.00" || d.Values[0][2] != "−0.31" || d.Values[1][0] != "Speed" || d.Values[1][1] != "−0.31" {
		t.Errorf("%q, %q", d.Head, d.Values)
	}
	if strings.Count(d.shapes, `fill-opacity="0.45"`) != 2 || strings.Count(d.shapes, `fill-opacity="0.14" stroke="#555555" stroke-width="1" stroke-dasharray`) != 2 || strings.Count(d.shapes, ">−0.31</text>") != 2 {
		t.Errorf("the matrix: %s", d.shapes)
	}
}
