package session

import (
	"bytes"

	"tiebreak/internal/idrl"
)

// BeliefAfter returns the belief after a log row of a record, by the answers that count in the
// log up to it, under the features of the environment.
func BeliefAfter(cfg Config, seq int64) (idrl.Posterior, error) {
	s := assemble(cfg)
	return s.posteriorAfter(s.features, s.log.rows[:seq])
}

// CheckBeliefs compares the snapshots of a record with its log. It returns the rows
// whose snapshot is damaged, and whether the last snapshot, if it is sound, is bit for
// bit the belief that the log gives; one that another version of the program wrote
// need not be.
func CheckBeliefs(cfg Config) (damaged []int64, same bool, err error) {
	s := assemble(cfg)
	var last idrl.Posterior
	for _, snap := range cfg.Record.Snapshots {
		f, err := s.under(snap.Representation)
		if err != nil {
			return damaged, false, err
		}
		if snap.Emptied() || snap.Belief == nil && snap.Mean != nil { // withdrawn data were part of it, or it is not kept
			last = nil
			continue
		}
		if last, err = f.decode(snap); err != nil {
			damaged = append(damaged, snap.Seq)
		}
	}
	f, err := s.under(int64(len(s.fits)))
	if err != nil {
		return damaged, false, err
	}
	s.features = f
	if last == nil || len(s.log.rows) == 0 || !s.current(cfg.Record.Snapshots) { // else it is computed anew at the next start
		return damaged, true, nil
	}
	want, err := s.posteriorAfter(f, s.log.rows)
	if err != nil {
		return damaged, false, err
	}
	a, err := f.model.Encode(last)
	if err != nil {
		return damaged, false, err
	}
	b, err := f.model.Encode(want)
	return damaged, bytes.Equal(a, b), err
}
