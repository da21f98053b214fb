package session

import (
	"context"
	"math"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/quality"
	"tiebreak/internal/rng"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// regretSamples is the number of posterior samples behind a Regret.
const regretSamples = 256

// expectedRegret returns what stopping after log row seq would cost under
// belief p: max_j G_j − G_leader over posterior samples, j over the candidates
// of the generation in use. It is zero before the first generation.
func (s *Session) expectedRegret(p idrl.Posterior, seq int64) idrl.Regret {
	r := idrl.Regret{Seq: seq}
	if s.gen == nil {
		return r
	}
	t := &s.choosing.outlook
	t.Reset(s.cfg.Model, p, nil)
	t.SetPolicies(s.gen.Candidates)
	leader, draws := t.Leader(), t.DrawReturns(regretSamples, rng.New(s.spec.Seed, "regret", uint64(seq)))
	loss := make([]float64, regretSamples)
	for k := range loss {
		returns := draws.Data[k*draws.Stride : k*draws.Stride+draws.Cols]
		loss[k] = floats.Max(returns) - returns[leader]
	}
	slices.Sort(loss)
	r.Mean, r.P95 = stat.Mean(loss, nil), stat.Quantile(0.95, stat.Empirical, loss, nil)
	return r
}

// Status returns the state of the session for a researcher.
func (s *Session) Status(ctx context.Context) (idrl.Status, error) {
	return call(ctx, s, func() (idrl.Status, error) {
		st := idrl.Status{
			Session: s.spec.ID, Seq: s.log.seq(), Answers: s.log.effective, Budget: s.spec.Budget,
			BasedOn: -1, Training: s.training.state, Regret: slices.Clone(s.regret),
			Weights: s.weights(), Recent: s.recent(),
			Annotators: quality.Summarise(s.log.rows, s.log.predicted),
		}
		for _, as := range s.asked.open {
			st.Open = append(st.Open, *as)
		}
		if s.gen != nil {
			st.BasedOn, st.Candidates = s.gen.BasedOn, s.candidates()
		}
		return st, nil
	})
}

// candidates returns the predicted returns, each against the average candidate,
// the leader first. What all candidates share, such as a constant feature that no
// comparison can tell, would otherwise drown their differences.
func (s *Session) candidates() (out []idrl.Estimate) {
	d := s.belief.Dim()
	mean, work, x := s.belief.Mean(nil), make([]float64, d), make([]float64, d)
	average := make([]float64, d)
	for _, c := range s.gen.Candidates {
		floats.AddScaled(average, 1/float64(len(s.gen.Candidates)), c.Mu)
	}
	for _, c := range s.gen.Candidates {
		floats.SubTo(x, c.Mu, average)
		m, v := idrl.Moments(s.belief, x, mean, work)
		out = append(out, idrl.Estimate{ID: string(c.ID), Name: string(c.Origin), Mean: m, Std: math.Sqrt(v), Clip: c.Clip})
	}
	slices.SortStableFunc(out, func(a, b idrl.Estimate) int {
		switch {
		case a.Mean > b.Mean:
			return -1
		case a.Mean < b.Mean:
			return 1
		default:
			return 0
		}
	})
	return out
}

func (s *Session) weights() (out []idrl.Estimate) {
	d := s.belief.Dim()
	mean, unit, cov := s.belief.Mean(nil), make([]float64, d), make([]float64, d)
	for k, name := range s.spec.Features {
		clear(unit)
		unit[k] = 1
		s.belief.CovMul(cov, unit)
		out = append(out, idrl.Estimate{ID: name, Name: name, Mean: mean[k], Std: math.Sqrt(max(0, cov[k]))})
	}
	return out
}

// shownRecent is how many answers a Status lists.
const shownRecent = 20

func (s *Session) recent() (out []idrl.Asked) {
	for _, a := range slices.Backward(s.log.rows) {
		if len(out) == shownRecent {
			break
		}
		if a.Undoes != "" {
			continue
		}
		as := s.asked.get(a.Assignment)
		out = append(out, idrl.Asked{Answer: a, Undone: s.log.undone[a.ID], Why: as.Why, Clips: as.Query.Clips})
	}
	return out
}
