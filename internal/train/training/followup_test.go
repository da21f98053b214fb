package training

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/plan/solver"
)

// followUp is the job that goes on with the searches of a generation.
func followUp(b *gaitBench, g idrl.Generation, warm ...[]float64) idrl.TrainJob {
	job := idrl.TrainJob{BasedOn: g.BasedOn, Posterior: rightward(b), Seed: b.spec.Seed, From: len(g.Candidates), Warm: warm}
	for _, c := range g.Candidates {
		job.Warm = append(job.Warm, c.Params)
	}
	job.Progress = func(_, _ int, what string) { b.told = append(b.told, what) }
	return job
}

func (b *gaitBench) follow(job idrl.TrainJob) idrl.Generation {
	b.t.Helper()
	g, err := b.remote.Train(b.t.Context(), job)
	if err != nil {
		b.t.Fatal(err)
	}
	return g
}

// recommended returns the highest score of the candidates.
func recommended(g idrl.Generation, theta []float64) float64 {
	best := solver.Known{Mus: g.Candidates[0].Mus}.Score(theta)
	for _, c := range g.Candidates {
		best = max(best, solver.Known{Mus: c.Mus}.Score(theta))
	}
	return best
}

// Follow-ups find better policies under known weights, and hand over those that are not in
// use. Their names, clips and questions are their own.
func TestFollowUp(t *testing.T) {
	b := newGaitBench(t)
	b.train(0, rightward(b))
	g := b.train(5, rightward(b))
	theta := rightward(b).Mean(nil)
	before := recommended(g, theta)
	first := len(g.Candidates)
	for range 12 {
		job := followUp(b, g)
		more := b.follow(job)
		if len(more.Candidates) == 0 {
			break
		}
		b.adopt(more)
		own := map[idrl.ClipID]bool{}
		for k, c := range more.Candidates {
			if want := learning.CandidateID(5, job.From+k); c.ID != want || slices.ContainsFunc(job.Warm, func(p []float64) bool { return slices.Equal(p, c.Params) }) {
				t.Errorf("candidate %s, want %s, and one that was not in use", c.ID, want)
			}
			if more.Clips[c.Clip].Media == nil {
				t.Errorf("candidate %s has no picture", c.ID)
			}
		}
		for id, c := range more.Clips {
			own[id] = strings.HasPrefix(string(c.From), "g5.p")
		}
		for _, q := range more.Queries {
			if !own[q.Clips[0]] && !own[q.Clips[1]] {
				t.Fatalf("question %s shows no new policy", q.ID)
			}
		}
		if len(more.Queries) < 50 {
			t.Errorf("%d questions", len(more.Queries))
		}
		g.Candidates = append(g.Candidates, more.Candidates...)
	}
	after := recommended(g, theta)
	if after <= before {
		t.Errorf("score %.4f of %d candidates before the follow-ups, %.4f of %d after them", before, first, after, len(g.Candidates))
	}
	t.Logf("score %.4f of %d candidates before the follow-ups, %.4f of %d after them", before, first, after, len(g.Candidates))
	if said := strings.Join(b.told, "\n"); !strings.Contains(said, "adding feedback to the best gait: iteration 20") {
		t.Errorf("there was little feedback:\n%s", said)
	}
}

// A follow-up is a function of what it is given. If all that it finds is in use, it gives
// where the searches go on, alone.
func TestFollowUpThatFindsNothingNew(t *testing.T) {
	b := newGaitBench(t)
	b.train(0, rightward(b))
	g := b.train(5, rightward(b))
	more := b.follow(followUp(b, g))
	b.restart()
	if again := b.follow(followUp(b, g)); !bytes.Equal(encoded(t, more), encoded(t, again)) {
		t.Error("another worker found something else")
	}
	var use [][]float64
	for len(more.Candidates) > 0 && len(use) < 50 { // what is in use changes what is found
		for _, c := range more.Candidates {
			use = append(use, c.Params)
		}
		more = b.follow(followUp(b, g, use...))
	}
	if len(use) == 0 || len(use) >= 50 || more.BasedOn != 5 || more.Agents[gaitsName] == nil {
		t.Errorf("%d policies are new in use, and there are others: %+v", len(use), more.Candidates)
	}
}
