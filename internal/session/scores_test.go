package session_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/session/view"
)

// A wideTrainer makes one generation with many clips, any two of which may be compared.
type wideTrainer struct{ clips int }

func (w wideTrainer) Train(_ context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	r := rng.New(job.Seed, "wide", 0)
	g := idrl.Generation{BasedOn: job.BasedOn, Clips: map[idrl.ClipID]idrl.Clip{}}
	var clips []idrl.Clip
	for k := range w.clips {
		phi := make([]float64, dim)
		for i := range phi {
			phi[i] = 3 * r.NormFloat64()
		}
		c := idrl.Clip{ID: idrl.ClipID(fmt.Sprintf("clip-%02d", k)), Steps: 5, Phi: phi}
		clips, g.Clips[c.ID] = append(clips, c), c
		for _, o := range clips[:k] {
			g.Queries = append(g.Queries, idrl.NewComparison(o, c))
		}
		if k < 6 {
			g.Candidates = append(g.Candidates, idrl.Candidate{ID: idrl.PolicyID(fmt.Sprint("p", k)), Origin: idrl.FromSample, Params: phi, Theta: phi, Mu: phi, Clip: c.ID})
		}
	}
	return g, nil
}

// scoresOf asks for the scores.
func scoresOf(t *testing.T, s *session.Session) view.ConditionScores {
	t.Helper()
	out := must.Get(s.Conditions(t.Context()))(t)
	return out
}

// A rehearsed session has a known true reward.
type rehearsed struct {
	*bench
	rec    record.Record
	theta  []float64
	scores view.ConditionScores
}

// truth draws true weights from the prior of b.
func (b *bench) truth(seed uint64) []float64 {
	return b.model.Prior().Sample(nil, rng.New(seed, "truth", 0))
}

// rehearse has a simulated expert with a true reward drawn from the prior give n answers.
func rehearse(t *testing.T, seed uint64, n int, change func(*idrl.SessionSpec)) rehearsed {
	t.Helper()
	b := newBench(func(s *idrl.SessionSpec) {
		s.Seed, s.Acquisition, s.TrainEvery, s.AdoptAfter = seed, "idrl", 1e6, 0
		s.Controls, s.HeldOut = idrl.Controls{{Strategy: "uniform", Share: 0.3}, {Strategy: "igr", Share: 0.3}}, 0.35
		if change != nil {
			change(s)
		}
	})
	b.trainer = wideTrainer{40}
	spec := b.journal.rec.Spec
	r := rehearsed{bench: b, theta: b.truth(seed)}
	expert := must.Get(sim.NewMatched(spec, r.theta))(t)
	s, stop := b.start(t)
	r.answer(t, s, expert, n)
	r.scores, r.rec = scoresOf(t, s), b.record(t, s)
	stop()
	return r
}

// answer has the expert give n answers.
func (r rehearsed) answer(t *testing.T, s *session.Session, expert sim.Expert, n int) {
	t.Helper()
	clips := map[idrl.ClipID]idrl.Clip{}
	for i := range n {
		as := claim(t, s, "ann").Open[0]
		if len(clips) == 0 {
			clips = r.record(t, s).Generation.Clips
		}
		q := idrl.ComparisonVector(clips[as.Query.Clips[0]], clips[as.Query.Clips[1]])
		a := expert.Answer(q, rng.New(r.journal.rec.Spec.Seed, "expert", uint64(i)))
		a.ID, a.Assignment, a.Left, a.Input = idrl.AnswerID(fmt.Sprint("answer-", i)), as.ID, as.Left, "api"
		mustAnswer(t, s, "ann", a)
	}
}

// posteriorOf returns the posterior of the first n answers of a condition, or of all that are not
// held out if that is empty, from the record alone.
func (r rehearsed) posteriorOf(t *testing.T, c record.Condition, n int) idrl.Posterior {
	t.Helper()
	queries, of := journaltest.Vectors(t, r.rec), map[idrl.AssignmentID]record.Condition{}
	for _, as := range r.rec.Assignments {
		of[as.ID] = as.Condition
	}
	var items []posterior.Item
	for _, a := range record.Effective(r.rec.Log) {
		if q := queries[a.Assignment]; a.Informative() && len(items) < n && (of[a.Assignment] == c || c == "" && of[a.Assignment] != record.HeldOut) {
			items = append(items, posterior.ItemOf(&q, a))
		}
	}
	if len(items) != n {
		t.Fatalf("%d answers of condition %s, want %d", len(items), c, n)
	}
	p := must.Get(posterior.Of(t.Context(), r.model, items))(t)
	return p
}

// A point of a curve is what its definition says, computed afresh from the record.
func TestScorePoint(t *testing.T) {
	r := rehearse(t, 5, 110, nil)
	queries := journaltest.Vectors(t, r.rec)
	checked := 0
	for _, c := range r.scores.Conditions {
		for k, got := range c.Points {
			if k > 0 && got.Answers <= c.Points[k-1].Answers {
				t.Errorf("condition %s: points after %d and then %d answers", c.Name, c.Points[k-1].Answers, got.Answers)
			}
			p := r.posteriorOf(t, c.Name, got.Answers)
			mean, work := p.Mean(nil), make([]float64, dim)
			want := view.ScorePoint{Answers: got.Answers}
			for _, as := range r.rec.Assignments {
				if as.Condition != record.HeldOut || as.Answer == "" {
					continue
				}
				var a idrl.Answer
				for _, row := range r.rec.Log {
					if row.ID == as.Answer {
						a = row
					}
				}
				x := queries[as.ID].X
				m, v := idrl.Moments(p, x, mean, work)
				logZ, _, _ := r.model.Comparison.LogZ(a, m, v)
				want.Answered++
				want.LogLoss -= logZ
				if a.Choice == idrl.Equal {
					continue
				}
				if want.Decisive++; (m > 0) == (a.Choice == idrl.ChoseA) {
					want.Right++
				}
			}
			want.LogLoss /= float64(want.Answered)
			if got.Decisive != want.Decisive || got.Right != want.Right || got.Answered != want.Answered || math.Abs(got.LogLoss-want.LogLoss) > 1e-9 {
				t.Errorf("condition %s: %+v, want %+v", c.Name, got, want)
			}
			if !(got.Low < got.Accuracy() && got.Accuracy() < got.High) {
				t.Errorf("condition %s: accuracy %v outside of its interval %v to %v", c.Name, got.Accuracy(), got.Low, got.High)
			}
			checked++
		}
	}
	if e := r.scores.Equal; checked < 9 || e < 10 || len(r.scores.Leads) != 2 {
		t.Errorf("%d points, equal at %d, %d leads", checked, e, len(r.scores.Leads))
	}
	for i, lead := range r.scores.Leads {
		own, _ := r.scores.Conditions[0].At(r.scores.Equal)
		other, _ := r.scores.Conditions[i+1].At(r.scores.Equal)
		if d := other.Accuracy() - own.Accuracy(); math.Abs(lead.Mean-d) > 1e-12 || !(lead.Low < d && d < lead.High) {
			t.Errorf("lead %+v, want the difference %v in its interval", lead, d)
		}
	}
}

// Scores are a function of the log: as they are kept from answer to answer, through
// withdrawals and decisions about people, they are those of a session that starts afresh.
func TestScoresAreAFunctionOfTheLog(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { several(s); s.HeldOut, s.RepeatEvery = 0.4, 10 })
	b.own(t)
	s, stop := b.start(t)
	if got := scoresOf(t, s); len(got.Conditions) != 3 || got.Replies != 0 || got.Equal != 0 || got.All.Points != nil {
		t.Errorf("before the first answer: %+v", got)
	}
	same := func(when string) view.ConditionScores {
		t.Helper()
		kept := scoresOf(t, s)
		stop()
		s, stop = b.start(t)
		if d := cmp.Diff(kept, scoresOf(t, s)); d != "" {
			t.Fatalf("%s, kept (-) and afresh (+):\n%s", when, d)
		}
		return kept
	}
	for i := range 90 {
		who := []idrl.AnnotatorID{"ann", "bob"}[i%2]
		a := reply(claim(t, s, who).Open[0], i)
		if i%11 == 5 {
			a.Choice = []idrl.Choice{idrl.Equal, idrl.CantTell}[i%2]
		}
		mustAnswer(t, s, who, a)
		if i%3 == 0 {
			scoresOf(t, s)
		}
		if i%7 == 6 {
			must.Get(s.Undo(t.Context(), who, idrl.AnswerID(fmt.Sprint("undo-", i)), a.ID))(t)
			scoresOf(t, s)
		}
		if i%30 == 29 {
			same(fmt.Sprintf("after %d answers", i+1))
		}
	}
	before := same("at the end")
	b.want(0, record.Settings{Turned: map[idrl.AnnotatorID]int64{"bob": status(t, s).Seq}})
	follow(t, s)
	if turned := same("with bob turned"); turned.Replies != before.Replies || cmp.Equal(turned, before) {
		t.Errorf("turning changes how many held-out replies there are from %d to %d, or no score", before.Replies, turned.Replies)
	}
	b.want(0, record.Settings{LeftOut: []idrl.AnnotatorID{"bob"}})
	follow(t, s)
	out := same("without bob")
	if out.Replies >= before.Replies || out.All.Answers >= before.All.Answers {
		t.Errorf("without bob %d held-out replies and %d answers, before %d and %d", out.Replies, out.All.Answers, before.Replies, before.All.Answers)
	}
	b.want(0, record.Settings{})
	follow(t, s)
	if d := cmp.Diff(before, same("with bob again")); d != "" {
		t.Errorf("with bob again:\n%s", d)
	}
}
