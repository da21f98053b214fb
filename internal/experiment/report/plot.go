package report

import (
	"bytes"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"tiebreak/internal/acquisition"
	"tiebreak/internal/experiment"
	"tiebreak/internal/experiment/authors"
	"tiebreak/internal/idrl"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// hues are colours that those who do not see all colours tell apart (Okabe and
// Ito), without their yellow, which is faint on white.
func hues() []color.NRGBA {
	return []color.NRGBA{
		{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
		{0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x00, 0x00, 0x00, 0xff},
	}
}

// dashes are the patterns of lines. Their number and that of hues have no common
// divisor, so that 28 methods differ.
func dashes() [][]vg.Length {
	return [][]vg.Length{nil, {vg.Points(6), vg.Points(2)}, {vg.Points(1.5), vg.Points(1.5)}, {vg.Points(7), vg.Points(2), vg.Points(1.5), vg.Points(2)}}
}

// lineStyle returns the style of the m-th method of an experiment. A method that
// is known looks the same in every plot.
func lineStyle(m int, method string) draw.LineStyle {
	known := acquisition.Methods()
	i := slices.IndexFunc(known, func(m acquisition.Method) bool { return m.Name == method })
	if i < 0 {
		i = len(known) + m
	}
	return draw.LineStyle{Color: hues()[i%len(hues())], Dashes: dashes()[i%len(dashes())], Width: vg.Points(1.6)}
}

// title returns how a method is called in text, with what follows a colon in its
// name, the treatment of answers.
func title(method string) string {
	name, treatment, ok := strings.Cut(method, ":")
	if m, err := acquisition.Find(name); err == nil {
		name = m.Title
	}
	if ok {
		name += ", " + treatment
	}
	return name
}

// A curve is a line of a plot, with a band of one standard error.
type curve struct {
	label string
	style draw.LineStyle
	first int // number of answers of the first value
	mean  []Mean
	band  bool
}

// ours returns the curves of every method.
func ours(r experiment.Result, s measure) (out []curve) {
	for m, method := range r.Experiment.Methods {
		c := curve{label: title(method), style: lineStyle(m, method), band: true}
		for n := range r.Experiment.Answers + 1 {
			c.mean = append(c.mean, MeanOf(s.at(r, m, n)))
		}
		out = append(out, c)
	}
	return out
}

// theirs returns the authors' curves of the methods that were run, as far as our
// own go; none unless the experiment does what their code does.
func theirs(r experiment.Result, s measure) (out []curve) {
	if !asAuthors(r.Experiment) {
		return nil
	}
	for m, method := range r.Experiment.Methods {
		c, _ := authors.CurveOf(setting(r.Experiment), authorsName(method))
		mean, se := column(c, s.name)
		if len(mean) == 0 {
			continue
		}
		line := curve{label: title(method), style: lineStyle(m, method), first: 1, band: true}
		for i := range min(len(mean), r.Experiment.Answers) {
			line.mean = append(line.mean, Mean{mean[i], se[i]})
		}
		out = append(out, line)
	}
	return out
}

// thin returns the curves as they look behind ours: thin, dashed and without
// bands, the first with a label for all.
func thin(curves []curve) []curve {
	for i := range curves {
		c := &curves[i]
		c.band, c.label = false, ""
		if i == 0 {
			c.label = "authors' code (thin)"
		}
		c.style.Width, c.style.Dashes = vg.Points(0.8), []vg.Length{vg.Points(3), vg.Points(2)}
	}
	return curves
}

// Plot draws the mean of a measure ("regret", "mse" or "cosine", as far as the
// experiment has it) with a band of one standard error for every method, as
// "svg" or "png". Where the experiment does what the authors' code does, thin
// dashed lines are the authors'. It returns an error of kind Invalid for another
// measure or format.
func Plot(r experiment.Result, measure, format string) ([]byte, error) {
	s, err := findMeasure(r.Experiment, measure)
	if err != nil {
		return nil, err
	}
	heading := fmt.Sprintf("%s (%d seeds, mean ± s.e.)", r.Experiment.Title, len(r.Runs))
	c := chart{
		title: heading, label: s.label, width: 18 * vg.Centimeter, height: 11 * vg.Centimeter,
		curves: append(thin(theirs(r, s)), ours(r, s)...), background: color.White, legendLow: s.name == "cosine",
	}
	return c.render(format)
}

func findMeasure(e experiment.Experiment, name string) (measure, error) {
	for _, s := range []measure{regretMeasure(e.Unit), second(e)} {
		if s.name == name {
			return s, nil
		}
	}
	return measure{}, idrl.Errorf(idrl.Invalid, "there is no plot of %q of %s", name, e.Name())
}

// A chart is a plot to be drawn.
type chart struct {
	title, label  string
	width, height vg.Length
	curves        []curve
	background    color.Color // nil for none
	legendLow     bool
	most          float64 // the Y axis reaches at least as far; 0 for what the curves need
}

// render draws the chart. An unknown format is an error of kind Invalid.
func (c chart) render(format string) ([]byte, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.title, "Answers", c.label
	p.BackgroundColor = c.background
	p.Legend.Top, p.Legend.Padding, p.Legend.ThumbnailWidth = !c.legendLow, vg.Millimeter, 9*vg.Millimeter
	for _, s := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		s.Font.Variant = font.Variant("Sans")
	}
	p.Title.Padding = 3 * vg.Millimeter
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xe6}, color.Gray{0xe6}
	p.Add(grid)
	for _, line := range c.curves {
		if err := line.add(p); err != nil {
			return nil, err
		}
	}
	p.Y.Min, p.Y.Max = min(0, p.Y.Min), max(c.most, p.Y.Max)
	canvas, err := draw.NewFormattedCanvas(c.width, c.height, format)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "a plot cannot be drawn as %q; try svg or png", format)
	}
	const margin = 3 * vg.Millimeter
	p.Draw(draw.Crop(draw.New(canvas), margin, -margin, margin, -margin))
	var b bytes.Buffer
	_, err = canvas.WriteTo(&b)
	return b.Bytes(), err
}

// add puts the curve into p.
func (c curve) add(p *plot.Plot) error {
	line := make(plotter.XYs, len(c.mean))
	outline := make(plotter.XYs, 2*len(line))
	for i, v := range c.mean {
		x := float64(c.first + i)
		line[i] = plotter.XY{X: x, Y: v.Mean}
		outline[i] = plotter.XY{X: x, Y: v.Mean + v.SE}
		outline[len(outline)-1-i] = plotter.XY{X: x, Y: v.Mean - v.SE}
	}
	drawn, err := plotter.NewLine(line)
	if err != nil {
		return fmt.Errorf("%s: %w", c.label, err)
	}
	drawn.LineStyle = c.style
	if c.band {
		area, err := plotter.NewPolygon(outline)
		if err != nil {
			return fmt.Errorf("%s: %w", c.label, err)
		}
		area.LineStyle.Width, area.Color = 0, faint(c.style.Color)
		p.Add(area)
	}
	p.Add(drawn)
	if c.label != "" {
		p.Legend.Add(c.label, drawn)
	}
	return nil
}

func faint(c color.Color) color.Color {
	v := color.NRGBAModel.Convert(c).(color.NRGBA)
	v.A = 0x26
	return v
}
