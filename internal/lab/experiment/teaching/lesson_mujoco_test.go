//go:build mujoco

package teaching

import (
	"slices"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
)

// A clock on which every training takes ten seconds.
func tenSeconds() func() (time.Duration, error) {
	calls := 0
	return func() (time.Duration, error) {
		calls++
		return time.Duration(calls/2) * 10 * time.Second, nil
	}
}

// Answers go on while a training is under way, and what it finds is asked about after it has
// ended by the clock.
func TestClockOfLessons(t *testing.T) {
	l := Default()
	l.Env, l.Taste, l.Seed, l.Answers = "half-cheetah", "forward", 3, 16
	r := must.Get(Do(t.Context(), l, Options{Envs: envs.Catalogue(), CPU: tenSeconds(), Steps: 4000, Every: 8}))(t)
	var generations []int64
	for _, q := range r.Asked {
		generations = append(generations, q.BasedOn)
	}
	// The training from answer 5 begins at 25 s and ends at 35 s, before answer 9, with which the twelfth question is
	// chosen: the person holds three. It is worth more than the one that waits, and is asked before it, as the eleventh. The next
	// training begins at once, from answer 8, and ends at 45 s, before answer 12.
	want := []int64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 5, 8, 8, 8}
	if !slices.Equal(generations, want) {
		t.Errorf("asked by generations %v, want %v", generations, want)
	}
	if len(r.Points) != 2 || r.Points[0].Answers != 8 || r.Points[1].Answers != 16 || !r.Points[1].Finished {
		t.Fatalf("points %+v", r.Points)
	}
	// The trainings from answers 11 and 14 follow, to 65 s, and then the last one.
	if end := r.Points[1]; end.Clock != 75 || end.Trained != 60 {
		t.Errorf("the lesson ends after %v s, with %v s of training", end.Clock, end.Trained)
	}
	again := must.Get(Do(t.Context(), l, Options{Envs: envs.Catalogue(), CPU: tenSeconds(), Steps: 4000, Every: 8}))(t)
	if !slices.Equal(again.Points[1].Weights, r.Points[1].Weights) || again.Points[1].Outcome.Return() != r.Points[1].Outcome.Return() {
		t.Error("the same lesson on the same clock has another end")
	}
}

// What is trained after the limit does not count.
func TestLimitOfLessons(t *testing.T) {
	l := Default()
	l.Env, l.Taste, l.Seed, l.Limit = "half-cheetah", "backward", 3, 31*time.Second
	r := must.Get(Do(t.Context(), l, Options{Envs: envs.Catalogue(), CPU: tenSeconds(), Steps: 4000}))(t)
	end := r.Points[len(r.Points)-1]
	if end.Answers != 7 || end.Clock > 31+l.Each.Seconds() || end.Leader[:2] != "g0" {
		t.Errorf("after %v s and %d answers the policy is %s; want 7 answers, and a policy of the first generation", end.Clock, end.Answers, end.Leader)
	}
}

// A person who waits after the last training has the searches go on, up to the time that they
// wait: here two follow-ups of ten seconds, and a third one that comes too late.
func TestWaitOfLessons(t *testing.T) {
	l := Default()
	l.Env, l.Taste, l.Seed, l.Answers, l.Wait = "half-cheetah", "forward", 1, 8, 25*time.Second
	c := must.Get(begin(t.Context(), l, Options{Envs: envs.Catalogue(), CPU: tenSeconds(), Steps: 4000}))(t)
	defer c.session.Close()
	for !c.over() {
		must.Do(t, c.next(t.Context()))
	}
	must.Do(t, c.finish(t.Context()))
	clock, trained, known := c.session.Now(), c.session.Trained(), c.session.Policies()
	must.Do(t, c.follow(t.Context()))
	if waited, spent := c.session.Now()-clock, c.session.Trained()-trained; waited != l.Wait || spent != l.Wait {
		t.Errorf("the person waits for %v, and %v are spent; want 25 s", waited, spent)
	}
	if got := c.session.Policies(); got <= known {
		t.Errorf("%d policies are known after follow-ups, %d before", got, known)
	}
}
