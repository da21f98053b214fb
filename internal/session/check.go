package session

import (
	"bytes"

	"tiebreak/internal/idrl"
)

// CheckBeliefs compares the snapshots of a record with its log. It returns the rows
// whose snapshot is damaged, and whether the last snapshot, if it is sound, is bit for
// bit the belief that the log gives; one that another version of the program wrote
// need not be.
func CheckBeliefs(cfg Config) (damaged []int64, same bool, err error) {
	s := assemble(cfg)
	var last idrl.Posterior
	for _, snap := range cfg.Record.Snapshots {
		if last, err = s.decode(snap); err != nil {
			damaged = append(damaged, snap.Seq)
		}
	}
	if last == nil || len(s.log.rows) == 0 || !current(cfg.Record.Snapshots) { // else it is computed anew at the next start
		return damaged, true, nil
	}
	want, err := s.posteriorAfter(s.log.rows)
	if err != nil {
		return damaged, false, err
	}
	a, err := s.cfg.Codec.EncodeBelief(last)
	if err != nil {
		return damaged, false, err
	}
	b, err := s.cfg.Codec.EncodeBelief(want)
	return damaged, bytes.Equal(a, b), err
}
