package paper

import (
	"tiebreak/internal/people/quality"
	"tiebreak/web/figure"
)

// A Source is what a report is written from. Moment has all parts but Arena, which is that of an arena, beside its Status.
type Source struct {
	figure.Moment

	Env       string // title of the environment
	Purpose   string // what people were asked to judge by; empty where they had no other purpose than their preference
	Quality   quality.Report
	Withdrawn int    // people who withdrew their data
	Program   string // name and version of the program
}

// about is what captions say.
func (s Source) about() figure.About { return figure.NewAbout(s.Spec, s.Status, s.Program) }

// leftOut returns the people whose answers are left out.
func (s Source) leftOut() (out []quality.Person) {
	for _, p := range s.Quality.People {
		if p.LeftOut {
			out = append(out, p)
		}
	}
	return out
}
