package jobstest_test

import (
	"testing"

	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"
)

func TestMemory(t *testing.T) {
	jobstest.Run(t, func(_ *testing.T, s jobs.Store) jobstest.Dispatcher {
		return jobstest.Memory{Store: s, Handler: &jobstest.Handler{Die: func() { panic(jobstest.ErrDied) }}}
	})
}

func TestRows(t *testing.T) {
	jobstest.RunStore(t, func(*testing.T) jobs.Store { return &jobs.Rows{} })
}

func TestStore(t *testing.T) {
	jobstest.RunStore(t, func(*testing.T) jobs.Store { return &jobstest.Store{} })
}
