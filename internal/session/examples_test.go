package session_test

import (
	"context"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
)

// TestExamples: two questions about four clips that obviously differ, the same ones whenever they
// are asked for, without an assignment or a row in the log.
func TestExamples(t *testing.T) {
	for _, test := range []struct {
		env  string
		kind idrl.QueryKind
	}{{"driver", idrl.CompareClips}, {"gridworld", idrl.CompareClips}, {"driver", idrl.RateClip}} {
		t.Run(test.env+" "+string(test.kind), func(t *testing.T) {
			b := sighted(t, test.env, test.kind, nil)
			s, stop := b.start(t)
			defer stop()
			claim(t, s, "ann")
			list, err := s.Examples(t.Context())
			if err != nil || len(list) != 2 {
				t.Fatalf("%d examples, %v; want two", len(list), err)
			}
			clips := map[idrl.ClipID]bool{}
			var views []*measure.View
			for _, q := range list {
				for _, id := range q.Clips {
					clips[id] = true
					media := must.Get(b.journal.ClipMedia(t.Context(), "s1", id))(t)
					v := must.Get(measure.Of([]idrl.Clip{{Media: media}}))(t)
					views = append(views, v...)
				}
			}
			if len(clips) != len(views) {
				t.Errorf("a clip is shown twice: %v", list)
			}
			for i := 0; i+1 < len(views); i += 2 {
				p, err := measure.Compare(views[i], views[i+1])
				if err != nil || !p.Easy() || !p.Answerable() {
					t.Errorf("pair %d is not easy: %+v, %v", i/2, p, err)
				}
			}
			again, err := s.Examples(t.Context())
			if err != nil || again[0].ID != list[0].ID || again[1].ID != list[1].ID {
				t.Errorf("the second time %v, %v", again, err)
			}
		})
	}
}

// A session without a generation has no examples yet, and does not wait for them.
func TestNoExamplesYet(t *testing.T) {
	b := newBench(nil)
	b.trainer = trainerFunc(func(ctx context.Context, _ idrl.TrainJob) (idrl.Generation, error) {
		<-ctx.Done()
		return idrl.Generation{}, ctx.Err()
	})
	s, stop := b.start(t)
	defer stop()
	if list, err := s.Examples(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("%v, %v; want none", list, err)
	}
}
