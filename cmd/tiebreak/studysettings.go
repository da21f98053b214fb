package main

import (
	"slices"
	"strconv"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/study/settings"
)

// firstSettings are the settings of sessions that files of runs of every version have.
var firstSettings = []string{"env", "kind", "acquisition", "model", "solver", "prior", "likelihood", "budget", "candidates", "train_every", "adopt_after"}

// oncePresent are settings whose columns files of earlier versions have only if one of them was
// set.
var oncePresent = []string{"conditions", "held_out"}

// notOfRuns are the settings in which the sessions of runs may differ: each run has its own seed,
// and a simulated annotator reads no texts.
var notOfRuns = []string{"title", "seed", "instructions", "instructions_format", "purpose", "consent", "completion_code"}

// settings returns the common settings of the runs: all settings of their sessions, and of the
// annotator. They are in the order of the columns of the file of runs.
func (f *simulateFlags) settings() []rehearsal.Setting {
	spec, a := settings.Complete(f.study.spec), f.annotator
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	var out []rehearsal.Setting
	for _, key := range firstSettings {
		out = append(out, rehearsal.Setting{Name: key, Value: settings.Get(key).Text(spec)})
	}
	out = append(out, []rehearsal.Setting{
		{Name: "answers_wanted", Value: strconv.Itoa(a.Answers)},
		{Name: "every", Value: strconv.Itoa(a.Every)},
		{Name: "pace", Value: a.Pace.String()},
		{Name: "pause", Value: a.Pause.String()},
		{Name: "skip_idle", Value: strconv.FormatBool(f.study.skipIdle)},
	}...)
	e := rehearsal.Expert{Kind: "matched", Right: a.Expert.Right}
	if !a.Expert.Matched {
		e = a.Expert
	}
	for _, key := range oncePresent {
		out = append(out, later(settings.Get(key), spec, idrl.SessionSpec{}))
	}
	out = append(out, []rehearsal.Setting{
		{Name: "expert", Value: e.Kind},
		{Name: "right", Value: number(e.Right), Later: true, Before: "0"},
		{Name: "temperature", Value: number(e.Temperature)},
		{Name: "noise", Value: number(e.NoiseStd)},
		{Name: "tie_band", Value: number(e.TieBand)},
		{Name: "mistake", Value: number(e.Mistake)},
		{Name: "skip_below", Value: number(e.SkipBelow)},
		{Name: "taste", Value: e.Taste},
		{Name: "threshold", Value: number(e.Threshold)},
	}...)
	out = append(out, rehearsal.Setting{Name: "await_training", Value: strconv.FormatBool(f.study.await), Later: true, Before: "false"})
	return append(out, laterSettings(spec, out)...)
}

// laterSettings returns the settings of sessions that are not among first. Files of earlier
// versions lack them, and count as files of runs with their defaults.
func laterSettings(spec idrl.SessionSpec, first []rehearsal.Setting) (out []rehearsal.Setting) {
	before := settings.Defaults()
	for _, key := range firstSettings {
		settings.Get(key).Copy(&before, spec)
	}
	before = settings.Complete(before)
	for _, field := range settings.All() {
		if slices.Contains(slices.Concat(firstSettings, oncePresent, notOfRuns), field.Key) {
			continue
		}
		s := later(field, spec, before)
		if slices.ContainsFunc(first, func(f rehearsal.Setting) bool { return f.Name == s.Name }) {
			s.Name = "session_" + s.Name // the annotator has a setting of that name
		}
		out = append(out, s)
	}
	return out
}

func later(f settings.Setting, spec, before idrl.SessionSpec) rehearsal.Setting {
	return rehearsal.Setting{Name: f.Key, Value: f.Text(spec), Later: true, Before: f.Text(before)}
}
