package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/session"

	"github.com/google/go-cmp/cmp"
)

// method returns the acquisition method of a name.
func method(t testing.TB, name string) acquisition.Method {
	t.Helper()
	m := must.Get(acquisition.Find(name))(t)
	return m
}

// A choice is what an acquisition function was given.
type choice struct {
	policies   []idrl.Candidate
	candidates int
}

// ids returns the names of the policies.
func (c choice) ids() (out []idrl.PolicyID) {
	for _, p := range c.policies {
		out = append(out, p.ID)
	}
	return out
}

// spy is LVAR that notes what it is given. It is owned by the session's
// goroutine until that has stopped.
type spy struct{ seen *[]choice }

func (f spy) Score(dst []float64, in *acquisition.Input) (acquisition.Pair, error) {
	*f.seen = append(*f.seen, choice{slices.Clone(in.Table.Policies()), in.Candidates})
	return acquisition.LVAR{}.Score(dst, in)
}

func spying(seen *[]choice, archive bool) acquisition.Method {
	return acquisition.Method{
		Name: "spy", Title: "Spy", Needs: acquisition.Needs{Candidates: acquisition.SamplesAndMean, Archive: archive},
		New: func(bool) acquisition.Function { return spy{seen} },
	}
}

// chosenBy runs a session for n answers and returns what its questions were
// chosen by, in order.
func chosenBy(t *testing.T, b *bench, n int, archive bool) (seen []choice) {
	t.Helper()
	b.method = spying(&seen, archive)
	questions(t, b, n, false)
	return seen
}

// names returns the ids of candidates first to last of a generation of six.
func names(basedOn, first, last int) (out []idrl.PolicyID) {
	for k := first; k <= last; k++ {
		out = append(out, idrl.PolicyID(fmt.Sprintf("g%d.p%d", basedOn, k)))
	}
	return out
}

// Generations 0, 4, 8 and 12 are adopted two answers after the belief that they
// are trained from. The candidates in use come first, then those before them.
func TestArchive(t *testing.T) {
	for _, test := range []struct {
		name    string
		archive bool
		want    []idrl.PolicyID // after 15 answers
	}{
		{"with", true, slices.Concat(names(12, 0, 5), names(0, 0, 5), names(4, 0, 5), names(8, 0, 5))},
		{"without", false, names(12, 0, 5)},
	} {
		t.Run(test.name, func(t *testing.T) {
			seen := chosenBy(t, newBench(nil), 15, test.archive)
			last := seen[len(seen)-1]
			if diff := cmp.Diff(test.want, last.ids()); diff != "" {
				t.Errorf("the last question is chosen by (-want +got):\n%s", diff)
			}
			for i, c := range seen {
				if c.candidates != 6 {
					t.Errorf("question %d: %d candidates in use, want 6", i, c.candidates)
				}
			}
		})
	}
}

// sameTrainer solves for the same policies in every generation, but for the last.
type sameTrainer struct{ fakeTrainer }

func (f sameTrainer) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	g, err := f.fakeTrainer.Train(ctx, job)
	for k := range len(g.Candidates) - 1 {
		g.Candidates[k].Mu = []float64{float64(k), 0, -1}
	}
	return g, err
}

func TestArchiveHoldsAPolicyOnce(t *testing.T) {
	b := newBench(nil)
	b.trainer = sameTrainer{fakeTrainer{d: dim}}
	seen := chosenBy(t, b, 15, true)
	want := slices.Concat(names(12, 0, 5), names(0, 5, 5), names(4, 5, 5), names(8, 5, 5))
	if diff := cmp.Diff(want, seen[len(seen)-1].ids()); diff != "" {
		t.Errorf("the last question is chosen by (-want +got):\n%s", diff)
	}
}

// given sets a generation in use and policies of the past as if the session had
// begun long ago.
func (b *bench) given(t *testing.T, archive []idrl.Candidate) *idrl.Generation {
	t.Helper()
	g := must.Get(b.trainer.Train(t.Context(), idrl.TrainJob{Posterior: b.model.Prior(), Seed: 7, First: true}))(t)
	b.journal.rec.Generation, b.journal.rec.Archive = &g, [][]idrl.Candidate{archive}
	return &g
}

func TestArchiveForgetsTheOldest(t *testing.T) {
	b := newBench(nil)
	var past []idrl.Candidate
	for k := range learning.Live().Archive - 2 {
		past = append(past, idrl.Candidate{ID: idrl.PolicyID(fmt.Sprintf("past%d", k)), Mu: []float64{float64(k), 50, 0}})
	}
	b.given(t, past)
	seen := chosenBy(t, b, 8, true)
	if got := len(seen[0].policies); got != 6+learning.Live().Archive-2 {
		t.Errorf("the first question is chosen by %d policies, want the 6 in use and %d", got, learning.Live().Archive-2)
	}
	last := seen[len(seen)-1].ids() // generation 4 is in use
	if s, _ := b.start(t); status(t, s).Dropped != 4 {
		t.Errorf("the status says that %d policies are left out, want 4", status(t, s).Dropped)
	}
	if got := len(last); got != 6+learning.Live().Archive {
		t.Errorf("the last question is chosen by %d policies, want the 6 in use and %d", got, learning.Live().Archive)
	}
	if last[6] != "past4" || !slices.Equal(last[len(last)-6:], names(0, 0, 5)) {
		t.Errorf("the archive begins with %s and ends with %v, want past4 and %v", last[6], last[len(last)-6:], names(0, 0, 5))
	}
}

// A policy of the past that may be far better than any candidate in use is the
// challenger that the question is about, and the reason names it.
func TestWhyNamesArchivedPolicies(t *testing.T) {
	b := newBench(nil)
	b.method = method(t, "tt")
	g := b.given(t, []idrl.Candidate{{ID: "past1", Mu: []float64{0.1, 0, 0}}, {ID: "past2", Mu: []float64{90, 90, 90}}})
	s, _ := b.start(t)
	why := claim(t, s, "ann").Open[0].Why
	if why.First != g.Candidates[0].ID || why.Second != "past2" || !(why.PairStd > 50) || !(why.Info > 0) {
		t.Errorf("reason %+v, want %s against past2, very uncertain", why, g.Candidates[0].ID)
	}

	b = newBench(nil)
	b.method = method(t, "vids")
	s, _ = b.start(t)
	if why := claim(t, s, "ann").Open[0].Why; why.First != "" || why.Second != "" || why.Info != 0 {
		t.Errorf("reason of V-IDS %+v, which is about no pair", why)
	}
}

// fails is a Function that fails once it has chosen n questions.
type fails struct{ n *int }

func (f fails) Score([]float64, *acquisition.Input) (acquisition.Pair, error) {
	if *f.n--; *f.n < 0 {
		return acquisition.Pair{}, idrl.Errorf(idrl.Invalid, "it is out of ideas")
	}
	return acquisition.Pair{First: -1, Second: -1}, nil
}

// An acquisition function that fails is named in the error of a claim. It costs
// no answer.
func TestChoiceFails(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Ahead = 1 })
	left := 1
	b.method = acquisition.Method{Title: "Muse", New: func(bool) acquisition.Function { return fails{&left} }}
	s, _ := b.start(t)
	mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], 1))
	_, err := s.Claim(t.Context(), "ann")
	if want := "choose question 2 by Muse: it is out of ideas"; err == nil || err.Error() != want || idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("error %v of kind %d, want %q of kind %d", err, idrl.KindOf(err), want, idrl.Invalid)
	}
	if n := len(b.record(t, s).Log); n != 1 {
		t.Errorf("%d answers are recorded, want the 1 that was given", n)
	}
}

func TestNewRefusesWhatDoesNotFit(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { s.Kind = idrl.RateClip })
	_, err := session.New(session.Config{Record: b.journal.rec, Model: b.model, Acquisition: method(t, "evr")})
	if idrl.KindOf(err) != idrl.Invalid || err == nil || !strings.Contains(err.Error(), "ask for comparisons") {
		t.Errorf("error %v, want one of kind Invalid that says what to ask for", err)
	}
}
