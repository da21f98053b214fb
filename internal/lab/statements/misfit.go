package statements

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"tiebreak/envs"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/driven"
	"tiebreak/internal/lab/seeing"
	"tiebreak/internal/learn/misfit"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/train/training"

	"gonum.org/v1/gonum/floats"
)

// A Tested holds the statements of a session about its features, after all its answers.
type Tested struct {
	Alarm  bool    // the answers follow something that the features do not tell
	Told   bool    // so says a test that knows the hidden features and their prior; false of tastes
	Hidden float64 // Σ of squares over the questions of the differences that the session does not know, beside those of all; NaN of tastes
}

// plain is the share of Hidden from which on the hidden features count as plain in the answers.
const plain = 0.1

// tasteMark begins the names of people who judge what is drawn (package seeing).
const tasteMark = "taste:"

// tasteMistakes is the share of their answers that are the opposite.
const tasteMistakes = 0.1

// rarely is the number of answers from one training to the next where features are tested; sessions on robots
// have none, and ask about their library.
const rarely = 10

// testWorld returns the world of a name: one of Worlds, or a robot.
func testWorld(ctx context.Context, name, folder string) (w World, robot bool, err error) {
	if slices.Contains(seeing.Robots(), name) {
		return World{Name: name, list: envs.Catalogue(), ref: name}, true, nil
	}
	w, err = FindWorld(ctx, name, folder)
	return w, false, err
}

// A Trial is a kind of people who answer sessions in a world, to test what these say of their features.
type Trial struct {
	World, People string // World is one of Worlds or a robot; People are a kind, or a taste about the robot: "taste:limp"

	world World
	kind  Kind
	robot bool
	taste *seeing.Taste // nil of a kind
}

// NewTrial returns a trial. Folder is as for FindWorld. It returns an error of kind Invalid for unknown names.
func NewTrial(ctx context.Context, world, people, folder string) (t Trial, err error) {
	t = Trial{World: world, People: people}
	if t.world, t.robot, err = testWorld(ctx, world, folder); err != nil {
		return t, err
	}
	if name, ok := strings.CutPrefix(people, tasteMark); ok {
		people = "matched" // of whom the taste takes the place
		of, err := seeing.Find(world, name)
		if err != nil {
			return t, err
		}
		t.taste = &of
	}
	t.kind, err = FindKind(people)
	return t, err
}

// Do does the session of a seed.
func (t Trial) Do(ctx context.Context, seed uint64, answers int) (out Tested, err error) {
	s, err := t.kind.stage(t.world, seed)
	if err != nil {
		return out, err
	}
	s.spec.TrainEvery = rarely
	if t.robot {
		s.spec.TrainEvery, s.spec.AdoptAfter = int64(answers)+1, int64(answers)+1
	}
	session, err := s.start(ctx)
	if err != nil {
		return out, err
	}
	defer session.Close()
	v := &viewer{ctx: ctx, session: session}
	if t.taste != nil {
		v.person = seeing.Person{Taste: *t.taste, Mistake: tasteMistakes, Seed: seed}
		s.cast = []actor{v.answer}
	}
	seen := &weights{stage: s, of: s.cast[0]}
	s.cast[0] = seen.answer
	for n := range answers {
		if err := errors.Join(s.answer(ctx, session, n), v.err); err != nil {
			return out, err
		}
	}
	st, err := session.Status(ctx)
	if err != nil {
		return out, err
	}
	out.Alarm = slices.ContainsFunc(st.Stopping.Objections, func(o stopping.Objection) bool { return o.Code == stopping.ByFeatures })
	if t.taste != nil {
		out.Hidden = math.NaN()
		return out, nil
	}
	out.Hidden = seen.hidden / seen.all
	out.Told, err = seen.told()
	return out, err
}

// weights is an actor that notes how much of the differences of the clips the session does not know.
type weights struct {
	*stage
	of          actor
	hidden, all float64 // sums of squares

	asked    []idrl.QueryVector
	answered []idrl.Answer
}

func (w *weights) answer(q idrl.QueryVector, r *rand.Rand) idrl.Answer {
	all, hidden := floats.Dot(w.theta, q.X), 0.0
	for _, k := range w.blind {
		hidden += w.theta[k] * q.X[k]
	}
	w.all, w.hidden = w.all+all*all, w.hidden+hidden*hidden
	a := w.of(q, r)
	w.asked, w.answered = append(w.asked, q), append(w.answered, a)
	return a
}

// told reports whether the answers were ever 1/misfit.Level times as probable if the hidden features count as the
// others do. A test that does not know them can hardly tell more.
func (w *weights) told() (bool, error) {
	without := w.spec
	with := without
	with.PriorScale = slices.Clone(without.PriorScale)
	for _, k := range w.blind {
		with.PriorScale[k] /= known
	}
	some, err := w.predicted(without)
	if err != nil {
		return false, err
	}
	all, err := w.predicted(with)
	if err != nil {
		return false, err
	}
	for i := range some {
		if all[i]-some[i] > -math.Log(misfit.Level) {
			return true, nil
		}
	}
	return false, nil
}

// predicted returns Σ log p of the answers up to each, each predicted by those before it in a session of spec.
func (w *weights) predicted(spec idrl.SessionSpec) (logs []float64, err error) {
	of, err := training.Model(w.world.list, spec)
	if err != nil {
		return nil, err
	}
	m := training.Rival(of, spec.Kind)(nil)
	p, sum := m.Prior(), 0.0
	for i, q := range w.asked {
		mean, v := idrl.Moments(p, q.X, p.Mean(nil), make([]float64, p.Dim()))
		logP, _, _ := m.Asking(p, "").Likelihood(q.Query).LogZ(w.answered[i], mean, v)
		sum += logP
		logs = append(logs, sum)
		q.Mid = nil
		if p, err = m.Condition(p, q, w.answered[i]); err != nil {
			return nil, err
		}
	}
	return logs, nil
}

// A viewer is an actor who judges what is drawn.
type viewer struct {
	ctx     context.Context //nolint:containedctx // of one Trial.Do
	session *driven.Session
	person  seeing.Person
	n       int   // questions so far
	err     error // the first one
}

func (v *viewer) answer(q idrl.QueryVector, _ *rand.Rand) idrl.Answer {
	v.n++
	var clips [2]*clip.Clip
	for i, id := range q.Clips {
		media, err := v.session.Media(v.ctx, id)
		if err == nil {
			clips[i], err = clip.Decode(media)
		}
		if err != nil {
			v.err = errors.Join(v.err, err)
			return idrl.Answer{Choice: idrl.Equal}
		}
	}
	a, err := v.person.Compare(v.n, clips[0], clips[1])
	if err != nil {
		v.err = errors.Join(v.err, err)
		return idrl.Answer{Choice: idrl.Equal}
	}
	return a
}

// TestedHead is the head of the table of trials, in Markdown.
const TestedHead = "| world | people | sessions | alarms, % (95 %) | by who knows the hidden features | sessions with 10 % or more of the differences hidden | alarms, % (95 %) | by who knows |\n|---|---|---|---|---|---|---|---|"

// WriteTested writes the row of a trial.
func WriteTested(w io.Writer, t Trial, done []Tested) {
	var features, plains []Tested // of people whose rewards are of features, and of these with plainly hidden ones
	for _, d := range done {
		if !math.IsNaN(d.Hidden) {
			features = append(features, d)
		}
		if d.Hidden >= plain {
			plains = append(plains, d)
		}
	}
	fmt.Fprintf(w, "| %s | %s | %d | %s | %s | ", t.World, t.People, len(done), percent(done, alarm), percent(features, told))
	fmt.Fprintf(w, "%d | %s | %s |\n", len(plains), percent(plains, alarm), percent(plains, told))
}

func alarm(t Tested) bool { return t.Alarm }
func told(t Tested) bool  { return t.Told }

// percent writes in how many sessions something is so, with the interval of the share; nothing for no sessions.
func percent(done []Tested, is func(Tested) bool) string {
	if len(done) == 0 {
		return "–"
	}
	n := 0
	for _, d := range done {
		if is(d) {
			n++
		}
	}
	low, high := stats.Wilson(float64(n), len(done), 1.96)
	return fmt.Sprintf("%d, %.1f (%.1f–%.1f)", n, 100*float64(n)/float64(len(done)), 100*low, 100*high)
}
