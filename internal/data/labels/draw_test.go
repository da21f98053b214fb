package labels_test

import (
	"errors"
	"fmt"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/labels"
	"tiebreak/internal/idrl"
)

// drawing is one of n pairs of segments of rollouts, in no order, with clips of size bytes; read are
// the rollouts that it was asked to draw, one after another. refuse says which cannot be shown.
func drawing(n, rollouts, size int, refuse func(labels.Segment) error) (d labels.Drawing, read *[]int) {
	r := rng.New(1, "pairs", 0)
	d = labels.Drawing{Clips: map[labels.Segment]idrl.Clip{}, Most: 1 << 20, Progress: func(int) {}}
	of := map[idrl.ClipID]labels.Segment{}
	for i := range n {
		p := labels.Pair{N: i}
		for side := range p.Segments {
			s := labels.Segment{Rollout: r.IntN(rollouts), Start: r.IntN(1 << 30)}
			id := idrl.ClipID(fmt.Sprint(s))
			p.Segments[side], d.Clips[s], of[id] = s, idrl.Clip{ID: id}, s
		}
		d.Pairs = append(d.Pairs, p)
	}
	read = new([]int)
	d.Encode = func(c idrl.Clip) ([]byte, error) {
		s := of[c.ID]
		if k := len(*read); k == 0 || (*read)[k-1] != s.Rollout {
			*read = append(*read, s.Rollout)
		}
		return make([]byte, size), refuse(s)
	}
	return d, read
}

// All clips are drawn if they fit, and each rollout is read about once, whatever the order of the pairs is.
func TestDraw(t *testing.T) {
	all := func(labels.Segment) error { return nil }
	d, read := drawing(2000, 40, 10, all)
	got, err := labels.Draw(t.Context(), d)
	if err != nil || got != (labels.Drawn{Pairs: 2000}) || len(*read) > 2*40 { // of the first block, and of the others
		t.Errorf("%+v, %v; %d rollouts are read", got, err, len(*read))
	}
	d, read = drawing(5000, 40, 1000, all)
	got, err = labels.Draw(t.Context(), d) // 1048 clips fit, of about 524 pairs
	if err != nil || got.Pairs < 500 || got.Pairs > 530 || len(*read) > 6*40 {
		t.Errorf("%+v, %v; %d rollouts are read", got, err, len(*read))
	}
	for i, p := range d.Pairs[:got.Pairs] { // the first ones
		if d.Clips[p.Segments[0]].Media == nil || d.Clips[p.Segments[1]].Media == nil {
			t.Fatalf("comparison %d is not drawn", i)
		}
	}
	d, _ = drawing(300, 40, 1<<20, all)
	if got, err = labels.Draw(t.Context(), d); err != nil || got.Pairs > 2 {
		t.Errorf("large clips: %+v, %v", got, err)
	}
}

// Clips that cannot be shown are tried once, and few of them if there is none that can; the reason of
// the first is told. Other errors end it.
func TestDrawFails(t *testing.T) {
	long := idrl.Errorf(idrl.Invalid, "too long")
	for _, test := range []struct {
		name   string
		refuse func(labels.Segment) error
		some   bool // are shown
		most   int  // are tried
	}{
		{"none can be shown", func(labels.Segment) error { return long }, false, 8},
		{"some cannot", func(s labels.Segment) error {
			if s.Rollout == 3 {
				return long
			}
			return nil
		}, true, 2000},
	} {
		d, _ := drawing(1000, 10, 10, test.refuse)
		encode, tried := d.Encode, map[idrl.ClipID]int{}
		d.Encode = func(c idrl.Clip) ([]byte, error) {
			tried[c.ID]++
			return encode(c)
		}
		got, err := labels.Draw(t.Context(), d)
		if err != nil || !errors.Is(got.Why, long) || (got.Pairs > 0) != test.some || len(tried) > test.most {
			t.Errorf("%s: %+v, %v; %d clips were tried", test.name, got, err, len(tried))
		}
		for id, n := range tried {
			if n > 1 {
				t.Errorf("%s: clip %s was tried %d times", test.name, id, n)
			}
		}
	}
	broken := errors.New("broken")
	d, _ := drawing(10, 10, 10, func(labels.Segment) error { return broken })
	if _, err := labels.Draw(t.Context(), d); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
