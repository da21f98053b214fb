package figure

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"tiebreak/internal/base/words"
)

// Sizes in the units of the viewBox, which are CSS pixels at the width of a column of text.
const (
	column    = 480.0  // width of a file
	phone     = 308.0  // width on a page of a small screen: of a card on one of 390 px
	across    = 1180.0 // width on a page across a screen: of a card on one of 1280 px
	margin    = 10.0
	textSize  = 12.0
	smallSize = 11.5
	letter    = 0.56 // greatest mean width of a letter of common sans-serif fonts, in units of the size of the letters
)

// Looks of shapes, as presentation attributes: converters to PDF know them better than style sheets. Each is told from the others
// also without colours, by its darkness, width or dashes.
const (
	inkColour  = "#1b1b1b"
	gridLook   = `stroke="#d4d4d4" stroke-width="1"`
	axisLook   = `stroke="#555555" stroke-width="1"`
	lineLook   = `fill="none" stroke="#1f4e79" stroke-width="2" stroke-linejoin="round"`
	bandLook   = `fill="#bdd0e4"`
	zeroLook   = `stroke="#555555" stroke-width="1" stroke-dasharray="4 3"`
	rangeLook  = `stroke="#1f4e79" stroke-width="2"`
	widerLook  = `stroke="#9fb3c8" stroke-width="5"`
	dotLook    = `fill="#1f4e79"`
	hollowLook = `fill="#ffffff" stroke="#1f4e79" stroke-width="2"`
	barLook    = `fill="#7d9fc2"`
	boxLook    = `fill="#bdd0e4" stroke="#1f4e79" stroke-width="1"`
	outLook    = ` stroke="#1b1b1b" stroke-width="2.5"`
	chanceLook = `fill="none" stroke="#555555" stroke-width="1" stroke-dasharray="2 2"`
)

// A canvas collects the shapes of a drawing, and what it shows as a table.
type canvas struct {
	b      strings.Builder
	width  float64
	log    bool // scales that can be logarithmic are
	person func(pseudonym string) string
	head   []string // titles of the columns of values
	values [][]string
}

// value notes a row of the table.
func (c *canvas) value(cells ...string) { c.values = append(c.values, cells) }

// names returns the width of a column of names, which has that width in a file.
func (c *canvas) names(wide float64) float64 {
	return math.Round(wide*min(1.5, c.width/column)*10) / 10
}

// hover has a text shown under the pointer in a rectangle that is not seen.
func (c *canvas) hover(x, y, w, h float64, says string) {
	c.rect(x, y, w, h, `fill="none" pointer-events="all"`, says)
}

// px writes a length, with no more digits than can be seen.
func px(v float64) string { return strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64) }

// escaped writes text so that it is text in XML; characters that XML does not have are replaced.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes all
	return b.String()
}

func (c *canvas) line(x1, y1, x2, y2 float64, look string) {
	fmt.Fprintf(&c.b, "<line x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\" %s/>\n", px(x1), px(y1), px(x2), px(y2), look)
}

// rect draws a rectangle; says, if not empty, is shown under the pointer.
func (c *canvas) rect(x, y, w, h float64, look, says string) {
	fmt.Fprintf(&c.b, "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" %s>%s</rect>\n", px(x), px(y), px(max(0, w)), px(max(0, h)), look, titled(says))
}

func (c *canvas) circle(x, y, r float64, look, says string) {
	fmt.Fprintf(&c.b, "<circle cx=\"%s\" cy=\"%s\" r=\"%s\" %s>%s</circle>\n", px(x), px(y), px(r), look, titled(says))
}

func titled(says string) string {
	if says == "" {
		return ""
	}
	return "<title>" + escaped(says) + "</title>"
}

// path draws lines from point to point.
func (c *canvas) path(points [][2]float64, look string) {
	var d strings.Builder
	for i, p := range points {
		d.WriteString([]string{"M", "L"}[min(i, 1)] + px(p[0]) + " " + px(p[1]))
	}
	fmt.Fprintf(&c.b, "<path d=\"%s\" %s/>\n", d.String(), look)
}

// Places of a text beside its point.
const (
	startAt  = "start"
	middleAt = "middle"
	endAt    = "end"
)

func (c *canvas) text(x, y float64, anchor string, size float64, s string) {
	c.write(x, y, anchor, size, "", s)
}

func (c *canvas) bold(x, y float64, anchor string, size float64, s string) {
	c.write(x, y, anchor, size, ` font-weight="bold"`, s)
}

func (c *canvas) write(x, y float64, anchor string, size float64, more, s string) {
	fmt.Fprintf(&c.b, "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\" font-size=\"%s\"%s>%s</text>\n", px(x), px(y), anchor, px(size), more, escaped(s))
}

// label writes a name in at most that width; a longer one is cut, and shown under the pointer.
func (c *canvas) label(x, y float64, anchor string, size, most float64, s string) {
	c.shortened(x, y, anchor, size, cut(s, int(most/(letter*size))), s)
}

// name is label in up to two lines. Of a name that is longer still the middle is left out, since names often differ at the end.
func (c *canvas) name(x, y float64, anchor string, size, most float64, s string) {
	n := int(most / (letter * size))
	first, rest := halves(s, n)
	if rest == "" {
		c.text(x, y, anchor, size, first)
		return
	}
	c.text(x, y-size/2, anchor, size, first)
	if r := []rune(rest); len(r) > n {
		c.shortened(x, y+size/2, anchor, size, "…"+string(r[len(r)-max(0, n-1):]), s)
		return
	}
	c.text(x, y+size/2, anchor, size, rest)
}

// shortened writes a text that stands for another one, which is shown under the pointer where it is longer.
func (c *canvas) shortened(x, y float64, anchor string, size float64, short, s string) {
	if short == s {
		c.text(x, y, anchor, size, s)
		return
	}
	fmt.Fprintf(&c.b, "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\" font-size=\"%s\">%s%s</text>\n", px(x), px(y), anchor, px(size), escaped(short), titled(s))
}

// halves breaks a name that has more than n letters in two: after the last space, hyphen, underscore, slash or point of the second half of the first n letters, else after n
// letters.
func halves(s string, n int) (first, rest string) {
	r := []rune(s)
	if len(r) <= n {
		return s, ""
	}
	at := n
	for i := n; i > n/2; i-- {
		if strings.ContainsRune(" -_/.", r[i-1]) {
			at = i
			break
		}
	}
	return strings.TrimSpace(string(r[:at])), strings.TrimSpace(string(r[at:]))
}

// room returns the width that a text takes at most.
func room(s string, size float64) float64 {
	return math.Ceil(letter * size * float64(utf8.RuneCountInString(s)))
}

// cut returns at most n letters of s.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return strings.TrimSpace(string(r[:max(1, n-1)])) + "…"
}

// wrapped breaks text into lines of at most n letters, between words.
func wrapped(s string, n int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > n {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// A scale maps numbers to lengths of the drawing.
type scale struct {
	low, high, from, to float64
	log                 bool // low is more than 0, and what is below it is drawn there
}

// span is a scale from low to high, drawn from one length to another.
func span(low, high, from, to float64) scale {
	return scale{low: low, high: high, from: from, to: to}
}

func (s scale) at(v float64) float64 {
	if !(s.high > s.low) {
		return s.from
	}
	if s.log {
		return s.from + (s.to-s.from)*math.Log(max(v, s.low)/s.low)/math.Log(s.high/s.low)
	}
	return s.from + (s.to-s.from)*(v-s.low)/(s.high-s.low)
}

// Ticks returns about n round numbers from low to high, and how many decimals show them.
func Ticks(low, high float64, n int) (out []float64, decimals int) {
	if !(high > low) || math.IsInf(high-low, 0) {
		return []float64{low}, 0
	}
	raw := (high - low) / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * power
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw {
			step = m * power
			break
		}
	}
	for k := math.Ceil(low/step - 1e-9); k*step <= high+1e-9*step; k++ {
		out = append(out, k*step+0) // + 0: no −0
	}
	return out, max(0, -int(math.Floor(math.Log10(step)+1e-9)))
}

// ticks is Ticks of the scale; a logarithmic one has its powers of ten, or its ends where it has none.
func (s scale) ticks(n int) (out []float64, decimals int) {
	if !s.log {
		return Ticks(s.low, s.high, n)
	}
	for e := math.Ceil(math.Log10(s.low) - 1e-9); e <= math.Log10(s.high)+1e-9; e++ {
		out = append(out, math.Pow(10, e))
	}
	return out, max(0, -int(math.Floor(math.Log10(s.low)+1e-9)))
}

// A frame is the area of a plot with its axes.
type frame struct {
	x, y           scale
	xTitle, yTitle string
	percent        bool // numbers of y are shares
	whole          bool // numbers of y are counts
	size           float64
	xTicks, yTicks int
}

// draw draws a frame with numbers on both axes.
func (f frame) draw(c *canvas) {
	f.sides(c)
	marks, decimals := Ticks(f.x.low, f.x.high, f.xTicks)
	for _, v := range marks {
		if decimals == 0 || v == math.Trunc(v) {
			f.xMark(c, v, words.Signed(v, 0))
		}
	}
}

// sides draws a frame without numbers on the axis below.
func (f frame) sides(c *canvas) {
	f.titles(c)
	marks, decimals := f.y.ticks(f.yTicks)
	for _, v := range marks {
		text := words.Signed(v, decimals)
		switch {
		case f.percent:
			text = words.Signed(100*v, max(0, decimals-2)) + " %"
			if f.y.log {
				text = share(v)
			}
		case f.whole && decimals > 0 && v != math.Trunc(v):
			continue
		case f.whole:
			text = words.Signed(v, 0)
		}
		c.line(f.x.from, f.y.at(v), f.x.to, f.y.at(v), gridLook)
		c.text(f.x.from-5, f.y.at(v)+0.35*f.size, endAt, f.size, text)
	}
	c.line(f.x.from, f.y.from, f.x.to, f.y.from, axisLook)
}

func (f frame) xMark(c *canvas, v float64, text string) {
	c.line(f.x.at(v), f.y.from, f.x.at(v), f.y.from+4, axisLook)
	c.text(f.x.at(v), f.y.from+5+f.size, middleAt, f.size, text)
}

func (f frame) titles(c *canvas) {
	if f.xTitle != "" {
		c.text((f.x.from+f.x.to)/2, f.y.from+9+2.2*f.size, middleAt, f.size, f.xTitle)
	}
	if f.yTitle != "" {
		c.text(f.x.from-35, f.y.to-8, startAt, f.size, f.yTitle)
	}
}
