package session

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
)

// reports makes the reports on the session for researchers and annotators. The exported methods may be
// called from any goroutine.
type reports struct {
	*inbox
	*training
	insight insight.Follower // of what Insight hands over
	gallery gallery
	scores  scores

	examples examples
}

// Status returns the state of the session for a researcher.
func (s *reports) Status(ctx context.Context) (view.Status, error) {
	t, err := call(ctx, s.inbox, func() (statusInput, error) { return s.statusInput(), nil })
	if err != nil {
		return t.st, err
	}
	return t.status(), nil
}

// titles returns Status.Titles.
func (s *reports) titles(st view.Status) map[idrl.PolicyID]string {
	if s.cfg.Title == nil {
		return nil
	}
	about := map[idrl.PolicyID]bool{}
	for _, as := range st.Open {
		about[as.Why.First], about[as.Why.Second] = true, true
	}
	for _, r := range st.Recent {
		about[r.Why.First], about[r.Why.Second] = true, true
	}
	out := map[idrl.PolicyID]string{}
	for id := range about {
		if c, ok := s.learner.Policies().Find(id); ok && s.title(c) != "" {
			out[id] = s.title(c)
		}
	}
	return out
}

// statusInput is a Status without the numbers that the caller's goroutine computes from the log, with the rows for that, which do
// not change.
type statusInput struct {
	st        view.Status
	log       []idrl.Answer
	predicted []quality.Hit
}

func (t statusInput) status() view.Status {
	t.st.Annotators = quality.Summarise(t.log, t.predicted)
	return t.st
}

func (s *reports) statusInput() statusInput {
	st := view.Status{
		Session: s.spec.ID, State: s.settings.state, Seq: s.log.seq(), Answers: s.log.all.answers, Skipped: s.log.all.skipped, Budget: s.spec.Budget, Decided: s.contestOver(),
		Recordings: s.cfg.Recordings, BasedOn: -1, Training: s.trainingNow(), Learning: s.learning(),
		Weights: s.weights(), Network: s.network(), Recent: s.recent(),
	}
	for as := range s.asked.live(s.cfg.Now()) {
		st.Open = append(st.Open, *as)
	}
	st.Titles = s.titles(st)
	if s.gen != nil {
		lead := s.lead()
		best := lead.Leader
		st.Led, st.BasedOn, st.Best, st.Basis, st.Regret = lead.Led, s.gen.BasedOn, best.ID, s.basis(), s.curve()
		st.Stopping = s.explained()
		if s.cfg.Steps != nil {
			st.Return = s.spec.Return
		}
		st.Dropped = s.learner.Policies().Dropped()
		st.Candidates = s.standings(best, st.Regret)
	}
	if s.cfg.Unseen {
		withoutClips(&st)
	}
	return statusInput{st, slices.Clip(s.log.rows), slices.Clip(s.log.predicted)}
}

// withoutClips takes away the clips of a session of which there is nothing to see.
func withoutClips(st *view.Status) {
	for i := range st.Recent {
		st.Recent[i].Clips = nil
	}
	for i := range st.Candidates {
		st.Candidates[i].Clip = ""
	}
}

// standings returns the predicted returns of the recommended policy and of the distinct candidates in use, the recommended
// one first, then by mean. Each is the difference from the average candidate: what all share, such as a constant feature that no
// comparison distinguishes, is left out. It is a share of the span of the last statement of regret.
// Like that statement it averages over the noise of answers; means may be in another order than under the posterior by which policies
// are ranked. Without such a statement the means are in the unit of the reward and have no interval, because the
// posterior is then too narrow for one.
func (s *reports) standings(best idrl.Candidate, regret []idrl.Regret) (out []view.Estimate) {
	p := s.learner.Posterior()
	if len(regret) > 0 {
		p = s.history.Averaged()
	}
	average := make([]float64, p.Dim())
	for _, c := range s.gen.Candidates {
		floats.AddScaled(average, 1/float64(len(s.gen.Candidates)), s.features.mu(c))
	}
	shown := []idrl.Candidate{best}
	draws := []int{0}
	for _, c := range s.gen.Candidates {
		i := slices.IndexFunc(shown, func(o idrl.Candidate) bool { return s.learner.Policies().Same(o, c) })
		if i < 0 {
			i, shown, draws = len(shown), append(shown, c), append(draws, 0)
		}
		draws[i]++
	}
	for i, c := range shown {
		e := s.estimate(p, c, average)
		if e.Draws = draws[i]; len(regret) > 0 {
			e = shareOf(e, regret[len(regret)-1].Span)
		} else {
			e.Std = 0
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out[1:], func(a, b view.Estimate) int { return cmp.Compare(b.Mean, a.Mean) })
	return out
}

// estimate returns the return of c against the feature expectation average, as p predicts it.
func (s *reports) estimate(p idrl.Posterior, c idrl.Candidate, average []float64) view.Estimate {
	delta := floats.SubTo(make([]float64, p.Dim()), s.features.mu(c), average)
	m, v := idrl.Moments(p, delta, p.Mean(nil), make([]float64, p.Dim()))
	e := view.Estimate{ID: string(c.ID), Name: string(c.Origin), Title: s.title(c), Clip: c.Clip, Mean: m, Std: math.Sqrt(v)}
	if s.features.version() == 0 { // episodes are known by the environment's features
		e.Episodes, e.Spread = len(c.Mus), s.learner.Spread(c)
	}
	return e
}

// shareOf returns e as a share of span; 0 where all policies are equal, and that is 0.
func shareOf(e view.Estimate, span float64) view.Estimate {
	if !(span > 0) {
		e.Mean, e.Std, e.Spread = 0, 0, 0
		return e
	}
	e.Mean /= span
	e.Std /= span
	e.Spread /= span
	return e
}

// weights returns the weights of the environment's features, each in standard deviations of its
// prior, which has the typical size of a feature (idrl.EnvSpec.PriorScale), so that
// features of different units can be compared. Like the statement of regret it averages over the noise of answers. It returns nil under learnt features, which
// have no names, and in an arena.
func (s *reports) weights() (out []view.Estimate) {
	if s.features.version() > 0 || s.spec.IsArena() {
		return nil
	}
	p := s.history.Averaged()
	d := p.Dim()
	mean, unit, cov := p.Mean(nil), make([]float64, d), make([]float64, d)
	prior := s.cfg.Model.Prior()
	for k, name := range s.spec.Features {
		clear(unit)
		unit[k] = 1
		prior.CovMul(cov, unit)
		scale := math.Sqrt(cov[k])
		p.CovMul(cov, unit)
		out = append(out, view.Estimate{ID: name, Name: name, Mean: mean[k] / scale, Std: math.Sqrt(max(0, cov[k])) / scale})
	}
	return out
}

// shownRecent is how many answers a Status lists.
const shownRecent = 20

func (s *ledger) recent() (out []view.Asked) {
	for _, a := range slices.Backward(s.log.rows) {
		if len(out) == shownRecent {
			break
		}
		if !a.Reply() {
			continue
		}
		as := s.asked.get(a.Assignment)
		how := s.log.how[a.Annotator]
		out = append(out, view.Asked{
			Answer: a, Undone: s.log.undone[a.ID], LeftOut: how.Out, Turned: how.Turns(a.Seq), Why: as.Why, Clips: as.Query.Clips,
		})
	}
	return out
}

// Given returns the answers of the annotator that they can still withdraw, the last one first.
func (s *reports) Given(ctx context.Context, who idrl.AnnotatorID) ([]view.Given, error) {
	return call(ctx, s.inbox, func() (out []view.Given, err error) {
		for _, id := range s.log.lastOf(who) {
			a := s.log.find(id)
			out = append(out, view.Given{
				ID: id, Clips: s.asked.get(a.Assignment).Query.Clips, Choice: a.Choice, Rating: a.Rating, WrongMS: a.WrongMS, Much: a.Much, Remark: a.Remark, Left: a.Left, Best: a.Best, Worst: a.Worst,
			})
		}
		return out, nil
	})
}

// Have returns those of ids that are durable answers of the annotator.
func (s *reports) Have(ctx context.Context, who idrl.AnnotatorID, ids []idrl.AnswerID) ([]idrl.AnswerID, error) {
	return call(ctx, s.inbox, func() (have []idrl.AnswerID, err error) {
		for _, id := range ids {
			if a := s.log.find(id); a != nil && a.Annotator == who {
				have = append(have, id)
			}
		}
		return have, nil
	})
}

// Posterior returns the posterior as it is now.
func (s *reports) Posterior(ctx context.Context) (view.Held, error) {
	return call(ctx, s.inbox, func() (view.Held, error) {
		return view.Held{Seq: s.log.seq(), Representation: s.features.version(), Posterior: s.learner.Posterior()}, nil
	})
}
