package training

import (
	"slices"
	"testing"

	"tiebreak/envs"
	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/data/lerobot/lerobottest"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/study/settings"
)

// TestGenerationsOfFilmedRollouts: a session about a data set of LeRobot asks about clips of video, which are trained only where
// the videos are.
func TestGenerationsOfFilmedRollouts(t *testing.T) {
	folder, into := t.TempDir(), t.TempDir()
	if err := (lerobottest.Dataset{Lengths: []int{12, 31, 20, 17}}).Write(folder); err != nil {
		t.Fatal(err)
	}
	_, err := recordings.ImportLeRobot(t.Context(), recordings.LeRobotConfig{From: folder, Into: into, Name: "pen", Options: lerobot.Options{Policy: "policy"}, ClipSeconds: 1})
	if err != nil {
		t.Fatal(err)
	}
	list, err := envs.NewRollouts(into).List()
	if err != nil || len(list) != 1 || list[0].Unavailable != nil {
		t.Fatalf("%+v, %v", list, err)
	}
	spec, err := Complete(list, settings.Complete(idrl.SessionSpec{ID: "s", Title: "Pen", Env: list[0].Ref(), Seed: 3}))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Model(list, spec)
	if err != nil {
		t.Fatal(err)
	}
	trains := &Local{Handler: &Handler{Envs: func() envs.List { return list }}, Spec: spec, Model: m}
	g, err := trains.Train(t.Context(), idrl.TrainJob{Posterior: m.Prior(), Seed: spec.Seed, First: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Queries) == 0 || len(g.Clips) < 4 || len(g.Clips) > shownFilmed {
		t.Errorf("%d questions about %d clips", len(g.Queries), len(g.Clips))
	}
	for id, c := range g.Clips {
		seen, err := clip.Decode(c.Media)
		if err != nil || len(seen.Videos) != 2 || len(seen.Header.Cameras) != 2 || seen.Header.Frames != c.Steps+1 {
			t.Errorf("clip %s of %d steps is %+v, %v", id, c.Steps, seen, err)
		}
	}
	travel, err := Elsewhere(list, spec)
	if err != nil || len(travel.Files) != 0 || !slices.ContainsFunc(travel.Needs, func(n string) bool { return n == "the videos in "+folder }) {
		t.Errorf("%+v, %v", travel, err)
	}
}
