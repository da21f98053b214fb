package learning_test

import (
	"slices"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
)

// Which of some queries may be put to a person, by how they stand and how long ago one like
// it was asked.
func TestUnlike(t *testing.T) {
	const busy, known, out = learning.Busy, learning.Known, learning.Out
	for _, test := range []struct {
		name string
		is   []learning.Standing
		ago  []uint8
		less []uint8
		want []int
	}{
		{"new ones first", []learning.Standing{0, known, busy, 0}, []uint8{0, 0, 0, 3}, nil, []int{0}},
		{"then known ones", []learning.Standing{out, known, busy, known, 0}, []uint8{0, 0, 0, 0, 1}, nil, []int{1, 3}},
		{"then what others answer", []learning.Standing{out, busy | known, known}, []uint8{0, 0, 2}, nil, []int{1}},
		{"then what was asked longest ago", []learning.Standing{known, known, 0, busy}, []uint8{2, 9, 9, 30}, nil, []int{1, 2}},
		{"then likewise of what others answer", []learning.Standing{out, busy, busy | known}, []uint8{50, 4, 7}, nil, []int{2}},
		{"never what is open with them", []learning.Standing{out, out | busy}, []uint8{0, 7}, nil, nil},
		{"of new ones the least unwelcome", []learning.Standing{0, 0, known, 0, out}, []uint8{0, 0, 0, 0, 0}, []uint8{3, 2, 0, 2, 0}, []int{1, 3}},
		{"also of what was asked longest ago", []learning.Standing{0, 0, 0, out}, []uint8{9, 9, 2, 0}, []uint8{4, 1, 0, 0}, []int{1}},
		{"none", nil, nil, nil, nil},
	} {
		if test.less == nil {
			test.less = make([]uint8, len(test.is))
		}
		var queries []idrl.QueryVector
		for i := range test.is {
			queries = append(queries, idrl.QueryVector{Query: idrl.Query{ID: idrl.QueryID(rune('0' + i))}})
		}
		var got []int
		for _, q := range learning.Unlike(nil, queries, test.is, test.ago, test.less) {
			got = append(got, int(q.ID[0]-'0'))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
