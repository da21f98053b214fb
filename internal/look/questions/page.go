package questions

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
)

var (
	//go:embed page.tmpl
	pageText string
	//go:embed page.css
	pageStyle []byte

	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// page has the texts of the template, which formats nothing.
type page struct {
	Title, Session, Env, Kind string
	Summary                   []figure
	Questions                 []entry
	LookBack                  int
	Thresholds                string
}

// A figure is a number with its name.
type figure struct{ Name, Value string }

// An entry is a question.
type entry struct {
	N         int
	Flags     []string
	Answer    string
	Withdrawn bool
	Repeats   int  // 0: none
	Linked    bool // the question that is repeated is on the page
	Shown     []shownClip
	Numbers   []figure
	Unseen    string
}

type shownClip struct {
	Side, Motion, Note string
	Image              string // address; empty if there is none
	Width, Height      int
	Chosen             bool
}

// writePage writes the page. size returns width and height of the strip of a clip, in pixels.
func writePage(w io.Writer, spec idrl.SessionSpec, list []Question, size func(idrl.ClipID) [2]int) error {
	p := page{
		Title: spec.Title, Session: string(spec.ID), Env: spec.Env, Kind: strings.ReplaceAll(string(spec.Kind), "_", " "),
		Summary: Summarise(list).figures(), LookBack: LookBack,
		Thresholds: fmt.Sprintf("A clip is still below %v body sizes a second of the viewer. Two clips look alike if pose, path and place are less than %v, %v and %v body sizes apart, and differ at a glance from %v, %v or %v on.",
			measure.StillBelow, measure.AlikePose, measure.AlikePath, measure.AlikePlace, measure.EasyPose, measure.EasyPath, measure.EasyPlace),
	}
	for i := range list {
		e := list[i].entry(size)
		e.Linked = e.Repeats >= max(1, list[0].N)
		p.Questions = append(p.Questions, e)
	}
	return pageTemplate.Execute(w, p)
}

// figures writes a summary in words.
func (s Summary) figures() []figure {
	share := func(n int) string {
		if s.Questions == 0 {
			return "0"
		}
		return fmt.Sprintf("%d (%.0f %%)", n, 100*float64(n)/float64(s.Questions))
	}
	out := []figure{
		{"Questions", fmt.Sprint(s.Questions)},
		{"Could not be answered", share(s.Unanswered)},
		{"Lacking motion", share(s.Still)},
		{"Clips that look alike", share(s.Alike)},
		{"Both fallen", share(s.Fallen)},
		{fmt.Sprintf("Repeats of the last %d", LookBack), share(s.Repeats)},
		{"Easy", share(s.Easy)},
		{"“Can't tell”", share(s.CantTell)},
		{"“Equal”", share(s.Equal)},
		{"Median response time", fmt.Sprintf("%.1f s", s.Median.Seconds())},
	}
	if s.Probability > 0 {
		out = append(out, figure{"Probability of a clear answer, mean", fmt.Sprintf("%.0f %%", 100*s.Probability)})
	}
	for _, f := range []struct {
		name string
		n    int
	}{{"Planned repeats", s.Again}, {"Skipped, or the clips failed", s.Skipped}, {"Withdrawn, not counted elsewhere", s.Withdrawn}, {"Clips that cannot be shown", s.Unseen}} {
		if f.n > 0 {
			out = append(out, figure{f.name, fmt.Sprint(f.n)})
		}
	}
	return out
}

func (q *Question) entry(size func(idrl.ClipID) [2]int) entry {
	e := entry{N: q.N, Flags: q.flags(), Answer: q.answer(), Withdrawn: q.Withdrawn, Repeats: q.Repeats, Unseen: q.Unseen, Numbers: q.numbers()}
	for i, c := range q.Shown {
		s := shownClip{Motion: fmt.Sprintf("motion %.2f", c.Motion.World), Note: c.Note, Chosen: q.chosen() == i}
		if len(q.Shown) == 2 {
			s.Side = [2]string{"Left", "Right"}[i]
		} else if len(q.Shown) > 2 {
			s.Side = q.place(i)
		}
		if wh := size(c.ID); wh[0] > 0 {
			s.Image, s.Width, s.Height = stripPath(c.ID), wh[0], wh[1]
		}
		e.Shown = append(e.Shown, s)
	}
	return e
}

// place names the place of clip i of a group, and whether it was chosen.
func (q *Question) place(i int) string {
	at := fmt.Sprint(i + 1)
	if i >= len(q.Answer.Order) {
		return at
	}
	which := idrl.Side(q.Answer.Order[i])
	if which == q.Answer.Best {
		return at + ", the best"
	}
	if which == q.Answer.Worst {
		return at + ", the worst"
	}
	return at
}

// flags lists the special properties of the question.
func (q *Question) flags() (out []string) {
	for _, f := range []struct {
		is   bool
		name string
	}{
		{q.Still, "lacks motion"},
		{q.Alike, "alike"},
		{q.Fallen && len(q.Shown) == 2, "both fallen"},
		{q.Fallen && len(q.Shown) == 1, "fallen"},
		{q.Easy, "easy"},
		{q.Answerable(), "answerable"},
		{q.Again > 0, fmt.Sprintf("planned repeat of question %d", q.Again)},
		{q.Withdrawn, "withdrawn"},
		{q.LeftOut, "annotator left out"},
		{q.Turned, "counts turned"},
		{q.Answer.Late, "late"},
	} {
		if f.is {
			out = append(out, f.name)
		}
	}
	return out
}

// chosen returns the place, among the clips shown, of the preferred one, −1 if there is none.
func (q *Question) chosen() int {
	switch q.Answer.Choice {
	case idrl.ChoseA, idrl.ChoseB:
		if (q.Answer.Choice == idrl.ChoseA) == (q.Answer.Left != idrl.SideB) {
			return 0
		}
		return 1
	default:
		return -1
	}
}

// answer writes the annotator and the answer.
func (q *Question) answer() string {
	a := q.Answer
	said := string(a.Choice)
	switch a.Choice {
	case idrl.ChoseA, idrl.ChoseB:
		said = [2]string{"left is better", "right is better"}[q.chosen()]
	case idrl.BestWorst:
		said = "best and worst"
	case idrl.CantTell:
		said = "can't tell"
	case idrl.Skip:
		said = "skipped: " + a.Reason
	case idrl.TechnicalFailure:
		said = "the clips failed"
	case idrl.Rated:
		said = fmt.Sprintf("rated %.3g of 10", 5+5*a.Rating)
	default: // as it is called
	}
	if a.Input == idrl.ImportedInput {
		return fmt.Sprintf("%s: %s (log row %d)", a.Annotator, said, a.Seq)
	}
	return fmt.Sprintf("%s: %s, after %.1f s (log row %d)", a.Annotator, said, float64(a.ResponseMS)/1000, a.Seq)
}

// numbers returns the measurements, and why the question was asked.
func (q *Question) numbers() []figure {
	var out []figure
	if q.Unseen == "" && len(q.Shown) == 2 {
		for _, f := range []struct {
			name  string
			value float64
		}{{"Difference of pose", q.Pair.Pose}, {"Difference of path", q.Pair.Path}, {"Difference of place", q.Pair.Place}} {
			out = append(out, figure{f.name, fmt.Sprintf("%.2f", f.value)})
		}
	}
	w := q.Why
	if w.Answerable > 0 {
		out = append(out, figure{"Probability of a clear answer", fmt.Sprintf("%.0f %%", 100*w.Answerable)})
	}
	if w.First != "" {
		out = append(out, figure{"Distinguishes", fmt.Sprintf("%s and %s", w.First, w.Second)})
	}
	out = append(out, figure{"Information", finite(w.Info, "%.3g nats")}, figure{"Difference of returns, std", finite(w.PairStd, "%.3g")})
	return append(out, figure{"Chosen", fmt.Sprintf("after row %d, of generation %d", w.AfterSeq, w.BasedOn)})
}

// finite writes v, and a dash where it is unknown.
func finite(v float64, format string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf(format, v)
}
