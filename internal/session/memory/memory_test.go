package memory_test

import (
	"errors"
	"sync"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/session/memory"
)

func TestJournal(t *testing.T) {
	journaltest.Run(t, func(*testing.T) record.Journal {
		return &memory.Journal{Record: &record.Record{Spec: journaltest.Spec("s")}, Guard: new(sync.Mutex), Annotators: []idrl.AnnotatorID{"a1", "a2"}}
	})
}

// A write that fails as a full disk does changes nothing.
func TestFail(t *testing.T) {
	full := errors.New("full")
	m := &memory.Journal{Record: &record.Record{Spec: journaltest.Spec("s")}, Guard: new(sync.Mutex), Fail: func() error { return full }}
	if err := m.Adopt(t.Context(), "s", journaltest.Generation(0), 0); !errors.Is(err, full) {
		t.Errorf("error = %v, want %v", err, full)
	}
	if m.Record.Generation != nil {
		t.Error("the generation was kept")
	}
}
