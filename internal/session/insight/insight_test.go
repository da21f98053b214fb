package insight_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session/insight"
)

// A study is a log of answers to comparisons, and what a session would hand over of it.
type study struct {
	model   belief.Model
	names   []string
	truth   []float64
	queries map[idrl.QueryID]*idrl.QueryVector
	log     []idrl.Answer
	stream  *rand.Rand
}

func newStudy(d int, seed uint64) *study {
	s := &study{
		model:   belief.Model{Start: belief.Isotropic(d, 1), Comparison: belief.Probit{NoiseStd: 0.5, TieBand: tied}},
		queries: map[idrl.QueryID]*idrl.QueryVector{}, stream: rng.New(seed, "study", 0),
	}
	s.truth = s.model.Start.Sample(nil, s.stream)
	for k := range d {
		s.names = append(s.names, fmt.Sprint("weight ", k))
	}
	return s
}

var begin = time.Date(2026, 11, 23, 9, 50, 0, 0, time.UTC)

// tied is the difference up to which the model takes people to say 'equal'.
const tied = 0.2

// ask adds the answer of who, who says 'equal' to differences within band, to a random question.
func (s *study) ask(who idrl.AnnotatorID, band float64) idrl.AnswerID {
	n := len(s.log) + 1
	q := &idrl.QueryVector{Query: idrl.Query{ID: idrl.QueryID(fmt.Sprint("q", n)), Kind: idrl.CompareClips}, X: s.model.Start.Sample(nil, s.stream)}
	a := idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("a", n)), Seq: int64(n), Query: q.ID, Annotator: who, Choice: idrl.Equal, ResponseMS: int64(1000 + 10*n), ReceivedAt: begin.Add(time.Duration(n) * time.Minute)}
	switch u := floats.Dot(q.X, s.truth) + 0.5*s.stream.NormFloat64(); {
	case u > band:
		a.Choice = idrl.ChoseA
	case u < -band:
		a.Choice = idrl.ChoseB
	}
	s.queries[q.ID], s.log = q, append(s.log, a)
	return a.ID
}

// say adds a row that is no reply.
func (s *study) say(a idrl.Answer) {
	a.Seq = int64(len(s.log) + 1)
	a.ID = idrl.AnswerID(fmt.Sprint("a", a.Seq))
	s.log = append(s.log, a)
}

func (s *study) source(t testing.TB) insight.Source {
	t.Helper()
	var items []posterior.Item
	for _, a := range record.Effective(s.log) {
		if a.Informative() {
			items = append(items, posterior.ItemOf(s.queries[a.Query], a))
		}
	}
	h := must.Get(posterior.New(posterior.Config{Model: s.model}).Replace(t.Context(), 0, items))(t)
	return insight.Source{Seq: int64(len(s.log)), Log: s.log, History: h, Model: s.model, Names: s.names, Seed: 3}
}

func (s *study) report(t testing.TB, f *insight.Follower) *insight.Report {
	t.Helper()
	r := must.Get(f.Report(t.Context(), s.source(t)))(t)
	return r
}

// Where people answer as the model says, the predictions are right: each bin's interval holds
// what was predicted in about 95 % of cases, and so does the interval of the error by chance.
// Where people say 'equal' far more often than the model knows of, the error is seen.
func TestCalibration(t *testing.T) {
	const studies, answers = 40, 80
	held, of, beyond, seen := 0, 0, 0, 0
	brier, inside := 0.0, 0
	for seed := range uint64(studies) {
		s, lazy := newStudy(3, seed), newStudy(3, seed)
		for range answers {
			s.ask("ann", tied)
			lazy.ask("ann", 6*tied)
		}
		fit := s.report(t, &insight.Follower{}).Fit
		if fit.N != answers {
			t.Fatalf("%d predictions of %d answers", fit.N, answers)
		}
		for _, b := range fit.Bins {
			if b.N >= 5 {
				of++
				if b.From <= b.Predicted && b.Predicted <= b.To {
					held++
				}
			}
		}
		if fit.ECE > fit.ByChance[1] || fit.ECE < fit.ByChance[0] {
			beyond++
		}
		brier += fit.Brier / studies
		if b := fit.BrierRange; b[0] <= fit.Brier && fit.Brier <= b[1] && b[1]-b[0] < 0.3 {
			inside++
		}
		if fit.Useless() {
			t.Errorf("seed %d: the predictions are called useless: log loss %.2f", seed, fit.LogLoss)
		}
		if lazy.report(t, &insight.Follower{}).Fit.Beyond() {
			seen++
		}
	}
	share := float64(held) / float64(of)
	t.Logf("%d of %d bins hold the prediction; the error of %d of %d studies is beyond chance, with lazy people of %d", held, of, beyond, studies, seen)
	if tol := 3 * math.Sqrt(0.95*0.05/float64(of)); math.Abs(share-0.95) > tol+0.02 { // Wilson's coverage is itself only near 95 %
		t.Errorf("%v of %d intervals hold the prediction, want 0.95 ± %v", share, of, tol+0.02)
	}
	if most := 3 + 3*int(math.Ceil(math.Sqrt(0.05*0.95*studies))); beyond > most {
		t.Errorf("in %d of %d studies the error is not within chance, want at most %d", beyond, studies, most)
	}
	if seen < studies*9/10 {
		t.Errorf("lazy people are seen in %d of %d studies", seen, studies)
	}
	if inside < studies || !(brier > 0.2 && brier < 2.0/3) {
		t.Errorf("Brier score %v; %d of %d are within intervals of a sensible width", brier, inside, studies)
	}
}

// People who prefer either clip at random, with or without 'equal', are seen by predictions that are
// no better than those of one who knows only how often people say 'equal'. Right predictions are not
// called so.
func TestRandomAnswersAreSeen(t *testing.T) {
	const studies, answers = 60, 25
	clips := []idrl.Choice{idrl.ChoseA, idrl.ChoseB}
	for _, test := range []struct {
		name        string
		at          []idrl.Choice // random; nil: by the truth
		least, most int           // studies in which the predictions are useless
	}{
		{"by the truth", nil, 0, 3},
		{"either clip", clips, 54, studies},
		{"either clip or equal", append(clips, idrl.Equal), 54, studies},
	} {
		useless := 0
		for seed := range uint64(studies) {
			s := newStudy(8, seed)
			for range answers {
				s.ask("ann", tied)
				if test.at != nil {
					s.log[len(s.log)-1].Choice = test.at[s.stream.IntN(len(test.at))]
				}
			}
			if s.report(t, &insight.Follower{}).Fit.Useless() {
				useless++
			}
		}
		t.Logf("%s: useless in %d of %d studies", test.name, useless, studies)
		if useless < test.least || useless > test.most {
			t.Errorf("%s: predictions are called useless in %d of %d studies, want %d to %d", test.name, useless, studies, test.least, test.most)
		}
	}
}

// Two answers, by hand.
func TestCalibrate(t *testing.T) {
	got := insight.Calibrate([]insight.Forecast{{Seq: 1, P: []float64{0.75, 0.25, 0}, Actual: 0}, {Seq: 2, P: []float64{0.125, 0.125, 0.75}, Actual: 1}}, insight.EvenSides, 1)
	b := got.Bins[7]
	if b.N != 2 || b.Right != 1 || b.Predicted != 0.75 || b.Share != 0.5 || math.Abs(got.ECE-0.25) > 1e-12 || got.Right != 0.5 {
		t.Errorf("%+v", got)
	}
	if want := (0.125 + (0.125*0.125 + 0.875*0.875 + 0.75*0.75)) / 2; math.Abs(got.Brier-want) > 1e-12 {
		t.Errorf("Brier score %v, want %v", got.Brier, want)
	}
	if want := -(math.Log(0.5) + math.Log(0.125)) / 2; math.Abs(got.BlindLoss-want) > 1e-12 { // half of what is not 'equal'
		t.Errorf("log loss of one who knows nothing %v, want %v", got.BlindLoss, want)
	}
	if !math.IsNaN(got.BrierRange[0]) {
		t.Errorf("an interval of two answers: %v", got.BrierRange)
	}
	if low, high := got.ByChance[0], got.ByChance[1]; low != 0.25 || high != 0.75 { // 0.25 with one hit or two, 0.75 with none
		t.Errorf("by chance %v to %v", low, high)
	}
	// Of 4,000 answers with probability ¾ the number that come true is nearly normal, and the
	// error its distance from 3,000: below 0.0153 with probability 97.5 %, as |z| < 2.24.
	var same []insight.Forecast
	for n := range 4000 {
		same = append(same, insight.Forecast{Seq: int64(n), P: []float64{0.75, 0.25, 0}, Actual: n % 2})
	}
	if got := insight.Calibrate(same, insight.EvenSides, 1); math.Abs(got.ByChance[1]-2.24*math.Sqrt(0.1875/4000)) > 0.003 || !got.Beyond() {
		t.Errorf("of many answers the error is %v, by chance %v", got.ECE, got.ByChance)
	}
	if got := insight.Calibrate(nil, insight.EvenSides, 1); got.N != 0 || got.ECE != 0 || got.Beyond() {
		t.Errorf("of no answers: %+v", got)
	}
}

// withoutSeq leaves out what differs between a log with rows that do not count and one
// without them.
var withoutSeq = cmp.Options{
	cmpopts.IgnoreFields(insight.Report{}, "Seq"), cmpopts.IgnoreFields(insight.Forecast{}, "Seq"), cmpopts.IgnoreFields(insight.RatingForecast{}, "Seq"),
	cmpopts.IgnoreUnexported(insight.Posterior{}),
}

// After answers are withdrawn and a person is left out the report is that of a study that
// never had them, to the last bit, however it is followed.
func TestReportIsOfWhatCounts(t *testing.T) {
	s := newStudy(4, 7)
	f := &insight.Follower{}
	gone := map[idrl.AnswerID]bool{}
	undo := func(id idrl.AnswerID) {
		s.say(idrl.Answer{Annotator: "ann", Undoes: id})
		gone[id] = true
	}
	for n := range 70 {
		who := idrl.AnnotatorID("ann")
		if n%3 == 0 {
			who = "bob"
		}
		id := s.ask(who, tied)
		if who == "bob" {
			gone[id] = n < 60 // until he is left out
		}
		if n%5 == 1 && who == "ann" {
			s.report(t, f)
			undo(id)
		}
		if n%7 == 0 {
			s.report(t, f)
		}
	}
	s.report(t, f)
	s.say(idrl.Answer{Annotator: "bob", Choice: idrl.LeftOut})
	got := s.report(t, f)

	never := *s
	never.log = nil
	for _, a := range s.log {
		if a.Reply() && !gone[a.ID] && a.Annotator == "ann" {
			never.log = append(never.log, a)
		}
	}
	want := never.report(t, &insight.Follower{})
	if diff := cmp.Diff(want, got, withoutSeq); diff != "" {
		t.Errorf("the report differs from that of a study without them (-want +got):\n%s", diff)
	}
	if want.Answers < 20 || len(want.Posterior.Trace) != want.Answers+1 || want.Labour.Replies != want.Answers {
		t.Errorf("%d answers, %d points, %d replies", want.Answers, len(want.Posterior.Trace), want.Labour.Replies)
	}
	s.say(idrl.Answer{Annotator: "bob", Choice: idrl.TakenIn})
	back := s.report(t, f)
	if diff := cmp.Diff(s.report(t, &insight.Follower{}), back, withoutSeq); diff != "" {
		t.Errorf("after he is taken in again (-anew +followed):\n%s", diff)
	}
	if back.Answers <= want.Answers {
		t.Errorf("%d answers after he is taken in, %d without him", back.Answers, want.Answers)
	}
}

// The prediction of an answer does not know it: that of the first is the prior's, and that of
// any answer is the same whatever it says.
func TestForecastsAreOutOfSample(t *testing.T) {
	s := newStudy(3, 11)
	for range 12 {
		s.ask("ann", tied)
	}
	before := s.report(t, &insight.Follower{}).Forecasts
	if p := before[0].P; math.Abs(p[0]-p[1]) > 1e-12 || math.Abs(p[0]+p[1]+p[2]-1) > 1e-12 {
		t.Errorf("before the first answer %v", p)
	}
	s.log[11].Choice = map[idrl.Choice]idrl.Choice{idrl.ChoseA: idrl.ChoseB, idrl.ChoseB: idrl.Equal, idrl.Equal: idrl.ChoseA}[s.log[11].Choice]
	if after := s.report(t, &insight.Follower{}).Forecasts; !floats.Equal(after[11].P, before[11].P) || after[11].Actual == before[11].Actual {
		t.Errorf("with another answer %+v, before %+v", after[11], before[11])
	}
}

// The last point of the trace is the posterior; correlations are those of its covariance.
func TestPosterior(t *testing.T) {
	s := newStudy(3, 5)
	start := must.Get(belief.NewGaussian([]float64{0, 0, 0}, mat.NewSymDense(3, []float64{4, 0, 0, 0, 1, 0.5, 0, 0.5, 1})))(t)
	s.model.Start = start
	r := s.report(t, &insight.Follower{})
	p := r.Posterior
	if len(p.Trace) != 1 || !floats.Equal(p.Trace[0].Std, []float64{1, 1, 1}) {
		t.Errorf("the prior is %+v, want standard deviations of 1", p.Trace)
	}
	if got := p.Correlation([]int{1, 2, 0}); got[0][1] != 0.5 || got[0][2] != 0 || got[1][1] != 1 {
		t.Errorf("correlations %v", got)
	}
	if got := p.Covariance([]int{0}); got[0][0] != 1 {
		t.Errorf("variance %v of the prior in its own unit", got)
	}
	for range 200 {
		s.ask("ann", tied)
	}
	p = s.report(t, &insight.Follower{}).Posterior
	now, last := s.source(t).History.Posterior(), p.Trace[len(p.Trace)-1]
	if mean := now.Mean(nil); last.Answers != 200 || last.Mean[0] != mean[0]/2 || last.Mean[1] != mean[1] || p.Weights[2].Mean != mean[2] {
		t.Errorf("the trace ends with %+v, the mean is %v", last, mean)
	}
	if len(p.Trace) < 100 || len(p.Trace) > 140 {
		t.Errorf("%d points for 200 answers", len(p.Trace))
	}
	for i := range p.Largest[1:] {
		if a, b := p.Weights[p.Largest[i]].Mean, p.Weights[p.Largest[i+1]].Mean; math.Abs(a) < math.Abs(b) {
			t.Errorf("weights by size: %v before %v", a, b)
		}
	}
	for k, w := range p.Weights { // three standard deviations: the truth is within
		scale := []float64{2, 1, 1}[k]
		if math.Abs(w.Mean-s.truth[k]/scale) > 4*w.Std {
			t.Errorf("weight %d is %v ± %v, in truth %v", k, w.Mean, w.Std, s.truth[k]/scale)
		}
	}
}

func TestLabour(t *testing.T) {
	s := newStudy(2, 1)
	if l := s.report(t, &insight.Follower{}).Labour; l.Replies != 0 || l.Hours != nil || l.Times != nil || l.Mix != nil || l.Agree != nil {
		t.Errorf("before the first answer %+v", l)
	}
	for n := range 80 {
		s.ask([]idrl.AnnotatorID{"ann", "bob"}[n%2], tied)
		s.log[n].Choice = []idrl.Choice{idrl.ChoseA, idrl.ChoseA, idrl.ChoseB, idrl.CantTell}[n%4]
	}
	l := s.report(t, &insight.Follower{}).Labour
	hour := func(h, n int) insight.Hour {
		return insight.Hour{Begin: time.Date(2026, 11, 23, h, 0, 0, 0, time.UTC), Replies: n}
	}
	if diff := cmp.Diff([]insight.Hour{hour(9, 9), hour(10, 60), hour(11, 11)}, l.Hours); diff != "" || l.Earlier != 0 {
		t.Errorf("hours (-want +got):\n%s", diff)
	}
	if len(l.Times) != 3 || l.Times[0].N != 80 || l.Times[1].Annotator != "ann" || l.Times[1].N != 40 || l.Times[0].Q[2] != 1405*time.Millisecond {
		t.Errorf("times %+v", l.Times)
	}
	if len(l.Mix) != 3 || l.Mix[0].Choice != idrl.ChoseA || l.Mix[0].N != 40 || l.Mix[1].Of != 0.25 || !(l.Mix[1].From > 0.15 && l.Mix[1].To < 0.37) {
		t.Errorf("mix %+v", l.Mix)
	}
	if l := s.imported(t, 30); l.Times != nil || l.Hours != nil || l.Earlier != 0 || l.Replies != 30 {
		t.Errorf("imported answers, which have no times: %+v", l)
	}
	late := s.log[79]
	late.Seq, late.ID, late.ReceivedAt = 81, "late", begin.Add(100*time.Hour)
	s.log = append(s.log, late)
	if l := s.report(t, &insight.Follower{}).Labour; len(l.Hours) != insight.MostHours || l.Earlier != 80 {
		t.Errorf("%d hours, %d replies before them", len(l.Hours), l.Earlier)
	}
}

// imported is the labour of a study of which the first n answers are imported, and all there is.
func (s *study) imported(t *testing.T, n int) insight.Labour {
	t.Helper()
	of := *s
	of.log = slices.Clone(s.log[:n])
	for i := range of.log {
		of.log[i].Input, of.log[i].ResponseMS = idrl.ImportedInput, 0
	}
	return of.report(t, &insight.Follower{}).Labour
}

// Two policies whose returns differ by N(m, 1): the second is the best with probability Φ(m).
func TestBest(t *testing.T) {
	policies := []idrl.Candidate{{Mu: []float64{0, 1}}, {Mu: []float64{1, 1}}}
	for _, m := range []float64{-1, 0, 0.7} {
		p := must.Get(belief.NewGaussian([]float64{m, 9}, mat.NewSymDense(2, []float64{1, 0, 0, 1})))(t)
		got := insight.Best(p, policies, rng.New(1, "best", 0))
		if want := math.Erfc(-m/math.Sqrt2) / 2; math.Abs(got[1]-want) > 0.05 || math.Abs(got[0]+got[1]-1) > 1e-9 {
			t.Errorf("mean %v: %v, want %v of the second", m, got, want)
		}
	}
	p := belief.Isotropic(2, 1)
	if got := insight.Best(p, []idrl.Candidate{policies[0], policies[0]}, rng.New(1, "best", 0)); math.Abs(got[0]-0.5) > 1e-9 {
		t.Errorf("of equals %v", got)
	}
	if got := insight.Best(p, nil, rng.New(1, "best", 0)); len(got) != 0 {
		t.Errorf("of none %v", got)
	}
}

// The report on one more answer of n.
func BenchmarkReport(b *testing.B) {
	for _, n := range []int{2000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newStudy(11, 1)
			for range n {
				s.ask("ann", tied)
			}
			whole := s.source(b)
			b.Run("first", func(b *testing.B) {
				for b.Loop() {
					must.Get((&insight.Follower{}).Report(b.Context(), whole))(b)
				}
			})
			b.Run("next", func(b *testing.B) {
				f := &insight.Follower{}
				s.report(b, f)
				for b.Loop() {
					b.StopTimer()
					s.ask("ann", tied)
					a := s.log[len(s.log)-1]
					next := must.Get(whole.History.With(b.Context(), posterior.ItemOf(s.queries[a.Query], a)))(b)
					whole.Seq, whole.Log, whole.History = a.Seq, s.log, next
					b.StartTimer()
					must.Get(f.Report(b.Context(), whole))(b)
				}
			})
		})
	}
}
