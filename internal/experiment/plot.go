package experiment

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Size of a plot.
const (
	plotWidth  = 18 * vg.Centimeter
	plotHeight = 11 * vg.Centimeter
	plotMargin = 3 * vg.Millimeter
)

// hues are the colours of methods in order, told apart by those who do not see
// all colours (Okabe and Ito).
func hues() []color.NRGBA {
	return []color.NRGBA{{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, {R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, {R: 0x00, G: 0x9e, B: 0x73, A: 0xff}, {R: 0xcc, G: 0x79, B: 0xa7, A: 0xff}}
}

// regretPlot draws the mean regret with its standard error.
func regretPlot(format string) func(Result) ([]byte, error) {
	return func(r Result) ([]byte, error) {
		return curves(r, format, "Regret ("+r.Setting.Unit+")", true, r.Regret)
	}
}

// cosinePlot draws the mean cosine with its standard error.
func cosinePlot(format string) func(Result) ([]byte, error) {
	return func(r Result) ([]byte, error) {
		return curves(r, format, "Cosine of believed and true weights", false, r.Cosine)
	}
}

// curves renders a line and a band of one standard error for every method.
func curves(r Result, format, label string, legendTop bool, value func(method, answers int) Mean) ([]byte, error) {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s (%d seeds, mean ± s.e.)", r.Setting.Title, len(r.Curves))
	p.X.Label.Text, p.Y.Label.Text = "Answers", label
	p.Legend.Top = legendTop
	p.Legend.Padding = vg.Millimeter
	for _, s := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		s.Font.Variant = font.Variant("Sans")
	}
	p.Title.Padding = 3 * vg.Millimeter
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xe6}, color.Gray{0xe6}
	p.Add(grid)
	for m, method := range r.Methods {
		if err := addCurve(p, r, m, method, value); err != nil {
			return nil, err
		}
	}
	p.Y.Min = min(0, p.Y.Min)
	c, err := draw.NewFormattedCanvas(plotWidth, plotHeight, format)
	if err != nil {
		return nil, err
	}
	p.Draw(draw.Crop(draw.New(c), plotMargin, -plotMargin, plotMargin, -plotMargin))
	var b bytes.Buffer
	_, err = c.WriteTo(&b)
	return b.Bytes(), err
}

func addCurve(p *plot.Plot, r Result, m int, method string, value func(method, answers int) Mean) error {
	hue := hues()[m%len(hues())]
	line := make(plotter.XYs, r.Answers+1)
	band := make(plotter.XYs, 2*len(line))
	for n := range line {
		v := value(m, n)
		x := float64(n)
		line[n] = plotter.XY{X: x, Y: v.Mean}
		band[n] = plotter.XY{X: x, Y: v.Mean + v.SE}
		band[len(band)-1-n] = plotter.XY{X: x, Y: v.Mean - v.SE}
	}
	area, err := plotter.NewPolygon(band)
	if err != nil {
		return err
	}
	area.LineStyle.Width = 0
	area.Color = color.NRGBA{hue.R, hue.G, hue.B, 0x38}
	curve, err := plotter.NewLine(line)
	if err != nil {
		return err
	}
	curve.Color, curve.Width = hue, vg.Points(1.6)
	if m%2 == 1 {
		curve.Dashes = []vg.Length{vg.Points(5), vg.Points(2)}
	}
	p.Add(area, curve)
	p.Legend.Add(method, curve)
	return nil
}
