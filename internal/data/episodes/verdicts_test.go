package episodes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/idrl"
)

// Episodes of a session about success have the first verdict that counts, turned if its annotator's are, with the frame in which it went wrong, by
// the number of the frame in the episode.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	s := about()
	s.spec.Kind, s.rows = idrl.JudgeClip, nil
	for n, v := range []struct {
		from   idrl.TrajectoryID
		rating float64
		wrong  int64
	}{
		{"g0.p1", idrl.Failure, 50},     // 0: left out
		{"g0.p1", idrl.Partial, 101},    // 1
		{"g0.p1", idrl.Success, 0},      // 2
		{"g1.p1.2", idrl.Failure, 0},    // 3: no moment
		{"g2.p1.1", idrl.Failure, 9000}, // 4: turned
		{"g3.p1.3", idrl.Failure, 9000}, // 5: after the end of the clip
	} {
		r := answer(n+1, v.from, v.from, idrl.Rated)
		r.Clips, r.Answer.Rating, r.Answer.WrongMS = r.Clips[:1], v.rating, v.wrong
		r.Query.Kind, r.Query.Clips = idrl.RateClip, r.Query.Clips[:1]
		r.LeftOut, r.Turned = n == 0, n == 4
		s.rows = append(s.rows, r)
	}
	set := recorded(t, episode)
	dir := written(t, s.config(set, func(i int) float64 { return float64(-i) }))
	type row struct {
		Verdict  *string `parquet:"verdict,optional"`
		Verdicts int64   `parquet:"verdicts"`
		Wrong    *int64  `parquet:"wrong_frame,optional"`
		Success  *bool   `parquet:"success,optional"`
	}
	second := int64(0.1015/set.StepSeconds()) + 3 // clips begin at frame 3, and have 10 steps
	name, number := func(v string) *string { return &v }, func(v int64) *int64 { return &v }
	want := map[int]row{
		0: {name("partial"), 2, number(second), nil}, 9: {name("failure"), 1, nil, nil}, 6: {name("success"), 1, number(13), nil}, 15: {name("failure"), 1, number(13), nil},
	}
	for i, got := range table[row](t, dir, "episodes.parquet") {
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("episode %d (-want +got):\n%s", i, diff)
		}
	}
	if rows := table[struct {
		Label string `parquet:"label_id"`
	}](t, dir, "preferences.parquet"); len(rows) != 0 {
		t.Errorf("%d verdicts are preferences", len(rows))
	}
	if got := text(t, dir, "README.md"); !strings.Contains(got, "5 verdicts") {
		t.Errorf("the README does not say how many verdicts there are:\n%s", got)
	}
}
