package insight

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"

	"github.com/google/go-cmp/cmp"
)

// verdict is row seq of a log: somebody judges an episode.
func verdict(seq int64, who, episode string, rating float64, wrongMS int64) idrl.Answer {
	return idrl.Answer{
		ID: idrl.AnswerID(fmt.Sprint("a", seq)), Seq: seq, Assignment: idrl.AssignmentID(episode), Query: idrl.QueryID("q " + episode),
		Annotator: idrl.AnnotatorID(who), Choice: idrl.Rated, Rating: rating, WrongMS: wrongMS,
	}
}

// The first verdict of an episode that counts is counted, for its policy and for its task; moments are compared between people.
func TestVerdicts(t *testing.T) {
	episodes := map[idrl.AssignmentID]Episode{
		"e1": {"p.1", "one", "stack"}, "e2": {"p.2", "one", "stack"}, "e3": {"p.3", "one", "fold"}, "e4": {"q", "two", "fold"}, "e5": {"q.1", "two", "fold"},
	}
	log := []idrl.Answer{
		verdict(1, "ann", "e1", idrl.Success, 0), verdict(2, "bob", "e1", idrl.Failure, 900), // the second verdict does not count again
		verdict(3, "ann", "e2", idrl.Failure, 1000), verdict(4, "bob", "e2", idrl.Partial, 3000), verdict(5, "cem", "e2", idrl.Failure, 2000),
		verdict(6, "ann", "e3", idrl.Partial, 0), verdict(7, "ann", "e4", idrl.Failure, 0),
		verdict(8, "ann", "e5", idrl.Success, 0),
		{ID: "u", Seq: 9, Annotator: "ann", Undoes: "a8"},
		{ID: "s", Seq: 10, Annotator: "ann", Assignment: "e5", Query: "q e5", Choice: idrl.CantTell},
		verdict(11, "dan", "e4", idrl.Success, 0),
		{ID: "o", Seq: 12, Annotator: "dan", Choice: idrl.LeftOut},
	}
	v := verdictsOf(log, func(id idrl.AssignmentID) (Episode, bool) { e, ok := episodes[id]; return e, ok })
	type row struct {
		Policy, Task               string
		Failures, Partial, Success int
		Share                      float64
	}
	var got []row
	for _, r := range v.Rates {
		got = append(got, row{r.Policy, r.Task, r.Failures, r.Partial, r.Success, r.Share})
		if !(r.Low >= 0 && r.Low <= r.Share && r.Share <= r.High && r.High <= 1) {
			t.Errorf("%s %s: %v to %v about %v", r.Policy, r.Task, r.Low, r.High, r.Share)
		}
	}
	want := []row{{"one", "", 1, 1, 1, 0.5}, {"one", "fold", 0, 1, 0, 0.5}, {"one", "stack", 1, 0, 1, 0.5}, {"two", "", 1, 0, 0, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
	if v.Moments != 4 || v.Shared != 1 || v.Apart != 1 { // pairs of people are 1, 1 and 2 s apart
		t.Errorf("%d moments, of %d clips %v s apart; want 4, 1 and 1", v.Moments, v.Shared, v.Apart)
	}
}

// TestSuccessRatesAreTrue: policies have 60 episodes each, judged in a random order. Somebody who looks after each verdict sees the share of
// all episodes outside of the interval in at most 5 of 100 studies.
func TestSuccessRatesAreTrue(t *testing.T) {
	const studies, n = 500, 60
	for k, chance := range []float64{0.2, 0.5, 0.9} {
		stream, missed := rng.New(74005, "rates", uint64(k)), 0 // #nosec G115 -- a place
		for range studies {
			ratings, truth := make([]float64, n), 0.0
			for i := range ratings {
				ratings[i] = idrl.Failure
				if u := stream.Float64(); u < chance {
					ratings[i] = idrl.Success
				} else if u < chance+0.05 {
					ratings[i] = idrl.Partial
				}
				truth += (ratings[i] + 1) / 2 / n
			}
			var r SuccessRate
			out := false
			for _, i := range stream.Perm(n) {
				r.count(ratings[i])
				now := r.rate()
				out = out || truth < now.Low || truth > now.High
			}
			if out {
				missed++
			}
		}
		if missed > studies/20 {
			t.Errorf("chance %v: missed in %d of %d studies", chance, missed, studies)
		}
	}
}

// TestMomentsApartAreTrue: people mark a moment around the true one by normal errors, and some anywhere in the clip. What is said of two of them is the median distance of two such
// people, however many mark the clips.
func TestMomentsApartAreTrue(t *testing.T) {
	const seconds, studies, clips = 10., 200, 60
	for _, world := range []struct {
		std, random float64
		people      []int // of a clip, in turn
	}{
		{0.8, 0, []int{2}}, {0.8, 0, []int{5}}, {0.8, 0.2, []int{2, 3, 8}}, {1.5, 0.1, []int{4, 1, 2}}, {0.3, 1, []int{3}},
	} {
		stream := rng.New(5, fmt.Sprint("moments ", world), 0)
		mark := func(truth float64) float64 {
			if stream.Float64() < world.random {
				return seconds * stream.Float64()
			}
			return min(max(truth+world.std*stream.NormFloat64(), 0.001), seconds)
		}
		place := func() float64 { return 3 + 4*stream.Float64() }
		var pairs []float64
		for range 200_000 {
			truth := place()
			pairs = append(pairs, math.Abs(mark(truth)-mark(truth)))
		}
		want := stats.Median(pairs)
		var sum, squares float64
		for range studies {
			var log []idrl.Answer
			for c := range clips {
				truth := place()
				for p := range world.people[c%len(world.people)] {
					log = append(log, verdict(int64(len(log)+1), fmt.Sprint(p), fmt.Sprint("e", c), idrl.Failure, int64(math.Ceil(1000*mark(truth)))))
				}
			}
			v := verdictsOf(log, func(id idrl.AssignmentID) (Episode, bool) { return Episode{ID: idrl.TrajectoryID(id)}, true })
			sum, squares = sum+v.Apart, squares+v.Apart*v.Apart
		}
		mean := sum / studies
		noise := math.Sqrt((squares/studies - mean*mean) / studies)
		t.Logf("%+v: said %.3f ± %.3f s on average, true %.3f", world, mean, noise, want)
		if math.Abs(mean-want) > 3*noise+0.02*want { // a median of few is a little askew
			t.Errorf("%+v: said %.3f ± %.3f s on average, true %.3f", world, mean, noise, want)
		}
	}
}
