package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/session"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/session/view"
)

// uploads are sessions to which clips are uploaded.
func uploads(s *idrl.SessionSpec) { s.Env, s.TrainEvery, s.AdoptAfter = idrl.RolloutsEnv, 0, 0 }

// clipsOf returns an upload of clips from to to, with observations of that width.
func clipsOf(t testing.TB, from, to, width int) idrl.Generation {
	t.Helper()
	g := idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{}, Steps: map[idrl.StepsID][]byte{}}
	for k := from; k <= to; k++ {
		r := rng.New(3, "uploaded", uint64(k))
		phi := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		obs := make([]float32, width)
		name, content, err := steps.Encode(idrl.Steps{Obs: [][]float32{obs, obs}, Actions: [][]float32{{float32(k)}}, Phi: [][]float64{phi}, End: idrl.Truncated})
		if err != nil {
			t.Fatal(err)
		}
		c := idrl.Clip{ID: idrl.ClipID(fmt.Sprintf("c%d", k)), Steps: 1, Phi: phi, Raw: name}
		g.Clips[c.ID], g.Steps[name] = c, content
		g.Candidates = append(g.Candidates, idrl.Candidate{ID: idrl.PolicyID("u" + c.ID), Origin: idrl.FromUpload, Mu: phi, Clip: c.ID, Rollouts: []idrl.StepsID{name}})
	}
	return g
}

func mustUpload(t testing.TB, s *session.Session, given idrl.Generation) view.Uploaded {
	t.Helper()
	u := must.Get(s.Upload(t.Context(), given))(t)
	return u
}

// Equal seeds, answers and uploads in the same places give the same questions, also where the
// session is killed after each of them.
func TestUploadsRepeat(t *testing.T) {
	play := func(restart bool) (asked []idrl.QueryID, status []view.Estimate) {
		b := newBench(uploads)
		s, stop := b.start(t)
		again := func() {
			if restart {
				stop()
				s, stop = b.start(t)
			}
		}
		n := 0
		for i, part := range [][2]int{{1, 5}, {6, 7}, {8, 30}} {
			if u := mustUpload(t, s, clipsOf(t, part[0], part[1], 2)); u.Seq != int64(n) || u.Total != part[1] || slices.Contains(u.New, false) {
				t.Errorf("upload %d: %+v", i, u)
			}
			again()
			for range 4 {
				o := claim(t, s, "ann")
				asked = append(asked, o.Open[0].Query.ID)
				mustAnswer(t, s, "ann", reply(o.Open[0], n))
				n++
				again()
			}
		}
		st := must.Get(s.Status(t.Context()))(t)
		return asked, st.Candidates
	}
	asked, candidates := play(false)
	askedAgain, candidatesAgain := play(true)
	if d := cmp.Diff(asked, askedAgain); d != "" {
		t.Errorf("questions where the session is killed:\n%s", d)
	}
	if d := cmp.Diff(candidates, candidatesAgain); d != "" {
		t.Errorf("candidates where the session is killed:\n%s", d)
	}
	if len(candidates) != 30 || candidates[0].Name != string(idrl.FromUpload) || !slices.ContainsFunc(candidates, func(e view.Estimate) bool { return e.ID == "u30" }) {
		t.Errorf("%d candidates, want each clip to be one", len(candidates))
	}
}

// Which clips count as one policy is the same whether the session is killed after each step or
// not, also where a later clip is so far from the first ones that they count as one.
func TestUploadsFarApartRepeat(t *testing.T) {
	part := func(first int, at ...float64) idrl.Generation {
		g := clipsOf(t, first, first+len(at)-1, 2)
		for i := range g.Candidates {
			c := g.Clips[g.Candidates[i].Clip]
			c.Phi = []float64{at[i], 0, 0}
			g.Candidates[i].Mu, g.Clips[c.ID] = c.Phi, c
		}
		return g
	}
	play := func(restart bool) (record.Record, []view.Status) {
		b := newBench(uploads)
		s, stop := b.start(t)
		var told []view.Status
		again := func() {
			if restart {
				stop()
				s, stop = b.start(t)
			}
			told = append(told, status(t, s))
		}
		n := 0
		for _, g := range []idrl.Generation{part(1, 0, 1, 1.5), part(4, 3000), part(5, 2, 7)} {
			mustUpload(t, s, g)
			again()
			for range 3 {
				mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], n))
				n++
				again()
			}
		}
		return b.record(t, s), told
	}
	live, told := play(false)
	killed, toldAgain := play(true)
	if d := cmp.Diff(live, killed, journaltest.Same); d != "" {
		t.Errorf("records (-live +killed after each step):\n%s", d)
	}
	if d := cmp.Diff(told, toldAgain); d != "" {
		t.Errorf("what researchers see (-live +killed after each step):\n%s", d)
	}
	var policies []int
	for _, snap := range live.Snapshots {
		policies = append(policies, snap.Regret.Policies)
	}
	if want := []int{3, 3, 3, 2, 2, 2, 3, 3, 3}; !slices.Equal(policies, want) { // of 3 up to a thousandth of 1.5 apart, and then of 3000
		t.Errorf("statements are about %v policies, want %v", policies, want)
	}
}

// The same upload again changes nothing, and says so.
func TestUploadIsIdempotent(t *testing.T) {
	b := newBench(uploads)
	s, stop := b.start(t)
	mustUpload(t, s, clipsOf(t, 1, 4, 2))
	before := b.record(t, s)
	stop()
	s, _ = b.start(t)
	if u := mustUpload(t, s, clipsOf(t, 2, 3, 2)); !slices.Equal(u.New, []bool{false, false}) || u.Total != 4 {
		t.Errorf("again: %+v", u)
	}
	if d := cmp.Diff(before, b.record(t, s)); d != "" {
		t.Errorf("the journal after an upload that brought nothing:\n%s", d)
	}
	if u := mustUpload(t, s, clipsOf(t, 4, 5, 2)); !slices.Equal(u.New, []bool{false, true}) || u.Total != 5 {
		t.Errorf("half of it again: %+v", u)
	}
}

// An upload that cannot be is refused whole, and says why.
func TestUploadsRefused(t *testing.T) {
	b := newBench(uploads)
	s, _ := b.start(t)
	refused := func(what string, given idrl.Generation, kind idrl.Kind) {
		t.Helper()
		before := b.record(t, s)
		if _, err := s.Upload(t.Context(), given); idrl.KindOf(err) != kind {
			t.Errorf("%s: %v, want kind %v", what, err, kind)
		}
		if d := cmp.Diff(before, b.record(t, s)); d != "" {
			t.Errorf("%s left something:\n%s", what, d)
		}
	}
	o, err := s.Claim(t.Context(), "ann")
	if err != nil || o.Waiting == "" || len(o.Open) > 0 {
		t.Errorf("before the first upload: %+v, %v", o, err)
	}
	refused("one clip, first", clipsOf(t, 1, 1, 2), idrl.Invalid)
	odd := clipsOf(t, 1, 1, 2)
	more := clipsOf(t, 2, 2, 3)
	odd.Candidates = append(odd.Candidates, more.Candidates...)
	odd.Clips["c2"], odd.Steps[more.Candidates[0].Rollouts[0]] = more.Clips["c2"], more.Steps[more.Candidates[0].Rollouts[0]]
	refused("two widths", odd, idrl.Invalid)
	refused("too many", clipsOf(t, 1, idrl.MaxUploads+1, 2), idrl.Conflict)
	mustUpload(t, s, clipsOf(t, 1, 3, 2))
	refused("another width", clipsOf(t, 4, 4, 3), idrl.Invalid)
	b.journal.mu.Lock()
	b.journal.fail = idrl.Errorf(idrl.Unavailable, "the disk is full")
	b.journal.mu.Unlock()
	refused("a full disk", clipsOf(t, 4, 9, 2), idrl.Unavailable)
	if st, err := s.Status(t.Context()); err != nil || len(st.Candidates) != 3 {
		t.Errorf("after a failed write: %d candidates, %v", len(st.Candidates), err)
	}
	b.journal.mu.Lock()
	b.journal.fail = nil
	b.journal.mu.Unlock()
	if u := mustUpload(t, s, clipsOf(t, 4, 9, 2)); u.Total != 9 {
		t.Errorf("after the disk had room again: %+v", u)
	}
	other, _ := newBench(func(s *idrl.SessionSpec) { s.AdoptAfter = 0 }).start(t)
	if _, err := other.Upload(t.Context(), clipsOf(t, 1, 3, 2)); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("in a session on an environment: %v", err)
	}
}

// Where there are more pairs of clips than questions, each clip has its share, whenever it came.
func TestUploadsShareQuestions(t *testing.T) {
	b := newBench(uploads)
	s, _ := b.start(t)
	const n = 200
	for k := 1; k <= n; k += 40 {
		mustUpload(t, s, clipsOf(t, k, k+39, 2))
	}
	limit, count := learning.OfSession(s.Spec()).Queries, map[idrl.ClipID]int{}
	queries := b.record(t, s).Generation.Queries
	for _, q := range queries {
		for _, id := range q.Clips {
			count[id]++
		}
	}
	if len(queries) < limit-5 || len(queries) > limit {
		t.Errorf("%d questions, want about %d", len(queries), limit)
	}
	// Each clip is in a question with probability limit/pairs for each of its n−1 partners.
	mean, early, late := 2*float64(limit)/n, 0.0, 0.0
	for k := 1; k <= 40; k++ {
		early += float64(count[idrl.ClipID(fmt.Sprintf("c%d", k))]) / 40
		late += float64(count[idrl.ClipID(fmt.Sprintf("c%d", n+1-k))]) / 40
	}
	for what, got := range map[string]float64{"the first": early, "the last": late} {
		if got < 0.85*mean || got > 1.15*mean { // the mean of 40 of about 20 ± 4.5
			t.Errorf("%s clips are each in %.1f questions, want about %.1f", what, got, mean)
		}
	}
	if len(count) != n {
		t.Errorf("%d of %d clips are in a question", len(count), n)
	}
}

// Ratings ask about each clip.
func TestUploadsAreRated(t *testing.T) {
	b := newBench(func(s *idrl.SessionSpec) { uploads(s); s.Kind = idrl.RateClip })
	s, _ := b.start(t)
	mustUpload(t, s, clipsOf(t, 1, 1, 2))
	mustUpload(t, s, clipsOf(t, 2, 4, 2))
	if got := len(b.record(t, s).Generation.Queries); got != 4 {
		t.Errorf("%d questions about four clips", got)
	}
	if o := claim(t, s, "ann"); o.Open[0].Query.Kind != idrl.RateClip {
		t.Errorf("asked %+v", o.Open[0].Query)
	}
}

var errNever = errors.New("nothing is trained")

// Nothing is trained: not before the first upload, and not by answers.
func TestUploadsTrainNothing(t *testing.T) {
	b := newBench(uploads)
	b.trainer = fakeTrainer{d: dim, err: errNever}
	s, _ := b.start(t)
	mustUpload(t, s, clipsOf(t, 1, 8, 2))
	for n := range 10 {
		mustAnswer(t, s, "ann", reply(claim(t, s, "ann").Open[0], n))
	}
	if st, err := s.Status(t.Context()); err != nil || st.Training != (view.Training{}) {
		t.Errorf("training %+v, %v", st.Training, err)
	}
}

// stuckJournal takes in a generation when the gate is open.
type stuckJournal struct {
	*journal
	gate chan struct{}
}

func (j *stuckJournal) Adopt(ctx context.Context, id idrl.SessionID, g idrl.Generation, seq int64, by ...record.PastTraining) error {
	<-j.gate
	return j.journal.Adopt(ctx, id, g, seq, by...)
}

// An upload that waits for another one ends when its request does, and leaves nothing.
func TestUploadEndsWithItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(uploads)
		j := &stuckJournal{b.journal, make(chan struct{})}
		s, _ := b.startOn(t, j)
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { _, err := s.Upload(context.Background(), clipsOf(t, 1, 3, 2)); first <- err }()
		synctest.Wait() // the journal writes
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, err := s.Upload(ctx, clipsOf(t, 4, 5, 2)); second <- err }()
		cancel()
		time.Sleep(time.Second) // of the bubble's clock
		select {
		case err := <-second:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v of an upload whose request has ended", err)
			}
		default:
			t.Error("an upload whose request has ended still waits")
		}
		close(j.gate)
		must.Do(t, <-first)
		if u := mustUpload(t, s, clipsOf(t, 1, 3, 2)); u.Total != 3 {
			t.Errorf("%d clips, want the 3 of the first upload", u.Total)
		}
	})
}
