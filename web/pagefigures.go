package web

import (
	"cmp"
	"fmt"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/idrl"
	"tiebreak/templates"
	"tiebreak/web/figure"
)

// A pen draws the figures of a page, as their files are drawn, for a screen of that size.
type pen struct {
	m     figure.Moment
	about figure.About
	look  figure.Look
	err   error // the first one
}

// figureLook is how a request asks for figures.
func figureLook(c echo.Context) figure.Look {
	return figure.Look{Narrow: c.QueryParam("narrow") != "", Wide: c.QueryParam("wide") != "", Log: c.QueryParam("scale") == "log"}
}

// draw draws a figure; where there is nothing to draw, none says why.
func (p *pen) draw(name, none string) templates.Drawing {
	d, err := figure.Draw(name, p.m, p.about, p.look)
	p.err = cmp.Or(p.err, err)
	if d.Empty || none != "" {
		return templates.Drawing{Name: d.Name, Title: d.Title, None: none}
	}
	return templates.Drawing{Name: d.Name, Title: d.Title, SVG: d.Inline(), Long: name == "times", Head: d.Head, Values: d.Values}
}

// card is a section with a figure.
func (p *pen) card(name, hint, none string) templates.ChartCard {
	return templates.ChartCard{Figure: p.draw(name, none), Hint: hint, CSV: chartURL(p.m.Spec.ID, name)}
}

// nothingYet says of figures that have a place of their own on the page when there will be something to draw.
var nothingYet = map[string]string{
	"regret": "Shown as soon as the first candidates are trained.", "candidates": "No candidates yet.", "weights": "No weights yet.",
}

// learning draws what the answers have taught.
func (p *pen) learning(out *templates.Charts) {
	for _, name := range figure.Of(p.m.Spec) {
		if t, _ := figure.Find(name); t.Of == figure.OfStatus || t.Of == figure.OfScores {
			d := p.draw(name, "")
			if d.SVG == "" {
				d.None = nothingYet[name]
			}
			out.Figures = append(out.Figures, d)
		}
	}
	out.Cards = p.predictions()
	if p.m.Insight.Answers > 0 && p.m.Spec.Model != idrl.NetworkModel {
		if c := p.card("covariance", "largest weights first, under the posterior; the darker, the farther from 0; dashed frame: negative", ""); c.Figure.SVG != "" {
			out.Wide = append(out.Wide, c)
		}
	}
	out.Wide = append(out.Wide, p.history())
	out.Fold = "Weights: correlations and history"
	if p.m.Spec.Model == idrl.NetworkModel {
		out.Fold = "Features that the networks reward"
	}
	p.fold(out)
	if p.m.Spec.Kind == idrl.JudgeClip {
		out.Figures = append(out.Figures, p.verdicts())
	}
}

// fold folds on a phone all that is drawn but the regret, which says whether the session learns, and verdicts, which are added later: what is
// said of them comes first.
func (p *pen) fold(out *templates.Charts) {
	if !p.look.Narrow {
		return
	}
	for i, c := range out.Cards {
		out.Cards[i].Figure.Folded = c.Figure.SVG != ""
	}
	if out.Fold == "" { // else these are folded as a whole
		for i, c := range out.Wide {
			out.Wide[i].Figure.Folded = c.Figure.SVG != ""
		}
	}
	for i, f := range out.Figures {
		out.Figures[i].Folded = f.SVG != "" && f.Name != "regret"
	}
}

// verdicts draws how often the episodes of each policy succeed.
func (p *pen) verdicts() templates.Drawing {
	v, none := p.m.Insight.Verdicts, ""
	if len(v.Rates) == 0 {
		none = "Shown from the first verdict on."
	}
	d := p.draw("verdicts", none)
	if v.Moments > 0 {
		d.Said = fmt.Sprintf("When it went wrong is known of %s.", plural(v.Moments, "verdict"))
	}
	if v.Shared > 0 {
		d.Said += fmt.Sprintf(" Where two people or more named a moment (%s), half of the time two of them are at most %.1f s apart.", plural(v.Shared, "clip"), v.Apart)
	}
	return d
}

// history draws how the weights moved; networks have none, and the features in their place that they reward.
func (p *pen) history() templates.ChartCard {
	r := p.m.Insight
	if p.m.Spec.Model == idrl.NetworkModel {
		return p.networks()
	}
	none := ""
	switch {
	case len(r.Posterior.Weights) == 0:
		none = "The reward has too many weights to follow each."
	case r.Answers == 0:
		none = "Shown from the first answer on."
	}
	sum := "All weights, the largest first."
	if n := len(r.Posterior.Weights); n > figure.Multiples {
		sum = fmt.Sprintf("The %d largest of %d weights now, the largest first; all are in the CSV.", figure.Multiples, n)
	}
	return p.card("history", "mean and 95 % interval by answers that count, in standard deviations of the prior. "+sum+" The dashed line is 0.", none)
}

func (p *pen) networks() templates.ChartCard {
	const hint = "correlation of the reward of a clip with each hand-made feature, by network. "
	list := p.m.Insight.Networks
	if len(list) == 0 {
		none := "Shown from the first network on, which is learnt from 10 answers. A network has no weights with names."
		if p.m.Insight.Recorded {
			none = "The networks, or the clips of the questions, cannot be read any more. \"tiebreak doctor\" says what is damaged."
		}
		return p.card("networks", hint, none)
	}
	last := list[len(list)-1]
	sum := fmt.Sprintf("Computed over %s that people were asked about. Each point is a network, at the log row up to which it has learnt. "+
		"+1: the reward of a clip rises with the feature; 0: the two are not correlated. "+
		"A correlation is not a weight: features that are correlated in the clips have similar values, whichever of them the network rewards. "+
		"Each network starts from other random weights, so a line that jumps is uncertain. No intervals are known.", plural(last.Clips, "clip"))
	if n := len(last.Correlation); n > figure.Multiples {
		sum += fmt.Sprintf(" The %d largest of %d features now; all are in the CSV.", figure.Multiples, n)
	}
	return p.card("networks", hint+sum, "")
}
