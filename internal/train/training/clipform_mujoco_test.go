//go:build mujoco

package training_test

import (
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/training"
)

// A session keeps the form that clips had when it was created, also where it has no record
// of it because an earlier version created it.
func TestClipsOfASessionKeepTheirForm(t *testing.T) {
	list := envs.Catalogue()
	for _, test := range []struct {
		env  string
		clip idrl.ClipForm
		want idrl.ClipForm
	}{
		{"swimmer-corridor", idrl.ClipForm{}, idrl.ClipForm{Steps: 12, Playback: 1}},
		{"ant-corridor", idrl.ClipForm{}, idrl.ClipForm{Steps: 20, Playback: 2}},
		{"ant-corridor", idrl.ClipForm{Steps: 30, Playback: 1}, idrl.ClipForm{Steps: 30, Playback: 1}},
		{"half-cheetah", idrl.ClipForm{}, idrl.ClipForm{Steps: 40, Playback: 1}},
	} {
		env := must.Get(training.Environment(list, idrl.SessionSpec{Env: test.env, Clip: test.clip}))(t)
		if s := env.Spec(); s.ClipSteps != test.want.Steps || s.Playback != test.want.Playback {
			t.Errorf("%s, created with %+v: %d steps at %v", test.env, test.clip, s.ClipSteps, s.Playback)
		}
	}
	spec, err := training.Complete(list, idrl.SessionSpec{Env: "swimmer-corridor"})
	if err != nil || spec.Clip != (idrl.ClipForm{Steps: 75, Playback: 4}) {
		t.Fatalf("a new session has clips of %+v, %v", spec.Clip, err)
	}
	if env, err := training.Environment(list, spec); err != nil || env.Spec().ClipSteps != 75 {
		t.Errorf("its environment has clips of %d steps, %v", env.Spec().ClipSteps, err)
	}
}
