package store_test

import (
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
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
	paused, rows, begun := 0, 0, 0
	ctx := idrl.WithPause(t.Context(), func() { paused++ })
	must.Do(t, db.Rows(ctx, "s", func(record.Labelled) error { rows++; return nil }))
	if rows != answers || paused < answers {
		t.Errorf("%d rows are read with %d pauses", rows, paused)
	}
	must.Do(t, db.Follow(ctx, "s", 0, answers, func(row record.LogRow) error {
		if row.Seq == 1 {
			begun = paused
		}
		rows--
		return nil
	}))
	if more := paused - begun; rows != 0 || more != answers-1 {
		t.Errorf("%d pauses between %d rows that are written, %d rows missing", more, answers, rows)
	}
}
