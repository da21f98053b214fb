package main

import (
	"fmt"
	"os"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment"
)

// A benchPlan is the experiments of a command line.
type benchPlan struct {
	experiments []experiment.Experiment
	notes       []string // what is left out, and why
}

// plan returns the experiments of a figure, of all figures, or of a task in a
// file. Everything that can be wrong with them is found here, as an error of
// kind Invalid.
func (f benchFlags) plan(what string) (benchPlan, error) {
	if f.workers < 1 {
		return benchPlan{}, idrl.Errorf(idrl.Invalid, "workers must be at least 1; got %d", f.workers)
	}
	configs, err := f.configs(what)
	if err != nil {
		return benchPlan{}, err
	}
	var p benchPlan
	var possible []experiment.Config
	for _, c := range configs {
		_, err := c.Validate()
		if err != nil && what != "all" {
			return benchPlan{}, err
		}
		if err != nil {
			p.notes = append(p.notes, fmt.Sprintf("%s: left out: %v", titled(c), err))
			continue
		}
		possible = append(possible, c)
	}
	if len(possible) == 0 {
		_, err := configs[0].Validate()
		return benchPlan{}, err
	}
	err = p.choose(possible, f.methods)
	return p, err
}

// named returns the names of the figures for a word on the command line.
func named(what string) []string {
	switch what {
	case "all":
		return paperFigures(false)
	case experiment.CorridorName:
		return paperFigures(true)
	default:
		return []string{what}
	}
}

// titled names a configuration for people.
func titled(c experiment.Config) string {
	if c.Queries == "" {
		return c.Figure
	}
	return c.Figure + ", " + c.Queries
}

// configs returns the configurations of a figure, without the choice of methods: all query types
// unless one was asked for.
func (f benchFlags) configs(what string) (out []experiment.Config, err error) {
	base := experiment.Config{
		Queries: f.queries, Mode: f.mode, Walls: f.walls, Candidates: f.candidates, Expert: f.expert, Right: f.right, Schedule: f.schedule, ClipsFrom: f.clips,
		Answers: f.answers, Measure: f.measure, Seeds: f.seeds, FirstSeed: f.first,
	}
	if strings.HasSuffix(what, ".json") {
		base.Task, err = readTask(what)
		return []experiment.Config{base}, err
	}
	if what == experiment.SuiteName {
		return f.suite()
	}
	for _, name := range named(what) {
		fig, err := experiment.FindFigure(name)
		if err != nil {
			return nil, err
		}
		if err := fig.Available(); err != nil {
			return nil, err
		}
		queries := fig.Queries
		if f.schedule != experiment.PaperSchedule {
			queries = []string{experiment.Comparisons, experiment.Clips}
		}
		if f.queries != "" {
			queries = []string{f.queries}
		}
		for _, q := range queries {
			c := base
			c.Figure, c.Queries = name, q
			out = append(out, c)
		}
	}
	return out, nil
}

// suite returns the project's own suite, whose experiments are fixed.
func (f benchFlags) suite() ([]experiment.Config, error) {
	if f.mode != experiment.Corrected || f.queries+f.walls+f.candidates+f.expert != "" {
		return nil, idrl.Errorf(idrl.Invalid, "the suite has a fixed mode, questions, candidates and expert; leave these flags out, or name a figure")
	}
	out := experiment.Suite()
	for i := range out {
		out[i].Seeds, out[i].FirstSeed, out[i].Right = f.seeds, f.first, f.right
		out[i].Measure = f.measure
		if f.answers != 0 {
			out[i].Answers = f.answers
		}
	}
	return out, nil
}

// readTask reads a user's own task.
func readTask(path string) (*experiment.Task, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the task cannot be read: %v", err)
	}
	defer file.Close()
	return experiment.ReadTask(file)
}

// choose adds the experiments with the methods of a list, or with their own if it is empty. Each
// experiment leaves out the methods that do not apply to it; a method that applies to none is an
// error.
func (p *benchPlan) choose(configs []experiment.Config, list string) error {
	var methods []string
	if list != "" {
		methods = strings.Split(list, ",")
	}
	refused := map[string]int{}
	for _, c := range configs {
		if len(methods) > 0 {
			c.Methods = methods
		}
		if len(configs) > 1 && len(methods) > 0 {
			c.Methods = p.applying(c, methods, refused)
		}
		if len(methods) > 0 && len(c.Methods) == 0 {
			continue // every method was reported already
		}
		e, err := c.Validate()
		if err != nil {
			return err
		}
		p.experiments = append(p.experiments, e)
	}
	for _, m := range methods {
		if refused[m] == len(configs) {
			return fits(configs[0], m)
		}
	}
	return nil
}

// applying returns those of methods that apply to c, and notes and counts the
// others.
func (p *benchPlan) applying(c experiment.Config, methods []string, refused map[string]int) (out []string) {
	for _, m := range methods {
		if err := fits(c, m); err != nil {
			refused[m]++
			p.notes = append(p.notes, fmt.Sprintf("%s: without %s: %v", titled(c), m, err))
			continue
		}
		out = append(out, m)
	}
	return out
}

// fits returns the reason why an experiment would refuse a method, nil if there is none.
func fits(c experiment.Config, method string) error {
	c.Methods = []string{method}
	_, err := c.Validate()
	return err
}
