package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/study/rehearsed"
	"tiebreak/internal/study/settings"
)

// checkKeep returns an error unless the runs can be kept as what is to be expected of sessions with
// default settings.
func (f *simulateFlags) checkKeep() error {
	if f.study.keep == "" {
		return nil
	}
	if !f.annotator.Expert.Matched || f.annotator.Expert.Right == 0 || f.annotator.Pace == 0 {
		return fmt.Errorf("%w: --keep needs --matched, --right and --pace, which say what person was simulated", errUsage)
	}
	spec, usual := settings.Complete(f.study.spec), settings.Defaults()
	usual.Env, usual.Kind = spec.Env, spec.Kind
	usual = settings.Complete(usual)
	for _, s := range settings.All() {
		if !slices.Contains(notOfRuns, s.Key) && s.Text(spec) != s.Text(usual) {
			return fmt.Errorf("%w: --keep is for sessions with default settings; --%s is set", errUsage, s.Flag())
		}
	}
	return nil
}

// keepRuns puts the runs into the file of rehearsals that the form of new sessions shows.
func (f *simulateFlags) keepRuns(runs []rehearsal.Run) error {
	row, err := f.rehearsed(runs)
	if err != nil {
		return err
	}
	var table rehearsed.Table
	switch b, err := os.ReadFile(f.study.keep); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if table, err = rehearsed.Read(b); err != nil {
			return err
		}
	}
	table.Put(row)
	b, err := table.Encode()
	if err == nil {
		_, err = rehearsed.Read(b)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(f.study.keep, b, 0o644)
}

// rehearsed returns the runs as a row of that file. Regrets are rounded to four digits.
func (f *simulateFlags) rehearsed(runs []rehearsal.Run) (row rehearsed.Row, err error) {
	spec, a := settings.Complete(f.study.spec), f.annotator
	row = rehearsed.Row{Env: spec.Env, Kind: spec.Kind, Right: a.Expert.Right, PaceS: a.Pace.Seconds(), First: a.Seed, Against: string(runs[0].Rows[len(runs[0].Rows)-1].Against)}
	for _, c := range runs[0].Rows {
		row.Answers = append(row.Answers, c.Given)
	}
	for _, r := range runs {
		var curve []float64
		for i, c := range r.Rows {
			if i >= len(row.Answers) || c.Given != row.Answers[i] {
				return row, idrl.Errorf(idrl.Invalid, "the runs with seeds %d and %d were compared after other answers; give --every a larger number", runs[0].Seed, r.Seed)
			}
			curve = append(curve, math.Round(1e4*c.Regret)/1e4)
		}
		row.Regret = append(row.Regret, curve)
	}
	return row, nil
}
