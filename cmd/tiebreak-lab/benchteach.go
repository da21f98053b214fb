package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment/teaching"
	"tiebreak/internal/lab/seeing"
)

func benchTeachCommand() command.Command {
	return command.With(command.Command{
		Name: "bench teach", Summary: "measure whether a robot can be taught in one sitting", Usage: "ROBOT [flags]",
		About: "A simulated person teaches a robot: the person sees only the drawn clips, compares them by a taste, takes three\n" +
			"seconds for an answer and is wrong in one of ten. Policies are trained during the answers, on a clock that\n" +
			"counts each second of processor time. It prints how the recommended policy performs in episodes that no training\n" +
			"has seen, and keeps a file for each lesson; the same command continues where it was stopped. A lesson that is kept\n" +
			"with other settings, or without the film strips of --strips, is repeated. Needs MuJoCo.\n\n" +
			tastesText(),
		Example: "tiebreak-lab bench teach half-cheetah --taste forward --seeds 5",
	}, (*teachFlags).declare, runBenchTeach)
}

// tastesText lists the robots and their tastes.
func tastesText() string {
	var b strings.Builder
	b.WriteString("Robots and tastes:\n")
	for _, t := range seeing.Tastes() {
		if slices.Contains(seeing.Robots(), t.Env) {
			fmt.Fprintf(&b, "  %-24s %-9s %s\n", t.Env, t.Name, t.About)
		}
	}
	return b.String()
}

type teachFlags struct {
	robot              string
	taste, out, strips string
	answers, seeds     int
	first              uint64
	each, limit, wait  time.Duration
	mistake            float64
	every              int
}

func (f *teachFlags) declare(fs *flag.FlagSet) {
	d := teaching.Default()
	fs.StringVar(&f.taste, "taste", "", "`name` of what the person likes; default: the robot's first")
	fs.StringVar(&f.out, "out", "bench-teach", "`folder` for the lessons")
	fs.StringVar(&f.strips, "strips", "", "`folder` for film strips of the questions of each lesson, and films of the recommended policy before and after; none without it")
	fs.IntVar(&f.answers, "answers", d.Answers, "`number` of comparisons")
	fs.IntVar(&f.seeds, "seeds", 5, "`number` of lessons")
	fs.Uint64Var(&f.first, "first-seed", 1, "first `seed`; seeds are consecutive")
	fs.DurationVar(&f.each, "pace", d.Each, "`time` that an answer takes")
	fs.DurationVar(&f.limit, "limit", d.Limit, "`time` that a lesson takes at most")
	fs.DurationVar(&f.wait, "wait", 0, "`time` that the person waits after the last training, while searches go on as in a session without answers")
	fs.Float64Var(&f.mistake, "mistake", d.Mistake, "`probability` that an answer is the opposite")
	fs.IntVar(&f.every, "every", 10, "`answers` between two looks at the recommended policy")
}

func (f *teachFlags) check() error {
	switch {
	case f.answers < 1 || f.seeds < 1:
		return idrl.Errorf(idrl.Invalid, "--answers and --seeds must be at least 1; got %d and %d", f.answers, f.seeds)
	case f.wait < 0:
		return idrl.Errorf(idrl.Invalid, "--wait must not be negative; got %v", f.wait)
	case f.each <= 0 || f.limit <= 0:
		return idrl.Errorf(idrl.Invalid, "--pace and --limit must be positive; got %v and %v", f.each, f.limit)
	case !(f.mistake >= 0 && f.mistake <= 1):
		return idrl.Errorf(idrl.Invalid, "--mistake must be a probability; got %v", f.mistake)
	}
	return nil
}

// Words takes the robot from before the flags.
func (f *teachFlags) Words(args []string) (rest []string, err error) {
	if len(args) == 0 || !slices.Contains(seeing.Robots(), args[0]) {
		return nil, fmt.Errorf("%w: name a robot: %s", command.ErrUsage, strings.Join(seeing.Robots(), ", "))
	}
	f.robot = args[0]
	return args[1:], nil
}

func runBenchTeach(ctx context.Context, io command.IO, f *teachFlags) error {
	taste, err := seeing.Find(f.robot, f.taste)
	if err = errors.Join(err, f.check()); err != nil {
		return fmt.Errorf("%w: %w", command.ErrUsage, err)
	}
	roomForC()
	line := command.NewProgressLine(io.Err)
	defer line.Clear()
	fmt.Fprintln(io.Out, teachHead)
	for i := range f.seeds {
		l := teaching.Lesson{
			Env: taste.Env, Taste: taste.Name, Seed: f.first + uint64(i), Answers: f.answers, Each: f.each, Limit: f.limit, Wait: f.wait, Mistake: f.mistake,
		}
		o := teaching.Options{Envs: envs.Catalogue(), CPU: cpuTime, Every: f.every, Progress: func(p teaching.Point) {
			line.Show(fmt.Sprintf("lesson %d of %d: %s", i+1, f.seeds, teachRow(l, p)))
		}}
		if _, ok := f.kept(l); ok && !f.isDrawn(l) {
			line.Say("Lesson %d of %d is kept without film strips in %s: it is repeated, and replaced.", i+1, f.seeds, f.strips)
		}
		r, err := f.lesson(ctx, l, o)
		if err != nil {
			return err
		}
		line.Clear()
		for _, p := range r.Points {
			fmt.Fprintln(io.Out, teachRow(l, p))
		}
	}
	return nil
}

// A keptLesson is the file of a lesson.
type keptLesson struct {
	Lesson    teaching.Lesson
	Every     *int // answers between two points; files of earlier versions lack it
	Points    []teaching.Point
	Questions []keptQuestion // in the order asked
}

type keptQuestion struct {
	BasedOn int64 // of the generation
	Answer  idrl.Choice
	A, B    []float64 // features of the clips
}

// isEvery reports whether the points of k are this many answers apart.
func (k keptLesson) isEvery(n int) bool {
	if k.Every != nil {
		return *k.Every == n
	}
	last := len(k.Points) - 1 // the last point is at the end
	for i, p := range k.Points[:last] {
		if p.Answers != (i+1)*n {
			return false
		}
	}
	given := k.Points[last].Answers
	return n <= 0 && last == 0 || given >= last*n && given <= (last+1)*n
}

// nameOf returns the name of the files of a lesson, without extension.
func nameOf(l teaching.Lesson) string { return fmt.Sprintf("%s-%s-%d", l.Env, l.Taste, l.Seed) }

// kept returns the stored lesson; ok is false if there is none, or if it was given or recorded with
// other settings.
func (f *teachFlags) kept(l teaching.Lesson) (kept keptLesson, ok bool) {
	b, err := os.ReadFile(filepath.Join(f.out, nameOf(l)+".json"))
	ok = err == nil && json.Unmarshal(b, &kept) == nil && kept.Lesson == l && len(kept.Points) > 0 && kept.isEvery(f.every)
	return kept, ok
}

// drawings returns the paths of the strip of the questions of a lesson, and of the films before
// and after it.
func (f *teachFlags) drawings(l teaching.Lesson) (strip, before, after string) {
	name := filepath.Join(f.strips, nameOf(l))
	return name + ".png", name + "-before.gif", name + "-after.gif"
}

// isDrawn reports whether all requested film strips exist.
func (f *teachFlags) isDrawn(l teaching.Lesson) bool {
	if f.strips == "" {
		return true
	}
	strip, before, after := f.drawings(l)
	return !slices.ContainsFunc([]string{strip, before, after}, func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}

// lesson gives a lesson, or reads the stored one. If film strips are missing the lesson is given
// again, because its clips are not stored.
func (f *teachFlags) lesson(ctx context.Context, l teaching.Lesson, o teaching.Options) (keptLesson, error) {
	if kept, ok := f.kept(l); ok && f.isDrawn(l) {
		return kept, nil
	}
	r, err := teaching.Do(ctx, l, o)
	if err != nil {
		return keptLesson{}, fmt.Errorf("lesson with seed %d: %w", l.Seed, err)
	}
	kept := keptLesson{Lesson: l, Every: &o.Every, Points: r.Points}
	for _, q := range r.Asked {
		kept.Questions = append(kept.Questions, keptQuestion{q.BasedOn, q.Answer.Choice, q.A.Header.Phi, q.B.Header.Phi})
	}
	if err := writeJSON(filepath.Join(f.out, nameOf(l)+".json"), kept); err != nil {
		return kept, err
	}
	if f.strips == "" {
		return kept, nil
	}
	strip, before, after := f.drawings(l)
	return kept, errors.Join(writeStrip(strip, r.Asked), writeFilm(ctx, before, r.Before), writeFilm(ctx, after, r.After))
}

const teachHead = "robot            taste     seed answers clock s  CPU s   return forward m  steps falls turns  near arrived  policy"

func teachRow(l teaching.Lesson, p teaching.Point) string {
	o := p.Outcome
	return fmt.Sprintf("%-16s %-9s %4d %7d %7.0f %6.0f %8.0f %9.1f %6.0f %5d %5.1f %5.2f %7d  %s",
		l.Env, l.Taste, l.Seed, p.Answers, p.Clock, p.Trained, o.Return(), o.Forward(), o.Steps(), o.Falls(), o.Turns(), o.Near(), o.Arrived(), p.Leader)
}
