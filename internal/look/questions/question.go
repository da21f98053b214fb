package questions

import (
	"context"
	"fmt"
	"slices"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/measure"
)

// LookBack is the number of earlier questions of a person among which a repeat is looked for.
const LookBack = 50

// Sitting is the number of questions of a person among which those are counted that mean the same.
const Sitting = 30

// A Question is a question with a reply.
type Question struct {
	N int // from 1, in the order of the replies
	record.Labelled

	// Unseen says why the clips cannot be measured, and all below is zero; empty if they can.
	Unseen string

	Shown []Clip // the clips of Labelled, left first
	Pair  Pair   // of a comparison

	Still  bool // too little motion: of both clips, or of the one to be rated
	Alike  bool // both clips look the same
	Fallen bool // both robots are fallen, or the one to be rated
	Easy   bool // the clips differ at a glance

	// Repeats is the newest of the person's last LookBack questions that looks the same, either way
	// round; 0 if there is none. A question that is asked again because its answer was withdrawn is no repeat.
	Repeats int

	// Often is how many of the person's last Sitting questions, this one among them, show the same two names
	// (drawing.Namer), either way round; 0 of a question that is not a comparison, or has clips without names.
	Often int

	BothUseless bool // both clips show what is useless by drawing.Happening, or the one to be rated
	SameUseless bool // both the same

	// Again is the question that this one repeats on purpose, to measure consistency
	// (idrl.SessionSpec.RepeatEvery); 0 if it does not. That does not count as a repeat.
	Again int
}

// A Clip has the measurements of a clip.
type Clip struct {
	ID     idrl.ClipID
	Motion measure.Motion
	Still  bool
	Fallen bool
	Note   string // text shown over it
	Shows  drawing.Happening
}

// A Pair has the differences of two clips, as in measure.Pair.
type Pair struct{ Pose, Path, Place, End float64 }

// Answerable reports whether a person can answer the question.
func (q *Question) Answerable() bool { return q.Unseen == "" && !q.Still && !q.Alike && !q.Fallen }

// Chosen returns the place among the clips shown of the one that was preferred, −1 if none was.
func (q *Question) Chosen() int {
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

// Media returns the drawn form of a clip. Errors of kinds NotFound and Damaged mean that the clip
// cannot be shown.
type Media func(ctx context.Context, id idrl.ClipID) ([]byte, error)

// Measure returns the questions of rows, which are replies of a session in the order of the log.
// progress, which may be nil, receives the number of finished ones. It returns the errors of media
// except those of kinds NotFound and Damaged.
func Measure(ctx context.Context, rows []record.Labelled, media Media, progress func(done, total int)) ([]Question, error) {
	m := measurer{media: media, people: map[idrl.AnnotatorID][]seen{}, first: map[asked]int{}}
	out := make([]Question, 0, len(rows))
	for i, row := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q, err := m.measure(ctx, i+1, row)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
		if progress != nil {
			progress(i+1, len(rows))
		}
	}
	return out, nil
}

// A measurer measures one question after another.
type measurer struct {
	media  Media
	people map[idrl.AnnotatorID][]seen // last LookBack questions, oldest first
	first  map[asked]int               // number of the first question of a person that is the same
}

// asked is a question of a person.
type asked struct {
	who   idrl.AnnotatorID
	query idrl.QueryID
}

// A seen is a question as a person remembers it.
type seen struct {
	n         int
	query     idrl.QueryID
	withdrawn bool
	views     []*measure.View
}

func (m *measurer) measure(ctx context.Context, n int, row record.Labelled) (Question, error) {
	q := Question{N: n, Labelled: row}
	q.Again = m.planned(row, n)
	views := make([]*measure.View, len(row.Query.Clips))
	for i, id := range row.Query.Clips {
		c, v, err := m.view(ctx, id)
		if unseen(err) {
			q.Shown, q.Unseen = nil, fmt.Sprintf("clip %s: %v", id, err)
			return q, nil
		}
		if err != nil {
			return q, err
		}
		views[i] = v
		q.Shown = append(q.Shown, Clip{ID: id, Motion: v.Motion(), Still: v.Still(), Fallen: v.Fallen(), Note: c.Header.Note, Shows: v.Happens()})
	}
	if q.Unseen = q.judge(views); q.Unseen != "" {
		q.Shown = nil
		return q, nil
	}
	if len(q.Shown) == 2 && row.Answer.Left == idrl.SideB {
		q.Shown[0], q.Shown[1] = q.Shown[1], q.Shown[0]
	}
	if len(q.Shown) > 2 {
		q.arrange()
		return q, nil
	}
	q.mean(views)
	q.Often = m.often(row, views)
	q.Repeats = m.remember(row, seen{n: n, query: row.Query.ID, withdrawn: row.Withdrawn, views: views})
	if q.Again > 0 {
		q.Repeats = 0
	}
	return q, nil
}

// planned returns the first question of the person that is the same, if question n is a planned
// repeat; else 0.
func (m *measurer) planned(row record.Labelled, n int) int {
	key := asked{row.Answer.Annotator, row.Query.ID}
	first, known := m.first[key]
	if !known {
		m.first[key] = n
	}
	earlier := record.Why{BasedOn: row.Why.BasedOn, AfterSeq: row.Why.AfterSeq} // of a planned repeat, before purposes were recorded
	if row.Why.Purpose != record.ForRepeat && row.Why != earlier {
		return 0
	}
	return first
}

// arrange puts the clips of a group in the order in which they were shown.
func (q *Question) arrange() {
	if !q.Answer.Order.Valid(len(q.Shown)) {
		return
	}
	clips := make([]Clip, 0, len(q.Shown))
	for _, side := range q.Answer.Order {
		clips = append(clips, q.Shown[q.Query.Place(idrl.Side(side))])
	}
	q.Shown = clips
}

// judgeGroup is judge for a group: it counts as alike, still or fallen if two of its clips do.
func (q *Question) judgeGroup(views []*measure.View) (unseen string) {
	for i := range views {
		for j := range i {
			one := Question{}
			if unseen = one.judge([]*measure.View{views[j], views[i]}); unseen != "" {
				return unseen
			}
			q.Alike, q.Still, q.Fallen = q.Alike || one.Alike, q.Still || one.Still, q.Fallen || one.Fallen
			if i == 1 {
				q.Pair, q.Easy = one.Pair, one.Easy
			}
		}
	}
	return ""
}

// unseen reports whether err says that a clip cannot be shown or measured.
func unseen(err error) bool {
	kind := idrl.KindOf(err)
	return kind == idrl.NotFound || kind == idrl.Damaged || kind == idrl.Invalid
}

func (m *measurer) view(ctx context.Context, id idrl.ClipID) (*clip.Clip, *measure.View, error) {
	b, err := m.media(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	c, err := clip.Decode(b)
	if err != nil {
		return nil, nil, err
	}
	v, err := measure.New(c)
	return c, v, err
}

// judge fills in the results from the views of the clips. If there are none it returns the reason,
// empty if there are.
func (q *Question) judge(views []*measure.View) (unseen string) {
	if len(views) == 1 {
		q.Still, q.Fallen = views[0].Still() && !views[0].Moment(), views[0].Fallen()
		return ""
	}
	if len(views) > 2 {
		return q.judgeGroup(views)
	}
	p, err := measure.Compare(views[0], views[1])
	if err != nil {
		return err.Error()
	}
	q.Pair = Pair{Pose: p.Pose, Path: p.Path, Place: p.Place, End: p.End}
	q.Alike, q.Easy, q.Fallen = p.Alike(), p.Easy(), p.A.Fallen() && p.B.Fallen()
	q.Still = p.A.Still() && p.B.Still() && !p.A.Moment() && !p.Answerable() || p.StayTogether()
	return ""
}

// mean fills in what the clips mean.
func (q *Question) mean(views []*measure.View) {
	q.BothUseless, q.SameUseless = true, len(views) == 2
	for _, v := range views {
		is := v.Happens()
		q.BothUseless = q.BothUseless && is.Useless
		q.SameUseless = q.SameUseless && is.Useless && is == views[0].Happens()
	}
}

// often returns Question.Often.
func (m *measurer) often(row record.Labelled, views []*measure.View) int {
	names := func(views []*measure.View) (out [2]string) {
		if len(views) == 2 {
			out = [2]string{views[0].Happens().Name, views[1].Happens().Name}
			slices.Sort(out[:])
		}
		return out
	}
	now, n := names(views), 1
	if now[0] == "" {
		return 0
	}
	past := m.people[row.Answer.Annotator]
	for _, s := range past[max(0, len(past)-Sitting+1):] {
		if names(s.views) == now && !s.withdrawn {
			n++
		}
	}
	return n
}

// remember returns the newest question of the person that looks like this one, 0 if there is none,
// and records this one.
func (m *measurer) remember(row record.Labelled, now seen) (repeats int) {
	who := row.Answer.Annotator
	past := m.people[who]
	for i := len(past) - 1; i >= 0 && repeats == 0; i-- {
		if past[i].alike(now) && !(past[i].withdrawn && past[i].query == now.query) {
			repeats = past[i].n
		}
	}
	if past = append(past, now); len(past) > LookBack {
		past = past[1:]
	}
	m.people[who] = past
	return repeats
}

// alike reports whether two questions look the same. Those of different environments do not.
func (s seen) alike(o seen) bool {
	if len(s.views) != len(o.views) {
		return false
	}
	if len(s.views) == 1 {
		same, err := measure.RatedAlike(s.views[0], o.views[0])
		return err == nil && same
	}
	same, err := measure.Repeats(s.views[0], s.views[1], o.views[0], o.views[1])
	return err == nil && same
}
