package recordings

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/idrl"
)

// LeRobotConfig says which data set of LeRobot is imported.
type LeRobotConfig struct {
	From    lerobot.Folder
	Into    string // folder in which sets of rollouts are kept; it is made if need be
	Name    string // of the set
	Title   string // of the environment, for people; default: the robot of the data set
	Options lerobot.Options

	ClipSeconds float64 // how long clips are; 0: DefaultClipSeconds

	Note     []byte // kept with an import that was interrupted (Interrupted); nil: none
	PlanOnly bool   // tell what the import is going to do, and do nothing

	Plan     func(Plan)     `json:"-"` // called before the work begins; may be nil
	Progress func(Progress) `json:"-"` // may be nil
	Reading  func(string)   `json:"-"` // called with the name of each Parquet file before it is read; may be nil
}

// maxUnnamed is how many episodes count as policies of their own where none are named: clips of each have to be cut
// before the first question.
const maxUnnamed = 120

// DefaultClipSeconds is how long clips of videos are, unless episodes are shorter.
const DefaultClipSeconds = 10.0

// ImportLeRobot keeps a data set of LeRobot under a name: all of it, or nothing. Its numbers are copied, and its videos are
// read where they are, now and whenever a clip is cut. If ctx ends it, an import of the same files with the same options
// continues it; so does one after the process was killed. It returns an error of kind Conflict if there is a set of that name, and of kind Invalid, with a code
// (docs/lerobot.md), if something about the data set is not as it must be.
func ImportLeRobot(ctx context.Context, cfg LeRobotConfig) (err error) {
	if err := checkGiven(cfg.Name); err != nil {
		return err
	}
	if cfg.Title != "" && !foreign.IsLine(cfg.Title, foreign.MaxTitle) {
		return refused("manifest", "the title must be plain text of at most %d characters on one line", foreign.MaxTitle)
	}
	if err := cfg.checkSeconds(); err != nil {
		return err
	}
	if err := Free(cfg.Into, cfg.Name); err != nil {
		return err
	}
	d, err := lerobot.Open(ctx, cfg.From, cfg.Options, cfg.Reading)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if cfg.Plan != nil {
		cfg.Plan(plan(d))
	}
	if cfg.PlanOnly {
		return nil
	}
	part := partName + cfg.Name + "-" + d.Fingerprint()
	return inPart(ctx, cfg.Into, cfg.Name, part, func(dir string) error {
		return (&filming{keeping: keeping{folder: &folder{m: &manifest{}}, dir: dir}, d: d, cfg: cfg}).run(ctx)
	})
}

// A filming is one import of a data set.
type filming struct {
	keeping
	d   *lerobot.Dataset
	cfg LeRobotConfig

	forecast forecast
	written  int // episodes whose files an interrupted import has left
}

// progress tells how far the import is, where that work of a stage is done. It is a moment at which it can wait for others, and shows that it runs (removeKilled).
func (f *filming) progress(ctx context.Context, done, total, stage int, work float64) {
	if done%256 == 0 {
		_ = f.renew()
	}
	idrl.Pause(ctx)
	if left := f.forecast.left(time.Now(), stage, work); f.cfg.Progress != nil {
		f.cfg.Progress(Progress{stageNames[stage], done, total, left})
	}
}

// episodeRead tells that episode i was read.
func (f *filming) episodeRead(ctx context.Context, i, stage int) {
	e, files := f.d.Episodes[i], 0
	if stage == keepingEpisodes {
		files = max(0, i-f.written)
	}
	f.progress(ctx, i, len(f.d.Episodes), stage, expected(0, files, e.First+e.Length)[stage])
}

func (f *filming) run(ctx context.Context) (err error) {
	if f.entries, err = newEntries(f.dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.entries.close()) }()
	if f.cfg.Note != nil {
		if err := os.WriteFile(filepath.Join(f.dir, noteName), f.cfg.Note, 0o600); err != nil {
			return err
		}
	}
	checked, err := f.checkVideos(ctx)
	if err != nil {
		return err
	}
	var s standard
	err = f.d.Read(ctx, func(i int, r *lerobot.Frames) error {
		f.episodeRead(ctx, i, checkingEpisodes)
		return s.observe(episodeName(i), r.States)
	})
	if err != nil {
		return err
	}
	of, err := f.describe(checked)
	if err != nil {
		return err
	}
	how, err := f.decideFeatures(&s)
	if err != nil {
		return err
	}
	err = f.d.Read(ctx, func(i int, r *lerobot.Frames) error {
		f.episodeRead(ctx, i, keepingEpisodes)
		return f.keepEpisode(i, of[i], r, how)
	})
	if err == nil {
		err = f.d.Unchanged()
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(f.dir, cutFolder), 0o700)
	}
	if err != nil {
		return err
	}
	if err := f.finish(); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(filepath.Join(f.dir, checkedName)), os.RemoveAll(filepath.Join(f.dir, noteName)))
}

// checkedName is the file of what was found in videos, for an import that goes on: a line for each.
const checkedName = "checked.jsonl"

// A checkedLine is a line of that file.
type checkedLine struct {
	Video string          `json:"video"`
	Found lerobot.Checked `json:"found"`
}

// checkVideos checks the videos, but for those that were checked before the import was interrupted or killed.
func (f *filming) checkVideos(ctx context.Context) (found []lerobot.Checked, err error) {
	path := filepath.Join(f.dir, checkedName)
	known := readChecked(path)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := json.NewEncoder(file)
	fresh, begun := 0, 0
	for _, v := range f.d.Videos {
		if _, ok := known[v.Name]; !ok {
			fresh++
		}
	}
	f.written = writtenBefore(f.dir)
	f.forecast.work = expected(fresh, len(f.d.Episodes)-f.written, f.d.Frames)
	begin := func(k int) {
		f.progress(ctx, k, len(f.d.Videos), checkingVideos, videoCost*float64(begun))
		begun++
	}
	return f.d.CheckVideos(ctx, known, begin, func(name string, c lerobot.Checked) error {
		return lines.Encode(checkedLine{Video: name, Found: c})
	})
}

// writtenBefore returns of how many episodes, from the first on, an interrupted import has left the numbers in a folder.
func writtenBefore(dir string) (n int) {
	for {
		if _, err := os.Stat(filepath.Join(dir, numbersName(n))); err != nil {
			return n
		}
		n++
	}
}

// readChecked reads the whole lines of such a file, by the names of the videos.
func readChecked(path string) map[string]lerobot.Checked {
	known := map[string]lerobot.Checked{}
	b, err := os.ReadFile(path) //nolint:gosec // within the data folder
	if err != nil {
		return known
	}
	for line := range bytes.Lines(b) {
		var c checkedLine
		if json.Unmarshal(line, &c) == nil && line[len(line)-1] == '\n' {
			known[c.Video] = c.Found
		}
	}
	return known
}

func episodeName(i int) string { return fmt.Sprintf("episode-%06d", i) }

// describe fills in the manifest and the index, and returns which policy each episode is of.
func (f *filming) describe(checked []lerobot.Checked) (of []int, err error) {
	d, m := f.d, f.m
	steps := 0
	for _, e := range d.Episodes {
		steps = max(steps, e.Length-1)
	}
	named := d.Episodes[0].Policy != ""
	names, of := policies(len(d.Episodes), maxUnnamed, func(i int) (string, string) { return d.Episodes[i].Policy, episodeName(i) })
	switch {
	case len(d.Episodes) < 2:
		return nil, refused("limit", "the data set has one episode; people compare two or more")
	case len(names) > maxPolicies:
		return nil, refused("limit", "%d policies are named; at most %d can be", len(names), maxPolicies)
	case len(names) == 1 && named:
		return nil, refused("manifest", "all episodes are of the policy %q: name two or more, or leave out the column of policies", names[0])
	}
	seconds := cmp.Or(f.cfg.ClipSeconds, DefaultClipSeconds)
	m.described = described{
		Title: cmp.Or(f.cfg.Title, d.Robot, "Recordings"), Description: "Recordings of a data set of LeRobot.", StepSeconds: 1 / d.FPS,
		ClipSteps: max(1, min(maxClip, steps, int(math.Round(seconds*d.FPS)))),
	}
	if !foreign.IsLine(m.Title, foreign.MaxTitle) {
		m.Title = "Recordings"
	}
	m.defaults()
	x := &filmed{Folder: kept(f.cfg.Into, d.Folder().Path), Within: kept(f.cfg.Into, d.Folder().Within), FPS: d.FPS}
	for k, c := range d.Cameras {
		camera := filmCamera{Name: c.Name}
		for i, v := range d.Videos {
			if v.Camera == k {
				camera.Width, camera.Height = checked[i].Width, checked[i].Height
			}
		}
		x.Cameras = append(x.Cameras, camera)
	}
	f.entries.videos = func(yield func(filmedVideo) bool) {
		for i, v := range d.Videos {
			if !yield(filmedVideo{Name: v.Name, Camera: v.Camera, Bytes: v.Bytes, Modified: v.Modified, Codec: checked[i].Codec, Frames: checked[i].Frames}) {
				return
			}
		}
	}
	f.x = index{
		Format: "tiebreak.rollouts.kept", Version: filmedVersion, Name: f.cfg.Name, described: m.described,
		Named: named, Policies: names, Filmed: x,
	}
	return of, nil
}

// decideFeatures decides what features are made of: the column that was named, else the observations, else the policies.
func (f *filming) decideFeatures(s *standard) (*standard, error) {
	if c := f.cfg.Options.Features; c != "" {
		f.x.From, f.m.From = fromArrays, fromArrays
		f.x.Column, f.x.SeenBy = c, f.d.SeenBy(c)
		return nil, nil
	}
	if !s.wide {
		s.names = f.d.FeatureNames("observation.state", len(s.mean))
	}
	return f.decide(s)
}

// keepEpisode keeps the numbers of an episode, and where its videos are. Frame t + 1 is the end of step t.
func (f *filming) keepEpisode(i, policy int, r *lerobot.Frames, how *standard) error {
	e := f.d.Episodes[i]
	n := e.Length - 1
	episode := &recording{given: given{Name: episodeName(i), Row: &e.First, Acted: idrl.Acted{Policy: e.Policy, Task: e.Task, Start: e.Start}}, obs: r.States, acts: r.Actions}
	if episode.acts != nil {
		episode.acts = episode.acts[:n]
	}
	if c := f.cfg.Options.Features; c != "" {
		if episode.phi = r.Features[1:]; len(episode.phi[0]) > foreign.MaxFeatures {
			return refused("features", "the column %.80q has %d numbers for each frame; there may be %d: make fewer of them, as by a projection", c, len(episode.phi[0]), foreign.MaxFeatures)
		}
		if f.x.Features == nil {
			f.x.Features = f.columnNames(c, len(episode.phi[0]))
			f.m.Features = f.x.Features
		}
	}
	arrays := foreign.Episode{Obs: episode.obs, Actions: episode.acts, Phi: episode.phi}
	if err := arrays.Check(len(f.m.Features)); err != nil {
		return refused("array", "episode %d: %v", i, err)
	}
	if episode.obs == nil {
		episode.obs = zeros(n+1, 1)
	}
	if episode.acts == nil {
		episode.acts = zeros(n, 1)
	}
	if err := f.features(episode, policy, how); err != nil {
		return err
	}
	kept, err := f.keep(i, policy, episode)
	if err != nil {
		return err
	}
	for _, p := range e.Places {
		kept.Places = append(kept.Places, place{Video: p.Video, First: p.First})
	}
	kept.Success = e.Success
	return f.entries.add(kept)
}

// columnNames returns names of the n numbers of a column.
func (f *filming) columnNames(column string, n int) []string {
	if names := f.d.FeatureNames(column, n); names != nil {
		return names
	}
	short := column[strings.LastIndexByte(column, '.')+1:]
	out := make([]string, n)
	for k := range out {
		out[k] = fmt.Sprintf("%.20s %d", short, k)
	}
	return out
}

// Successes returns how many rollouts are known to have done their task, and of how many it is known.
func (s *Set) Successes() (done, known int) {
	for _, e := range s.x.Rollouts {
		if e.Success != nil {
			known++
			if *e.Success {
				done++
			}
		}
	}
	return done, known
}

// Filmed returns the cameras that filmed the rollouts, in the order in which they are shown, and the folder in which their
// videos are now, as an absolute path; no cameras if there are none.
func (s *Set) Filmed() (cameras []string, folder string) {
	if s.x.Filmed == nil {
		return nil, ""
	}
	for _, c := range s.x.Filmed.Cameras {
		cameras = append(cameras, c.Name)
	}
	at, _ := s.videos() // the set was opened
	return cameras, at.Path
}
