package episodes_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/episodes"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/data/recordings/recordingstest"
	"tiebreak/internal/idrl"
)

// recorded imports the 16 rollouts of recordingstest.Landers, 20 steps of each, under the names that name gives; every other four have
// another task.
func recorded(t *testing.T, name func(k int) string) *recordings.Set {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "landers")
	must.Do(t, os.MkdirAll(folder, 0o700))
	must.Do(t, recordingstest.Landers(folder, 20))
	path := filepath.Join(folder, "rollouts.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var manifest map[string]any
	must.Do(t, json.Unmarshal(text, &manifest))
	manifest["clip_steps"] = 10
	for k, r := range manifest["rollouts"].([]any) {
		about := r.(map[string]any)
		for _, end := range []string{"", ".scene.json"} {
			_ = os.Rename(filepath.Join(folder, fmt.Sprintf("r%d%s", k, end)), filepath.Join(folder, name(k)+end)) // one of them is there
		}
		about["name"], about["task"], about["start"] = name(k), []string{"Land.", "Hover."}[k/4%2], fmt.Sprint(k/8)
	}
	if text, err = json.Marshal(manifest); err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.WriteFile(path, text, 0o600))
	set, err := recordings.Import(t.Context(), recordings.Config{From: folder, Into: filepath.Join(dir, "kept"), Name: "landers"})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// episode returns the names of episodes of a LeRobot data set, from number 7 on.
func episode(k int) string { return fmt.Sprintf("episode-%06d", k+7) }

// A source has what labels are made from. Policy gK.p1 of the session is policy K of the recordings.
type source struct {
	bundle.Source
	spec idrl.SessionSpec
	rows []record.Labelled
}

func (s source) Spec() idrl.SessionSpec { return s.spec }

func (s source) Rows(_ context.Context, p record.Part, yield func(record.Labelled) error) error {
	for _, r := range s.rows {
		if p.Counting && (r.Withdrawn || r.LeftOut) {
			continue
		}
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

func (source) Policies(_ context.Context, yield func(int64, idrl.Candidate) error) error {
	for k := range 4 {
		if err := yield(0, idrl.Candidate{ID: idrl.PolicyID(fmt.Sprintf("g%d.p1", k)), Params: []float64{float64(k)}}); err != nil {
			return err
		}
	}
	return nil
}

// config returns the configuration for a source, in which rollout or entrant i has the score that scores tells.
func (s source) config(set *recordings.Set, scores func(i int) float64) episodes.Config {
	return episodes.Config{
		Uncut:   func(context.Context) (bool, error) { return false, nil },
		Program: "tiebreak test", GoodShare: 0.5,
		Read:     func(_ context.Context, f func(bundle.Source) error) error { return f(s) },
		Recorded: func(idrl.SessionSpec) (*recordings.Set, error) { return set, nil },
		Complete: func(spec idrl.SessionSpec) (idrl.SessionSpec, error) { return spec, nil },
		Acted: func(set *recordings.Set, c idrl.Candidate) (recordings.Policy, bool) {
			return set.Policy(int(c.Params[0]))
		},
		Scores: func(context.Context, bundle.Source, *recordings.Set) (out []episodes.Score, err error) {
			for i := range 16 {
				out = append(out, episodes.Score{Mean: scores(i), Std: 0.5})
			}
			return out, nil
		},
	}
}

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// answer returns the n-th answer, about clips of two trajectories that begin at step 3 and have 10.
func answer(n int, a, b idrl.TrajectoryID, choice idrl.Choice) record.Labelled {
	clip := func(from idrl.TrajectoryID) idrl.Clip {
		return idrl.Clip{ID: idrl.ClipID("clip-" + string(from)), From: from, Start: 3, Steps: 10, Phi: []float64{1, 2, 3}}
	}
	q := idrl.Query{ID: idrl.QueryID(a + "?" + b), Kind: idrl.CompareClips, Clips: []idrl.ClipID{clip(a).ID, clip(b).ID}}
	return record.Labelled{
		Answer: idrl.Answer{ID: idrl.AnswerID(fmt.Sprintf("answer-%d", n)), Seq: int64(n), Choice: choice, Annotator: "a1", ReceivedAt: noon},
		Query:  q, Clips: []idrl.Clip{clip(a), clip(b)},
	}
}

// about is a session with every kind of answer about the recordings.
func about() source {
	s := source{spec: idrl.SessionSpec{ID: "s", Title: "Landers", Env: "rollouts-landers", Kind: idrl.CompareClips, Features: []string{"distance", "tilt", "speed"}, Return: idrl.MeanReturn, Seed: 1}}
	s.rows = []record.Labelled{
		answer(1, "g0.p1", "g1.p1.2", idrl.ChoseA), // rollouts 0 and 9
		answer(2, "g0.p1", "g1.p1.2", idrl.ChoseB),
		answer(3, "g2.p1.1", "g0.p1", idrl.Equal), // 6 and 0
		answer(4, "g3.p1.3", "g0.p1", idrl.CantTell),
		answer(5, "g3.p1.3", "g0.p1", idrl.Skip),
		answer(6, "g3.p1.3", "g0.p1", idrl.ChoseA),
		answer(7, "g3.p1.3", "g0.p1", idrl.ChoseA),
		answer(8, "g3.p1.3", "g0.p1", idrl.ChoseA), // 15 and 0
	}
	s.rows[5].Withdrawn, s.rows[6].LeftOut, s.rows[7].Turned = true, true, true
	return s
}

// written writes labels into a folder.
func written(t *testing.T, cfg episodes.Config) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, episodes.Write(t.Context(), bundle.Folder(dir), cfg))
	return dir
}

func table[T any](t *testing.T, dir, name string) []T {
	t.Helper()
	rows := must.Get(parquet.ReadFile[T](filepath.Join(dir, name)))(t)
	return rows
}

func text(t *testing.T, dir, name string) string {
	t.Helper()
	b := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
	return string(b)
}

// Answers stand by the numbers of the episodes, as they count: turned ones as their opposites, and not those that were undone or left out.
func TestPreferences(t *testing.T) {
	t.Parallel()
	dir := written(t, about().config(recorded(t, episode), func(i int) float64 { return float64(i) }))
	type row struct {
		Label    string   `parquet:"label_id"`
		A        int64    `parquet:"episode_index_a"`
		Start    int64    `parquet:"start_frame_b"`
		Steps    int64    `parquet:"n_steps_b"`
		B        int64    `parquet:"episode_index_b"`
		Choice   string   `parquet:"choice"`
		Prob     *float64 `parquet:"prob_a,optional"`
		Chosen   *int64   `parquet:"chosen_episode_index,optional"`
		Rejected *int64   `parquet:"rejected_episode_index,optional"`
		Turned   bool     `parquet:"turned"`
		Split    *string  `parquet:"split,optional"`
	}
	number := func(n int64) *int64 { return &n }
	p := func(p float64) *float64 { return &p }
	train := "train"
	want := []row{
		{"answer-1", 7, 3, 10, 16, "a", p(1), number(7), number(16), false, &train},
		{"answer-2", 7, 3, 10, 16, "b", p(0), number(16), number(7), false, &train},
		{"answer-3", 13, 3, 10, 7, "equal", p(0.5), nil, nil, false, &train},
		{"answer-4", 22, 3, 10, 7, "cant_tell", nil, nil, nil, false, nil},
		{"answer-8", 22, 3, 10, 7, "b", p(0), number(7), number(22), true, &train},
	}
	if diff := cmp.Diff(want, table[row](t, dir, "preferences.parquet")); diff != "" {
		t.Errorf("preferences (-want +got):\n%s", diff)
	}
	lines := strings.Split(strings.TrimSpace(text(t, dir, "preferences.jsonl")), "\n")
	const last = `{"chosen":"distance 1, tilt 2, speed 3","rejected":"distance 1, tilt 2, speed 3","chosen_segment":"clip-g0.p1","rejected_segment":"clip-g3.p1.3","label_id":"answer-8",` +
		`"chosen_clip":{"episode_index":7,"start_frame":3,"n_steps":10},"rejected_clip":{"episode_index":22,"start_frame":3,"n_steps":10}}`
	if len(lines) != 3 || lines[2] != last {
		t.Errorf("preferences.jsonl has %d lines, want 3, and ends with\n%s, want\n%s", len(lines), lines[len(lines)-1], last)
	}
}

type episodeRow struct {
	Index   int64    `parquet:"episode_index"`
	Policy  *string  `parquet:"policy,optional"`
	Task    *string  `parquet:"task,optional"`
	Score   *float64 `parquet:"score,optional"`
	Wins    int64    `parquet:"wins"`
	Losses  int64    `parquet:"losses"`
	Ties    int64    `parquet:"ties"`
	Answers int64    `parquet:"n_answers"`
	Good    *bool    `parquet:"good,optional"`
}

// Each episode has its score and its counts; the best half of each task is good.
func TestEpisodes(t *testing.T) {
	t.Parallel()
	dir := written(t, about().config(recorded(t, episode), func(i int) float64 { return float64(-i) }))
	rows := table[episodeRow](t, dir, "episodes.parquet")
	if len(rows) != 16 {
		t.Fatalf("%d episodes, want 16", len(rows))
	}
	for i, e := range rows {
		good := i < 8 // of each task, rollouts 0 to 3 and 8 to 11, or 4 to 7 and 12 to 15, the first four
		if e.Index != int64(i+7) || *e.Policy != []string{"lands", "falls", "spins", "hovers"}[i%4] || *e.Score != float64(-i) || *e.Good != good {
			t.Errorf("episode %d: %d of %s, score %g, good %v", i, e.Index, *e.Policy, *e.Score, *e.Good)
		}
	}
	for i, want := range map[int][4]int64{0: {2, 1, 1, 5}, 9: {1, 1, 0, 2}, 6: {0, 0, 1, 1}, 15: {0, 1, 0, 2}, 3: {}} {
		if e := rows[i]; [4]int64{e.Wins, e.Losses, e.Ties, e.Answers} != want {
			t.Errorf("episode %d: %d wins, %d losses, %d ties, %d answers; want %v", i, e.Wins, e.Losses, e.Ties, e.Answers, want)
		}
	}
	if got := text(t, dir, "good_episodes.json"); got != "[7,8,9,10,11,12,13,14]\n" {
		t.Errorf("good_episodes.json is %s", got)
	}
}

// Of equal scores all are good or none, at most the share, and the best always.
func TestGoodEpisodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		share float64
		score func(i int) float64
		want  string
	}{
		{"all equal", 0.1, func(int) float64 { return 1 }, "[7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22]\n"},
		{"one above equals", 0.5, func(i int) float64 { return map[int]float64{2: 2, 14: 3}[i] }, "[9,21]\n"},
		{"all", 1, func(i int) float64 { return float64(i) }, "[7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22]\n"},
		{"a quarter", 0.25, func(i int) float64 { return float64(i) }, "[17,18,21,22]\n"},
		{"less than one of eight", 0.01, func(i int) float64 { return float64(i) }, "[18,22]\n"},
	} {
		cfg := about().config(recorded(t, episode), test.score)
		cfg.GoodShare = test.share
		if got := text(t, written(t, cfg), "good_episodes.json"); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// In an arena of recorded policies an episode has the strength of its policy; of other policies none.
func TestArena(t *testing.T) {
	t.Parallel()
	s := source{spec: idrl.SessionSpec{ID: "s", Env: "rollouts-landers", Kind: idrl.CompareClips, Features: []string{"a", "b", "c"}}}
	s.spec.Arena.Entrants = []idrl.Entrant{{Title: "Hovers"}, {Title: "Lands"}}
	s.rows = []record.Labelled{answer(1, "e1.3.t0", "e2.8.t1.s0", idrl.ChoseB)}
	rows := table[episodeRow](t, written(t, s.config(recorded(t, episode), func(k int) float64 { return float64(k) })), "episodes.parquet")
	if rows[3].Losses != 1 || rows[8].Wins != 1 {
		t.Error("the answer is about other episodes")
	}
	for i, e := range rows {
		switch i % 4 {
		case 0, 3:
			want := map[int]float64{0: 1, 3: 0}[i%4]
			if e.Score == nil || *e.Score != want || *e.Good != (want == 1) {
				t.Errorf("episode %d: score %v, want %g", i, e.Score, want)
			}
		default:
			if e.Score != nil || e.Good != nil {
				t.Errorf("episode %d of a policy that is not in the arena has a score", i)
			}
		}
	}
}

// Where one rollout is not called as an episode of a data set, or two have one number, all have their places.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		of    func(k int) string
		first int64
	}{
		{"numbered", episode, 7},
		{"one without", func(k int) string { return strings.Replace(episode(k), "000022", "last", 1) }, 0},
		{"two of one number", func(k int) string { return strings.Replace(episode(k), "000022", "7", 1) }, 0},
	} {
		dir := written(t, about().config(recorded(t, test.of), func(int) float64 { return 0 }))
		if set := strings.Contains(text(t, dir, "README.md"), "LeRobotDataset("); set != (test.first != 0) {
			t.Errorf("%s: the README says how a data set of these episodes is loaded: %v", test.name, set)
		}
		rows := table[episodeRow](t, dir, "episodes.parquet")
		if rows[0].Index != test.first || rows[15].Index != test.first+15 {
			t.Errorf("%s: from %d to %d, want %d first", test.name, rows[0].Index, rows[15].Index, test.first)
		}
	}
}

// The same session gives the same bytes.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	set := recorded(t, episode)
	var first bytes.Buffer
	for range 3 {
		var b bytes.Buffer
		must.Do(t, episodes.WriteZip(t.Context(), &b, "labels", about().config(set, func(i int) float64 { return float64(i % 3) })))
		if first.Len() == 0 {
			first = b
		} else if !bytes.Equal(first.Bytes(), b.Bytes()) {
			t.Error("the same session gives other bytes")
		}
	}
}

// What cannot be written is refused, with a kind and what to do.
func TestRefused(t *testing.T) {
	t.Parallel()
	set := recorded(t, episode)
	for _, test := range []struct {
		name   string
		change func(*source, *episodes.Config)
		kind   idrl.Kind
		says   string
	}{
		{"no answers", func(s *source, _ *episodes.Config) { s.rows = nil }, idrl.NotFound, "no answers"},
		{"no recordings", func(_ *source, c *episodes.Config) {
			c.Recorded = func(idrl.SessionSpec) (*recordings.Set, error) { return nil, nil }
		}, idrl.Invalid, "no recordings"},
		{"a share of 0", func(_ *source, c *episodes.Config) { c.GoodShare = 0 }, idrl.Invalid, "above 0"},
		{"a clip of no rollout", func(s *source, _ *episodes.Config) { s.rows[0].Clips[0].From = "g9.p9" }, idrl.Damaged, "g9.p9"},
	} {
		s := about()
		cfg := s.config(set, func(int) float64 { return 0 })
		test.change(&s, &cfg)
		cfg.Read = func(_ context.Context, f func(bundle.Source) error) error { return f(s) }
		err := episodes.Write(t.Context(), bundle.Folder(t.TempDir()), cfg)
		if idrl.KindOf(err) != test.kind || !strings.Contains(fmt.Sprint(err), test.says) {
			t.Errorf("%s: %v, want kind %v", test.name, err, test.kind)
		}
	}
}

// TestCard: the description says who made the labels, and how people were recruited and paid, as data cards do, and its tables are whole.
func TestCard(t *testing.T) {
	from := about()
	from.spec.Authors, from.spec.Licence, from.spec.Recruitment, from.spec.Payment = "Ada | Co <ada@example.org>; Grace", "CC-BY-4.0", "Students of one course.", "12 an hour."
	card := text(t, written(t, from.config(recorded(t, episode), func(i int) float64 { return float64(i) })), "README.md")
	for _, row := range []string{`| authors | Ada \| Co and Grace |`, "| contact | ada@example.org |", "| licence | CC-BY-4.0 |", "| how people were recruited | Students of one course. |", "| how people were paid | 12 an hour. |", "| consent | none was asked for by the program |"} {
		if !strings.Contains(card, row+"\n") {
			t.Errorf("the card lacks %q", row)
		}
	}
	if strings.Contains(card, "|\n\n|") {
		t.Error("a table of the card is in two pieces")
	}
}
