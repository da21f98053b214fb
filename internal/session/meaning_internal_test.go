package session

import (
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/chain"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/questions/questionstest"
	"tiebreak/internal/session/memory"
)

// Clips without names are of one group if they look much alike, and groups are one if most of two answers or more
// say that there is nothing between them.
func TestClipsWithoutNamesAreSorted(t *testing.T) {
	env := chain.New(chain.Config{})
	media := questionstest.Shelf{
		"right":  questionstest.Walk(t, env, "", 1, 2, 3, 4, 5, 6, 7, 8),
		"right2": questionstest.Walk(t, env, "other words", 1, 2, 3, 4, 5, 6, 7, 8),
		"left":   questionstest.Walk(t, env, "", 8, 7, 6, 5, 4, 3, 2, 1),
		"turns":  questionstest.Walk(t, env, "", 4, 5, 6, 7, 6, 5, 4, 3),
	}
	ids := []idrl.ClipID{"right", "right2", "left", "turns"}
	g := &idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{}}
	for i, a := range ids {
		g.Clips[a] = idrl.Clip{ID: a, Media: media[a]}
		for _, b := range ids[:i] {
			g.Queries = append(g.Queries, idrl.Query{ID: idrl.PairID(b, a), Kind: idrl.CompareClips, Clips: []idrl.ClipID{b, a}})
		}
	}
	equal := tie{[2]idrl.ClipID{"left", "turns"}, true}
	told := tie{[2]idrl.ClipID{"turns", "left"}, false}
	for _, test := range []struct {
		name string
		ties []tie
		want []int32
	}{
		{"nobody has answered", nil, []int32{0, 0, 1, 2}},
		{"one answer is no sign", []tie{equal}, []int32{0, 0, 1, 2}},
		{"two are", []tie{equal, equal}, []int32{0, 0, 1, 1}},
		{"unless as many tell them apart", []tie{equal, told, equal, told}, []int32{0, 0, 1, 2}},
		{"what is left joins them", []tie{equal, equal, {[2]idrl.ClipID{"right2", "turns"}, true}, {[2]idrl.ClipID{"right", "left"}, true}, {[2]idrl.ClipID{"right", "turns"}, true}}, []int32{0, 0, 0, 0}},
	} {
		s := newSight(&memory.Journal{}, "s1")
		must.Do(t, s.measureGeneration(g, nil))
		s.join(test.ties)
		var got []int32
		for _, id := range ids {
			n := must.Get(s.group(id))(t)
			got = append(got, n)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: groups %v, want %v", test.name, got, test.want)
		}
		for i, q := range g.Queries {
			a, _ := s.group(q.Clips[0])
			b, _ := s.group(q.Clips[1])
			if got := s.shown[i].groups; got != [2]int32{a, b} {
				t.Errorf("%s: question %d is about groups %v, want %d and %d", test.name, i, got, a, b)
			}
		}
	}
}
