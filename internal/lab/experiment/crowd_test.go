package experiment

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"

	"github.com/google/go-cmp/cmp"
)

// together runs n answers of a crowd about a gridworld, and returns what it asked and how.
func together(t *testing.T, c crowd, n int) (*liveRun, *crowdRun) {
	t.Helper()
	s := rehearse(t, "gridworld", idrl.CompareClips, 1, 1).stage(t)
	m := Experiment{}.Method(crowdMethod)
	l := &liveRun{stage: s, method: m, trainer: s.trainer(m), asked: map[idrl.QueryID]uint64{}}
	if err := l.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := l.crowd(c)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if err := r.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return l, r
}

func idsOf(queries []idrl.QueryVector) (out []idrl.QueryID) {
	for _, q := range queries {
		out = append(out, q.ID)
	}
	return out
}

// The ideal crowd is one annotator of a session with one question ahead, each of whose
// generations is in use at once.
func TestIdealCrowdIsOneAfterAnother(t *testing.T) {
	const answers = 20
	s := rehearse(t, "gridworld", idrl.CompareClips, 1, 0).stage(t)
	s.schedule.Ahead, s.schedule.Every, s.schedule.Latency = 1, 1, 0
	m := Experiment{}.Method(crowdMethod)
	one := &liveRun{stage: s, method: m, trainer: s.trainer(m), asked: map[idrl.QueryID]uint64{}}
	if err := one.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := one.topUp(); err != nil {
		t.Fatal(err)
	}
	for range answers {
		if err := one.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	l, _ := together(t, crowds(learning.Live().Ahead)[idealCrowd], answers)
	if diff := cmp.Diff(idsOf(one.given), idsOf(l.given)); diff != "" {
		t.Errorf("questions (-one +ideal):\n%s", diff)
	}
}

// People answer as often as their response times say, each holds as many questions as they
// should, and no question is out twice.
func TestCrowdAnswersAtItsPace(t *testing.T) {
	const answers = 400
	l, r := together(t, crowd{people: 4, ahead: 2}, answers)
	var all []idrl.QueryID
	end := math.Inf(1)
	for _, a := range r.who {
		if len(a.held) != 2 {
			t.Errorf("somebody holds %d questions, want 2", len(a.held))
		}
		all, end = append(all, idsOf(a.held)...), min(end, a.at)
	}
	open := idsOf(l.open)
	slices.Sort(open)
	if slices.Sort(all); !slices.Equal(all, open) || len(slices.Compact(open)) != 8 {
		t.Errorf("%d are held, %d are open", len(all), len(open))
	}
	rate := 0.0 // of all, answers a second; the mean of a log-normal time is above its median
	for _, a := range r.who {
		rate += 1 / (a.median * math.Exp(timeSpread*timeSpread/2))
	}
	if got := answers / end; math.Abs(got/rate-1) > 0.1 { // three standard deviations
		t.Errorf("%.3f answers a second, want %.3f", got, rate)
	}
}

// Whether the questions of others count makes no difference to somebody alone who holds one
// question, and makes one to eight people.
func TestCrowdApart(t *testing.T) {
	for _, test := range []struct {
		people, ahead int
		same          bool
	}{{1, 1, true}, {8, 3, false}} {
		a, _ := together(t, crowd{people: test.people, ahead: test.ahead}, 10)
		b, _ := together(t, crowd{people: test.people, ahead: test.ahead, apart: true}, 10)
		if got := slices.Equal(idsOf(a.given), idsOf(b.given)); got != test.same {
			t.Errorf("%d people: the same questions: %v, want %v", test.people, got, test.same)
		}
	}
}

// Every row of the experiment has a crowd, and the experiment runs.
func TestCrowdExperiment(t *testing.T) {
	e, err := Config{Figure: "gridworld", Schedule: CrowdSchedule, Seeds: 1, FirstSeed: 1, Answers: 6}.Validate()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Do(t.Context(), e, Options{})
	if err != nil {
		t.Fatal(err)
	}
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
