package training

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/envs"
	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"
)

// A counting solver counts the solves and has the worker die in those that die names.
type counting struct {
	idrl.Solver
	solves *int
	die    func(solve int) bool
}

func (c counting) Solve(ctx context.Context, task idrl.SolveTask, stream *rand.Rand) (idrl.Policy, error) {
	*c.solves++
	if c.die != nil && c.die(*c.solves) {
		panic(jobstest.ErrDied)
	}
	return c.Solver.Solve(ctx, task, stream)
}

// A bench trains a session by search, through a dispatcher in memory whose records and
// log can be read.
type bench struct {
	spec    idrl.SessionSpec
	store   *jobstest.Store
	handler *Handler
	remote  *Remote
	log     bytes.Buffer
	solves  int
	die     func(solve int) bool
}

// threeWeights is the model of the environment below.
var threeWeights = belief.Model{Start: belief.Isotropic(3, 1)}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{spec: settings.Complete(idrl.SessionSpec{ID: "s1", Kind: idrl.CompareClips, Seed: 5}), store: &jobstest.Store{}}
	b.restart(t)
	return b
}

// restart starts server and worker again.
func (b *bench) restart(t *testing.T) {
	t.Helper()
	tr := must.Get(newTrainer(b.spec, func() idrl.Environment { return pointmass.New(pointmass.Config{}) }))(t)
	tr.Solver = counting{tr.Solver, &b.solves, func(n int) bool { return b.die != nil && b.die(n) }}
	log := slog.New(slog.NewTextHandler(&b.log, nil))
	b.handler = &Handler{Envs: envs.Catalogue, Log: log, trainers: []sessionTrainer{{b.spec.ID, threeWeights, nil, tr}}}
	b.remote = &Remote{Jobs: jobstest.Memory{Store: b.store, Handler: b.handler}, Records: records{b.store, nil}, Spec: b.spec, Model: threeWeights, Log: log}
}

// later is the job after the first generation g.
func later(g idrl.Generation, basedOn int64) idrl.TrainJob {
	job := idrl.TrainJob{BasedOn: basedOn, Posterior: belief.Isotropic(3, 1)}
	for _, c := range g.Candidates {
		job.Warm = append(job.Warm, c.Params)
	}
	return job
}

func (b *bench) train(t *testing.T, job idrl.TrainJob) idrl.Generation {
	t.Helper()
	g, err := b.remote.Train(t.Context(), job)
	if err != nil {
		t.Fatalf("train from %d: %v\n%s", job.BasedOn, err, b.log.String())
	}
	return g
}

func (b *bench) first(t *testing.T) idrl.Generation {
	t.Helper()
	return b.train(t, idrl.TrainJob{Posterior: belief.Isotropic(3, 1), First: true})
}

// TestTrainingBySearch: a worker makes generations of an environment that must be
// searched, the same ones again, with clips that a page can show. People wait for the
// first one only.
func TestTrainingBySearch(t *testing.T) {
	play := func() []idrl.Generation {
		b := newBench(t)
		first := b.first(t)
		if b.solves > 0 || len(first.Pool) == 0 {
			t.Errorf("the first generation: %d searches, a pool of %d", b.solves, len(first.Pool))
		}
		second := b.train(t, later(first, 3))
		if b.solves != 6 || len(second.Pool) > 0 {
			t.Errorf("the second generation: %d searches, a pool of %d", b.solves, len(second.Pool))
		}
		return []idrl.Generation{first, second}
	}
	generations := play()
	for _, g := range generations {
		if len(g.Candidates) != 6 || len(g.Queries) < 500 {
			t.Errorf("%d candidates and %d questions, want 6 and many", len(g.Candidates), len(g.Queries))
		}
		for id, c := range g.Clips {
			if _, err := clip.Decode(c.Media); err != nil {
				t.Errorf("clip %s: %v", id, err)
			}
		}
	}
	if diff := cmp.Diff(generations, play()); diff != "" {
		t.Errorf("the same session again:\n%s", diff)
	}
}

// encoded returns the bytes of a generation.
func encoded(t *testing.T, g idrl.Generation) []byte {
	t.Helper()
	b := must.Get(pack.Encode(&g))(t)
	return b
}

// A training whose worker dies goes on with the candidates that are finished, and gives
// the same bytes.
func TestKilledTrainingGoesOn(t *testing.T) {
	calm := newBench(t)
	first := calm.first(t)
	want := encoded(t, calm.train(t, later(first, 3)))

	b := newBench(t)
	b.die = func(n int) bool { return n == 3 || n == 6 }
	got := b.train(t, later(b.first(t), 3))
	if !bytes.Equal(encoded(t, got), want) {
		t.Error("the deaths changed the generation")
	}
	if b.solves != 8 {
		t.Errorf("%d searches for 6 candidates and 2 that were cut short, want 8", b.solves)
	}
}

// The clips of the pool's policies arrive while the others are prepared, each once, and
// the generation refers to them.
func TestClipsArriveOnTheWay(t *testing.T) {
	b := newBench(t)
	job := must.Get(b.remote.job(t.Context(), idrl.TrainJob{Posterior: belief.Isotropic(3, 1), First: true}))(t)
	var names []string
	prepared := map[int]int{} // artefacts before policy k of the pool is prepared
	for e, err := range b.remote.Jobs.Start(t.Context(), job) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case jobs.Progress:
			prepared[e.Done] = len(names)
		case jobs.Artefact:
			names = append(names, e.Name)
		}
	}
	for k := 1; k <= 8; k++ {
		if prepared[k] < prepared[k-1]+4 {
			t.Errorf("%d artefacts after %d policies, %d after the one before", prepared[k], k, prepared[k-1])
		}
	}
	if last := names[len(names)-1]; last != generationName || prepared[8] != len(names)-1 {
		t.Errorf("%d artefacts came before the candidates, of %d; the last is %s", prepared[8], len(names), last)
	}
	slices.Sort(names)
	if n := len(slices.Compact(slices.Clone(names))); n != len(names) {
		t.Errorf("%d artefacts for %d parts", len(names), n)
	}
}

// interrupted returns a bench whose server died in a training from row 3 that had
// finished n candidates.
func interrupted(t *testing.T, n int, adoptAfter int64) (b *bench, first idrl.Generation) {
	t.Helper()
	b = newBench(t)
	b.spec.AdoptAfter = adoptAfter
	b.restart(t)
	first = b.first(t)
	ctx, stop := context.WithCancel(t.Context())
	b.die = func(k int) bool {
		if k > n {
			stop()
		}
		return false
	}
	if _, err := b.remote.Train(ctx, later(first, 3)); !errors.Is(err, context.Canceled) {
		t.Fatalf("error = %v", err)
	}
	b.die, b.solves = nil, 0
	b.restart(t)
	return b, first
}

// After a restart a training that was interrupted is finished, though answers have
// come meanwhile. A session that adopts at fixed rows asks for the same one again.
func TestServerThatDiedGoesOn(t *testing.T) {
	calm := newBench(t)
	want := encoded(t, calm.train(t, later(calm.first(t), 3)))
	for _, test := range []struct{ adoptAfter, asked int64 }{{0, 5}, {0, 3}, {2, 3}} {
		b, first := interrupted(t, 4, test.adoptAfter)
		g := b.train(t, later(first, test.asked))
		if g.BasedOn != 3 || !bytes.Equal(encoded(t, g), want) {
			t.Errorf("%+v: a generation from row %d, or with other bytes", test, g.BasedOn)
		}
		if b.solves != 2 {
			t.Errorf("%+v: %d searches after 4 of 6, want 2", test, b.solves)
		}
		if next := b.train(t, later(g, 8)); next.BasedOn != 8 {
			t.Errorf("%+v: the next one is from row %d, want 8", test, next.BasedOn)
		}
	}
	b, first := interrupted(t, 4, 2)
	if g := b.train(t, later(first, 5)); g.BasedOn != 5 || b.solves != 6 {
		t.Errorf("with fixed rows: a generation from row %d after %d searches", g.BasedOn, b.solves)
	}
}

// save records bytes as the checkpoint of the job from row 3.
func (b *bench) save(t *testing.T, checkpoint []byte) {
	t.Helper()
	key, now := record.JobKey{Session: "s1", Kind: trainKind, BasedOn: 3}, time.Now()
	_, a, err := b.store.BeginJob(t.Context(), key, now, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, b.store.SaveJob(t.Context(), a, checkpoint))
	b.store.Interrupt()
}

// A checkpoint that cannot be used is left out, and the log says so.
func TestDamagedCheckpoints(t *testing.T) {
	calm := newBench(t)
	want := encoded(t, calm.train(t, later(calm.first(t), 3)))
	other := must.Get(pack.Encode(&checkpoint{State: idrl.TrainState{Solved: []idrl.Solved{{Theta: []float64{1, 2, 3}, Params: []float64{1}}}}}))(t)
	for name, change := range map[string]func([]byte) []byte{
		"a byte changed":      func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"cut short":           func(b []byte) []byte { return b[:len(b)/2] },
		"of another training": func([]byte) []byte { return other },
		"empty":               func([]byte) []byte { return []byte{} },
	} {
		b, first := interrupted(t, 4, 0)
		b.save(t, change(b.store.Row(record.JobKey{Session: "s1", Kind: trainKind, BasedOn: 3}).Checkpoint))
		g := b.train(t, later(first, 3))
		if b.solves != 6 || !bytes.Equal(encoded(t, g), want) {
			t.Errorf("%s: %d searches, or other bytes", name, b.solves)
		}
		if !strings.Contains(b.log.String(), "its checkpoint cannot be used") {
			t.Errorf("%s: the log says nothing: %s", name, b.log.String())
		}
	}
}

// An interrupted training whose payload cannot be read, such as that of another version,
// is left out, and the training that is asked for is done.
func TestUnknownPayloads(t *testing.T) {
	of := func(key record.JobKey, payload []byte) (idrl.Generation, *bench, error) {
		b := newBench(t)
		first := b.first(t)
		must.Do(t, b.store.QueueJob(t.Context(), record.JobRecord{JobKey: key, Payload: payload}, time.Now()))
		now := time.Now()
		_, a, err := b.store.BeginJob(t.Context(), key, now, now.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		must.Do(t, b.store.SaveJob(t.Context(), a, []byte("half")))
		b.store.Interrupt()
		g, err := b.remote.Train(t.Context(), later(first, 5))
		return g, b, err
	}
	request := must.Get(newRequest(threeWeights, idrl.SessionSpec{ID: "s2"}, idrl.TrainJob{BasedOn: 3, Posterior: belief.Isotropic(3, 1)}))(t)
	elsewhere := must.Get(pack.Encode(&request))(t)
	for _, payload := range [][]byte{[]byte(`{"Spec":{}}`), {}, elsewhere} {
		g, b, err := of(record.JobKey{Session: "s1", Kind: trainKind, BasedOn: 3}, payload)
		if err != nil || g.BasedOn != 5 {
			t.Errorf("%q: a generation from row %d, %v", payload, g.BasedOn, err)
		}
		if !strings.Contains(b.log.String(), "an interrupted training is left out") {
			t.Errorf("%q: the log says nothing: %s", payload, b.log.String())
		}
	}
	// And a worker says what is wrong, also where it gets what is recorded of a job.
	h := &Handler{Envs: envs.Catalogue}
	for kind, says := range map[string]string{trainKind: "cannot be read", fitKind: "cannot be read", "stir": `unknown kind of job "stir"`} {
		err := h.Do(t.Context(), record.JobRecord{JobKey: record.JobKey{Session: "s1", Kind: kind}, Payload: []byte("what")}, nil)
		if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), says) {
			t.Errorf("kind %s: %v", kind, err)
		}
	}
	recorded, fit := request, fitRequest{Recorded: true}
	recorded.Recorded = true
	for kind, payload := range map[string]func() ([]byte, error){
		trainKind: func() ([]byte, error) { return pack.Encode(&recorded) }, fitKind: func() ([]byte, error) { return pack.Encode(&fit) },
	} {
		b, err := payload()
		if err != nil {
			t.Fatal(err)
		}
		err = h.Do(t.Context(), record.JobRecord{JobKey: record.JobKey{Session: "s2", Kind: kind, BasedOn: 3}, Payload: b}, nil)
		if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "only what is recorded") {
			t.Errorf("what is recorded of a job of kind %s: %v", kind, err)
		}
	}
}

// stream is a dispatcher that says what it was given to say.
type stream []jobs.Event

func (s stream) Forget(idrl.SessionID) {}

func (s stream) Start(context.Context, jobs.Job) iter.Seq2[jobs.Event, error] {
	return func(yield func(jobs.Event, error) bool) {
		for _, e := range s {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// A worker's generation says which engine computed it.
func TestGenerationsNameTheirEngine(t *testing.T) {
	var out stream
	must.Do(t, (&sender{to: collector{events: &out}, engine: "MuJoCo 3.3.7"}).generation(idrl.Generation{BasedOn: 3}))
	var r receiver
	for _, e := range out {
		if a, is := e.(jobs.Artefact); is {
			r.take(a)
		}
	}
	if g, err := r.generation(); err != nil || g.Engine != "MuJoCo 3.3.7" || g.BasedOn != 3 {
		t.Errorf("generation %+v, %v", g, err)
	}
}

// handed returns the artefacts of a generation.
func handed(t *testing.T, g idrl.Generation) (out stream) {
	t.Helper()
	must.Do(t, (&sender{to: collector{events: &out}}).generation(g))
	return out
}

// collector is a reporter that keeps the artefacts.
type collector struct {
	jobs.Reporter
	events *stream
}

func (c collector) Artefact(name string, b []byte) error {
	*c.events = append(*c.events, jobs.NewArtefact(name, b))
	return nil
}

// A result that is no generation, or another one, or not complete, is rejected: the
// worker is replaced.
func TestFalseResults(t *testing.T) {
	clips := map[idrl.ClipID]idrl.Clip{"c1": {ID: "c1", Media: []byte("film 1")}, "c2": {ID: "c2", Media: []byte("film 2")}}
	full := idrl.Generation{BasedOn: 3, Clips: clips, Steps: map[idrl.StepsID][]byte{"s1": []byte("steps 1")}}
	whole := handed(t, full)
	manifest := whole[len(whole)-1]
	again := func(before ...jobs.Event) stream { return append(slices.Clip(before), jobs.Began{Attempt: 2}) }
	for name, test := range map[string]struct {
		events stream
		says   string // empty if it is good
	}{
		"good":                      {whole, ""},
		"small":                     {handed(t, idrl.Generation{BasedOn: 3}), ""},
		"of a second worker":        {append(again(whole[0]), whole...), ""},
		"the one of a dead worker":  {again(whole...), "decode"},
		"another generation":        {handed(t, idrl.Generation{BasedOn: 4}), "another generation"},
		"damaged":                   {stream{jobs.NewArtefact(generationName, []byte("many"))}, "decode"},
		"none":                      {whole[:len(whole)-1], "decode"},
		"without a clip":            {append(slices.Clone(whole[:1]), whole[2:]...), "clip c2 of generation 3 was not handed over"},
		"without raw steps":         {stream{whole[0], whole[1], manifest}, "the raw steps s1 of generation 3 were not handed over"},
		"with a part that is other": {stream{whole[0], jobs.NewArtefact("clip c2", []byte("film 3")), whole[2], manifest}, "clip c2"},
		"parts of a dead worker":    {append(again(whole[0], whole[1]), whole[2], manifest), "clip c1"},
	} {
		rejected := false
		done := jobs.Done{Rejected: func(error) { rejected = true }}
		r := &Remote{Jobs: append(slices.Clip(test.events), done), Records: records{&jobstest.Store{}, nil}, Spec: idrl.SessionSpec{ID: "s1"}, Model: threeWeights}
		g, err := r.Train(t.Context(), idrl.TrainJob{BasedOn: 3, Posterior: belief.Isotropic(2, 1)})
		wrong := test.says != ""
		if (err != nil) != wrong || rejected != wrong || wrong && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, rejected %t; want %q", name, err, rejected, test.says)
		}
		if !wrong && name != "small" && cmp.Diff(full, g) != "" {
			t.Errorf("%s:\n%s", name, cmp.Diff(full, g))
		}
		if r.Reject(errors.New("the store refuses it")); !rejected {
			t.Errorf("%s: the worker is kept though its generation was refused", name)
		}
	}
	r := &Remote{Jobs: stream{}, Records: records{&jobstest.Store{}, nil}, Model: threeWeights}
	if _, err := r.Train(t.Context(), idrl.TrainJob{Posterior: belief.Isotropic(2, 1)}); err == nil {
		t.Error("a stream without an end is taken for a result")
	}
}

// What ends is forgotten.
func TestHandlerForgets(t *testing.T) {
	h := &Handler{Envs: envs.Catalogue}
	for k := range 3 {
		must.Get(h.trainer(settings.Complete(idrl.SessionSpec{ID: idrl.SessionID(fmt.Sprint(k)), Env: "gridworld", Seed: 1})))(t)
	}
	r := &Remote{Jobs: jobstest.Memory{Handler: h}, Spec: idrl.SessionSpec{ID: "1"}, Model: threeWeights}
	r.Rest()
	r.Rest()
	if len(h.trainers) != 2 || h.index("1") >= 0 {
		t.Errorf("it remembers %d sessions", len(h.trainers))
	}
}
