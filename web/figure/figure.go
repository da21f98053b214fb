package figure

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/view"
)

// An About is what every caption says besides what is drawn.
type About struct {
	Answers int // that count, with those that say nothing of the clips
	People  int // who gave them
	Seed    uint64
	Last    time.Time // of the last answer; zero before the first
	Program string    // its name and version
}

// NewAbout returns what captions say of a session in a state, by a program.
func NewAbout(spec idrl.SessionSpec, st view.Status, program string) About {
	a := About{Answers: st.Answers + st.Skipped, Seed: spec.Seed, Program: program}
	for _, p := range st.Annotators {
		if p.Answers > 0 && !p.LeftOut {
			a.People++
		}
	}
	if len(st.Recent) > 0 {
		a.Last = st.Recent[0].Answer.ReceivedAt
	}
	return a
}

// Text returns the sentence of a caption.
func (a About) Text() string {
	text := fmt.Sprintf("n = %s of %s; seed of the session %d; ", words.Plural(a.Answers, "answer"), words.People(a.People), a.Seed)
	if !a.Last.IsZero() {
		text += "last answer on " + a.Last.UTC().Format("2 January 2006, 15:04") + " UTC; "
	}
	return text + a.Program + "."
}

// A Drawing is a figure, ready to be written.
type Drawing struct {
	Name    string // of its table
	Title   string
	Caption string     // what is drawn, and About.Text
	Empty   bool       // there is nothing to draw yet
	Head    []string   // titles of the columns of Values
	Values  [][]string // the numbers of the drawing, where they are not all written in it; nil where the page says them itself
	width   float64
	height  float64
	shapes  string
}

// A drawer draws rows. It returns the height, and the caption without About.
type drawer struct {
	name, title string
	draw        func(c *canvas, r rows, m Moment) (height float64, caption string)
}

func drawers() []drawer {
	return []drawer{
		{"regret", "Expected loss if questioning ends", drawRegret},
		{"verdicts", "Success by policy", drawVerdicts},
		{"candidates", "Candidate policies", drawCandidates},
		{"weights", "Weights of the reward", drawWeights},
		{"history", "History of the weights", drawHistory},
		{"networks", "Features that the networks reward", drawNetworks},
		{"covariance", "Correlations of the weights", drawCorrelations},
		{"calibration", "Predicted and actual answers", drawCalibration},
		{"transforms", "Predicted and actual ratings", drawTransforms},
		{"conditions", "Accuracy on held-out comparisons", drawConditions},
		{"rate", "Answers per hour", drawRate},
		{"answers", "What people answered", drawMix},
		{"times", "Response times", drawTimes},
		{"strengths", "Strength of the policies", drawStrengths},
	}
}

// Names returns the names of the tables that can be drawn.
func Names() (out []string) {
	for _, d := range drawers() {
		out = append(out, d.name)
	}
	return out
}

// Drawn reports whether the table of that name can be drawn.
func Drawn(name string) bool { return slices.Contains(Names(), name) }

// Of returns the names of the figures of a session of these settings, in the order of a report.
func Of(spec idrl.SessionSpec) []string {
	if spec.IsArena() {
		return []string{"strengths"}
	}
	network, ratings := spec.Model == idrl.NetworkModel, !spec.Kind.Group() && !spec.Kind.Comparison()
	without := map[string]bool{
		"strengths": true, "regret": network, "weights": network, "history": network, "covariance": network, "networks": !network,
		"calibration": ratings, "transforms": !ratings, "conditions": !spec.Compares(), "verdicts": spec.Kind != idrl.JudgeClip,
	}
	return slices.DeleteFunc(Names(), func(name string) bool { return without[name] })
}

// Fits reports whether a table of that name has something to hold in a session of these settings.
func Fits(spec idrl.SessionSpec, name string) bool {
	switch name {
	case "predictions":
		return spec.Kind.Comparison() && !spec.Kind.Group()
	case "group_predictions":
		return spec.Kind.Group()
	case "ratings":
		name = "transforms"
	}
	return slices.Contains(Of(spec), name)
}

// A Look is how a figure is drawn; the zero value is that of files.
type Look struct {
	Narrow bool                          // for a page on a small screen
	Wide   bool                          // for a page on which it may be as wide as a screen, if it has that much to show
	Log    bool                          // scales that can be logarithmic are
	Of     string                        // "best" or "worst": that plot of the predictions of groups; empty: all plots
	Person func(pseudonym string) string // names a person to a researcher; nil: by the pseudonym
}

// wide are the figures that have enough to show for the width of a screen.
var wide = []string{"history", "networks", "times", "verdicts"}

// Draw draws the table of that name. It returns an error of kind NotFound if the table cannot be drawn.
func Draw(name string, m Moment, about About, look Look) (Drawing, error) {
	table, known := Find(name)
	i := slices.IndexFunc(drawers(), func(d drawer) bool { return d.name == name })
	if !known || i < 0 {
		return Drawing{}, idrl.Errorf(idrl.NotFound, "There is no such figure.")
	}
	if name == "covariance" {
		table.Write = correlatedTable
	}
	r, err := read(table, m)
	if err != nil {
		return Drawing{}, err
	}
	d := drawers()[i]
	out := Drawing{Name: name, Title: d.title, width: column, height: 20}
	switch {
	case look.Narrow:
		out.width = phone
	case look.Wide && slices.Contains(wide, name):
		out.width = across
	}
	if look.Of != "" {
		out.Name, out.Title, r = name+"-"+look.Of, "Predicted and actual "+look.Of+" clips", r.where("of", look.Of)
	}
	c := &canvas{width: out.width, log: look.Log, person: look.Person}
	caption := "There is nothing to draw yet."
	if out.Empty = nothing(name, r); !out.Empty {
		out.height, caption = d.draw(c, r, m)
	}
	out.Head, out.Values = c.head, c.values
	out.shapes, out.Caption = c.b.String(), caption+" "+about.Text()
	return out, nil
}

// nothing reports whether rows have nothing that can be drawn: some tables have a row for each bin.
func nothing(name string, r rows) bool {
	count := map[string]string{"calibration": "answers", "transforms": "ratings", "conditions": "decisive"}[name]
	for i := range r.cells {
		if count == "" || r.number(i, count) > 0 {
			return false
		}
	}
	return true
}

// captionLetters is the length of a line of a caption in a file: as many letters as fit between the margins.
const captionLetters = 71

// File returns the figure as a file, with its title and its caption.
func (d Drawing) File() []byte {
	c := &canvas{width: d.width}
	const head = 30
	c.bold(margin, 20, startAt, 14, d.Title)
	fmt.Fprintf(&c.b, "<g transform=\"translate(0 %d)\">\n%s</g>\n", head, d.shapes)
	y := head + d.height + 16
	for _, line := range wrapped(d.Caption, captionLetters) {
		c.text(margin, y, startAt, smallSize, line)
		y += 1.35 * smallSize
	}
	return []byte("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + d.document(y, c.b.String()))
}

// Inline returns the figure as a part of an HTML page, without title and caption, which the page has beside it.
func (d Drawing) Inline() string { return d.document(d.height, d.shapes) }

// document returns the root element. Title and description are for screen readers.
func (d Drawing) document(height float64, shapes string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%s\" height=\"%s\" viewBox=\"0 0 %s %s\" role=\"img\" aria-labelledby=\"%s-title %s-desc\" font-family=\"Helvetica, Arial, sans-serif\" fill=\"%s\">\n",
		px(d.width), px(height), px(d.width), px(height), d.Name, d.Name, inkColour)
	fmt.Fprintf(&b, "<title id=\"%s-title\">%s</title>\n<desc id=\"%s-desc\">%s</desc>\n", d.Name, escaped(d.Title), d.Name, escaped(d.Caption))
	fmt.Fprintf(&b, "<rect width=\"%s\" height=\"%s\" fill=\"#ffffff\"/>\n%s</svg>\n", px(d.width), px(height), shapes)
	return b.String()
}
