package recordings_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
)

// Rollouts of which there is nothing to see are kept with their rows, and nothing draws them.
func TestUnseen(t *testing.T) {
	s := made(t, "files").json(t, func(m map[string]any) { m["shown"] = false })
	withRows(t, s, 5, 100, 130, 1000)
	for name := range s {
		if strings.Contains(name, "/frames/") {
			delete(s, name)
		}
	}
	set, err := imported(t, s.folder(t))
	must(t, err)
	env := set.New()
	if _, drawn := env.(drawing.Drawer); drawn || !set.Unseen() {
		t.Error("it is drawn")
	}
	if _, pictured := env.(drawing.Pictured); pictured {
		t.Error("it has pictures")
	}
	for _, test := range []struct {
		row, n, rollout, step int
		is                    recordings.Where
	}{
		{5, 30, 0, 0, recordings.Within},
		{34, 1, 0, 29, recordings.Within},
		{34, 2, 0, 29, recordings.Across},
		{34, math.MaxInt, 0, 29, recordings.Across},
		{4, 1, 0, 0, recordings.Missing},
		{35, 1, 0, 0, recordings.Missing},
		{129, 1, 1, 29, recordings.Within},
		{130, 1, 2, 0, recordings.Within},
		{1029, 1, 3, 29, recordings.Within},
		{1030, 1, 0, 0, recordings.Missing},
	} {
		if rollout, step, is := set.Rows().Find(test.row, test.n); rollout != test.rollout || step != test.step || is != test.is {
			t.Errorf("row %d, %d steps: %d %d %d", test.row, test.n, rollout, step, is)
		}
	}
	for k := range 4 {
		tr, episode, err := set.Trajectory(k)
		must(t, err)
		must(t, tr.Validate())
		if string(tr.ID) != []string{"a0", "b0", "a1", "b1"}[k] || episode != k/2 || (tr.End == idrl.Terminated) != (k == 1) {
			t.Errorf("rollout %d: %s, episode %d, ends with %v", k, tr.ID, episode, tr.End)
		}
		c := idrl.Segment(tr, 7, 10)
		want := 0.0
		for at := 7; at < 17; at++ {
			want += phi(k, at, 1)
		}
		if math.Abs(c.Phi[1]-want) > 1e-9 || tr.Obs[3][1] != obs(k, 3, 1) || tr.Actions[3][1] != act(k, 3, 1) || !slices.Equal(c.Snapshots[0], []float64{float64(k), 7}) {
			t.Errorf("segment of rollout %d: %v, want %v", k, c.Phi, want)
		}
	}
}

// Of more rollouts without policies than policies may be, as many are policies, spread evenly.
func TestManyUnnamed(t *testing.T) {
	s, list := sample{}, []string{}
	const n = 1001
	for i := range n {
		s[fmt.Sprintf("r%d/features.npy", i)] = npy("<f8", []float64{float64(i % 13)}, 1, 1)
		list = append(list, fmt.Sprintf(`{"name": "r%d"}`, i))
	}
	s["rollouts.json"] = []byte(`{"format": "tiebreak.rollouts", "version": 1, "shown": false, "step_seconds": 1, "clip_steps": 1, "features": ["one"], "rollouts": [` + strings.Join(list, ",") + "]}")
	set, err := imported(t, s.folder(t))
	must(t, err)
	rollouts, policies := set.Size()
	if rollouts != n || policies != 400 || len(set.Policies()) != 400 || set.Named() {
		t.Errorf("%d rollouts, %d policies", rollouts, policies)
	}
	last := -1
	for k := range set.Policies() {
		var i int
		p, ok := set.Policy(k)
		_, err := fmt.Sscanf(p.Name(), "r%d", &i)
		must(t, err)
		if gap := i - last; !ok || gap < 2 || gap > 3 || !slices.Equal(p.Rollouts(), []string{p.Name()}) {
			t.Errorf("policy %d is rollout %d, after %d", k, i, last)
		}
		last = i
	}
	if tr, episode, err := set.Trajectory(0); err != nil || episode != 0 || tr.Len() != 1 {
		t.Errorf("a rollout that counts for no policy: %v", err)
	}
}
