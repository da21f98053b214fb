package paper

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
	"tiebreak/internal/study/settings"
	"tiebreak/web/figure"
)

// pointer returns a number's address.
func pointer(v float64) *float64 { return &v }

// source is that of a session with default settings, after change.
func source(change func(*idrl.SessionSpec)) Source {
	spec := settings.Defaults()
	change(&spec)
	spec = settings.Complete(spec)
	spec.Features, spec.Solver, spec.Return = []string{"Speed", "Lane"}, idrl.OwnSolver, idrl.SumReturn
	if spec.Model == idrl.NetworkModel {
		spec.Noise = idrl.SharedNoise
	}
	s := Source{Moment: figure.Moment{Spec: spec, Insight: &insight.Report{}}, Env: "Driver", Purpose: "Drive well.", Program: "tiebreak 1.2"}
	s.Status = view.Status{
		Answers: 40, Skipped: 2, Led: view.LedFirst, Annotators: []quality.AnnotatorStats{{Annotator: "a1", Answers: 42}},
		Recent: []view.Asked{{Answer: idrl.Answer{ReceivedAt: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)}}},
		Regret: []idrl.Regret{{Seq: 10, Within: 0.95}, {Seq: 20, Within: 0.4}, {Seq: 38, Within: 0.93}, {Seq: 42, Within: 0.9567, Bound: 0.0412, Mean: 0.01, Policies: 30}},
	}
	s.Status.Stopping = stopping.Stopping{Doubt: spec.Doubt, Propose: true}
	s.Quality = quality.Report{
		People: []quality.Person{{Annotator: "a1", Answers: 42, Marked: 3, Repeats: 5, SaidSame: 4, Gold: 6, GoldRight: 5}}, Questions: 7,
		Alpha: &quality.Coefficient{Value: 0.623, Low: pointer(0.5), High: pointer(0.71)}, Raw: &quality.Coefficient{Value: 0.8},
	}
	return s
}

// said is the methods text of a source in one piece.
func said(s Source) string {
	var b strings.Builder
	for _, p := range MethodsOf(s).Paragraphs {
		b.WriteString(p.Text + "\n")
	}
	return b.String()
}

// Sentences follow the settings and what has happened.
func TestMethodsFollowSettings(t *testing.T) {
	none := func(*idrl.SessionSpec) {}
	for _, test := range []struct {
		name   string
		change func(*idrl.SessionSpec)
		then   func(*Source)
		want   []string
		lacks  []string
	}{
		{
			"as set by default", none, nil,
			[]string{
				"environment “Driver” (driver)", "chose the better one", "judge by this: “Drive well”.", "(LVAR)", "(Lindner et al., 2021)", "only by a duel", "ordered probit (Thurstone, 1927)", "standard deviation of 3;", "±0.75",
				"5 draws from the posterior", "expectation propagation (Minka, 2001)", "from the second annotator on", "at least 90 %", "at most 5 % of the range", "only proposed to stop.", "The rule was met", "since row 38 of the log", "95.6 %", "at most 4.2 % of the range",
				"One person gave 42 answers that count.", "Nobody's answers were left out.", "α (Krippendorff, 2004) was 0.62 (95 % bootstrap interval over questions 0.50 to 0.71)", "80 % were the same", "5 of 6 such answers", "About every 20th question", "marked but not left out: 3.", "seed 1", "tiebreak 1.2", "23 November 2026, 09:00 UTC",
			},
			[]string{"held out", "much better", "consent", "repeats", "at most 0 answers"},
		},
		{
			"conditions and held-out comparisons", func(s *idrl.SessionSpec) {
				s.Controls, s.HeldOut = idrl.Controls{{Strategy: "uniform", Share: 0.25}}, 0.1
			}, func(s *Source) {
				s.Scores = view.ConditionScores{
					Equal: 15, All: view.ConditionScore{Points: []view.ScorePoint{{Answers: 40, Decisive: 20, Right: 16, Low: 0.58, High: 0.92, LogLoss: 0.51}}},
					Conditions: []view.ConditionScore{{Name: "lvar"}, {Name: "uniform"}}, Leads: []view.Lead{{Mean: -0.1, Low: -0.3, High: 0.1}},
				}
			},
			[]string{"with a share of 75 % one that reduced the variance", "with a share of 25 % one that was drawn at random", "A share of 10 % of the questions was held out", "predicted 80 % of 20 held-out answers", "58 % to 92 % (Wilson, 1927)", "0.51 nats", "After 15 answers each, Uniform predicted −10 points more of them than LVAR", "(Agresti and Min, 2005)", "Clips were those of the policies."},
			nil,
		},
		{
			"consent, card and people left out", func(s *idrl.SessionSpec) {
				s.Consent, s.Recruitment, s.Payment, s.AnswersEach, s.RepeatEvery = "Yes?", "They were students", "They got 12 € an hour.", 30, 5
			}, func(s *Source) {
				s.Withdrawn = 2
				s.Quality.People = append(s.Quality.People, quality.Person{Annotator: "a2", LeftOut: true}, quality.Person{Annotator: "a3", Turned: 4})
			},
			[]string{"agreed to a consent text", "They were students. They got 12 € an hour.", "at most 30 answers.", "The answers of 1 annotator (a2) were left out", "a3 (4 answers)", "2 people withdrew their data", "Every 5th question of a person repeated", "4 of 5 repeats got the same answer."},
			[]string{"Nobody's answers were left out"},
		},
		{
			"a network", func(s *idrl.SessionSpec) { s.Model = idrl.NetworkModel }, nil,
			[]string{"two hidden layers of 64 units", "(Pearce et al., 2020)", "Laplace’s approximation (MacKay, 1992)", "soft actor-critic (Haarnoja et al., 2018)", "stated no regret"},
			[]string{"probit", "The rule was met", "under the prior"},
		},
		{
			"groups", func(s *idrl.SessionSpec) { s.Kind = idrl.GroupClips }, nil,
			[]string{"saw 6 short clips and named the best and the worst", "Thurstone’s law", "All annotators had the same noise."},
			[]string{"both were equal", "probit"},
		},
		{
			"ratings", func(s *idrl.SessionSpec) {
				s.Kind, s.RatingModel, s.Noise = idrl.RateClip, idrl.GaussianRatings, idrl.SharedNoise
			}, func(s *Source) { s.Quality.Rated, s.Quality.Raw = true, nil },
			[]string{"rated it from 0 to 10", "variance of 0.05.", "computed exactly"},
			[]string{"expectation propagation", "both were equal", "were the same ("},
		},
		{
			"recorded rollouts", none, func(s *Source) { s.Status.Return = idrl.MeanReturn },
			[]string{"No policy was trained: people judged recorded rollouts, whose policies were compared by the mean reward of a step."},
			[]string{"draws from the posterior", "finitely many states"},
		},
		{
			"no repeat yet, and rare large losses", func(s *idrl.SessionSpec) { s.RepeatEvery = 5 }, func(s *Source) {
				s.Quality.People, s.Status.Regret[3].Mean = nil, 0.06
			},
			[]string{"Every 5th question of a person was to repeat an earlier one with the sides exchanged; none of these has been answered yet.", "6 % on average (larger losses in the other 5 % raised it)"},
			[]string{"0 of 0"},
		},
		{
			"nothing yet", none, func(s *Source) { s.Status, s.Quality = view.Status{}, quality.Report{} },
			[]string{"There is no statement yet", "0 people gave 0 answers", "their agreement is not known"},
			[]string{"The last answer", "The rule was"},
		},
		{
			"an objection", none, func(s *Source) { s.Status.Stopping.Propose = false }, []string{"The rule was not met."}, []string{"since row"},
		},
		{
			"an arena", func(s *idrl.SessionSpec) { s.Arena, s.Budget = idrl.Arena{Entrants: make([]idrl.Entrant, 3)}, 60 }, func(s *Source) {
				s.Insight = nil
				s.Arena = bradley.Report{Answers: 50, Ties: 4, Entrants: []bradley.ReportEntrant{{Title: "After <b>40</b>", Strength: 0.8, Low: 0.3, High: 1.4}, {Title: "other"}}}
			},
			[]string{"clips of 3 policies without knowing which was which", "(Bradley and Terry, 1952)", "(Davidson, 1970)", "Of 50 answers with a preference or “equal” (4), “After <b>40</b>” was the strongest: 0.80 (0.30 to 1.40).", "limited to 60"},
			[]string{"posterior mean and for", "probit", "The rule", "sequential test"},
		},
		{
			"an arena with a test", func(s *idrl.SessionSpec) { s.Arena = idrl.Arena{Entrants: make([]idrl.Entrant, 3), Detect: 0.7} }, func(s *Source) {
				s.Insight = nil
				s.Arena = bradley.Report{Answers: 50, Entrants: []bradley.ReportEntrant{{Title: "A"}, {Title: "B"}}, Test: &bradley.ReportTest{Detect: 0.7, Level: 0.05, Power: 0.95, Winner: "A"}}
			},
			[]string{"strongest challenger (Zoghi et al., 2014)", "at level 5 % divided", "(Kim and DeMets, 1987)", "a preference of 70 % of the decisive answers with a probability of 95 %", "It found “A” to be the winner."},
			[]string{"told most about their strengths", "without a winner"},
		},
		{
			"an arena of recorded policies", recordedArena, func(s *Source) {
				s.Insight, s.Arena = nil, recordedReport()
			},
			[]string{
				"recorded episodes of one task, which people were told: 80 pairs in 6 tasks were of episodes that began alike and 4 pairs in 1 task were drawn at random", "one about which these two had been asked least",
				"over 7 tasks and 5 people", "(MacKinnon et al., 2023)", "(Cameron et al., 2011), its interval is −0.40 to 2.00",
			},
			[]string{"same random numbers", "Not all clips of this arena"},
		},
		{
			"an arena whose clips are being cut", recordedArena, func(s *Source) {
				s.Insight, s.Arena = nil, recordedReport().Partial()
			},
			[]string{"Not all clips of this arena are cut: people were asked about a part of the pairs of episodes so far."},
			nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := source(test.change)
			if test.then != nil {
				test.then(&s)
			}
			got := said(s)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("the text lacks %q:\n%s", want, got)
				}
			}
			for _, bad := range append(test.lacks, "%!", "[]", "  ", "..", "<nil>", "NaN") {
				if strings.Contains(got, bad) {
					t.Errorf("the text has %q:\n%s", bad, got)
				}
			}
			for line := range strings.SplitSeq(strings.TrimSpace(got), "\n") {
				if !strings.HasSuffix(line, ".") {
					t.Errorf("no complete sentences: %q", line)
				}
			}
		})
	}
}

// others are values of settings that affect how questions were chosen, what they were about or how answers counted, each
// other than the default; beside it is what else has to be set for it to matter. The text must follow each.
var others = map[string]struct {
	value  string
	beside func(*idrl.SessionSpec)
}{
	"env": {value: "hopper"}, "kind": {value: string(idrl.RateClip)}, "budget": {value: "60"}, "seed": {value: "2"}, "instructions": {value: "Look."}, "consent": {value: "Yes?"}, "answers_each": {value: "20"},
	"acquisition": {value: "idrl"}, "conditions": {value: "uniform=0.5"}, "held_out": {value: "0.2"}, "held_out_from": {idrl.ReservedTrajectories, func(s *idrl.SessionSpec) { s.HeldOut = 0.2 }}, "questions": {value: idrl.AnyQuestions}, "leader": {value: idrl.ExpectedLeader}, "clips_from": {value: idrl.FoundClips},
	"candidates": {value: "7"}, "ahead": {value: "1"}, "train_every": {value: "4"}, "adopt_after": {value: "2"}, "model": {value: idrl.NetworkModel}, "prior": {value: idrl.KernelPrior}, "prior_var": {value: "2"},
	"likelihood": {value: "bradley-terry"}, "noise_model": {value: idrl.SharedNoise}, "noise_std": {value: "2"}, "tie_band": {value: "0.5"},
	"rating_var": {"0.1", rated}, "rating_model": {idrl.GaussianRatings, rated}, "strength": {value: "true"}, "remarks": {value: "true"}, "show_learnt": {value: "true"},
	"much_band": {"9", func(s *idrl.SessionSpec) { s.Strength = true }}, "tolerance": {value: "0.1"}, "doubt": {value: "0.2"}, "stop_by_itself": {value: "true"}, "ask_on": {value: "true"},
	"repeat_every": {value: "5"}, "gold_every": {value: "10"}, "min_dwell": {value: "0.5"}, "max_rate": {value: "30"},
	"exclude_gold": {value: "0.6"}, "exclude_repeats": {"0.5", func(s *idrl.SessionSpec) { s.RepeatEvery = 5 }}, "exclude_marked": {value: "0.4"}, "exclude_after": {"20", func(s *idrl.SessionSpec) { s.ExcludeGold = 0.6 }},
	"recruitment": {value: "By a notice."}, "payment": {value: "12 € an hour"},
}

func rated(s *idrl.SessionSpec) { s.Kind = idrl.RateClip }

// silent are the settings of which the text says nothing: they change nothing of questions and answers, or stand elsewhere.
var silent = []string{
	"title",               // heading of the report
	"instructions_format", // of the instructions, which the report has
	"withdraw_days",       // says until when people may withdraw their data; how many did is in the text
	"completion_code",     // for a crowd platform; a secret
	"authors", "licence",  // in the data card
	"tags",             // of the list of sessions
	"purpose",          // as words: Source.Purpose, which TestMethodsFollowSettings reads
	"solver", "return", // as the session has completed them: below
}

// Every setting is in one of the lists, and the text follows each of those that it mentions.
func TestMethodsMentionSettings(t *testing.T) {
	for _, one := range settings.All() {
		other, mentioned := others[one.Key]
		if mentioned == slices.Contains(silent, one.Key) {
			t.Errorf("%s must be in one of the lists: does the methods text depend on it?", one.Key)
		}
		if !mentioned {
			continue
		}
		text := func(change bool) string {
			return said(source(func(s *idrl.SessionSpec) {
				if other.beside != nil {
					other.beside(s)
				}
				if !change {
					return
				}
				must.Do(t, one.Set(s, other.value))
			}))
		}
		if text(true) == text(false) {
			t.Errorf("the text does not depend on %s", one.Key)
		}
	}
	for _, value := range []string{idrl.OwnSolver, idrl.ActorCritic, idrl.GaitSolver} {
		s := source(func(*idrl.SessionSpec) {})
		s.Spec.Solver = value
		if got := said(s); strings.Contains(got, "found .") || value != idrl.OwnSolver && got == said(source(func(*idrl.SessionSpec) {})) {
			t.Errorf("the text does not depend on the solver %s: %s", value, got)
		}
	}
}

func recordedArena(s *idrl.SessionSpec) {
	s.Arena = idrl.Arena{Entrants: make([]idrl.Entrant, 2), Tasks: make([]idrl.ArenaTask, 7), Planned: []int{90}}
}

// recordedReport is a result of recordedArena.
func recordedReport() bradley.Report {
	return bradley.Report{
		Answers: 50, Pairing: &bradley.ReportPairing{Matched: 80, MatchedTasks: 6, Random: 4, RandomTasks: 1}, Spread: bradley.ReportSpread{Tasks: 7, People: 5},
		Entrants: []bradley.ReportEntrant{{Title: "A", Strength: 0.8, Low: 0.3, High: 1.4, Population: &bradley.ReportInterval{Low: -0.4, High: 2}}, {Title: "B", Low: -1, High: 1}},
		Tasks:    []bradley.ReportTask{{Name: "open <the> drawer", Group: "doors", Answers: 9, Entrants: []bradley.ReportTaskEntrant{{Title: "A", Strength: 0.5, Low: -0.2, High: 1.1, Answers: 9, Wins: 6, Population: &bradley.ReportInterval{Low: -0.9, High: 1.8}}, {Title: "B"}}}},
	}
}

// Each strategy that sessions offer has a sentence of its own.
func TestStrategiesAreDescribed(t *testing.T) {
	names := acquisition.Names(acquisition.Live())
	for _, name := range names {
		if strategies[name] == "" {
			t.Errorf("no words for %s", name)
		}
	}
	if len(strategies) != len(names) {
		t.Errorf("%d descriptions of %d strategies", len(strategies), len(names))
	}
}

// Every reference is cited by some text, once in its list, and stands in docs/methods.md or docs/arena.md if the program's
// documents name it; its BibTeX has all that a bibliography needs.
func TestReferences(t *testing.T) {
	cited := map[string]bool{}
	note := func(s Source) {
		m := MethodsOf(s)
		for _, r := range references {
			if slices.Contains(m.References, r.line()) {
				cited[r.key] = true
				if strings.Count(m.BibTeX, "{"+r.key+",") != 1 {
					t.Errorf("%s is not once in the BibTeX", r.key)
				}
			}
		}
	}
	for name := range strategies {
		note(source(func(s *idrl.SessionSpec) { s.Acquisition = name }))
	}
	for _, change := range []func(*idrl.SessionSpec){
		func(s *idrl.SessionSpec) { s.Likelihood = "bradley-terry" }, func(s *idrl.SessionSpec) { s.Likelihood = "bernoulli" }, func(s *idrl.SessionSpec) { s.Model = idrl.NetworkModel },
		func(s *idrl.SessionSpec) { s.Arena = idrl.Arena{Entrants: make([]idrl.Entrant, 2)} },
	} {
		note(source(change))
	}
	tested := source(func(s *idrl.SessionSpec) { s.Arena = idrl.Arena{Entrants: make([]idrl.Entrant, 2), Detect: 0.7} })
	tested.Arena.Test = &bradley.ReportTest{}
	note(tested)
	recorded := source(recordedArena)
	recorded.Arena = recordedReport()
	note(recorded)
	gaits := source(func(*idrl.SessionSpec) {})
	gaits.Spec.Solver = idrl.GaitSolver
	note(gaits)
	held := source(func(s *idrl.SessionSpec) { s.HeldOut = 0.1 })
	held.Scores = view.ConditionScores{All: view.ConditionScore{Points: []view.ScorePoint{{Answers: 1, Decisive: 1}}}, Conditions: []view.ConditionScore{{Name: "lvar"}, {Name: "uniform"}}, Leads: []view.Lead{{}}}
	note(held)
	foretold := source(func(*idrl.SessionSpec) {})
	foretold.Insight = &insight.Report{Fit: insight.Calibration{N: 40, Right: 0.75, ECE: 0.04, ByChance: [2]float64{0.02, 0.1}}}
	note(foretold)
	if got := said(foretold); !strings.Contains(got, "Of 40 answers, 75 % were the most probable one; the expected calibration error (Guo et al., 2017) was 0.040, where 0.020 to 0.100 are expected") {
		t.Errorf("predictions: %s", got)
	}
	for _, r := range references {
		if !cited[r.key] {
			t.Errorf("no text cites %s", r.key)
		}
		if line := r.line(); strings.ContainsAny(line, `{}\`) || strings.Contains(line, ": . ") || strings.Contains(line, ", ,") {
			t.Errorf("the line of %s: %s", r.key, line)
		}
		for _, field := range []string{"author", "title", "year"} {
			if !strings.Contains(r.bibtex(), "  "+field+" = {") {
				t.Errorf("%s has no %s", r.key, field)
			}
		}
	}
}

// Numbers below 0 have the sign that figures and sentences have.
func TestCoefficientsBelowZero(t *testing.T) {
	if got := coefficient(&quality.Coefficient{Value: -0.0833, Low: pointer(-0.25), High: pointer(0.125)}); got != "−0.0833 (95 % interval −0.25 to 0.125)" {
		t.Errorf("%q", got)
	}
}

// A statement at the line of the rule holds, although 1 − 0.18 is above 0.82 as a floating-point number.
func TestSinceAtTheLine(t *testing.T) {
	s := Source{}
	s.Spec.Doubt = 0.18
	s.Status.Regret = []idrl.Regret{{Seq: 1, Within: 0.5}, {Seq: 2, Within: 0.82}, {Seq: 3, Within: 0.9}}
	if got := since(s); got != 2 {
		t.Errorf("statements hold since row %d, want 2", got)
	}
}
