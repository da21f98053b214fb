package experiment_test

import (
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment"
)

func valid(t *testing.T, c experiment.Config) experiment.Experiment {
	t.Helper()
	e := must.Get(c.Validate())(t)
	return e
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name string
		c    experiment.Config
		want string // part of the message
	}{
		{"figure", experiment.Config{Figure: "chains", Seeds: 1}, `unknown figure "chains"; known: chain, junction, gridworld, driver, swimmer-corridor, ant-corridor, garnet, ties, all, corridor, suite`},
		{"no figure", experiment.Config{Seeds: 1}, `unknown figure ""`},
		{"query type", experiment.Config{Figure: "driver", Queries: experiment.States, Seeds: 1}, `unknown query type of driver "state"; known: comparison`},
		{"mode", experiment.Config{Figure: "chain", Mode: "both", Seeds: 1}, `unknown mode of chain "both"; known: corrected, paper`},
		{"mode of what is not in the paper", experiment.Config{Figure: "garnet", Mode: experiment.Paper, Seeds: 1}, `unknown mode of garnet "paper"; known: corrected`},
		{"expert", experiment.Config{Figure: "chain", Expert: "oracle", Seeds: 1}, `unknown expert of chain in mode corrected "oracle"; known: paper, people`},
		{"people in paper mode", experiment.Config{Figure: "chain", Mode: experiment.Paper, Expert: experiment.People, Seeds: 1}, `unknown expert of chain in mode paper "people"; known: paper`},
		{"people in Driver", experiment.Config{Figure: "driver", Expert: experiment.People, Seeds: 1}, `unknown expert of driver in mode corrected "people"; known: paper`},
		{"walls", experiment.Config{Figure: "gridworld", Walls: "high", Seeds: 1}, `unknown variant of the walls "high"; known: text, code`},
		{"candidates", experiment.Config{Figure: "gridworld", Candidates: "few", Seeds: 1}, `unknown variant of the candidate queries "few"; known: text, code`},
		{"no seeds", experiment.Config{Figure: "chain"}, "seeds and answers must be 1 to 1000000; got 0 and 50"},
		{"negative answers", experiment.Config{Figure: "chain", Seeds: 1, Answers: -1}, "got 1 and -1"},
		{"too many seeds", experiment.Config{Figure: "chain", Seeds: 1000001}, "got 1000001 and 50"},
		{"method", experiment.Config{Figure: "chain", Seeds: 1, Methods: []string{"ucb"}}, `unknown acquisition function "ucb"; known: idrl, uniform`},
		{"a method twice", experiment.Config{Figure: "chain", Seeds: 1, Methods: []string{"idrl", "igr", "idrl"}}, `method "idrl" is named twice`},
		{"improvement of choices", experiment.Config{Figure: "chain", Queries: experiment.Comparisons, Seeds: 1, Methods: []string{"eir"}}, "EIR does not apply here"},
		{"volume of ratings", experiment.Config{Figure: "chain", Seeds: 1, Methods: []string{"evr"}}, "EVR does not apply here"},
		{"maximum regret of states", experiment.Config{Figure: "chain", Seeds: 1, Methods: []string{"mr"}}, "MR does not apply here"},
		{"a later method in paper mode", experiment.Config{Figure: "chain", Mode: experiment.Paper, Seeds: 1, Methods: []string{"lvar"}}, `method "lvar" is not in the paper: it runs in mode corrected`},
		{"one without an archive", experiment.Config{Figure: "driver", Mode: experiment.Paper, Seeds: 1, Methods: []string{"eubo"}}, `method "eubo" is not in the paper`},
		{"a treatment where there is none", experiment.Config{Figure: "chain", Seeds: 1, Methods: []string{"idrl:interval"}}, `figure chain has no variants of method "idrl"; name it alone`},
		{"an update of a baseline", experiment.Config{Figure: "ant-corridor", Seeds: 1, Methods: []string{"igr:4"}}, `figure ant-corridor has no variants of method "igr"; name it alone`},
		{"no number of updates", experiment.Config{Figure: "ant-corridor", Seeds: 1, Methods: []string{"idrl"}}, `method "idrl" of figure ant-corridor must end in its number of updates of the candidate policies, such as idrl:20; known: 20, 4, 2, 1`},
		{"an unknown number of updates", experiment.Config{Figure: "ant-corridor", Seeds: 1, Methods: []string{"idrl:3"}}, `method "idrl:3" of figure ant-corridor must end in its number`},
		{"comparisons of a corridor", experiment.Config{Figure: "ant-corridor", Seeds: 1, Queries: experiment.Comparisons}, `unknown query type of ant-corridor "comparison"; known: clip`},
		{"people in a corridor", experiment.Config{Figure: "ant-corridor", Seeds: 1, Expert: experiment.People}, `unknown expert of ant-corridor in mode corrected "people"; known: paper`},
		{"negative measure", experiment.Config{Figure: "chain", Seeds: 1, Measure: -1}, "after every so many answers, 1 to 1000000; got -1"},
		{"no treatment", experiment.Config{Figure: "ties", Seeds: 1, Methods: []string{"idrl"}}, `method "idrl" of figure ties must end in a treatment of 'equal', such as idrl:interval; known: interval, forced, random, dropped`},
		{"an unknown treatment", experiment.Config{Figure: "ties", Seeds: 1, Methods: []string{"idrl:half"}}, `method "idrl:half" of figure ties must end in a treatment`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.c.Validate()
			if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q (kind %v), want Invalid with %q", err, idrl.KindOf(err), test.want)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	for _, test := range []struct {
		name string
		c    experiment.Config
		want experiment.Config // but for figure, seeds and methods
	}{
		{
			"text",
			experiment.Config{Figure: "gridworld", Seeds: 1},
			experiment.Config{
				Queries: experiment.States, Mode: experiment.Corrected, Walls: experiment.Text, Candidates: experiment.Text,
				Expert: experiment.Model, Answers: 50, Measure: 1, Methods: []string{"idrl", "uniform", "igr", "eir", "epd"},
			},
		},
		{
			"code",
			experiment.Config{Figure: "gridworld", Mode: experiment.Paper, Queries: experiment.Comparisons, Seeds: 1},
			experiment.Config{
				Queries: experiment.Comparisons, Mode: experiment.Paper, Walls: experiment.Code, Candidates: experiment.Code,
				Expert: experiment.Model, Answers: 150, Measure: 1, Methods: []string{"idrl", "uniform", "igr", "epd"},
			},
		},
		{
			"driver",
			experiment.Config{Figure: "driver", Seeds: 1},
			experiment.Config{
				Queries: experiment.Comparisons, Mode: experiment.Corrected, Walls: experiment.Text, Candidates: experiment.Text,
				Expert: experiment.Model, Answers: 100, Measure: 1, Methods: []string{"idrl", "uniform", "igr", "epd", "mr", "evr"},
			},
		},
		{
			"not in the paper",
			experiment.Config{Figure: "garnet", Seeds: 1, Answers: 7, Methods: []string{"lvar"}},
			experiment.Config{
				Queries: experiment.States, Mode: experiment.Corrected, Walls: experiment.Text, Candidates: experiment.Text,
				Expert: experiment.People, Answers: 7, Measure: 1, Methods: []string{"lvar"},
			},
		},
		{
			"treatments",
			experiment.Config{Figure: "ties", Seeds: 1},
			experiment.Config{
				Queries: experiment.Comparisons, Mode: experiment.Corrected, Walls: experiment.Text, Candidates: experiment.Text,
				Expert: experiment.People, Answers: 150, Measure: 1, Methods: []string{"idrl:interval", "idrl:forced", "idrl:random", "idrl:dropped"},
			},
		},
		{
			"corridor",
			experiment.Config{Figure: "swimmer-corridor", Mode: experiment.Paper, Seeds: 1},
			experiment.Config{
				Queries: experiment.Clips, Mode: experiment.Paper, Walls: experiment.Code, Candidates: experiment.Code,
				Expert: experiment.Model, Answers: 20, Measure: 2, Methods: []string{"uniform", "igr", "eir", "idrl:20", "idrl:4", "idrl:2", "idrl:1"},
			},
		},
		{
			"measured seldom",
			experiment.Config{Figure: "swimmer-corridor", Measure: 7, Seeds: 1},
			experiment.Config{
				Queries: experiment.Clips, Mode: experiment.Corrected, Walls: experiment.Text, Candidates: experiment.Text,
				Expert: experiment.Model, Answers: 20, Measure: 7, Methods: []string{"uniform", "igr", "eir", "idrl:20", "idrl:4", "idrl:2", "idrl:1"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := valid(t, test.c).Config
			if !slices.Equal(got.Methods, test.want.Methods) {
				t.Errorf("methods %q, want %q", got.Methods, test.want.Methods)
			}
			type values struct {
				queries, mode, walls, candidates, expert string
				answers, measure                         int
			}
			of := func(c experiment.Config) values {
				return values{c.Queries, c.Mode, c.Walls, c.Candidates, c.Expert, c.Answers, c.Measure}
			}
			if of(got) != of(test.want) {
				t.Errorf("got %+v, want %+v", of(got), of(test.want))
			}
		})
	}
}

func TestNames(t *testing.T) {
	for want, c := range map[string]experiment.Config{
		"chain-state-corrected":                         {Figure: "chain"},
		"chain-state-paper":                             {Figure: "chain", Mode: experiment.Paper},
		"junction-comparison-corrected-right-90":        {Figure: "junction", Queries: experiment.Comparisons, Expert: experiment.People},
		"gridworld-state-corrected-walls-code":          {Figure: "gridworld", Walls: experiment.Code},
		"gridworld-state-paper-walls-text":              {Figure: "gridworld", Mode: experiment.Paper, Walls: experiment.Text},
		"gridworld-state-corrected":                     {Figure: "gridworld", Walls: experiment.Text, Candidates: experiment.Text},
		"gridworld-state-paper-candidates-text":         {Figure: "gridworld", Mode: experiment.Paper, Candidates: experiment.Text},
		"chain-state-corrected-candidates-code":         {Figure: "chain", Candidates: experiment.Code, Walls: experiment.Code},
		"garnet-state-corrected-right-90":               {Figure: "garnet"},
		"ties-comparison-corrected":                     {Figure: "ties"},
		"chain-comparison-corrected-right-90-live-made": {Figure: "chain", Schedule: experiment.LiveSchedule, ClipsFrom: idrl.MadeClips},
		"chain-comparison-corrected-right-90-slow":      {Figure: "chain", Schedule: experiment.SlowSchedule, ClipsFrom: idrl.FoundClips},
		"driver-comparison-paper":                       {Figure: "driver", Mode: experiment.Paper},
		"swimmer-corridor-clip-paper":                   {Figure: "swimmer-corridor", Mode: experiment.Paper},
		"gridworld-state-corrected-right-90-walls-code-candidates-code": {
			Figure: "gridworld", Expert: experiment.People, Walls: experiment.Code, Candidates: experiment.Code,
		},
	} {
		c.Seeds = 1
		if got := valid(t, c).Name(); got != want {
			t.Errorf("name %q, want %q", got, want)
		}
		c.Seeds, c.Answers, c.FirstSeed, c.Methods = 9, 3, 5, nil
		if got := valid(t, c).Name(); got != want {
			t.Errorf("name %q with other seeds and answers, want %q", got, want)
		}
	}
}

// A run is measured at the start, in steps, and at the end.
func TestCounts(t *testing.T) {
	for _, test := range []struct {
		answers, measure int
		want             []int
	}{
		{3, 0, []int{0, 1, 2, 3}},
		{3, 1, []int{0, 1, 2, 3}},
		{6, 2, []int{0, 2, 4, 6}},
		{7, 3, []int{0, 3, 6, 7}},
		{2, 9, []int{0, 2}},
	} {
		e := valid(t, experiment.Config{Figure: "chain", Seeds: 1, Answers: test.answers, Measure: test.measure})
		if got := e.Counts(); !slices.Equal(got, test.want) {
			t.Errorf("%d answers, measure %d: %v, want %v", test.answers, test.measure, got, test.want)
		}
	}
}

func TestSeedsAndTitle(t *testing.T) {
	e := valid(t, experiment.Config{Figure: "chain", Seeds: 3, FirstSeed: 1000})
	if got := e.Seed(2); got != 1002 {
		t.Errorf("the third seed is %d, want 1002", got)
	}
	for want, c := range map[string]experiment.Config{
		"Chain, rewards of states":            {Figure: "chain"},
		"Chain, comparisons of states":        {Figure: "chain", Queries: experiment.Comparisons},
		"Driver, comparisons of trajectories": {Figure: "driver"},
		"Ant-Corridor, ratings of clips":      {Figure: "ant-corridor"},
	} {
		c.Seeds = 1
		if got := valid(t, c).Title; got != want {
			t.Errorf("title %q, want %q", got, want)
		}
	}
}
