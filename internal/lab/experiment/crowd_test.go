package experiment

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
)

// together runs n answers of a crowd about a gridworld. The caller ends the session.
func together(t *testing.T, c crowd, n int) *crowdRun {
	t.Helper()
	s := gridStage(t, learning.Live())
	s.crowd = &c
	l := must.Get(s.start(t.Context(), Experiment{}.Method(crowdMethod)))(t)
	t.Cleanup(l.session.Close)
	r := must.Get(l.together(t.Context(), c))(t)
	for range n {
		must.Do(t, r.step(t.Context()))
	}
	return r
}

func idsOf(given []record.Assignment) (out []idrl.QueryID) {
	for _, as := range given {
		out = append(out, as.Query.ID)
	}
	return out
}

// In the ideal crowd each question follows from all answers before it, and from the generation that was trained
// from them.
func TestIdealCrowdIsOneAfterAnother(t *testing.T) {
	for n, as := range together(t, crowds(learning.Live().Ahead)[idealCrowd], 20).given {
		if as.Why.AfterSeq != int64(n) || as.Why.BasedOn != int64(n) {
			t.Errorf("question %d was chosen after %d answers from generation %d", n+1, as.Why.AfterSeq, as.Why.BasedOn)
		}
	}
}

// People answer as often as their response times say, each holds as many questions as they
// should, and no question is out twice.
func TestCrowdAnswersAtItsPace(t *testing.T) {
	const answers = 400
	r := together(t, crowd{people: 4, ahead: 2}, answers)
	out := map[idrl.QueryID]bool{}
	for _, a := range r.who {
		held, err := r.session.Claim(t.Context(), a.id)
		if err != nil || len(held) != 2 {
			t.Fatalf("somebody holds %d questions, want 2; %v", len(held), err)
		}
		for _, as := range held {
			out[as.Query.ID] = true
		}
	}
	if len(out) != 8 {
		t.Errorf("%d different questions are out, want 8", len(out))
	}
	rate := 0.0 // of all, answers a second; the mean of a log-normal time is above its median
	for _, a := range r.who {
		rate += 1 / (a.median * math.Exp(timeSpread*timeSpread/2))
	}
	if got := answers / r.session.Now().Seconds(); math.Abs(got/rate-1) > 0.1 { // three standard deviations
		t.Errorf("%.3f answers a second, want %.3f", got, rate)
	}
}

// A training begins when the one before has ended, if there are new answers, and takes its second.
func TestTrainingsOfCrowds(t *testing.T) {
	r := together(t, crowd{people: 8, ahead: 3}, 60)
	generations := map[int64]bool{}
	for _, as := range r.given {
		generations[as.Why.BasedOn] = true
	}
	// Eight people give two answers a second, so that there are trainings nearly all the time: 26 of 29 s.
	if share := r.session.Trained().Seconds() / r.session.Now().Seconds(); share < 0.8 || share > 1 {
		t.Errorf("trainings take %v of %v", r.session.Trained(), r.session.Now())
	}
	if most := int(r.session.Trained().Seconds()) + 1; len(generations) < most/2 || len(generations) > most {
		t.Errorf("questions of %d generations in %v", len(generations), r.session.Now())
	}
}

// Whether the questions of others count makes no difference to somebody alone who holds one
// question, and makes one to eight people.
func TestCrowdApart(t *testing.T) {
	for _, test := range []struct {
		people, ahead int
		same          bool
	}{{1, 1, true}, {8, 3, false}} {
		a := together(t, crowd{people: test.people, ahead: test.ahead}, 20)
		b := together(t, crowd{people: test.people, ahead: test.ahead, apart: true}, 20)
		if got := slices.Equal(idsOf(a.given), idsOf(b.given)); got != test.same {
			t.Errorf("%d people: the same questions: %v, want %v", test.people, got, test.same)
		}
	}
}

// Every row of the experiment has a crowd, and the experiment runs.
func TestCrowdExperiment(t *testing.T) {
	e := must.Get(Config{Figure: "gridworld", Schedule: CrowdSchedule, Seeds: 1, FirstSeed: 1, Answers: 6}.Validate())(t)
	r := must.Get(Do(t.Context(), e, Options{}))(t)
	if len(r.Runs[0]) != 11 {
		t.Errorf("%d rows, want 11", len(r.Runs[0]))
	}
	for i, run := range r.Runs[0] {
		if len(run.Regret) != 7 {
			t.Errorf("%s: %d measurements, want 7", e.Methods[i], len(run.Regret))
		}
	}
	if _, err := (Config{Figure: "gridworld", Schedule: CrowdSchedule, Seeds: 1, Methods: []string{"lvar:3"}}).Validate(); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("three people, who are not compared: %v", err)
	}
}
