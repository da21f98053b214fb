package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
)

// comparedName is the name of the figure, and of the table behind it.
const comparedName = "regret"

// comparedMarks is about how many intervals each line has.
const comparedMarks = 8

// comparedColours tell up to six lines apart, besides their dashes. Source: Okabe and Ito, "Color universal design", 2008, without the
// yellow, which is hard to see on white.
var comparedColours = []string{"#1f4e79", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a6d00"}

// A Compared is a session of a comparison.
type Compared struct {
	Session idrl.SessionID
	Title   string
	Regret  []idrl.Regret // of today's definition, by row of the log; empty if it states none
	About   About
}

// ComparedColumns are the columns of the table behind Compare.
func ComparedColumns() []string {
	return []string{"session", "title", "row", "answers", "mean", "bound", "p_within", "tolerance", "policies"}
}

// WriteCompared calls put with the cells of each row of that table.
func WriteCompared(list []Compared, put func(...any) error) error {
	for _, s := range list {
		err := each(s.Regret, put, func(r idrl.Regret) []any {
			return []any{string(s.Session), s.Title, r.Seq, r.Answers, r.Mean, r.Bound, r.Within, r.Tolerance, r.Policies}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Compare draws the expected losses of sessions over the answers that they had learnt from in one plot, each with intervals up to its bound. They
// must be about the same environment, so that losses are shares of comparable ranges.
func Compare(list []Compared, program string) (Drawing, error) {
	out := Drawing{Name: comparedName, Title: "Expected loss if questioning ends", Empty: true, width: column, height: 20, Caption: "There is nothing to draw yet. " + program + "."}
	table := rows{column: map[string]int{}}
	for i, name := range ComparedColumns() {
		table.column[name] = i
	}
	err := WriteCompared(list, func(cells ...any) error {
		table.cells = append(table.cells, cells)
		return nil
	})
	if err != nil || len(table.cells) == 0 {
		return out, err
	}
	c := &canvas{width: column}
	out.Empty, out.height = false, drawCompared(c, table, list)
	var of []string
	for _, s := range list {
		of = append(of, fmt.Sprintf("“%s”: n = %s of %s, seed %d", s.Title, words.Plural(s.About.Answers, "answer"), words.People(s.About.People), s.About.Seed))
	}
	out.shapes = c.b.String()
	out.Caption = "Expected loss of the recommended policy if questioning had ended after so many answers that the posterior had learnt from (lines), in per cent of the range of returns from the worst to the best policy known to that session. " +
		"After answers were taken back or left out, a line is about the answers that were left. Vertical lines end at the loss that is not exceeded with a probability of 95 % under its posterior; they are set apart by 2 px." + belowMean(table) + " " + strings.Join(of, "; ") + "; " + program + "."
	return out, nil
}

// drawCompared draws the lines with their intervals and their names, and returns the height.
func drawCompared(c *canvas, r rows, list []Compared) float64 {
	last, most := 1.0, 1e-3
	lines := make([]rows, len(list))
	for k, s := range list {
		of := still(r.where("session", string(s.Session)))
		for i := range of.cells {
			last, most = max(last, of.number(i, "answers")), max(most, of.number(i, "bound"), of.number(i, "mean"))
		}
		lines[k] = of
	}
	f := frame{x: span(0, last, 52, column-20), y: span(0, most, 220, 24), percent: true, size: textSize, xTicks: 6, yTicks: 5, xTitle: "answers", yTitle: "loss"}
	f.draw(c)
	for k, s := range list {
		of := lines[k]
		colour := comparedColours[k%len(comparedColours)]
		look := `fill="none" stroke="` + colour + `" stroke-width="2" stroke-linejoin="round"`
		if d := dashes[k%len(dashes)]; d != "" {
			look += ` stroke-dasharray="` + d + `"`
		}
		var line [][2]float64
		step := 1 + (len(of.cells)-1)/comparedMarks
		for i := range of.cells {
			x, y := f.x.at(of.number(i, "answers")), f.y.at(of.number(i, "mean"))
			line = append(line, [2]float64{x, y})
			if end := len(of.cells) - 1; (end-i)%step == 0 {
				apart := x + 2*float64(k)
				c.line(apart, y, apart, f.y.at(of.number(i, "bound")), `stroke="`+colour+`" stroke-width="1" stroke-opacity="0.6"`)
				c.circle(x, y, 2.5, `fill="`+colour+`"`, fmt.Sprintf("%s, after %s: expected loss %s, at most %s with a probability of 95 %%",
					s.Title, words.Plural(int(of.number(i, "answers")), "answer"), share(of.number(i, "mean")), share(of.number(i, "bound"))))
			}
		}
		c.path(line, look)
		y := 270 + 16*float64(k)
		c.path([][2]float64{{52, y - 4}, {92, y - 4}}, look)
		name := s.Title
		if len(of.cells) == 0 {
			name += " (states no loss)"
		}
		c.label(100, y, startAt, textSize, 360, name)
	}
	return 262 + 16*float64(len(list))
}

// still returns the rows about which no later row says something else: those after which there were never as few
// answers again. Others are about answers of which some were taken back or left out since.
func still(r rows) rows {
	out, least := rows{column: r.column}, math.Inf(1)
	for i := len(r.cells) - 1; i >= 0; i-- {
		if n := r.number(i, "answers"); n < least {
			out.cells, least = append(out.cells, r.cells[i]), n
		}
	}
	slices.Reverse(out.cells)
	return out
}
