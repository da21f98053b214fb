package bradley

import (
	"fmt"
	"strings"

	"tiebreak/internal/base/stats"
	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/sequential"
)

// A ReportTest is the test for a winner in a Report, by the titles of entrants (package sequential).
type ReportTest struct {
	Detect   float64  `json:"planned_preference"` // share of the decisive answers about two that it is planned to find
	Level    float64  `json:"false_winner"`       // the greatest probability of a false winner, however often one looks
	Power    float64  `json:"power"`              // about the probability of finding a preference of the planned size
	Winner   string   `json:"winner,omitempty"`
	Alike    []string `json:"like_the_winner,omitempty"` // entrants that look the same, so that no question compares them with it
	Unbeaten []string `json:"not_beaten"`                // entrants to which no other one was found to be preferred
	Over     bool     `json:"over"`                      // further answers find no winner that is not known
	Left     int      `json:"answers_left"`
}

// NewTest returns the test of an arena without answers, in which entrants are alike about which none of the questions of g is. It must have one,
// and g may be nil.
func NewTest(of idrl.Arena, g *idrl.Generation) *sequential.State {
	n := len(of.Entrants)
	s := sequential.NewTest(n, of.Detect).New(n)
	if g == nil {
		return s
	}
	_, asked := meetings(of, g)
	for j := range n {
		for i := range j {
			if asked[[2]int{i, j}] == 0 {
				s.Alike(i, j)
			}
		}
	}
	return s
}

// test returns the state of the test of an arena after outcomes, in their order; nil where it has none.
func test(of idrl.Arena, g *idrl.Generation, outcomes []Outcome) *sequential.State {
	if of.Detect == 0 {
		return nil
	}
	s := NewTest(of, g)
	for _, o := range outcomes {
		s.Add(o.A, o.B, o.Choice)
	}
	return s
}

// addTest writes the state of a test into the report: its result, and of each pair, whose places are given, the share of the decisive answers
// with an interval that holds at all looks.
func (r *Report) addTest(of idrl.Arena, s *sequential.State, places [][2]int) {
	v := s.Verdict()
	r.Test = &ReportTest{Detect: of.Detect, Level: sequential.Level, Power: sequential.Power, Unbeaten: []string{}, Over: v.Done, Left: s.Left()}
	for _, k := range v.Best {
		r.Test.Unbeaten = append(r.Test.Unbeaten, of.Entrants[k].Title)
	}
	if v.Winner >= 0 {
		r.Test.Winner = of.Entrants[v.Winner].Title
		for _, k := range v.Alike {
			r.Test.Alike = append(r.Test.Alike, of.Entrants[k].Title)
		}
	}
	for i, at := range places {
		p := &r.Pairs[i]
		p.P, p.Separated = 0.5, s.Beats(at[0], at[1]) || s.Beats(at[1], at[0])
		if n := p.WinsA + p.WinsB; n > 0 {
			p.P = float64(p.WinsA) / float64(n)
		}
		p.Low, p.High = sequential.Interval(float64(p.WinsA), float64(p.WinsB))
	}
}

// headline says what the test has found.
func (t ReportTest) headline() string {
	switch {
	case t.Winner != "" && len(t.Alike) > 0:
		return fmt.Sprintf("“%s” is the winner: people prefer it to every other policy that does not look the same, as “%s” does.", t.Winner, strings.Join(t.Alike, "” and “"))
	case t.Winner != "":
		return fmt.Sprintf("“%s” is the winner: people prefer it to every other policy.", t.Winner)
	case t.Over:
		return "No winner: the test has not found a policy that people prefer to every other one."
	}
	answers := "1 further answer decides"
	if t.Left != 1 {
		answers = words.Count(t.Left) + " further answers decide"
	}
	return fmt.Sprintf("No winner yet: about %s.", answers)
}

// Guarantee says what the test promises and which entrants may be the winner; nothing where there is no test.
func (r Report) Guarantee() string {
	t := r.Test
	if t == nil {
		return ""
	}
	out := fmt.Sprintf("A false winner is called in at most %s of such tests, however often one looks. A policy that is preferred to another one in at least %s of the decisive answers is found to be so with a probability of about %s.",
		stats.Percent(t.Level), stats.Percent(t.Detect), stats.Percent(t.Power))
	if n := len(t.Unbeaten); t.Winner == "" && n > 0 && n < len(r.Entrants) {
		out += " Not found to be worse than another one: “" + strings.Join(t.Unbeaten, "”, “") + "”."
	}
	return out
}
