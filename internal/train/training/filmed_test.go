package training

import (
	"path/filepath"
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
	err := recordings.ImportLeRobot(t.Context(), recordings.LeRobotConfig{From: lerobot.Folder{Path: folder}, Into: into, Name: "pen", Options: lerobot.Options{Policy: "policy"}, ClipSeconds: 1})
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
	var said []string
	job := idrl.TrainJob{Posterior: m.Prior(), Seed: spec.Seed, First: true, Progress: func(_, _ int, what string) { said = append(said, what) }}
	first, err := trains.Train(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Queries) == 0 || len(first.Clips) != firstFilmed || !slices.Contains(said, "cutting clips: 5 of 5") {
		t.Errorf("%d questions about %d clips at first, which said %q", len(first.Queries), len(first.Clips), said)
	}
	job.First, job.BasedOn, job.Progress = false, 40, nil
	g, err := trains.Train(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Queries) <= len(first.Queries) || len(g.Clips) <= firstFilmed || len(g.Clips) > shownFilmed {
		t.Errorf("%d questions about %d clips after 40 answers", len(g.Queries), len(g.Clips))
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

// says keeps what is said of the progress of a job.
type says struct{ to *[]string }

func (s says) Progress(_, _ int, what string) { *s.to = append(*s.to, what) }

// A watched is says that counts the clips of recordings that are cut when something is said.
type watched struct {
	says
	into string // folder of the recordings
	cut  *[]int
}

func (w watched) Progress(done, total int, what string) {
	w.says.Progress(done, total, what)
	kept, _ := filepath.Glob(filepath.Join(w.into, "*", ".cut", "*"))
	*w.cut = append(*w.cut, len(kept))
}
func (says) Artefact(string, []byte) error { return nil }
func (says) Checkpoint([]byte) error       { return nil }

// TestArenaOfFilmedRollouts: the training of an arena says which clip it is cutting; those before it are cut by then.
func TestArenaOfFilmedRollouts(t *testing.T) {
	folder, into := t.TempDir(), t.TempDir()
	policies := []string{"steady", "steady", "shaky", "shaky"}
	if err := (lerobottest.Dataset{Lengths: []int{12, 31, 20, 17}, Policies: policies}).Write(folder); err != nil {
		t.Fatal(err)
	}
	if err := recordings.ImportLeRobot(t.Context(), recordings.LeRobotConfig{From: lerobot.Folder{Path: folder}, Into: into, Name: "pen", Options: lerobot.Options{Policy: "policy"}, ClipSeconds: 1}); err != nil {
		t.Fatal(err)
	}
	set, err := recordings.Open(filepath.Join(into, "pen"))
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	var cut []int
	arena, places := entrantsOf(2)
	if arena, err = PlanRecorded(set, arena, places, 3); err != nil {
		t.Fatal(err)
	}
	a := arenaShow{spec: idrl.SessionSpec{ID: "arena", Env: set.ID(), Arena: arena}, env: set.New(), to: watched{says{&said}, into, &cut}}
	g, err := a.recorded(t.Context(), request{}, []EntrantPolicy{{Params: []float64{0}}, {Params: []float64{1}}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"cutting clips: 1 of 4", "cutting clips: 2 of 4", "cutting clips: 3 of 4", "cutting clips: 4 of 4"}; len(g.Clips) != 4 || !slices.Equal(said, want) {
		t.Errorf("%d clips, and progress %q", len(g.Clips), said)
	}
	if !slices.Equal(cut, []int{0, 1, 2, 3}) {
		t.Errorf("when it says so %v clips are cut", cut)
	}
}

// TestFirstClips: until the next generation can be there, a person has a question for each row that it waits for.
func TestFirstClips(t *testing.T) {
	for _, test := range []struct {
		spec idrl.SessionSpec
		want int
	}{
		{idrl.SessionSpec{Kind: idrl.CompareClips}, 5},                               // 10 pairs for 3 rows
		{idrl.SessionSpec{Kind: idrl.JudgeClip}, 5},                                  // 5 clips for 3 rows
		{idrl.SessionSpec{Kind: idrl.JudgeClip, TrainEvery: 8, AdoptAfter: 8}, 16},   // one clip a row
		{idrl.SessionSpec{Kind: idrl.CompareClips, TrainEvery: 8, AdoptAfter: 8}, 7}, // 21 pairs
		{idrl.SessionSpec{Kind: idrl.JudgeClip, TrainEvery: 5000}, shownFilmed},      // all
		{idrl.SessionSpec{Kind: idrl.CompareClips, TrainEvery: 1, AdoptAfter: 0}, 5}, // it may be that trainings take long
	} {
		if got := firstClips(test.spec); got != test.want {
			t.Errorf("%s, training every %d, adopted after %d: %d clips at first, want %d", test.spec.Kind, test.spec.TrainEvery, test.spec.AdoptAfter, got, test.want)
		}
	}
}
