package web

import (
	"context"

	"tiebreak/templates"
	"tiebreak/web/figure"
)

// learningFigures are the figures of the page of learning, drawn as their files are, for a screen of that size.
func (s watching) learningFigures(ctx context.Context, session Session, look figure.Look) (out []templates.Drawing, err error) {
	spec := session.Spec()
	m := figure.Moment{Spec: spec}
	if m.Status, err = session.Status(ctx); err != nil {
		return nil, err
	}
	if spec.Compares() {
		if m.Scores, err = session.Conditions(ctx); err != nil {
			return nil, err
		}
	}
	about := figure.NewAbout(spec, m.Status, s.cfg.Program)
	for _, name := range figure.Of(spec) {
		if t, _ := figure.Find(name); t.Of != figure.OfStatus && t.Of != figure.OfScores {
			continue
		}
		d, err := figure.Draw(name, m, about, look)
		if err != nil {
			return nil, err
		}
		out = append(out, pageFigure(d, nothingYet[name]))
	}
	return out, nil
}

// nothingYet says when there will be something to draw.
var nothingYet = map[string]string{
	"regret": "Shown as soon as the first candidates are trained.", "candidates": "No candidates yet.", "weights": "No weights yet.",
}

func pageFigure(d figure.Drawing, none string) templates.Drawing {
	if d.Empty {
		return templates.Drawing{Name: d.Name, None: none}
	}
	return templates.Drawing{Name: d.Name, Title: d.Title, SVG: d.Inline(), Head: d.Head, Values: d.Values}
}

// figureLook is how a page asks for its figures.
func figureLook(narrow, scale string) figure.Look {
	return figure.Look{Narrow: narrow != "", Log: scale == "log"}
}
