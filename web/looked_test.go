package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tiebreak/internal/base/live"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"
)

func (f *fakeSession) Learnt(context.Context) (*insight.Learnt, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil || f.learnt == nil {
		return &insight.Learnt{BasedOn: -1}, f.fail
	}
	return f.learnt, nil
}

// learntOf is what a session of n weights has learnt.
func learntOf(n int) *insight.Learnt {
	liking := func(clip idrl.ClipID, value float64, v insight.Verdict) insight.Liking {
		return insight.Liking{Clip: clip, Value: value, Std: 0.5, Verdict: v}
	}
	l := &insight.Learnt{
		Seq: 7, BasedOn: 4,
		Policies: []insight.Actor{
			{ID: "g4.p0", Origin: idrl.FromMean, Group: insight.Recommended, Clips: []insight.Moment{{Clip: "c1"}, {Clip: "c2", Episode: 1, Start: 40}}},
			{ID: "pool.p1", Origin: idrl.FromPrior, Group: insight.Prepared, Clips: []insight.Moment{{Clip: "c3"}}},
			{ID: "pool.p2", Title: "Ada", Group: insight.Prepared, Clips: []insight.Moment{{Clip: "c4"}}},
		},
		Tastes: []insight.Taste{{Most: []insight.Liking{liking("c1", 1.5, insight.Likes)}, Least: []insight.Liking{liking("c3", -0.2, insight.Unknown)}}},
		Next: &insight.Next{
			Query: idrl.Query{Kind: idrl.CompareClips, Clips: []idrl.ClipID{"c2", "c4"}}, First: insight.Policy{ID: "g4.p0"}, Second: insight.Policy{ID: "pool.p2", Title: "Ada"}, Rivals: 1, Better: 0.54,
		},
	}
	for k := range n {
		v := []insight.Verdict{insight.Likes, insight.Dislikes, insight.Unknown}[k%3]
		t := insight.Taste{Name: fmt.Sprintf("feature %d", k), Mean: 1 - float64(k), Std: 0.25, Verdict: v}
		if k != 1 {
			t.Most, t.Least = []insight.Liking{liking("c1", 0.5, v)}, []insight.Liking{liking("c4", -1, v)}
		}
		l.Tastes = append(l.Tastes, t)
	}
	return l
}

// The page of what a session has learnt has the policies to choose from, the clips that the reward likes with their numbers, and the
// question that would be asked, with what the answer would tell.
func TestLearntParts(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	get := func(want ...string) string {
		t.Helper()
		r := b.get(c, "/sessions/s1/charts?page=learnt")
		if lacks := r.lacks(want...); r.status != 200 || lacks != nil {
			t.Errorf("the page lacks %q: status %d\n%s", lacks, r.status, r.body)
		}
		for _, bad := range []string{"<script", " style=", " onclick=", "NaN", "Inf"} {
			if strings.Contains(r.body, bad) {
				t.Errorf("the page holds %q", bad)
			}
		}
		return r.body
	}
	get("Shown from the first answer on", "Shown as soon as there are questions.")
	b.s1.set(live.EventAnswered, func() { b.s1.learnt = learntOf(10) })
	b.s1.set(live.EventAnswered, func() {
		l := learntOf(10)
		l.Recorded, l.Policies[0].Clips[1].Begins, l.Policies[2].Clips[0].Begins = true, `"cup" "seed 1"`, `"cup" "seed 1"`
		b.s1.learnt = l
	})
	get(`data-begins="? %22cup%22+%22seed+1%22@40">Mean-optimal`, `data-begins="?">`, `data-begins="%22cup%22+%22seed+1%22@0">Ada`)
	b.s1.set(live.EventAnswered, func() { b.s1.learnt = learntOf(10) })
	body := get(
		`data-learnt-of="7"`, `<optgroup label="Recommended now"><option value="g4.p0" data-clips="0.0 /sessions/s1/clips/c1 1.40 /sessions/s1/clips/c2">Mean-optimal g4.p0</option></optgroup>`,
		`<optgroup label="Prepared before the first answer">`, ">Ada (pool.p2)</option>", ">Episode 1, step 0</option>", `<option value="1.40">Episode 2, step 40</option>`,
		"<b>1.50 ± 0.98</b> liked", "<b>−0.20 ± 0.98</b> not known yet", `data-taste="feature 0"`, ">likes<", ">dislikes<", "1.00 ± 0.49", "No two of the clips differ in this feature.",
		"2 weights more, of which less is known", `data-next="/sessions/s1/clips/c2 /sessions/s1/clips/c4"`, "The answer would tell whether g4.p0 or Ada (pool.p2) is better.", "probability of 54 %",
	)
	if shown, more, ok := strings.Cut(body, "<details>"); !ok || strings.Count(shown, "data-taste=") != 9 || strings.Count(more, "data-taste=") != 2 {
		t.Error("not eight weights are shown at once, and two on demand")
	}
	for rivals, want := range map[int]string{2: "and from one more policy.", 5: "and from 4 more policies."} {
		b.s1.set(live.EventAnswered, func() { b.s1.learnt.Next.Rivals = rivals })
		get(want)
	}
	b.s1.set(live.EventAnswered, func() { b.s1.learnt.Next.First, b.s1.learnt.Next.Query.Kind = insight.Policy{}, idrl.RateClip })
	if got := get("It compares no two policies"); strings.Contains(got, "probability") {
		t.Error("a rating has a better clip")
	}
	b.s1.set(live.EventAnswered, func() { b.s1.learnt.Tastes = b.s1.learnt.Tastes[:1]; b.s1.learnt.Next = nil })
	if got := get("There is no question to ask now."); strings.Contains(got, `class="tastes"`) {
		t.Error("a reward without named weights shows weights")
	}
	r := b.get(c, "/sessions/s1/learnt")
	if lacks := r.lacks(`data-learnt="/sessions/s1/charts?page=learnt"`, `aria-current="page">What it learnt<`, "data-compared", "data-candidates", "charts.css"); r.status != 200 || lacks != nil {
		t.Errorf("the page: status %d, lacks %q", r.status, lacks)
	}
}
