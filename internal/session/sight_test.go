package session_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/session"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/training"
)

// sighted returns a bench of an environment whose clips are drawn.
func sighted(t testing.TB, env string, kind idrl.QueryKind, change func(*idrl.SessionSpec)) *bench {
	t.Helper()
	b := newBench(func(s *idrl.SessionSpec) {
		*s = settings.Complete(idrl.SessionSpec{ID: s.ID, Title: s.Title, Env: env, Kind: kind, Seed: 5, TrainEvery: 4, AdoptAfter: 2})
		if change != nil {
			change(s)
		}
	})
	list := envs.Catalogue()
	spec, err := training.Complete(list, b.journal.rec.Spec)
	if err != nil {
		t.Fatal(err)
	}
	b.journal.rec.Spec = spec
	world, err := training.Environment(list, spec)
	if err != nil {
		t.Fatal(err)
	}
	if b.model, err = belief.ForSpec(spec, world); err != nil {
		t.Fatal(err)
	}
	if b.trainer, err = training.New(list, spec); err != nil {
		t.Fatal(err)
	}
	b.method = method(t, spec.Acquisition)
	return b
}

// variously answers as people do who do not always know.
func variously(as record.Assignment, n int) idrl.Answer {
	a := reply(as, n)
	switch {
	case n%4 == 1:
		a.Choice = idrl.CantTell
	case !as.Query.Kind.Comparison():
		a.Choice, a.Rating, a.Left = idrl.Rated, float64(n%5)/2-1, ""
	case n%5 == 2:
		a.Choice = idrl.Equal
	}
	return a
}

// views returns what is seen of the clips of a query.
func (b *bench) views(t testing.TB, q idrl.Query) (out [2]*measure.View) {
	t.Helper()
	for i, id := range q.Clips {
		media := must.Get(b.journal.ClipMedia(t.Context(), "s1", id))(t)
		v := must.Get(measure.Of([]idrl.Clip{{Media: media}}))(t)
		out[i] = v[0]
	}
	return out
}

// looksLike reports whether two questions look alike.
func looksLike(t testing.TB, a, b [2]*measure.View) bool {
	t.Helper()
	if a[1] == nil {
		is := must.Get(measure.Alike(a[0], b[0]))(t)
		return is
	}
	is := must.Get(measure.Repeats(a[0], a[1], b[0], b[1]))(t)
	return is
}

// What a question records of its clips is what the picture says, and the probability of an
// answer; in sessions that ask any question, too.
func TestQuestionsSayWhatIsSeen(t *testing.T) {
	t.Parallel()
	for _, rule := range settings.Get("questions").Names() {
		for _, kind := range []idrl.QueryKind{idrl.CompareClips, idrl.RateClip, idrl.CompareStates} {
			b := sighted(t, "gridworld", kind, func(s *idrl.SessionSpec) { s.Questions = rule })
			s, stop := b.start(t)
			for n := range 8 {
				mustAnswer(t, s, "ann", variously(claim(t, s, "ann").Open[0], n))
			}
			stop()
			for _, as := range b.journal.rec.Assignments {
				v, w := b.views(t, as.Query), as.Why
				want := record.Why{MotionA: v[0].Motion().World, Seconds: v[0].Seconds(), Lead: w.Lead}
				if kind.Comparison() {
					p := must.Get(measure.Compare(v[0], v[1]))(t)
					want.Apart, want.MotionB, want.Seconds = p.Apart(), v[1].Motion().World, max(want.Seconds, v[1].Seconds())
				}
				got := record.Why{MotionA: w.MotionA, MotionB: w.MotionB, Apart: w.Apart, Seconds: w.Seconds, Lead: w.Lead}
				if got != want || !(w.Answerable > 0 && w.Answerable < 1) || !(w.Lead >= 0) || w.Lead > 0 && !kind.Comparison() {
					t.Errorf("%s, %s, question %d: %+v, want %+v", rule, kind, as.N, w, want)
				}
			}
		}
	}
}

// Questions are a function of the log: restarts change nothing of what is asked or recorded.
func TestRestartsBetweenQuestionsThatAreSeen(t *testing.T) {
	t.Parallel()
	for _, kind := range []idrl.QueryKind{idrl.CompareClips, idrl.RateState} {
		t.Run(string(kind), func(t *testing.T) {
			run := func(restart bool) record.Record {
				b := sighted(t, "gridworld", kind, nil)
				s, stop := b.start(t)
				for n := range 26 {
					a := variously(claim(t, s, "ann").Open[0], n)
					mustAnswer(t, s, "ann", a)
					if n%9 == 6 {
						must.Get(s.Undo(t.Context(), "ann", "undo-"+a.ID, a.ID))(t)
					}
					if restart {
						stop()
						s, stop = b.start(t)
					}
				}
				stop()
				return b.journal.rec
			}
			plain, restarted := run(false), run(true)
			if d := cmp.Diff(plain.Assignments, restarted.Assignments); d != "" {
				t.Errorf("questions differ (-without +with):\n%s", d)
			}
			if d := cmp.Diff(plain.Snapshots, restarted.Snapshots); d != "" {
				t.Errorf("posteriors differ (-without +with):\n%s", d)
			}
		})
	}
}

// Can't tell teaches what can be answered, and nothing about the reward.
func TestCantTellLeavesThePosterior(t *testing.T) {
	b := sighted(t, "gridworld", idrl.CompareClips, func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter = 1000, 1000 })
	s, stop := b.start(t)
	mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 0))
	before := lastBelief(b.record(t, s))
	var said []float64
	for n := range 15 {
		as := claim(t, s, "ann").Open[0]
		said = append(said, as.Why.Answerable)
		mustAnswer(t, s, "ann", idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("c", n)), Assignment: as.ID, Choice: idrl.CantTell, Left: as.Left, Input: "api"})
	}
	if !bytes.Equal(before, lastBelief(b.record(t, s))) {
		t.Error("answers of can't tell moved the posterior")
	}
	stop()
	if !(said[14] < said[0]-0.2) {
		t.Errorf("the probability of an answer went from %v to %v by 15 answers of can't tell", said[0], said[14])
	}
}

// While there is anything else, no question looks like one of the last 50 of the person; and
// if there is nothing else, its like was asked longest ago.
func TestNoVisibleRepeats(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		env  string
		kind idrl.QueryKind
		n    int
		most int // repeats
	}{
		{"gridworld", idrl.CompareClips, 60, 0}, {"chain", idrl.CompareClips, 60, 60}, {"gridworld", idrl.RateState, 20, 20}, {"driver", idrl.CompareClips, 60, 0},
	} {
		t.Run(test.env+" "+string(test.kind), func(t *testing.T) {
			b := sighted(t, test.env, test.kind, func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter, s.Ahead = 1000, 1000, 1 })
			s, stop := b.start(t)
			for n := range test.n {
				mustAnswer(t, s, "ann", variously(claim(t, s, "ann").Open[0], n))
			}
			stop()
			if got := b.repeats(t); got > test.most {
				t.Errorf("%d of %d questions look like one before, want at most %d", got, test.n, test.most)
			}
		})
	}
}

// repeats returns how many questions of a session with one annotator and one generation look
// like one of the 50 before, and fails if one was not needed.
func (b *bench) repeats(t *testing.T) (n int) {
	t.Helper()
	var offered [][2]*measure.View
	var ids []idrl.QueryID
	for _, q := range b.journal.rec.Generation.Queries {
		offered, ids = append(offered, b.views(t, q)), append(ids, q.ID)
	}
	var before [][2]*measure.View // newest first
	for _, as := range b.journal.rec.Assignments {
		now := b.views(t, as.Query)
		ago := func(v [2]*measure.View) int {
			return 1 + slices.IndexFunc(before, func(o [2]*measure.View) bool { return looksLike(t, o, v) })
		}
		if is := ago(now); is > 0 {
			n++
			for k, v := range offered {
				if at := ago(v); at == 0 || at > is {
					t.Fatalf("question %d was last seen %d questions ago, but %s could be asked: %d", as.N, is, ids[k], at)
				}
			}
		}
		before = slices.Insert(before, 0, now)
		before = before[:min(50, len(before))]
	}
	return n
}

// The answers of one person, and what two see, in sessions with several people.
func TestRepeatsArePersonal(t *testing.T) {
	b := sighted(t, "gridworld", idrl.RateState, func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter, s.Ahead = 1000, 1000, 1 })
	s, stop := b.start(t)
	asked := map[idrl.AnnotatorID][]idrl.QueryID{}
	for n := range 8 {
		for _, who := range []idrl.AnnotatorID{"ann", "bob"} {
			as := claim(t, s, who).Open[0]
			if slices.Contains(asked[who], as.Query.ID) {
				t.Errorf("%s is asked %s again", who, as.Query.ID)
			}
			asked[who] = append(asked[who], as.Query.ID)
			a := variously(as, n)
			a.ID += idrl.AnswerID(who)
			mustAnswer(t, s, who, a)
		}
	}
	stop()
}

// BenchmarkAnswerSeen takes an answer and selects the next question, with 300 clips, 2,000
// questions and 50 that the person remembers; with the rule of questions and without.
func BenchmarkAnswerSeen(b *testing.B) {
	for _, env := range []string{"gridworld", "driver"} {
		for _, rule := range settings.Get("questions").Names() {
			b.Run(env+"/"+rule, func(b *testing.B) {
				w := sighted(b, env, idrl.CompareClips, func(s *idrl.SessionSpec) { s.Questions, s.TrainEvery, s.AdoptAfter, s.Ahead = rule, 1e6, 1e6, 1 })
				tr := must.Get(training.New(envs.Catalogue(), w.journal.rec.Spec))(b)
				tr.Pool = 300
				w.trainer = tr
				s, _ := w.start(b)
				n := 0
				answer := func(s *session.Session) {
					mustAnswer(b, s, "ann", variously(claim(b, s, "ann").Open[0], n))
					n++
				}
				for range 60 {
					answer(s)
				}
				for b.Loop() {
					answer(s)
				}
				b.ReportMetric(float64(len(w.journal.rec.Generation.Queries)), "questions")
				b.ReportMetric(float64(len(w.journal.rec.Generation.Clips)), "clips")
			})
		}
	}
}
