package bundle

import (
	"tiebreak/internal/base/record"
)

// ReadRecords is readRecords.
var ReadRecords = readRecords

// WriteRecords is writeRecords.
var WriteRecords = writeRecords

// LimitLines makes n the greatest length of a line of records until restore is called.
func LimitLines(n int) (restore func()) {
	was := maxLine
	maxLine = n
	return func() { maxLine = was }
}

// SplitsOf returns the split of each comparison of a list.
func SplitsOf(list []record.Labelled) (out []string) {
	var s splits
	for i := range list {
		s.add(&list[i])
	}
	for i := range list {
		out = append(out, s.of(&list[i]))
	}
	return out
}
