package training_test

import (
	"log/slog"
	"slices"
	"testing"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/training"
)

// Every environment that is available here has clips to show for every type of question: two that
// differ for a comparison, and stills where moments are asked about.
func TestExamples(t *testing.T) {
	for _, e := range envs.Catalogue() {
		if e.Unavailable != nil || e.Engine != "" && e.ID != "hopper" { // one robot stands for all
			continue
		}
		for _, v := range settings.Get("kind").Values {
			spec := settings.Defaults()
			spec.Env, spec.Kind = e.ID, idrl.QueryKind(v.Name)
			clips, err := training.Examples(t.Context(), envs.Catalogue(), settings.Complete(spec), slog.New(slog.DiscardHandler))
			if idrl.KindOf(err) == idrl.NotFound && e.Engine != "" && spec.Kind.Still() { // policies are searched for
				continue
			}
			if err != nil {
				t.Errorf("%s, %s: %v", e.ID, v.Name, err)
				continue
			}
			if len(clips) < 2 || slices.Equal(clips[0].Media, clips[1].Media) {
				t.Errorf("%s, %s has %d clips, or two that are equal", e.ID, v.Name, len(clips))
				continue
			}
			shown, err := clip.Decode(clips[0].Media)
			if err != nil || spec.Kind.Still() != (len(shown.Frames) == 1) {
				t.Errorf("%s, %s shows %d frames: %v", e.ID, v.Name, len(shown.Frames), err)
			}
		}
	}
}
