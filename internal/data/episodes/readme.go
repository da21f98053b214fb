package episodes

import (
	_ "embed"
	"io"
	"strconv"
	"text/template"

	"tiebreak/internal/data/bundle"
	"tiebreak/internal/idrl"
)

//go:embed readme.md
var readmeText string

var readmeTemplate = template.Must(template.New("readme").Parse(readmeText))

// readme writes what the files are.
func (w *writer) readme(out io.Writer) error {
	score, std := "the posterior mean of the reward of the whole episode, by what the session has learnt; only differences mean something", "standard deviation of that posterior"
	switch {
	case w.spec.IsArena():
		score, std = "the strength of its policy, in log-odds against the mean of all; null for policies that are not in the arena", "half the width of its 95 % interval, divided by 1.96"
	case w.spec.Return == idrl.MeanReturn:
		score = "the posterior mean of the reward of a step, over all steps of the episode, by what the session has learnt; only differences mean something"
	}
	return readmeTemplate.Execute(out, struct {
		counts
		Spec                              idrl.SessionSpec
		Program, Terms, Score, Std, Share string
		Numbered, Uncut                   bool
	}{w.counts, w.spec, w.cfg.Program, bundle.Terms(w.spec), score, std, strconv.FormatFloat(100*w.cfg.GoodShare, 'g', 4, 64) + " %", w.places.numbered, w.uncut})
}
