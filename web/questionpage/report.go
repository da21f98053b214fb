package questionpage

import (
	"context"
	"fmt"
	"io"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/look/questions"
	"tiebreak/templates"
)

// writePage writes the page. size returns width and height of the strip of a clip, in pixels.
func writePage(ctx context.Context, w io.Writer, spec idrl.SessionSpec, list []questions.Question, size func(idrl.ClipID) [2]int) error {
	session := ""
	if spec.ID != "" {
		session = fmt.Sprintf("Session %s: ", spec.ID)
	}
	p := templates.QuestionsPage{
		Layout:  templates.Layout{Title: "Questions: " + spec.Title, Static: ".", Styles: []string{chartStyle}},
		Heading: spec.Title, Counts: counts(questions.Summarise(list)),
		Sum: fmt.Sprintf("%s%s, %s. Every question that was replied to, in the order of the replies; the clip that was preferred has a frame.",
			session, spec.Env, strings.ReplaceAll(string(spec.Kind), "_", " ")),
		Note: fmt.Sprintf("A clip is still below %v body sizes a second of the viewer. Two clips look alike if pose, path and place are less than %v, %v and %v body sizes apart, and differ at a glance from %v, %v or %v on. "+
			"A repeat looks like one of the same person's last %d questions, either way round.",
			measure.StillBelow, measure.AlikePose, measure.AlikePath, measure.AlikePlace, measure.EasyPose, measure.EasyPath, measure.EasyPlace, questions.LookBack),
	}
	for i := range list {
		p.Questions = append(p.Questions, entry(spec, &list[i], max(1, list[0].N), size))
	}
	return templates.Questions(p).Render(ctx, w)
}

// counts says a summary in words.
func counts(s questions.Summary) []templates.Fact {
	share := func(n int) string {
		if s.Questions == 0 {
			return "0"
		}
		return fmt.Sprintf("%d (%.0f %%)", n, 100*float64(n)/float64(s.Questions))
	}
	out := []templates.Fact{
		{Name: "Questions", Value: fmt.Sprint(s.Questions)},
		{Name: "Could not be answered", Value: share(s.Unanswered)},
		{Name: "Lacking motion", Value: share(s.Still)},
		{Name: "Clips that look alike", Value: share(s.Alike)},
		{Name: "Both fallen", Value: share(s.Fallen)},
		{Name: fmt.Sprintf("Repeats of the last %d", questions.LookBack), Value: share(s.Repeats)},
		{Name: fmt.Sprintf("Same two things for the %dth time or more in %d", questions.MostOften+1, questions.Sitting), Value: share(s.Often)},
		{Name: "Both useless", Value: share(s.Useless)},
		{Name: "Both useless in the same way", Value: share(s.SameUseless)},
		{Name: "Easy", Value: share(s.Easy)},
		{Name: "“Can't tell”", Value: share(s.CantTell)},
		{Name: "“Equal”", Value: share(s.Equal)},
		{Name: "Median response time", Value: fmt.Sprintf("%.1f s", s.Median.Seconds())},
	}
	if s.Probability > 0 {
		out = append(out, templates.Fact{Name: "Probability of a clear answer, mean", Value: fmt.Sprintf("%.0f %%", 100*s.Probability)})
	}
	for _, f := range []struct {
		name string
		n    int
	}{{"Asked again as planned", s.Again}, {"Skipped, or the clips failed", s.Skipped}, {"Withdrawn, not counted elsewhere", s.Withdrawn}, {"Clips that cannot be shown", s.Unseen}} {
		if f.n > 0 {
			out = append(out, templates.Fact{Name: f.name, Value: fmt.Sprint(f.n)})
		}
	}
	return out
}

// entry returns the card of a question on a page that begins with question first.
func entry(spec idrl.SessionSpec, q *questions.Question, first int, size func(idrl.ClipID) [2]int) templates.QuestionCard {
	a := q.Answer
	as := record.Assignment{Query: q.Query, Annotator: a.Annotator, Left: a.Left, Order: a.Order, Condition: q.Condition, Why: q.Why}
	who := fmt.Sprintf("%s, after %.1f s, log row %d", a.Annotator, float64(a.ResponseMS)/1000, a.Seq)
	if a.Input == idrl.ImportedInput {
		who = fmt.Sprintf("%s, imported, log row %d", a.Annotator, a.Seq)
	}
	out := Card(spec, as, q.Clips, a, who)
	out.Heading, out.ID, out.Withdrawn, out.Unseen = fmt.Sprintf("Question %d", q.N), anchor(q.N), q.Withdrawn, q.Unseen
	out.Facts = append(append(apart(q), out.Facts...), templates.Fact{Name: "Chosen", Value: fmt.Sprintf("after row %d", q.Why.AfterSeq)})
	if q.Why.First != "" {
		out.Reason = fmt.Sprintf("%s and %s.", q.Why.First, q.Why.Second)
	}
	out.Flags = flags(q)
	if q.Repeats > 0 {
		repeat := templates.QuestionFlag{Text: fmt.Sprintf("repeats %d", q.Repeats), Bad: true}
		if q.Repeats >= first {
			repeat.URL = "#" + anchor(q.Repeats)
		}
		out.Flags = append(out.Flags, repeat)
	}
	for i, c := range q.Shown {
		out.Strips = append(out.Strips, strip(q, i, size(c.ID)))
	}
	return out
}

// anchor names the place of question n on the page.
func anchor(n int) string { return fmt.Sprintf("q%d", n) }

// strip returns clip i of those that were shown, with a strip of that width and height.
func strip(q *questions.Question, i int, size [2]int) templates.QuestionStrip {
	c := q.Shown[i]
	out := templates.QuestionStrip{Caption: fmt.Sprintf("motion %.2f", c.Motion.World), Chosen: q.Chosen() == i}
	switch len(q.Shown) {
	case 1:
	case 2:
		out.Caption = [2]string{"Left", "Right"}[i] + ": " + out.Caption
	default:
		out.Caption = place(q, i) + ": " + out.Caption
	}
	if c.Shows.Name != "" {
		out.Caption += ", " + c.Shows.Name
	}
	if c.Note != "" {
		out.Caption += ". " + c.Note
	}
	if size[0] > 0 {
		out.Image, out.Width, out.Height = stripPath(c.ID), fmt.Sprint(size[0]), fmt.Sprint(size[1])
	}
	return out
}

// apart returns how far the clips of a comparison look apart.
func apart(q *questions.Question) (out []templates.Fact) {
	if q.Unseen != "" || len(q.Shown) != 2 {
		return nil
	}
	for _, f := range []struct {
		name  string
		value float64
	}{{"Difference of pose", q.Pair.Pose}, {"Difference of path", q.Pair.Path}, {"Difference of place", q.Pair.Place}} {
		out = append(out, templates.Fact{Name: f.name, Value: fmt.Sprintf("%.2f", f.value)})
	}
	return out
}

// place says where clip i of a group stood, and whether it was named.
func place(q *questions.Question, i int) string {
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

// flags names what is special about the question.
func flags(q *questions.Question) (out []templates.QuestionFlag) {
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
		{q.Again > 0, fmt.Sprintf("asks %d again, as planned", q.Again)},
		{q.Withdrawn, "withdrawn"},
		{q.LeftOut, "annotator left out"},
		{q.Turned, "counts turned"},
		{q.Answer.Late, "late"},
	} {
		if f.is {
			out = append(out, templates.QuestionFlag{Text: f.name})
		}
	}
	return out
}
