package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/study/settings"
)

// Rehearsals of a study file, unless flags say otherwise.
const (
	studyRuns = 5
	studyPace = 3 * time.Second // median time of a person for a comparison of two clips

	// The recommended policy is compared with the truth after every studyEvery answers, or
	// studyLooks times where that is less often.
	studyEvery, studyLooks = 5, 20
)

// stopwatches know the time of the answers of each run.
type stopwatches struct {
	mu    sync.Mutex
	watch map[uint64]func() time.Duration // guarded by mu; by seed
}

// start returns the clock of a run, which passes time by another one.
func (s *stopwatches) start(seed uint64, clock rehearsal.Clock) rehearsal.Clock {
	if clock == nil {
		clock = rehearsal.RealTime{}
	}
	w := &rehearsal.Stopwatch{Clock: clock}
	s.set(seed, w.Taken)
	return w
}

// set sets what returns the time of a finished run.
func (s *stopwatches) set(seed uint64, taken func() time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watch == nil {
		s.watch = map[uint64]func() time.Duration{}
	}
	s.watch[seed] = taken
}

// taken returns the time of a run; ok is false for one of an earlier command.
func (s *stopwatches) taken(seed uint64) (d time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken, ok := s.watch[seed]
	if !ok {
		return 0, false
	}
	return taken(), true
}

// readFile takes the settings of the sessions from the study file, except those that flags set.
func (f *simulateFlags) readFile(list envs.List) error {
	study, a := &f.study, &f.annotator
	for _, field := range settings.All() {
		if name := field.Flag(); name != "seed" && slices.Contains(ofStudy(), name) && f.given(name) {
			return fmt.Errorf("%w: --%s cannot be given with --study: the study file sets it", errUsage, name)
		}
	}
	file, _, err := readStudy(study.file)
	if err != nil {
		return err
	}
	if err := file.Check(func(s idrl.SessionSpec) error { return checkSpec(list, settings.Complete(s)) }); err != nil {
		return err
	}
	study.spec = file.Spec
	if study.spec.Budget == 0 && !study.spec.StopByItself {
		return idrl.Errorf(idrl.Invalid, "%s: the study has no end: set budget or stop_by_itself in it", study.file)
	}
	// One simulated annotator, who reads and agrees to nothing, answers for all people.
	study.people, study.spec.AnswersEach, study.spec.Instructions, study.spec.Consent = study.spec.AnswersEach, 0, "", ""
	if !f.given("pace") {
		a.Pace = studyPace
	}
	study.skipIdle = study.skipIdle || !f.given("skip-idle") && a.Pace > 0
	if !f.given("seed") {
		a.Seed = file.Spec.Seed
	}
	if !f.given("answers") {
		a.Answers = idrl.MaxBudget // the session ends before
	}
	return nil
}

// printExpected prints the expected cost of one study like the runs.
func (f *studyFlags) printExpected(std stdio, runs []rehearsal.Run, pace time.Duration) {
	var answers, hours []float64
	for _, r := range runs {
		if d, ok := f.watches.taken(r.Seed); ok {
			answers, hours = append(answers, float64(r.Rows[len(r.Rows)-1].Given)), append(hours, d.Hours())
		}
	}
	if len(hours) == 0 {
		return
	}
	n, h := rehearsal.Expect(answers), rehearsal.Expect(hours)
	fmt.Fprintf(std.Out, "\nExpected of the study %s, by %d rehearsals (95 %% intervals for one study):\n", f.file, len(hours))
	fmt.Fprintf(std.Out, "  answers  %.0f%s\n", n.Mean, between(n, "%.0f"))
	unit, per := timeUnit(h.Mean)
	scaled := rehearsal.Interval{Mean: h.Mean * per, Low: h.Low * per, High: h.High * per}
	fmt.Fprintf(std.Out, "  time     %.2g %s%s, of all people together: answers (median %v) and waiting for questions;\n"+
		"           time for reading instructions and for breaks is not included\n", scaled.Mean, unit, between(scaled, "%.2g"), pace)
	if f.people > 0 {
		fmt.Fprintf(std.Out, "  people   %.0f, each with %d answers\n", math.Ceil(n.Mean/float64(f.people)), f.people)
	}
}

// timeUnit returns the unit for a time, and the number of these units in an hour.
func timeUnit(hours float64) (unit string, per float64) {
	switch {
	case hours < 1.5/60:
		return "seconds", 3600
	case hours < 1.5:
		return "minutes", 60
	}
	return "hours", 1
}

// between writes an interval in parentheses; nothing if both ends are written the same.
func between(i rehearsal.Interval, format string) string {
	if math.IsInf(i.High, 1) {
		return " (one rehearsal gives no interval: --runs " + strconv.Itoa(studyRuns) + ")"
	}
	return fmt.Sprintf(" ("+format+" to "+format+")", i.Low, i.High)
}
