package session_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/session"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
)

// pooledTrainer makes generations like fakeTrainer's, the first of them with a pool.
type pooledTrainer struct {
	fakeTrainer
	pool []idrl.Candidate
}

func (f pooledTrainer) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	g, err := f.fakeTrainer.Train(ctx, job)
	if job.First {
		g.Pool = f.pool
	}
	return g, err
}

// pool returns n policies whose returns differ.
func pool(n int) (out []idrl.Candidate) {
	stream := rng.New(1, "test pool", 0)
	for k := range n {
		mu := []float64{stream.NormFloat64(), stream.NormFloat64(), 3 * stream.NormFloat64()}
		out = append(out, idrl.Candidate{ID: idrl.PolicyID(fmt.Sprintf("pool.p%d", k)), Origin: idrl.FromPrior, Mu: mu})
	}
	return out
}

func status(t testing.TB, s *session.Session) view.Status {
	t.Helper()
	st := must.Get(s.Status(t.Context()))(t)
	return st
}

// The statement after every row against 50,000 draws of the weights, over the
// candidates in use, those before them and the pool.
func TestStatementIsOverAllKnownPolicies(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery, s.AdoptAfter = 4, 4 })
	b.trainer = pooledTrainer{fakeTrainer{d: dim}, pool(9)}
	s, stop := b.start(t)
	for i := range 7 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	st := status(t, s)
	stop()
	rec := b.journal.rec
	first := must.Get(b.trainer.Train(t.Context(), idrl.TrainJob{Posterior: b.model.Prior(), Seed: 7, First: true}))(t)
	all := slices.Concat(first.Candidates, first.Pool)
	for i, snap := range rec.Snapshots {
		p := must.Get(b.model.Decode(b.journal.Beliefs[snap.Seq]))(t)
		value := func(theta []float64) (out []float64) {
			for _, c := range all {
				out = append(out, floats.Dot(theta, c.Mu))
			}
			return out
		}
		leader := floats.MaxIdx(value(p.Mean(nil)))
		draws := rng.New(1, "losses", uint64(i))
		var shares []float64
		within := 0.0
		const n = 50_000
		for range n {
			r := value(p.Sample(nil, draws))
			share := (floats.Max(r) - r[leader]) / (floats.Max(r) - floats.Min(r))
			if share <= 0.05 {
				within += 1.0 / n
			}
			shares = append(shares, share)
		}
		slices.Sort(shares)
		mean, std := stat.MeanStdDev(shares, nil)
		low, high := stat.Quantile(0.92, stat.Empirical, shares, nil), stat.Quantile(0.975, stat.Empirical, shares, nil) // 4 s.e. of 1,000 draws
		got := st.Regret[i+1]
		if got.Seq != snap.Seq || got.Policies != len(all) || math.Abs(got.Mean-mean) > 4*std/math.Sqrt(1000) ||
			!(low <= got.Bound && got.Bound <= high) || math.Abs(got.Within-within) > 4*math.Sqrt(within*(1-within)/1000) {
			t.Errorf("after row %d: %+v, want %d policies, within %v, mean %v, bound from %v to %v", snap.Seq, got, len(all), within, mean, low, high)
		}
		if got != snap.Regret {
			t.Errorf("after row %d the status says %+v and the record %+v", snap.Seq, got, snap.Regret)
		}
	}
}

// averaged returns what averages over the noise of comparisons.
func averaged(m idrl.RewardModel) idrl.Filter {
	average, _ := m.(belief.Model).Averaged(idrl.CompareClips)
	return average
}

// The curve is a function of the log: a kill after every answer changes nothing, nor
// does a withdrawal, nor that nobody looked.
func TestCurveIsAFunctionOfTheLog(t *testing.T) {
	run := func(restart bool) (view.Status, record.Record) {
		b := newBench(nil)
		b.averaged = averaged
		b.method = method(t, "lvar")
		b.trainer = pooledTrainer{fakeTrainer{d: dim}, pool(5)}
		s, stop := b.start(t)
		for i := range 15 {
			o := claim(t, s, "ann")
			mustAnswer(t, s, "ann", reply(o.Open[0], i))
			if i == 9 {
				must.Get(s.Undo(t.Context(), "ann", "undo", "answer-8"))(t)
			}
			if restart {
				stop()
				s, stop = b.start(t)
				status(t, s)
			}
		}
		st := status(t, s)
		stop()
		return st, b.journal.rec
	}
	want, record := run(false)
	got, restarted := run(true)
	if diff := cmp.Diff(want.Regret, got.Regret); diff != "" {
		t.Errorf("the curve after restarts (-without +with):\n%s", diff)
	}
	if diff := cmp.Diff(record.Snapshots, restarted.Snapshots); diff != "" {
		t.Errorf("the record after restarts (-without +with):\n%s", diff)
	}
	if len(want.Regret) != 17 || want.Regret[0].Seq != 0 || want.Regret[16].Seq != 16 {
		t.Errorf("%d points, want those of rows 0 to 16: %+v", len(want.Regret), want.Regret)
	}
	if want.Basis != view.AgainstPool || want.Best != got.Best || want.Best == "" {
		t.Errorf("basis %s and best %s, then %s", want.Basis, want.Best, got.Best)
	}
}

// An answer and its withdrawal leave the statement as it was, and it is drawn from the
// average.
func TestWithdrawalLeavesTheStatement(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery = 1 << 30; s.AdoptAfter = 0 })
	b.averaged = averaged
	s, stop := b.start(t)
	now := func(s *session.Session) idrl.Regret {
		st := status(t, s)
		r := st.Regret[len(st.Regret)-1]
		r.Seq = 0
		return r
	}
	for i := range 40 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 2*i))
		before := now(s)
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 2*i+1))
		after := now(s)
		must.Get(s.Undo(t.Context(), "ann", idrl.AnswerID(fmt.Sprint("undo-", i)), idrl.AnswerID(fmt.Sprint("answer-", 2*i+1))))(t)
		if got := now(s); got != before || after == before {
			t.Fatalf("after %d answers %+v, after one more %+v, and without that %+v", i+1, before, after, got)
		}
	}
	last := now(s)
	stop()
	b.averaged = nil
	s, stop = b.start(t)
	if plain := now(s); plain == last || plain.Policies != last.Policies {
		t.Errorf("%+v with the average and %+v without, want two statements about the same policies", last, plain)
	}
	stop()
}

// Long sessions state their regret after fewer and fewer rows, whoever answers.
func TestStatedRows(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.TrainEvery = 1 << 30; s.AdoptAfter = 0 })
	s, stop := b.start(t)
	for i := range 296 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	st := status(t, s)
	stop()
	var seqs, want []int64
	for _, r := range st.Regret {
		seqs = append(seqs, r.Seq)
	}
	for seq := int64(0); seq <= 296; seq++ {
		if seq < 64 || seq < 128 && seq%2 == 0 || seq < 256 && seq%4 == 0 || seq%8 == 0 {
			want = append(want, seq)
		}
	}
	if diff := cmp.Diff(want, seqs); diff != "" {
		t.Errorf("rows with a statement (-want +got):\n%s", diff)
	}
}

// What an earlier version recorded stays in the record as what it was; the pool that
// was not kept then is not invented.
func TestEarlierDefinitionStaysApart(t *testing.T) {
	b := newBench(nil)
	s, stop := b.start(t)
	for i := range 2 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], i))
	}
	stop()
	old := idrl.Regret{Seq: 1, Definition: 1, Mean: 0.13, Bound: 2.5}
	b.journal.rec.Snapshots[0].Regret = old
	s, _ = b.start(t)
	st := status(t, s)
	if old.Answers = 1; st.Regret[1] != old || st.Regret[2].Definition != idrl.RegretDefinition || st.Basis != view.AgainstEarlier {
		t.Errorf("curve %+v against %s, want row 1 as it was, row 2 of today, and no pool", st.Regret, st.Basis)
	}
}

// Searches among gaits prepare no pool, and yet nothing is missing.
func TestBasisOfSearchesAmongGaits(t *testing.T) {
	b := newBench(nil)
	b.journal.rec.Spec.Solver = idrl.GaitSolver
	s, _ := b.start(t)
	claim(t, s, "ann")
	if st := status(t, s); st.Basis != view.AgainstSearch {
		t.Errorf("basis %s, want the best policies found so far", st.Basis)
	}
}

func TestBasisNamesASearch(t *testing.T) {
	b := newBench(nil)
	drafts := pool(3)
	for i := range drafts {
		drafts[i].Origin = idrl.FromDraft
	}
	b.trainer = pooledTrainer{fakeTrainer{d: dim}, drafts}
	s, _ := b.start(t)
	claim(t, s, "ann")
	if st := status(t, s); st.Basis != view.AgainstSearch || st.Regret[0].Policies != 9 {
		t.Errorf("basis %s over %d policies, want the 9 that a search found", st.Basis, st.Regret[0].Policies)
	}
}

// A policy of the past that the posterior puts above all candidates in use is the
// best so far, with the clip that shows it.
func TestBestPolicyMayBeOfThePast(t *testing.T) {
	b := newBench(nil)
	b.given(t, []idrl.Candidate{{ID: "past1", Mu: []float64{0, 0, 0}, Clip: "c1"}, {ID: "past2", Origin: idrl.FromMean, Mu: []float64{90, 90, 90}, Clip: "c2"}})
	start := must.Get(belief.NewGaussian([]float64{1, 1, 1}, identity(dim)))(t)
	b.model.Start = start
	s, _ := b.start(t)
	st := status(t, s)
	best := st.Candidates[0]
	if st.Best != "past2" || best.ID != "past2" || best.Clip != "c2" || best.Draws != 0 || best.Name != "mean" || len(st.Candidates) != 7 {
		t.Errorf("best %s, shown %+v of %d, want past2 with its clip before the six in use", st.Best, best, len(st.Candidates))
	}
	if now := st.Regret[len(st.Regret)-1]; now.Within < 0.9 || now.Policies != 8 {
		t.Errorf("%+v, want it almost sure that past2 is the best of 8", now)
	}
}

// Candidates that are one policy are listed and counted once, with how many draws agree on it, and
// are the best as often as that policy is.
func TestEqualCandidatesAreListedOnce(t *testing.T) {
	b := newBench(nil)
	b.trainer = agreeing{fakeTrainer{d: dim}}
	s, _ := b.start(t)
	mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 0))
	list, _, err := s.Questions(t.Context(), insight.Wanted{N: 1, Best: true})
	if err != nil || len(list) != 1 || len(list[0].Policies) < 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	held, err := s.Posterior(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	made, err := b.trainer.Train(t.Context(), idrl.TrainJob{Posterior: b.model.Prior(), Seed: 7, First: true})
	if err != nil {
		t.Fatal(err)
	}
	agreed, other := made.Candidates[0], made.Candidates[len(made.Candidates)-1]
	delta := floats.SubTo(make([]float64, dim), agreed.Mu, other.Mu)
	mean, variance := idrl.Moments(held.Posterior, delta, held.Posterior.Mean(nil), make([]float64, dim))
	best := distuv.UnitNormal.CDF(mean / math.Sqrt(variance)) // the policy on which five agree
	for _, p := range list[0].Policies {
		want := best
		if p.ID == other.ID {
			want = 1 - best
		}
		if !p.Known || math.Abs(p.Now-want) > 0.06 {
			t.Errorf("policy %s is the best with probability %v, want %v", p.ID, p.Now, want)
		}
	}
	st := status(t, s)
	if n := st.Regret[len(st.Regret)-1].Policies; n != 2 {
		t.Errorf("%d different policies, want 2", n)
	}
	var draws []int
	for _, c := range st.Candidates {
		draws = append(draws, c.Draws)
	}
	slices.Sort(draws)
	if diff := cmp.Diff([]int{1, 5}, draws); diff != "" {
		t.Errorf("draws behind the candidates listed (-want +got):\n%s", diff)
	}
}

// agreeing solves for one policy five times of six.
type agreeing struct{ fakeTrainer }

func (f agreeing) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	g, err := f.fakeTrainer.Train(ctx, job)
	for k := range len(g.Candidates) - 1 {
		g.Candidates[k].Mu = []float64{1, 2 + 1e-9*float64(k), 3}
	}
	return g, err
}

// The pool stays when the archive is full of policies that differ.
func TestPoolIsNeverForgotten(t *testing.T) {
	b := newBench(nil)
	var past []idrl.Candidate
	for k := range learning.Live().Archive + 50 {
		past = append(past, idrl.Candidate{ID: idrl.PolicyID(fmt.Sprintf("past%d", k)), Mu: []float64{float64(k), 50, 0}})
	}
	b.given(t, past)
	b.journal.rec.Pool = append(pool(4), pool(4)...) // the second four are the first
	var seen []choice
	b.method = spying(&seen, true)
	s, stop := b.start(t)
	claim(t, s, "ann")
	stop()
	ids := seen[0].ids()
	if len(ids) != 6+4+learning.Live().Archive || ids[6] != "pool.p0" || ids[9] != "pool.p3" || ids[10] != "past50" {
		t.Errorf("%d policies, %v after those in use; want the pool of four and the last %d", len(ids), ids[6:11], learning.Live().Archive)
	}
}

// Who left is not asked now: what is listed has a live lease.
func TestOpenQuestionsHaveALiveLease(t *testing.T) {
	b := newBench(nil)
	s, _ := b.start(t)
	claim(t, s, "ann")
	b.clock.advance(time.Hour)
	claim(t, s, "bob")
	for _, as := range status(t, s).Open {
		if as.Annotator != "bob" {
			t.Errorf("question %s is listed as asked now; the lease of %s ended", as.ID, as.Annotator)
		}
	}
	if n := len(status(t, s).Open); n != 3 {
		t.Errorf("%d questions are open, want the 3 of bob", n)
	}
}

// identity returns the identity matrix.
func identity(d int) *mat.SymDense {
	out := mat.NewSymDense(d, nil)
	for i := range d {
		out.SetSym(i, i, 1)
	}
	return out
}
