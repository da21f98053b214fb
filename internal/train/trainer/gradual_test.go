package trainer_test

import (
	"fmt"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/idrl"
)

// TestGradual: the first generation draws and asks about a few clips, of as many policies as it can; a later one about more, among which
// those of the pool come again; the last one about all. Policies of the pool keep the clips that show them, drawn or not.
func TestGradual(t *testing.T) {
	tr := pushes(pointmass.Config{Horizon: 100, ClipSteps: 10})
	tr.MaxQueries = 100000
	pool := must.Get(tr.PoolPolicies(t.Context(), 42))(t)
	tr = pushes(pointmass.Config{Horizon: 100, ClipSteps: 10})
	tr.MaxQueries = 100000
	for _, c := range pool {
		tr.Given = append(tr.Given, c.Policy)
	}
	job := jobFor(tr)
	job.First = true
	all := train(t, tr, job)

	tr.Gradual = 10
	drawn, said := map[idrl.ClipID]bool{}, []string(nil)
	tr.Encode = func(_ idrl.Environment, c idrl.Clip) ([]byte, error) {
		drawn[c.ID] = true
		return []byte(c.ID), nil
	}
	job.Progress = func(done, total int, what string) { said = append(said, fmt.Sprintf("%s, %d/%d", what, done, total)) }
	first := train(t, tr, job)
	if len(drawn) != 10 || len(first.Pool) != len(all.Pool) {
		t.Fatalf("%d clips are drawn, want 10; %d policies are in the pool, want %d", len(drawn), len(first.Pool), len(all.Pool))
	}
	if k := slices.Index(said, "cutting clips: 1 of 10, 0/10"); k < 0 || !slices.Equal(said[k+9:k+10], []string{"cutting clips: 10 of 10, 9/10"}) {
		t.Errorf("progress is %q", said)
	}
	asked := map[idrl.ClipID]bool{}
	for _, q := range first.Queries {
		for _, id := range q.Clips {
			asked[id] = true
			if !drawn[id] || first.Clips[id].Media == nil {
				t.Errorf("%s is asked about, and not drawn", id)
			}
		}
	}
	for _, p := range slices.Concat(first.Candidates, first.Pool) {
		if c, there := first.Clips[p.Clip]; !there || asked[p.Clip] != (c.Media != nil) {
			t.Errorf("policy %s is shown by clip %s: there %v, drawn %v, asked about %v", p.ID, p.Clip, there, c.Media != nil, asked[p.Clip])
		}
	}

	second := next(job, first)
	second.BasedOn = 3
	later := train(t, tr, second)
	if n := len(later.Clips); n != 10+3*2 {
		t.Errorf("the generation based on row 3 has %d clips, want 16", n)
	}
	for id := range asked {
		if _, again := later.Clips[id]; !again && !slices.ContainsFunc(first.Candidates, func(c idrl.Candidate) bool { return c.Clip == id }) {
			t.Errorf("clip %s of the pool does not come again", id)
		}
	}
	second.BasedOn = 1000
	last := train(t, tr, second)
	tr.Gradual = 0
	if want := train(t, tr, second); len(last.Clips) != len(want.Clips) {
		t.Errorf("a late generation has %d clips, want all %d", len(last.Clips), len(want.Clips))
	}
}
