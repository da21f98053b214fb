package paper

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/study/settings"
	"tiebreak/web/figure"
	"tiebreak/web/statement"
)

//go:embed report.html
var reportText string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{"styleHash": styleHash}).Parse(reportText))

// styleHash returns what the policy of the report names its styles by, so that no others are allowed.
func styleHash() string {
	_, rest, _ := strings.Cut(reportText, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// A fact is a row of a table of two columns. Key names it for tests, where it is a number.
type fact struct{ Key, Name, Value string }

// A chart is a figure of a report.
type chart struct {
	ID, Title, Caption string
	SVG                template.HTML
}

// A page is what the template shows.
type page struct {
	Title, Program, Arena     string
	Asked, Numbers, Card, Set []fact
	Instructions              string
	Headline                  string
	Says, Objections          []string
	Charts                    []chart
	Drawn                     string // which charts have nothing to draw yet
	People                    []person
	Ranks                     []rank
	Tasks                     []taskRow
	Wider                     bool // Ranks have wider intervals
	Methods                   Methods
	Rated                     bool
}

// A person is a row of the table of people.
type person struct{ Name, Answers, Time, Same, Gold, Agreed, Noise, Marked, Counts string }

// A rank is a row of the table of an arena.
type rank struct{ N, Title, Strength, Interval, Wider, Best, Answers string }

// A taskRow is a row of the table of an arena's tasks and their groups.
type taskRow struct {
	Name, Group, Answers string
	Cells                []string // in the order of the policies
}

// Write writes the report of a session or of an arena: one HTML file without scripts, styles, fonts and pictures from elsewhere.
func Write(w io.Writer, s Source) error {
	p, err := pageOf(s)
	if err != nil {
		return err
	}
	return reportTemplate.Execute(w, p)
}

func pageOf(s Source) (page, error) {
	p := page{
		Title: s.Spec.Title, Program: s.Program, Asked: asked(s), Numbers: numbers(s), Card: card(s), Set: set(s.Spec),
		Instructions: strings.TrimSpace(s.Spec.Instructions), Methods: MethodsOf(s), Rated: s.Quality.Rated,
	}
	for _, q := range s.Quality.People {
		p.People = append(p.People, personOf(s, q))
	}
	headline(s, &p)
	var empty []string
	for _, name := range figure.Of(s.Spec) {
		d, err := figure.Draw(name, s.Moment, s.about(), figure.Look{})
		if err != nil {
			return p, err
		}
		if d.Empty {
			empty = append(empty, strings.ToLower(d.Title[:1])+d.Title[1:])
			continue
		}
		p.Charts = append(p.Charts, chart{ID: name, Title: d.Title, Caption: d.Caption, SVG: template.HTML(d.Inline())}) //nolint:gosec // figure escapes all text
	}
	if len(empty) > 0 {
		p.Drawn = "There is nothing to draw yet of: " + words.List(empty) + "."
	}
	return p, nil
}

// headline says what has come out, with its limits.
func headline(s Source, p *page) {
	switch {
	case s.Spec.IsArena():
		p.Headline, p.Says, p.Arena = s.Arena.Headline(), []string{s.Arena.Sum()}, "yes"
		for _, says := range []string{s.Arena.Cut(), s.Arena.Meetings(), s.Arena.Accounts(), s.Arena.AccountsOfTasks()} {
			if says != "" {
				p.Says = append(p.Says, says)
			}
		}
		p.Tasks, p.Wider = append(taskRows(s.Arena.Groups), taskRows(s.Arena.Tasks)...), s.Arena.Accounts() != ""
		for i, e := range s.Arena.Entrants {
			p.Ranks = append(p.Ranks, rank{
				fmt.Sprint(i + 1), e.Title, words.Signed(e.Strength, 2), words.Signed(e.Low, 2) + " to " + words.Signed(e.High, 2), wider(e.Population), percentWhole(e.Best), words.Count(e.Answers),
			})
		}
	case !s.Spec.StatesRegret():
		p.Headline = "A reward network states neither a regret nor when to stop."
		p.Says = []string{"The posterior of a network is too certain for such statements. Judge by how well it predicted answers before they were given."}
	case len(s.Status.Regret) == 0:
		p.Headline = "There is no statement yet: no policy has been trained."
	default:
		said := statement.Of(s.Status)
		p.Headline = said.Headline + "."
		p.Says = []string{said.Limit, said.Expected, said.Relative, said.Stop}
		for _, o := range s.Status.Stopping.Objections {
			p.Objections = append(p.Objections, o.Words)
		}
	}
}

// wider writes an interval that accounts for tasks and people; nothing for none.
func wider(in *bradley.ReportInterval) string {
	if in == nil {
		return ""
	}
	return words.Signed(in.Low, 2) + " to " + words.Signed(in.High, 2)
}

// taskRows are those of the result in each task or group.
func taskRows(of []bradley.ReportTask) (out []taskRow) {
	for _, t := range of {
		row := taskRow{Name: cmp.Or(t.Name, "no task named"), Group: t.Group, Answers: words.Count(t.Answers)}
		for _, e := range t.Entrants {
			cell := ""
			if e.Answers > 0 {
				cell = fmt.Sprintf("%s (%s to %s), %d of %d", words.Signed(e.Strength, 2), words.Signed(e.Low, 2), words.Signed(e.High, 2), e.Wins, e.Answers)
				if e.Population != nil {
					cell += ", wider: " + wider(e.Population)
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		out = append(out, row)
	}
	return out
}

// asked are the facts of what was asked.
func asked(s Source) []fact {
	spec := s.Spec
	out := []fact{
		{Name: "Session", Value: string(spec.ID)},
		{Name: "Environment", Value: fmt.Sprintf("%s (%s)", s.Env, spec.Env)},
		{Name: "Question", Value: settings.Get("kind").Title(string(spec.Kind))},
	}
	if s.Purpose != "" {
		out = append(out, fact{Name: "Purpose", Value: s.Purpose})
	}
	if !spec.CreatedAt.IsZero() {
		out = append(out, fact{Name: "Made", Value: day(spec.CreatedAt)})
	}
	if at := s.about().Last; !at.IsZero() {
		out = append(out, fact{Name: "Last answer", Value: day(at)})
	}
	return out
}

func day(at time.Time) string { return at.UTC().Format("2 January 2006, 15:04") + " UTC" }

// personOf is the row of an annotator.
func personOf(s Source, q quality.Person) person {
	p := person{
		Name: string(q.Annotator), Answers: words.Count(q.Answers), Time: "–", Same: "–", Gold: "–", Agreed: "–", Noise: "–", Marked: words.Count(q.Marked), Counts: "counts",
	}
	if q.MedianMS > 0 {
		p.Time = fmt.Sprintf("%.1f s", float64(q.MedianMS)/1000)
	}
	switch {
	case q.Repeats > 0 && s.Quality.Rated:
		p.Same = fmt.Sprintf("%.1f of 10 over %d", 5*q.Difference, q.Repeats)
	case q.Repeats > 0:
		p.Same = of(q.SaidSame, q.Repeats, q.SameLow, q.SameHigh)
	}
	if q.Gold > 0 {
		p.Gold = of(q.GoldRight, q.Gold, q.GoldLow, q.GoldHigh)
	}
	if q.Compared > 0 {
		p.Agreed = fmt.Sprintf("%d of %d", q.Agreed, q.Compared)
	}
	if m := q.Manner; m != nil && m.Noise != (idrl.Range{}) {
		p.Noise = fmt.Sprintf("%.2f (%.2f to %.2f); at random %.0f %%", m.Noise.Middle, m.Noise.Low, m.Noise.High, 100*m.Random)
	}
	switch {
	case q.LeftOut:
		p.Counts = "left out"
	case q.Turned > 0:
		p.Counts = words.Plural(q.Turned, "answer") + " counted the other way round"
	}
	if len(q.Warnings) > 0 {
		p.Counts += "; " + strings.Join(q.Warnings, "; ")
	}
	return p
}

// of writes a share of n with its interval.
func of(k, n int, low, high float64) string {
	return fmt.Sprintf("%d of %d (%.0f to %.0f %%)", k, n, 100*low, 100*high)
}
