package figure

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session/view"
)

// On a small screen every figure is drawn within its narrower width, with letters of the same size.
func TestFiguresForSmallScreens(t *testing.T) {
	m := moment()
	for _, name := range Names() {
		if name == "covariance" { // its rows cannot be made outside of a session; pages have a table in its place
			continue
		}
		d, err := Draw(name, m, About{}, Look{Narrow: true})
		if err != nil {
			t.Fatal(err)
		}
		svg := d.Inline()
		if !strings.Contains(svg, `width="320"`) || strings.Contains(svg, `width="480"`) {
			t.Errorf("%s is not drawn for a small screen", name)
		}
		for _, coordinate := range regexp.MustCompile(` (?:x|x1|x2|cx)="([^"]+)"`).FindAllStringSubmatch(svg, -1) {
			if v, err := strconv.ParseFloat(coordinate[1], 64); err != nil || v < 0 || v > phone {
				t.Errorf("%s draws at x = %s", name, coordinate[1])
			}
		}
		for _, size := range regexp.MustCompile(`font-size="([^"]+)"`).FindAllStringSubmatch(svg, -1) {
			if v, err := strconv.ParseFloat(size[1], 64); err != nil || v < smallSize {
				t.Errorf("%s has letters of %s", name, size[1])
			}
		}
	}
}

// On a logarithmic scale equal factors are equally far apart, and what is 0 is drawn at the bottom.
func TestRegretOnALogarithmicScale(t *testing.T) {
	m := moment()
	m.Status.Regret = nil
	for i, v := range []float64{1, 0.1, 0.01, 0} {
		m.Status.Regret = append(m.Status.Regret, idrl.Regret{Seq: int64(i), Definition: idrl.RegretDefinition, Mean: v, Bound: v})
	}
	d, err := Draw("regret", m, About{}, Look{Log: true})
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`<path d="M[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)" fill="none"`).FindStringSubmatch(d.Inline())
	if line == nil {
		t.Fatal("no curve of four points is drawn")
	}
	var y []float64
	for _, s := range line[1:] {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
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
		list = append(list, idrl.Regret{Seq: int64(i), Definition: idrl.RegretDefinition, Mean: 0.5, Bound: 0.75, Within: 0.25})
	}
	list[2].Definition = 1
	list[5000].Mean = 0.125
	d, err := Draw("regret", Moment{Status: view.Status{Regret: list}}, About{}, Look{})
	if err != nil {
		t.Fatal(err)
	}
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
	if !strings.Contains(d.Caption, "begins after row 2:") {
		t.Errorf("nothing is said of earlier numbers: %s", d.Caption)
	}
}

// What the drawing says only to eyes is in a table too, in words.
func TestFiguresHaveTables(t *testing.T) {
	m := moment()
	for name, want := range map[string]string{
		"regret": "42; 3.12 %; 12 %; 67 %", "candidates": "g3.p1; mean; –; −10.0 ± 3.9", "weights": "Speed; −0.50 ± 0.98",
	} {
		m.Status.Candidates[1].Name = "mean"
		d, err := Draw(name, m, About{}, Look{})
		if err != nil {
			t.Fatal(err)
		}
		last := d.Values[len(d.Values)-1]
		if strings.Join(last, "; ") != want || len(d.Head) != len(last) {
			t.Errorf("%s: %q under %q, want %s", name, last, d.Head, want)
		}
	}
}

// Pages give every colour of a figure another one in the dark: by rules for the attributes of the files.
func TestPagesKnowTheColours(t *testing.T) {
	css, err := os.ReadFile("../../static/css/charts.css")
	if err != nil {
		t.Fatal(err)
	}
	m := moment()
	for _, name := range []string{"regret", "candidates", "weights", "conditions"} {
		for _, colour := range regexp.MustCompile(`(?:fill|stroke)="#[0-9a-f]{6}"`).FindAllString(drawn(t, name, m).Inline(), -1) {
			if !strings.Contains(string(css), ".charted ["+colour+"]") && colour != `fill="`+inkColour+`"` { // which is the root's
				t.Errorf("%s: the pages have no colour for %s", name, colour)
			}
		}
	}
}
