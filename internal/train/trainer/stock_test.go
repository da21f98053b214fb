package trainer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/trainer"
)

// stock returns one of pushes of so many strengths, whose pairs are those of neighbours.
func stock(n int) *trainer.Stock {
	s := &trainer.Stock{
		NewEnv: func() idrl.Environment { return pointmass.New(pointmass.Config{Limit: limit}) },
		Remake: solver.FromParams,
		Encode: func(_ idrl.Environment, c idrl.Clip) ([]byte, error) { return fmt.Append(nil, c.ID), nil },
		Pairs: func(clips []idrl.Clip) (out [][2]int, err error) {
			for i := range len(clips) - 1 {
				out = append(out, [2]int{i, i + 1})
			}
			return out, nil
		},
	}
	for k := range n {
		push := 0.04 * ((float64(k)+0.5)/float64(n) - 0.47)
		s.Behaviours = append(s.Behaviours, library.Behaviour{Name: "push", Params: []float64{0, 0, push}})
	}
	return s
}

// onStock returns a trainer on a stock that must solve nothing, and a first job.
func onStock(s *trainer.Stock, seed uint64) (*trainer.Thompson, idrl.TrainJob) {
	tr := pushes(pointmass.Config{Limit: limit})
	tr.First, tr.Stock, tr.Encode = &scripted{}, s, s.Encode
	job := jobFor(tr)
	job.BasedOn, job.First, job.Seed = 0, true, seed
	return tr, job
}

// TestFirstOfAStock: the candidates are all behaviours of the stock, in order; nothing is drawn or
// solved; questions are the pairs of the stock, in order; and all of it is the same for
// whoever asks.
func TestFirstOfAStock(t *testing.T) {
	s := stock(20)
	s.Behaviours[3].Mus = [][]float64{{1, 2, 3}, {3, 2, 1}}
	tr, job := onStock(s, 42)
	g := train(t, tr, job)
	if len(g.Candidates) != 20 || g.Pool != nil {
		t.Fatalf("%d candidates and a pool of %d, want all 20 and none", len(g.Candidates), len(g.Pool))
	}
	for k, c := range g.Candidates {
		if c.Origin != idrl.FromLibrary || !slices.Equal(c.Params, s.Behaviours[k].Params) || c.ID != idrl.PolicyID(fmt.Sprintf("g0.p%d", k)) {
			t.Errorf("candidate %d is %s of %v with %v", k, c.ID, c.Origin, c.Params)
		}
		if shown, ok := g.Clips[c.Clip]; !ok || shown.Media == nil || shown.From != idrl.TrajectoryID(c.ID) {
			t.Errorf("the clip of candidate %d is not there", k)
		}
	}
	if mu := g.Candidates[3].Mu; !slices.Equal(mu, []float64{2, 2, 2}) {
		t.Errorf("features of a behaviour that was measured: %v, want their mean", mu)
	}
	if len(g.Queries) == 0 {
		t.Fatal("no questions")
	}
	for k, q := range g.Queries {
		if k > 0 && q.Clips[0] != g.Queries[k-1].Clips[1] {
			t.Errorf("question %d is about %v after %v, want the order of pairs", k, q.Clips, g.Queries[k-1].Clips)
		}
		for _, id := range q.Clips {
			if g.Clips[id].Media == nil {
				t.Errorf("clip %s of question %d is not drawn", id, k)
			}
		}
	}
	other, job := onStock(s, 7)
	if diff := cmp.Diff(bare(g), bare(train(t, other, job))); diff != "" {
		t.Errorf("another session sees something else:\n%s", diff)
	}
	anew, job := onStock(stock(20), 7)
	anew.Stock.Behaviours[3].Mus = s.Behaviours[3].Mus
	if diff := cmp.Diff(bare(g), bare(train(t, anew, job))); diff != "" {
		t.Errorf("another worker makes something else:\n%s", diff)
	}
}

// Where there are more pairs than questions, the best pairs of every two behaviours stay, in order.
func TestQuestionsOfAStock(t *testing.T) {
	s := stock(12)
	s.Pairs = func(clips []idrl.Clip) (out [][2]int, err error) { // those of the first behaviours first
		for j := range clips {
			for i := range j {
				out = append(out, [2]int{i, j})
			}
		}
		return out, nil
	}
	tr, job := onStock(s, 42)
	all := train(t, tr, job)
	var want []idrl.Query
	compared := map[[2]idrl.TrajectoryID]bool{} // each clip is from one episode of a behaviour
	for _, q := range all.Queries {
		a, b := all.Clips[q.Clips[0]].From, all.Clips[q.Clips[1]].From
		if two := [2]idrl.TrajectoryID{min(a, b), max(a, b)}; !compared[two] {
			compared[two] = true
			want = append(want, q)
		}
	}
	if len(want) < 12*11/2 || len(all.Queries) <= 2*len(want) {
		t.Fatalf("%d questions about %d pairs of behaviours: this test tells nothing apart", len(all.Queries), len(want))
	}
	tr, job = onStock(s, 42)
	tr.MaxQueries = len(want)
	if diff := cmp.Diff(want, train(t, tr, job).Queries); diff != "" {
		t.Errorf("not the best pair of every two behaviours:\n%s", diff)
	}
}

// TestStockIsMadeOnce, however many sessions ask at once.
func TestStockIsMadeOnce(t *testing.T) {
	s := stock(6)
	var lock sync.Mutex
	drawn := 0
	s.Encode = func(idrl.Environment, idrl.Clip) ([]byte, error) {
		lock.Lock()
		defer lock.Unlock()
		drawn++
		return []byte{1}, nil
	}
	var all sync.WaitGroup
	for seed := range uint64(4) {
		tr, job := onStock(s, seed)
		tr.Encode = nil
		all.Go(func() { train(t, tr, job) })
	}
	all.Wait()
	if once := drawn; once == 0 || once > 6*3 {
		t.Errorf("%d clips were drawn, want those of 6 behaviours once", once)
	}
}

// Later trainings have the stock for a pool: its policies are warm starts, its clips are
// asked about.
func TestStockIsThePool(t *testing.T) {
	tr, job := onStock(stock(6), 42)
	g := train(t, tr, job)
	search := &recording{Solver: tr.Solver}
	tr.Solver = search
	after := train(t, tr, next(job, g))
	if len(after.Candidates) != 4 || len(search.calls) != 4 {
		t.Fatalf("%d candidates after %d solves, want 4", len(after.Candidates), len(search.calls))
	}
	known := map[string]bool{}
	for _, b := range tr.Stock.Behaviours {
		known[fmt.Sprint(b.Params)] = true
	}
	for k, c := range search.calls[:1] {
		if len(c.Warm) != 1 || !known[fmt.Sprint(c.Warm[0])] {
			t.Errorf("solve %d starts from %v, want a behaviour", k, c.Warm)
		}
	}
	shared := 0
	for id := range after.Clips {
		if _, ok := g.Clips[id]; ok {
			shared++
		}
	}
	if shared == 0 {
		t.Error("no clip of the stock is asked about later")
	}
}

// Later generations, whose questions are thinned out at random, compare every two policies.
func TestLaterQuestionsOfAStock(t *testing.T) {
	const most = 50
	later := func(limit int) (questions int, two map[string]bool) {
		tr, job := onStock(stock(8), 42)
		g := train(t, tr, job)
		tr, job = onStock(tr.Stock, 42)
		tr.MaxQueries = limit
		after := train(t, tr, next(job, g))
		two = map[string]bool{}
		for _, q := range after.Queries {
			of := func(id idrl.ClipID) string {
				return strings.Join(strings.SplitN(string(after.Clips[id].From), ".", 3)[:2], ".")
			}
			a, b := of(q.Clips[0]), of(q.Clips[1])
			two[min(a, b)+" "+max(a, b)] = true
		}
		return len(after.Queries), two
	}
	n, all := later(10_000)
	few, kept := later(most)
	if few > most || n < 2*most || len(all) < most/2 {
		t.Fatalf("%d of %d questions about %d pairs: this test tells nothing apart", few, n, len(all))
	}
	if len(kept) != len(all) {
		t.Errorf("%d questions compare %d of %d pairs of policies", few, len(kept), len(all))
	}
}

// Sessions of earlier versions began with 16 behaviours. Later generations hand over the raw steps of the others, so that
// clips of these can be exported.
func TestStockOfASessionOfBefore(t *testing.T) {
	const before = 16
	s := stock(20)
	tr, job := onStock(s, 42)
	name := func(tr *idrl.Trajectory, _ uint64) (idrl.StepsID, []byte, error) {
		return idrl.StepsID("steps of " + tr.ID), []byte{1}, nil
	}
	s.Steps, tr.Steps = name, name
	g := train(t, tr, job)
	has := map[idrl.StepsID]bool{}
	for k := range before {
		has[g.Clips[g.Candidates[k].Clip].Raw] = true
	}
	g.Candidates = g.Candidates[:before]
	after := train(t, tr, next(job, g))
	late := 0
	for id, c := range after.Clips {
		if after.Steps[c.Raw] == nil && !has[c.Raw] {
			t.Errorf("clip %s has no raw steps", id)
		}
		if strings.HasPrefix(string(c.From), "pool.") && !has[c.Raw] {
			late++
		}
	}
	if late == 0 {
		t.Error("no clip of another behaviour: this test tells nothing apart")
	}
}

// TestStockWithoutALibrary: what is chosen decides, and its features are scaled to whole
// episodes.
func TestStockChooses(t *testing.T) {
	s := stock(6)
	s.Choose = func(clips [][]idrl.Clip, n int) ([]int, error) {
		if len(clips) != 6 || n != 16 || len(clips[0]) == 0 {
			t.Errorf("chosen among %d, at most %d", len(clips), n)
		}
		return []int{4, 1}, nil
	}
	tr, job := onStock(s, 1)
	g := train(t, tr, job)
	if len(g.Candidates) != 2 || !slices.Equal(g.Candidates[0].Params, s.Behaviours[4].Params) {
		t.Errorf("candidates are not those chosen: %d", len(g.Candidates))
	}
	s = stock(6)
	s.Choose = func([][]idrl.Clip, int) ([]int, error) { return nil, errors.New("blind") }
	tr, job = onStock(s, 1)
	if _, err := tr.Train(t.Context(), job); err == nil || !strings.Contains(err.Error(), "blind") {
		t.Errorf("error %v, want that of Choose", err)
	}
}

// What breaks the simulation down is left out; where fewer than two are left that is an error.
func TestStockBreaksDown(t *testing.T) {
	s := stock(4)
	s.Behaviours[1].Params = right
	tr, job := onStock(s, 1)
	if g := train(t, tr, job); len(g.Candidates) != 3 {
		t.Errorf("%d candidates, want the three under which the simulation holds", len(g.Candidates))
	}
	s = stock(2)
	s.Behaviours[1].Params = right
	tr, job = onStock(s, 1)
	if _, err := tr.Train(t.Context(), job); err == nil || !strings.Contains(err.Error(), "1 of 2 behaviours are left") {
		t.Errorf("error %v, want one that says how many are left", err)
	}
	s = stock(2)
	s.Behaviours[1].Params = []float64{1}
	tr, job = onStock(s, 1)
	if _, err := tr.Train(t.Context(), job); err == nil || !strings.Contains(err.Error(), `behaviour "push"`) {
		t.Errorf("error %v, want one that names the behaviour", err)
	}
}
