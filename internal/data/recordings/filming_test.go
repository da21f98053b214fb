package recordings_test

import (
	"bytes"
	"context"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/data/lerobot/lerobottest"
	"tiebreak/internal/data/recordings"
	videos "tiebreak/internal/data/video"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// lengths are those of the episodes of most tests.
var lengths = []int{12, 31, 20, 17, 40, 23}

// write writes a data set and returns its folder.
func write(t *testing.T, d lerobottest.Dataset) string {
	t.Helper()
	folder := t.TempDir()
	if err := d.Write(folder); err != nil {
		t.Fatal(err)
	}
	return folder
}

// film imports a data set under the name pen.
func film(t *testing.T, folder, into string, o lerobot.Options) (*recordings.Set, error) {
	t.Helper()
	return filmed(t.Context(), recordings.LeRobotConfig{From: lerobot.Folder{Path: folder}, Into: into, Name: "pen", Options: o, ClipSeconds: 2})
}

// filmed imports a data set, and opens what came of it.
func filmed(ctx context.Context, cfg recordings.LeRobotConfig) (*recordings.Set, error) {
	if err := recordings.ImportLeRobot(ctx, cfg); err != nil {
		return nil, err
	}
	return recordings.Open(filepath.Join(cfg.Into, cfg.Name))
}

// cut returns the tape of a rollout from a step on.
func cut(s *recordings.Set, rollout, from, steps int) (*clip.Tape, error) {
	env := s.New().(clip.Taped) //nolint:forcetypeassert // panics otherwise
	tape, _, err := env.Tape([]float64{float64(rollout), float64(from)}, steps)
	return tape, err
}

// TestTapesAreFrameExact: every frame of a tape is that of the episode and the step that it stands for, in both encodings,
// all cameras and the stills, wherever it is in a file.
func TestTapesAreFrameExact(t *testing.T) {
	for _, test := range []struct {
		name string
		d    lerobottest.Dataset
	}{
		{"H.264, all in one file", lerobottest.Dataset{Lengths: lengths}},
		{"AV1, all in one file", lerobottest.Dataset{Lengths: lengths, Codec: "libsvtav1"}},
		{"H.264 at 30 a second, several files", lerobottest.Dataset{Lengths: lengths, PerFile: 4, FPS: 30}},
		{"H.264, v2.1", lerobottest.Dataset{Lengths: lengths, Legacy: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := film(t, write(t, test.d), t.TempDir(), lerobot.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct{ rollout, from, steps int }{{0, 0, 11}, {1, 10, 20}, {4, 19, 20}, {5, 21, 1}} {
				tape, err := cut(s, c.rollout, c.from, c.steps)
				if err != nil {
					t.Fatal(err)
				}
				checkTape(t, tape, c.rollout, c.from, c.steps)
			}
		})
	}
}

// TestFilmedClipsSayWhichPartTheyAre: a clip that is not the whole episode has the seconds of it behind the task.
func TestFilmedClipsSayWhichPartTheyAre(t *testing.T) {
	s, err := film(t, write(t, lerobottest.Dataset{Lengths: lengths}), t.TempDir(), lerobot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	env := s.New().(drawing.Narrator) //nolint:forcetypeassert // panics otherwise
	for _, test := range []struct {
		first, last []float64
		want        string
	}{
		{[]float64{0, 0}, []float64{0, 11}, lerobottest.Tasks[0]},
		{[]float64{4, 0}, []float64{4, 20}, lerobottest.Tasks[0] + " Seconds 0.0 to 2.0 of 3.9."},
		{[]float64{1, 10}, []float64{1, 30}, lerobottest.Tasks[1] + " Seconds 1.0 to 3.0 of 3.0."},
		{[]float64{1, 10}, nil, lerobottest.Tasks[1]},
	} {
		if got := env.Narrate(test.first, test.last); got != "Task: "+test.want {
			t.Errorf("of %v to %v it says %q", test.first, test.last, got)
		}
	}
}

func checkTape(t *testing.T, tape *clip.Tape, rollout, from, steps int) {
	t.Helper()
	if len(tape.Cameras) != 2 || tape.Cameras[0].Name != "front" || tape.Cameras[1].X < tape.Cameras[0].W || len(tape.Videos) != 2 {
		t.Fatalf("the tape has the cameras %+v and %d videos", tape.Cameras, len(tape.Videos))
	}
	see := func(what string, p image.Image, frame int) {
		t.Helper()
		if got := p.Bounds().Size(); got != image.Pt(tape.W, tape.H) {
			t.Fatalf("%s has %v pixels, and the tape %dx%d", what, got, tape.W, tape.H)
		}
		for _, c := range tape.Cameras {
			i, k := lerobottest.Read(p, image.Rect(c.X, c.Y, c.X+c.W, c.Y+c.H))
			if i != rollout || k != from+frame {
				t.Errorf("%s, frame %d of %s shows frame %d of episode %d, want %d of %d", what, frame, c.Name, k, i, from+frame, rollout)
			}
		}
	}
	for _, v := range tape.Videos {
		path := filepath.Join(t.TempDir(), "video")
		if err := os.WriteFile(path, v.File, 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		err := videos.Decode(t.Context(), path, func(p image.Image) error {
			see(v.Type, p, n)
			n++
			return nil
		})
		if err != nil || n != steps+1 {
			t.Errorf("%s has %d frames and the error %v, want %d", v.Type, n, err, steps+1)
		}
	}
	if len(tape.Stills) != len(tape.At) || tape.At[0] != 0 {
		t.Fatalf("there are %d stills of the frames %v", len(tape.Stills), tape.At)
	}
	for k, p := range tape.Stills {
		see("a still", p, tape.At[k])
	}
}

// TestLeRobot: an import keeps the numbers, tasks, starts, policies and successes, and the same clip is cut once, to the same bytes.
func TestLeRobot(t *testing.T) {
	folder, into := write(t, lerobottest.Dataset{Lengths: lengths}), t.TempDir()
	planned := false
	s, err := filmed(t.Context(), recordings.LeRobotConfig{
		From: lerobot.Folder{Path: folder}, Into: into, Name: "pen",
		Options: lerobot.Options{Policy: "policy", Start: "seed", Success: "next.success", Cameras: []string{"side", "front"}},
		Plan: func(p recordings.Plan) {
			planned = p.Frames == 143 && len(p.Episodes) == 6 && p.Place > 0 && p.Least > 0 && p.Most > p.Least
		},
	})
	if err != nil || !planned {
		t.Fatalf("the error is %v, and the plan was told: %v", err, planned)
	}
	n, policies := s.Size()
	done, known := s.Successes()
	if cameras, _ := s.Filmed(); n != 6 || policies != 2 || s.RewardOf() != "2 observations, standardised" || done != 3 || known != 6 || !slices.Equal(cameras, []string{"side", "front"}) {
		t.Errorf("there are %d rollouts of %d policies, the reward is of %s, and %d of %d did their task; the cameras are %v", n, policies, s.RewardOf(), done, known, cameras)
	}
	if got := s.New().Spec().FeatureNames; !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("the features are called %v", got)
	}
	trajectory, _, err := s.Trajectory(3)
	if err != nil || trajectory.Len() != 16 {
		t.Fatalf("the trajectory is %+v, with the error %v", trajectory, err)
	}
	for k, action := range trajectory.Actions {
		if trajectory.Obs[k][1] != float64(k) || action[1] != 3 {
			t.Errorf("step %d has the observation %v and the action %v", k, trajectory.Obs[k], action)
		}
	}
	first, err := cut(s, 4, 7, 20)
	if err != nil {
		t.Fatal(err)
	}
	cuts := func() []string {
		m, _ := filepath.Glob(filepath.Join(into, "pen", ".cut", "*"))
		return m
	}
	if got := cuts(); len(got) != 1 {
		t.Fatalf("the folder of cuts has %v", got)
	}
	if err := os.Remove(cuts()[0]); err != nil {
		t.Fatal(err)
	}
	again, err := cut(s, 4, 7, 20)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range again.Videos {
		if !bytes.Equal(v.File, first.Videos[k].File) {
			t.Errorf("%s has other bytes when it is cut again", v.Type)
		}
	}
	files, err := s.Files()
	if err != nil || len(files) != 7 {
		t.Errorf("the set is kept in %d files, with the error %v; want the index, and numbers of 6 rollouts", len(files), err)
	}
}

// TestLeRobotFeatures: the reward is made of a column that the researcher names, and what a file says of episodes counts.
func TestLeRobotFeatures(t *testing.T) {
	folder := write(t, lerobottest.Dataset{Lengths: []int{8, 9, 10}})
	file := filepath.Join(t.TempDir(), "episodes.csv")
	if err := os.WriteFile(file, []byte("episode_index,policy,task,success\n0,a,pick,true\n2,b,place,\n1,a,place,false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := film(t, folder, t.TempDir(), lerobot.Options{Features: "vision", CSV: file})
	if err != nil {
		t.Fatal(err)
	}
	trajectory, episode, err := s.Trajectory(2)
	if err != nil || !slices.Equal(trajectory.Phi[3], []float64{2, 4, 8}) || episode != 0 {
		t.Errorf("the features of step 3 are %v, of episode %d of its policy; the error is %v", trajectory.Phi[3], episode, err)
	}
	done, known := s.Successes()
	if _, policies := s.Size(); policies != 2 || s.RewardOf() != "3 numbers of the column vision" || done != 1 || known != 2 || !slices.Equal(s.New().Spec().FeatureNames, []string{"vision 0", "vision 1", "vision 2"}) {
		t.Errorf("%d policies, %d of %d done, the reward is of %s, features %v", policies, done, known, s.RewardOf(), s.New().Spec().FeatureNames)
	}
}

// TestFilmedSetsThatChange: clips are not cut from videos that are not those of the import, and cut again when they are back.
func TestFilmedSetsThatChange(t *testing.T) {
	folder := write(t, lerobottest.Dataset{Lengths: []int{8, 9}})
	s, err := film(t, folder, t.TempDir(), lerobot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "videos/observation.images.front/chunk-000/file-000.mp4")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, info.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := cut(s, 0, 0, 4); idrl.KindOf(err) != idrl.Damaged || !strings.Contains(err.Error(), "has changed since the import: videos/observation.images.front") {
		t.Errorf("the error is %v", err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := cut(s, 0, 0, 4); idrl.KindOf(err) != idrl.Damaged || !strings.Contains(err.Error(), "not where they were") {
		t.Errorf("the error is %v", err)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if _, err := cut(s, 0, 0, 4); err != nil {
		t.Error(err)
	}
}

// TestLeRobotInterrupted: an import that was interrupted is not seen, and is continued by the next one, which checks no
// video again.
func TestLeRobotInterrupted(t *testing.T) {
	folder, into := write(t, lerobottest.Dataset{Lengths: []int{8, 9, 10}}), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	config := recordings.LeRobotConfig{From: lerobot.Folder{Path: folder}, Into: into, Name: "pen", Progress: func(p recordings.Progress) {
		if p.What == "keeping episode" && p.Done == 1 {
			cancel()
		}
	}}
	if err := recordings.ImportLeRobot(ctx, config); err == nil || ctx.Err() == nil {
		t.Fatalf("the error is %v", err)
	}
	if list, err := recordings.List(into); err != nil || len(list) != 0 {
		t.Errorf("%v is seen, with the error %v", list, err)
	}
	parts, _ := filepath.Glob(filepath.Join(into, ".part-pen-*", "0.numbers"))
	if len(parts) != 1 {
		t.Fatal("nothing is there to continue")
	}
	kept, err := os.Stat(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	config.Progress = nil
	if err := recordings.ImportLeRobot(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	now, err := os.Stat(filepath.Join(into, "pen", "0.numbers"))
	if err != nil || !os.SameFile(kept, now) || !kept.ModTime().Equal(now.ModTime()) {
		t.Errorf("the numbers of the first episode were written again (%v)", err)
	}
	entries, err := os.ReadDir(into)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v is left, with the error %v", entries, err)
	}
}

// TestVideosInADataFolderThatMoves: videos below the data folder are found after it was moved, or copied with the times of its files. An index that names them
// by an absolute path, as earlier ones do, and one of videos elsewhere, go on as they are. What is not there is said.
func TestVideosInADataFolderThatMoves(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	uploaded := filepath.Join(data, "uploaded")
	must(t, lerobottest.Dataset{Lengths: []int{8, 9}}.Write(filepath.Join(uploaded, "pens")))
	into := filepath.Join(data, recordings.FolderName)
	for name, from := range map[string]lerobot.Folder{"pen": {Path: filepath.Join(uploaded, "pens"), Within: uploaded}, "far": {Path: write(t, lerobottest.Dataset{Lengths: []int{8, 9}})}} {
		must(t, recordings.ImportLeRobot(t.Context(), recordings.LeRobotConfig{From: from, Into: into, Name: name}))
	}
	index := func(data, name string) string { return filepath.Join(data, recordings.FolderName, name, "index.json") }
	b, err := os.ReadFile(index(data, "pen"))
	must(t, err)
	old := bytes.Replace(b, []byte(`"folder":"uploaded/pens","within":"uploaded"`), []byte(`"folder":"`+filepath.Join(uploaded, "pens")+`","within":"`+uploaded+`"`), 1)
	if bytes.Equal(old, b) {
		t.Fatalf("the index has another path: %.400s", b)
	}
	must(t, os.CopyFS(filepath.Join(into, "old"), os.DirFS(filepath.Join(into, "pen"))))
	must(t, os.WriteFile(index(data, "old"), old, 0o600))
	is := func(data, name, want string) {
		t.Helper()
		s, err := recordings.Open(filepath.Join(data, recordings.FolderName, name))
		must(t, err)
		missing := s.Missing()
		_, err = cut(s, 1, 2, 4)
		for what, err := range map[string]error{"Missing": missing, "a clip": err} {
			if want == "" && err != nil || want != "" && (idrl.KindOf(err) != idrl.Damaged || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s of %s in %s: %v, want %q", what, name, data, err, want)
			}
		}
	}
	for _, name := range []string{"pen", "old", "far"} {
		is(data, name, "")
		must(t, os.RemoveAll(filepath.Join(into, name, ".cut")))
	}
	moved := filepath.Join(t.TempDir(), "moved")
	must(t, os.Rename(data, moved))
	is(moved, "pen", "")
	is(moved, "far", "")
	is(moved, "old", "put them back in "+filepath.Join(uploaded, "pens"))
	must(t, os.Rename(filepath.Join(moved, "uploaded"), filepath.Join(moved, "gone")))
	must(t, os.RemoveAll(filepath.Join(moved, recordings.FolderName, "pen", ".cut")))
	is(moved, "pen", "put them back in "+filepath.Join(moved, "uploaded", "pens"))
}
