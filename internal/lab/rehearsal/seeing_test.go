package rehearsal

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs/chain"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/seeing"
	"tiebreak/internal/look/clip"
	"tiebreak/web/wire"
)

// walks is Data with the clips of one policy, walks over fields of Chain.
type walks struct {
	recorded
	fields [][]int // of one: a still
}

func (w walks) PolicyClips(context.Context, idrl.SessionID, idrl.ClipID) (out [][]byte, err error) {
	for _, fields := range w.fields {
		c := idrl.Clip{Steps: len(fields) - 1, Phi: make([]float64, 20)}
		for i, f := range fields {
			c.Snapshots = append(c.Snapshots, []float64{float64(f), float64(i)})
		}
		b, err := clip.Encode(chain.New(chain.Config{}), c)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// A policy is worth the mean of its clips; stills count where there is nothing else.
func TestWorthOfAPolicy(t *testing.T) {
	taste := must.Get(seeing.Find("chain", ""))(t)
	for _, test := range []struct {
		fields [][]int
		mean   float64
		n      int
	}{
		{[][]int{{0, 1, 2}, {9, 10, 11}, {19}}, (2 + 11) / 40., 2},
		{[][]int{{3}, {5}}, 5 / 20., 2},
		{nil, math.NaN(), 0},
	} {
		l := liking{data: walks{fields: test.fields}, taste: taste}
		mean, n, err := l.worth(t.Context(), idrl.Candidate{ID: "p"})
		if err != nil || n != test.n || !(math.Abs(mean-test.mean) < 1e-12 || math.IsNaN(mean) && math.IsNaN(test.mean)) {
			t.Errorf("%v: %v of %d, %v; want %v of %d", test.fields, mean, n, err, test.mean, test.n)
		}
	}
}

// A person who sees has no true reward: nothing is said of one, for people and in files, and the
// summary is about worth.
func TestNoTrueReward(t *testing.T) {
	nan := math.NaN()
	run := Run{Seed: 1, Session: "s"}
	for i := range 10 {
		run.Rows = append(run.Rows, Comparison{
			Given: i + 1, Policies: 3, Recommended: "p", Return: nan, Best: nan, BestKnown: nan, Span: nan, Regret: nan, RegretKnown: nan, Cosine: nan,
			Shown: idrl.Regret{Tolerance: 0.05, Within: 0.5, Bound: 0.2, Mean: 0.1}, Worth: float64(i) / 10, WorthClips: 4,
		})
	}
	c := run.Rows[3]
	if says := c.String(); c.True() || !strings.Contains(says, "Worth to the seeing expert: 0.3, the mean of 4 clips") || strings.Contains(says, "NaN") {
		t.Errorf("it says\n%s", says)
	}
	if _, reached := run.answersToTenth(); reached {
		t.Error("a true regret of a tenth was reached")
	}
	fields := row{Comparison: c}.write()
	for i, name := range header() {
		empty := strings.HasPrefix(name, "true_") || slices.Contains([]string{"best_return", "best_known_return", "within", "covered", "cosine", "against"}, name)
		if empty != (fields[i] == "") && name != "session" {
			t.Errorf("column %s holds %q", name, fields[i])
		}
	}
	file := filepath.Join(t.TempDir(), "runs.csv")
	must.Do(t, mustOpen(t, file, nil).add(run))
	read := mustOpen(t, file, nil).runs
	if len(read) != 1 || read[0].Rows[3].True() || read[0].Rows[3].Worth != 0.3 || read[0].Rows[3].WorthClips != 4 {
		t.Errorf("read again: %+v", read)
	}
	var out bytes.Buffer
	figures := Figures([]Run{run})
	must.Do(t, PrintSummary(&out, []Run{run}, figures))
	if s := out.String(); strings.Contains(s, "true regret") || strings.Contains(s, "NaN") || !strings.Contains(s, "worth to the person, mean") || !strings.Contains(s, "10 looks") {
		t.Errorf("the summary:\n%s", s)
	}
	for _, f := range figures {
		if f.Measure == "worth" && f.At == "5" && f.Value != 0.4 || f.Measure == "within" && f.N > 0 {
			t.Errorf("%+v", f)
		}
	}
}

// A person is made for the session's environment and kind; a taste that cannot be told is refused.
func TestPersonOfASession(t *testing.T) {
	e := Expert{Kind: Seeing, Threshold: 1.5, Mistake: 0.1}
	for _, test := range []struct {
		env   string
		kind  idrl.QueryKind
		taste string
		says  string // of the error; empty: none
	}{
		{"gridworld", idrl.RateState, "", ""},
		{"driver", idrl.CompareClips, "far", ""},
		{"hopper", idrl.CompareClips, "", ""},
		{"hopper", idrl.CompareStates, "", "needs moving clips"},
		{"hopper", idrl.CompareClips, "far", "forward, backflip"},
		{"own-robot@1", idrl.CompareClips, "", "own-robot"},
	} {
		e.Taste = test.taste
		r := &Annotator{cfg: Config{Seed: 1, Expert: e}.withDefaults()}
		err := r.greet(t.Context(), &wire.Hello{Session: "s", Env: test.env, Kind: test.kind})
		if test.says == "" && (err != nil || r.person.Env != test.env || r.liking != nil) {
			t.Errorf("%+v: %v", test, err)
		}
		if test.says != "" && (idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%+v: error %v", test, err)
		}
	}
}

// What is hard to see takes longer, and says so although the clock skips it.
func TestHardQuestionsTakeLonger(t *testing.T) {
	taste := must.Get(seeing.Find("chain", ""))(t)
	media := must.Get(walks{fields: [][]int{{0, 1, 2}, {15, 16, 17}}}.PolicyClips(t.Context(), "", ""))(t)
	var clips []*clip.Clip
	for _, b := range media {
		c := must.Get(clip.Decode(b))(t)
		clips = append(clips, c)
	}
	took := func(a, b *clip.Clip) time.Duration {
		r := &Annotator{person: &seeing.Person{Taste: taste, Threshold: 1.5}, drawn: []*clip.Clip{a, b}, cfg: Config{Pace: time.Second, Clock: never{}}}
		_, slow, err := r.decide(idrl.QueryVector{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		must.Get(r.think(t.Context(), slow, rng.New(1, "response time", 0)))(t)
		return r.took
	}
	if easy, hard := took(clips[0], clips[1]), took(clips[0], clips[0]); math.Abs(float64(hard)/float64(easy)-3) > 0.01 {
		t.Errorf("easy takes %v, hard %v; want three times that", easy, hard)
	}
}

// never is a clock on which nothing takes time.
type never struct{}

func (never) Wait(context.Context, time.Duration) error { return nil }

// A threshold of 0 is of somebody who overlooks nothing; there is none below.
func TestThresholds(t *testing.T) {
	for _, test := range []struct {
		threshold float64
		ok        bool
	}{{0, true}, {1.5, true}, {-1, false}, {math.NaN(), false}, {math.Inf(1), false}} {
		if err := (Expert{Kind: Seeing, Threshold: test.threshold, Mistake: 0.1}).Check(); (err == nil) != test.ok {
			t.Errorf("threshold %v: %v, want ok: %t", test.threshold, err, test.ok)
		}
	}
}
