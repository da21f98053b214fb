package bundle

import (
	"context"
	"io"

	"tiebreak/internal/idrl"
)

// ReadRecords is readRecords.
var ReadRecords = readRecords

// WriteRecords writes the rows of a table as a bundle does.
func WriteRecords(ctx context.Context, w io.Writer, t idrl.RecordTable, rows func(context.Context, idrl.RecordTable, func([]any) error) error) error {
	out := newRecordWriter(w, t)
	if err := rows(ctx, t, out.write); err != nil {
		return err
	}
	return out.out.Close()
}

// SplitsOf returns the split of each comparison of a list.
func SplitsOf(list []idrl.Labelled) (out []string) {
	var s splits
	for i := range list {
		s.add(&list[i])
	}
	for i := range list {
		out = append(out, s.of(&list[i]))
	}
	return out
}
