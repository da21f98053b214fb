package seeds

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func mustValidate(t *testing.T, c experiment.Config) experiment.Experiment {
	t.Helper()
	e := must.Get(c.Validate())(t)
	return e
}

// mustDo returns the runs of an experiment.
func mustDo(t *testing.T, e experiment.Experiment, o experiment.Options) experiment.Result {
	t.Helper()
	r := must.Get(experiment.Do(t.Context(), e, o))(t)
	return r
}

// times are what differs between equal runs.
var times = cmp.Options{
	cmpopts.IgnoreFields(experiment.Run{}, "SelectNS", "WallNS"),
	cmpopts.IgnoreFields(experiment.Config{}, "Task"),
}

const twoWays = `{"title": "Two ways", "features": ["left", "right"],
	"items": [{"id": "l", "features": [1, 0]}, {"id": "r", "features": [0, 1]}],
	"policies": [{"id": "go left", "features": [5, 0]}, {"id": "go right", "features": [0, 5]}],
	"queries": [{"rate": "l"}, {"rate": "r"}], "budget": 3}`

// Runs of jobs are those of this process, whatever the experiment is.
func TestRunsOfJobs(t *testing.T) {
	task := must.Get(experiment.ReadTask(strings.NewReader(twoWays)))(t)
	h := &Handler{}
	for _, c := range []experiment.Config{
		{Figure: "chain", Answers: 5, Seeds: 3, FirstSeed: 4, Methods: []string{"idrl", "uniform"}},
		{Figure: "gridworld", Queries: experiment.Comparisons, Mode: experiment.Paper, Answers: 2, Seeds: 1, Methods: []string{"idrl"}, Measure: 2},
		{Figure: "ties", Answers: 2, Seeds: 1, FirstSeed: 1},
		{Figure: "chain", Schedule: "live", Answers: 2, Seeds: 1, FirstSeed: 1, Methods: []string{"uniform"}},
		{Task: task, Seeds: 2, FirstSeed: 1, Methods: []string{"idrl"}},
	} {
		e := mustValidate(t, c)
		to := jobs.NewBatch(jobstest.Memory{Store: &jobs.Rows{}, Handler: h})
		want := mustDo(t, e, experiment.Options{})
		if got := mustDo(t, e, experiment.Options{Workers: 1, Elsewhere: By(to)}); !cmp.Equal(want, got, times) {
			t.Errorf("%s:\n%s", e.Name(), cmp.Diff(want, got, times))
		}
	}
}

// keeper is a store in memory.
type keeper struct {
	mu   sync.Mutex
	runs map[string]experiment.Run
}

func (k *keeper) Load(_ experiment.Experiment, method string, _ uint64) (experiment.Run, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.runs[method]
	return r, ok
}

func (k *keeper) Save(_ experiment.Experiment, method string, _ uint64, r experiment.Run) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.runs[method] = r
	return nil
}

// Only runs that are missing are computed.
func TestRunsThatAreKept(t *testing.T) {
	e := mustValidate(t, experiment.Config{Figure: "chain", Answers: 2, Seeds: 1, FirstSeed: 1, Methods: []string{"idrl", "uniform", "igr"}})
	want := mustDo(t, e, experiment.Options{})
	kept := &keeper{runs: map[string]experiment.Run{"uniform": {Solves: -1}}}
	var asked []string
	by := By(jobs.NewBatch(jobstest.Memory{Store: &jobs.Rows{}, Handler: &Handler{}}))
	o := experiment.Options{Store: kept, Elsewhere: func(ctx context.Context, e experiment.Experiment, told idrl.Progress) ([]experiment.Run, error) {
		asked = append(asked, e.Methods...)
		return by(ctx, e, told)
	}}
	got := mustDo(t, e, o)
	want.Runs[0][1] = experiment.Run{Solves: -1}
	if !cmp.Equal(want, got, times) || !cmp.Equal(asked, []string{"idrl", "igr"}) || len(kept.runs) != 3 {
		t.Errorf("asked for %q, kept %d runs:\n%s", asked, len(kept.runs), cmp.Diff(want, got, times))
	}
	mustDo(t, e, o)
	if len(asked) != 2 {
		t.Errorf("asked again for %q", asked[2:])
	}
}

// mortal is a handler that dies after the first checkpoint of each of its first attempts.
type mortal struct {
	Handler
	deaths int
}

func (m *mortal) Do(ctx context.Context, job record.JobRecord, to jobs.Reporter) error {
	if m.deaths > 0 {
		to = &dying{Reporter: to}
		m.deaths--
	}
	return m.Handler.Do(ctx, job, to)
}

type dying struct{ jobs.Reporter }

func (d *dying) Checkpoint(b []byte) error {
	if err := d.Reporter.Checkpoint(b); err != nil {
		return err
	}
	panic(jobstest.ErrDied)
}

// A job goes on after the last run that was finished.
func TestJobsGoOn(t *testing.T) {
	e := mustValidate(t, experiment.Config{Figure: "chain", Answers: 4, Seeds: 1, FirstSeed: 1, Methods: []string{"idrl", "uniform", "igr"}})
	want := mustDo(t, e, experiment.Options{})
	h := &mortal{deaths: 2}
	to := jobs.NewBatch(jobstest.Memory{Store: &jobs.Rows{}, Handler: h})
	if got := mustDo(t, e, experiment.Options{Elsewhere: By(to)}); h.deaths != 0 || !cmp.Equal(want, got, times) {
		t.Errorf("%d deaths are left:\n%s", h.deaths, cmp.Diff(want, got, times))
	}
	payload, err := encodeRequest(e)
	if err != nil {
		t.Fatal(err)
	}
	job := record.JobRecord{Payload: payload}
	for name, s := range map[string]state{
		"of another job":   {Payload: sha256.Sum256([]byte("other")), Runs: map[string][]byte{"idrl": nil}},
		"with damage":      {Payload: sha256.Sum256(payload), Runs: map[string][]byte{"idrl": []byte("{}")}},
		"without anything": {Payload: sha256.Sum256(payload)},
	} {
		if job.Checkpoint, err = pack.Encode(&s); err != nil {
			t.Fatal(err)
		}
		if got := newState(e, job); got.Runs == nil || len(got.Runs) != 0 {
			t.Errorf("a checkpoint %s: goes on from %v", name, got.Runs)
		}
	}
}

// said is a reporter that notes progress.
type said struct {
	jobs.Reporter
	what []string
}

func (s *said) Progress(_, _ int, what string) { s.what = append(s.what, what) }

func (s *said) Artefact(string, []byte) error { return nil }

func TestPreparationIsTold(t *testing.T) {
	to := &said{}
	d := desk{to: to, seed: 7}
	d.preparing(1, 40, "policy 1 of 40")
	if len(to.what) != 1 || to.what[0] != "seed 7, a worker prepares what its seeds share: policy 1 of 40" {
		t.Errorf("said %q", to.what)
	}
}

// A worker says why it cannot compute a run.
func TestRequestsThatAreRefused(t *testing.T) {
	e := mustValidate(t, experiment.Config{Figure: "chain", Answers: 2, Seeds: 1})
	whole := must.Get(encodeRequest(e))(t)
	changed := func(change func(*request)) []byte {
		req := must.Get(pack.Decode[request](whole))(t)
		change(&req)
		b := must.Get(pack.Encode(&req))(t)
		return b
	}
	config := func(old, new string) []byte {
		return changed(func(r *request) { r.Config = []byte(strings.Replace(string(r.Config), old, new, 1)) })
	}
	for name, test := range map[string]struct {
		payload []byte
		says    string
	}{
		"cut off":                {whole[:20], "damaged"},
		"another type":           {changedType(t), "another version"},
		"another engine":         {changed(func(r *request) { r.Fingerprint = "0" }), "another experiment chain"},
		"other answers":          {config(`"Answers":2`, `"Answers":3`), "another experiment chain"},
		"an unknown setting":     {config(`"Answers":2`, `"Answers":2,"Tea":1`), "Tea"},
		"an unknown figure":      {config(`"chain"`, `"moon"`), `unknown figure "moon"`},
		"several seeds":          {config(`"Seeds":1`, `"Seeds":2`), "about 2"},
		"a task that is damaged": {changed(func(r *request) { r.Task = []byte("{") }), "not JSON"},
	} {
		err := (&Handler{}).Do(t.Context(), record.JobRecord{Payload: test.payload}, &said{})
		if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
	unread := mustValidate(t, experiment.Config{Figure: "chain", Seeds: 1})
	unread.Task = &experiment.Task{}
	if _, err := encodeRequest(unread); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a task of no file: %v", err)
	}
}

// changedType returns a payload of another version of this package.
func changedType(t *testing.T) []byte {
	t.Helper()
	b := must.Get(pack.Encode(&struct{ Experiment string }{"chain"}))(t)
	return b
}

// A result that belongs to another job, or has damage, is rejected.
func TestResultsAreChecked(t *testing.T) {
	e := mustValidate(t, experiment.Config{Figure: "chain", Answers: 2, Seeds: 1, FirstSeed: 5, Methods: []string{"idrl", "uniform"}})
	whole := must.Get(encodeResult(e, mustDo(t, e, experiment.Options{}).Runs[0]))(t)
	must.Get(decodeResult(e, whole))(t)
	other := map[string]func(*experiment.Experiment){
		"seed":    func(e *experiment.Experiment) { e.FirstSeed = 6 },
		"methods": func(e *experiment.Experiment) { e.Methods = []string{"uniform", "idrl"} },
		"number":  func(e *experiment.Experiment) { e.Methods = e.Methods[:1] },
		"answers": func(e *experiment.Experiment) { e.Answers = 3 },
	}
	for name, change := range other {
		o := e
		change(&o)
		if _, err := decodeResult(o, whole); err == nil {
			t.Errorf("another %s: no error", name)
		}
	}
	if _, err := decodeResult(e, whole[:len(whole)-1]); !errors.Is(err, pack.ErrDamaged) {
		t.Errorf("cut off: %v", err)
	}
}
