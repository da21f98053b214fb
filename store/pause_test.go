package store_test

import (
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Rows are read with a pause between them, so that long reading gives way to what is more urgent.
func TestReadingPauses(t *testing.T) {
	db := open(t, t.TempDir())
	const answers = 20
	prepare(t, db, "s", answers)
	for seq := range int64(answers) {
		must.Do(t, db.Append(t.Context(), "s", record.Row{Answer: answer(seq+1, assignment(seq+1, generation0.Queries[0], "a1")), After: snapshot(seq + 1)}))
	}
	paused, rows := 0, 0
	ctx := idrl.WithPause(t.Context(), func() { paused++ })
	must.Do(t, db.Rows(ctx, "s", func(record.Labelled) error { rows++; return nil }))
	if rows != answers || paused < answers {
		t.Errorf("%d rows are read with %d pauses", rows, paused)
	}
}
