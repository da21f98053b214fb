package report

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/authors"
	"tiebreak/internal/learn/acquisition"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// hues are colours that those who do not see all colours tell apart (Okabe and
// Ito), with brown and violet in place of their yellow, which is faint on white.
func hues() []color.NRGBA {
	return []color.NRGBA{
		{0x00, 0x72, 0xb2, 0xff},
		{0xd5, 0x5e, 0x00, 0xff},
		{0x00, 0x9e, 0x73, 0xff},
		{0xcc, 0x79, 0xa7, 0xff},
		{0xe6, 0x9f, 0x00, 0xff},
		{0x56, 0xb4, 0xe9, 0xff},
		{0x00, 0x00, 0x00, 0xff},
		{0x8c, 0x56, 0x4b, 0xff},
		{0x6a, 0x3d, 0x9a, 0xff},
	}
}

// dashes are the patterns of lines.
func dashes() [][]vg.Length {
	return [][]vg.Length{nil, {vg.Points(6), vg.Points(2)}, {vg.Points(1.5), vg.Points(1.5)}, {vg.Points(7), vg.Points(2), vg.Points(1.5), vg.Points(2)}}
}

// styles returns how the curves of methods look. A method that is known has the
// same look in every plot, unless another one of these has its colour: then it
// has the next that is free.
func styles(methods []string) (out []draw.LineStyle) {
	known := acquisition.Methods()
	taken := map[int]bool{}
	for m, method := range methods {
		i := slices.IndexFunc(known, func(k acquisition.Method) bool { return k.Name == method })
		if i < 0 {
			i = len(known) + m
		}
		hue := i % len(hues())
		for step := 0; taken[hue] && step < len(hues()); step++ {
			hue = (hue + 1) % len(hues())
		}
		taken[hue] = true
		out = append(out, draw.LineStyle{Color: hues()[hue], Dashes: dashes()[i%len(dashes())], Width: vg.Points(1.6)})
	}
	return out
}

// title returns how a method is called in text, with what follows a colon in its
// name: a treatment of answers, or a number of updates.
func title(method string) string {
	name, treatment, ok := strings.Cut(method, ":")
	if m, err := acquisition.Find(name); err == nil {
		name = m.Title
	}
	switch _, err := strconv.Atoi(treatment); {
	case !ok:
		return name
	case treatment == "1":
		return name + ", 1 update"
	case err == nil:
		return name + ", " + treatment + " updates"
	default:
		return name + ", " + treatment
	}
}

// A curve is a line of a plot, with a band of one standard error.
type curve struct {
	label string
	style draw.LineStyle
	x     []int // numbers of answers
	mean  []Mean
	band  bool
}

// ours returns the curves of every method.
func ours(r experiment.Result, s measure) (out []curve) {
	looks := styles(r.Experiment.Methods)
	counts := r.Experiment.Counts()
	for m, method := range r.Experiment.Methods {
		c := curve{label: title(method), style: looks[m], x: counts, band: true}
		for i := range counts {
			c.mean = append(c.mean, MeanOf(s.at(r, m, i)))
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
	looks := styles(r.Experiment.Methods)
	for m, method := range r.Experiment.Methods {
		c, _ := authors.CurveOf(setting(r.Experiment), authorsName(r.Experiment, method))
		mean, se := column(c, s.name)
		if len(mean) == 0 {
			continue
		}
		line := curve{label: title(method), style: looks[m], band: true}
		for i := range min(len(mean), r.Experiment.Answers) {
			line.x = append(line.x, c.Queries[i])
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
			c.label = "authors' code"
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
		title: heading, label: s.label, answers: r.Experiment.Answers, width: 18 * vg.Centimeter, height: 11 * vg.Centimeter,
		curves: append(thin(theirs(r, s)), ours(r, s)...), background: color.White,
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
	across        string // label of the X axis; "": Answers
	width, height vg.Length
	curves        []curve
	answers       int         // the X axis goes from 0 to as many
	most          float64     // the Y axis reaches at least as far; 0 for what the curves need
	background    color.Color // nil for none
}

// render draws the chart, with its legend to the right of it. An unknown format
// is an error of kind Invalid.
func (c chart) render(format string) ([]byte, error) {
	p, legend, err := c.plot()
	if err != nil {
		return nil, err
	}
	canvas, err := draw.NewFormattedCanvas(c.width, c.height, format)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "a plot cannot be drawn as %q; try svg or png", format)
	}
	all := draw.New(canvas)
	if c.background != nil {
		all.SetColor(c.background)
		all.Fill(all.Rectangle.Path())
	}
	const margin, gap = 3 * vg.Millimeter, 4 * vg.Millimeter
	inner := draw.Crop(all, margin, -margin, margin, -margin)
	side := legend.Rectangle(inner).Size().X + gap
	p.Draw(draw.Crop(inner, 0, -side, 0, 0))
	legend.Draw(inner)
	var b bytes.Buffer
	_, err = canvas.WriteTo(&b)
	return b.Bytes(), err
}

// plot returns the plot and its legend apart.
func (c chart) plot() (*plot.Plot, plot.Legend, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.title, cmp.Or(c.across, "Answers"), c.label
	p.BackgroundColor = nil
	p.Title.Padding = 3 * vg.Millimeter
	p.Legend.Top, p.Legend.Padding, p.Legend.ThumbnailWidth = true, vg.Millimeter, 9*vg.Millimeter
	for _, s := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		s.Font.Variant = font.Variant("Sans")
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xdd}, color.Gray{0xdd}
	p.Add(grid)
	for _, line := range c.curves {
		if err := line.add(p); err != nil {
			return nil, plot.Legend{}, err
		}
	}
	p.X.Min, p.X.Max = 0, float64(c.answers)
	p.Y.Min, p.Y.Max = min(0, p.Y.Min), max(c.most, p.Y.Max)
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(ticks), plot.TickerFunc(ticks)
	legend := p.Legend
	p.Legend = plot.NewLegend()
	return p, legend, nil
}

// ticks returns about six round numbers from low to high.
func ticks(low, high float64) (out []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/5)))
	for _, k := range []float64{5, 2} {
		if (high-low)/(k*step) >= 4 {
			step *= k
			break
		}
	}
	for i := math.Ceil(low / step); i*step <= high+step/1e6; i++ {
		out = append(out, plot.Tick{Value: i * step, Label: tick(i * step)})
	}
	return out
}

// tick formats the value of a tick.
func tick(v float64) string {
	if math.Abs(v) >= 1e4 {
		return minus(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return minus(strconv.FormatFloat(v+0, 'g', 4, 64)) // −0 + 0 is 0
}

// add puts the curve into p.
func (c curve) add(p *plot.Plot) error {
	line := make(plotter.XYs, len(c.mean))
	outline := make(plotter.XYs, 2*len(line))
	for i, v := range c.mean {
		x := float64(c.x[i])
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
