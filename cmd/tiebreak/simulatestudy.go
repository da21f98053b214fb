package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

// Rehearsals of a study file, unless flags say otherwise.
const (
	studyRuns = 5
	studyPace = 3 * time.Second // median time of a person for a comparison of two clips

	// studyRight is the share of random pairs of the first clips that people are right about.
	studyRight = 0.8

	// The recommended policy is compared with the truth after every studyEvery answers, or
	// studyLooks times where that is less often.
	studyEvery, studyLooks = 5, 20
)

// readStudy takes the settings of what is rehearsed, if anything is.
func (f *simulateFlags) readStudy(ctx context.Context, list envs.List) error {
	switch {
	case f.study.file != "":
		return f.readFile(list)
	case f.study.session != "":
		return f.readSession(ctx)
	}
	return nil
}

// readFile takes the settings of the sessions from the study file, except those that flags set.
func (f *simulateFlags) readFile(list envs.List) error {
	study := &f.study
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
	return f.rehearses(file.Spec)
}

// readSession takes the settings of a session of a data folder, such as an arena, and what it needs of that folder.
func (f *simulateFlags) readSession(ctx context.Context) error {
	if f.data == "" {
		return fmt.Errorf("%w: --session needs --data, the folder of that session", errUsage)
	}
	study := &f.study
	err := reading(ctx, f.data, func(db *store.DB) error {
		spec, err := db.Spec(ctx, idrl.SessionID(study.session))
		if err != nil {
			return err
		}
		if spec.IsArena() {
			if study.entrants, err = db.Agent(ctx, spec.ID, training.EntrantsName); err != nil {
				return err
			}
		}
		study.file = "session " + string(spec.ID)
		seed := spec.Seed
		spec = spec.Clone(spec.Title, seed)
		return f.rehearses(spec)
	})
	f.own = f.own.at(f.data) // its imported rollouts are read
	f.data = ""              // the rehearsal does not touch it
	return err
}

// rehearses sets what is rehearsed, and what is usual in a rehearsal where flags do not say otherwise.
func (f *simulateFlags) rehearses(spec idrl.SessionSpec) error {
	if !f.given("pace") {
		f.annotator.Pace = studyPace
	}
	if !f.given("seed") {
		f.annotator.Seed = spec.Seed
	}
	if f.study.people < 1 && f.given("people") || f.study.wage < 0 {
		return fmt.Errorf("%w: --people must be at least 1, and --wage must not be negative", errUsage)
	}
	if noise := f.given("right"); !noise && !f.given("expert") && !f.given("matched") {
		f.annotator.Expert.Right = studyRight
	}
	return f.usual(spec)
}

// usual sets what is rehearsed, and what is usual in a rehearsal where that is not said otherwise. Errors are of kind Invalid.
func (f *simulateFlags) usual(spec idrl.SessionSpec) error {
	study, a := &f.study, &f.annotator
	if study.spec = spec; spec.Budget == 0 && !spec.StopByItself && spec.Arena.Detect == 0 {
		return idrl.Errorf(idrl.Invalid, "%s: the study has no end: set budget or stop_by_itself in it", study.file)
	}
	study.skipIdle = study.skipIdle || !f.given("skip-idle") && a.Pace > 0
	if !f.given("answers") {
		a.Answers = idrl.MaxBudget // the session ends before
	}
	if !f.given("every") {
		a.Every = max(studyEvery, spec.Budget/studyLooks)
	}
	if !f.given("expert") && !f.given("matched") {
		a.Expert.Matched = true
		if noisy := []string{"probit", "bradley-terry"}; !spec.IsArena() && !slices.Contains(noisy, settings.Complete(spec).Likelihood) {
			a.Expert.Right = 0 // no number is its noise
		}
	}
	if study.people == 0 {
		if study.people = 1; spec.AnswersEach > 0 || spec.Arena.Detect > 0 {
			study.people = idrl.MaxBudget // as many as are needed
		}
	}
	return nil
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
