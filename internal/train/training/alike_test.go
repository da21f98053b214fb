package training_test

import (
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/training"
)

func TestAlike(t *testing.T) {
	t.Parallel()
	gridworld := must.Get(envs.Catalogue().Find("gridworld"))(t)
	layout := func(seed uint64) idrl.Environment { return gridworld.New(rng.New(seed, "layout", 0)) }
	if !training.Alike(layout(1), layout(1)) {
		t.Error("two environments of one layout are not alike")
	}
	if training.Alike(layout(1), layout(2)) {
		t.Error("two layouts are alike")
	}
}
