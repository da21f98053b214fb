package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"

	"tiebreak/envs"
	"tiebreak/internal/data/labels"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/training"
)

// labelFlags are the flags of import about labels.
type labelFlags struct {
	labels, env, title, file string
	seed                     uint64
	seeded                   bool // seed is given
	steps                    int
	leaveOut                 bool
}

func (f *labelFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.labels, "labels", "", "`folder` with the labels of Uni-RLHF or Preference Transformer, or of a bundle's adapters/uni_rlhf (docs/rollouts.md)")
	fs.StringVar(&f.env, "env", "", "with --labels, `environment` of the rollouts that the labels are about: rollouts-NAME")
	fs.IntVar(&f.steps, "segment-steps", 0, "with --labels, `steps` of a segment, if the file names do not contain them")
	fs.BoolVar(&f.leaveOut, "leave-out", false, "with --labels, leave out comparisons whose segments cross the end of a rollout or belong to rollouts that were not imported; without this flag such labels are an error")
	fs.StringVar(&f.title, "title", "", "with --labels, `name` of the session; with --lerobot, of the environment (default: the robot of the data set)")
	fs.Uint64Var(&f.seed, "seed", 1, "with --labels, seed of every random choice of the session")
	fs.StringVar(&f.file, "f", "", "with --labels, YAML `file` with the settings of the session (docs/study.md)")
}

// importer is the annotator of imported answers.
const importer = "Imported labels"

// A labelImport is one import of labels.
type labelImport struct {
	labelFlags
	std  stdio
	list envs.List
	told instructionFile
	spec idrl.SessionSpec
	set  *recordings.Set

	pairs  []labels.Pair
	counts labels.Counts

	clips map[labels.Segment]idrl.Clip
	drawn labels.Drawn
}

// importLabels makes a session from labels of another program: completely, or not at all.
func importLabels(ctx context.Context, std stdio, f *importFlags) (err error) {
	if f.from != "" || f.as != "" || f.anew || f.rollouts != "" || f.name != "" || f.env == "" && f.file == "" {
		return fmt.Errorf("%w: with --labels give --env rollouts-NAME, and no bundle, --rollouts, --name, --as or --new-id", errUsage)
	}
	for _, path := range []string{f.labels, f.data} { // before the data folder is made
		if err := present(path); err != nil {
			return err
		}
	}
	in := &labelImport{labelFlags: f.labelFlags, std: std}
	if in.list, err = environments(own{}.at(f.data)); err != nil {
		return err
	}
	if err := in.settings(); err != nil {
		return err
	}
	if err := in.join(); err != nil {
		return err
	}
	db, err := openShared(ctx, f.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	dir, remove, err := db.Scratch(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	err = in.record(ctx, db, dir)
	in.progress("")
	fmt.Fprint(std.Err, "\r")
	if err == nil {
		in.print(f.data)
	}
	return err
}

// settings reads the settings of the session.
func (in *labelImport) settings() (err error) {
	spec := &in.spec
	if in.file != "" {
		file, told, err := readStudy(in.file)
		if err != nil {
			return err
		}
		*spec, in.told = file.Spec, told
	}
	spec.Env = cmp.Or(in.env, spec.Env)
	if in.file == "" || in.seeded {
		spec.Seed = in.seed
	}
	if in.set, err = training.Recorded(in.list, *spec); err != nil {
		return err
	}
	if in.set == nil {
		return idrl.Errorf(idrl.Invalid, "labels-env: %s is not an environment of imported rollouts: first import the trajectories that the labels are about ('tiebreak import --rollouts', docs/rollouts.md), then give --env rollouts-NAME", spec.Env)
	}
	spec.Title = cmp.Or(in.title, spec.Title, idrl.Titled("Labels of ", in.set.Title(), ""))
	if spec.Acquisition == "" && !in.set.Named() {
		spec.Acquisition = "igr" // others need policies
	}
	if *spec, err = namedSession(in.list, *spec); err != nil {
		return err
	}
	if spec.Kind != idrl.CompareClips || len(spec.Controls) > 0 || spec.HeldOut > 0 || spec.AdoptAfter > 0 {
		return idrl.Errorf(idrl.Invalid, "labels-settings: no strategy has chosen the comparisons of imported labels: use a session of the kind %s, without conditions, held-out and adopt-after", idrl.CompareClips)
	}
	return nil
}

// join reads the labels and finds their segments in the rollouts.
func (in *labelImport) join() error {
	set, err := labels.Read(in.labels)
	if err != nil {
		return err
	}
	switch {
	case in.steps < 0:
		return idrl.Errorf(idrl.Invalid, "labels-steps: --segment-steps is %d, and a segment has at least 1 step", in.steps)
	case in.steps == 0 && set.Steps == 0:
		return idrl.Errorf(idrl.Invalid, "labels-steps: the file names do not say how many steps a segment has: give --segment-steps, such as 100, the default of Preference Transformer")
	case in.steps != 0 && set.Steps != 0 && in.steps != set.Steps:
		return idrl.Errorf(idrl.Invalid, "labels-steps: --segment-steps is %d, but the file names say %d", in.steps, set.Steps)
	}
	in.steps = cmp.Or(in.steps, set.Steps)
	in.pairs, in.counts, err = set.Join(in.set.Rows(), in.steps, in.leaveOut)
	return err
}

func (in *labelImport) progress(what string) { fmt.Fprintf(in.std.Err, "\r%-50s", what) }

// print prints a summary of the import.
func (in *labelImport) print(data string) {
	c, out := in.counts, in.std.Out
	fmt.Fprintf(out, "Comparisons: %d imported: %d first is better, %d second, %d equal\n", len(in.pairs), c.First, c.Second, c.Equal)
	fmt.Fprintf(out, "Left out:    %d of %d: %d cross the end of a rollout, %d are in rows that were not imported, %d compare a segment with itself\n", c.LeftOut(), c.Comparisons, c.Across, c.Missing, c.Same)
	rollouts := map[int]bool{}
	for s := range in.clips {
		rollouts[s.Rollout] = true
	}
	fmt.Fprintf(out, "Segments:    %d of %d steps, of %d rollouts\n", len(in.clips), in.steps, len(rollouts))
	if in.set.Unseen() {
		fmt.Fprintf(out, "Drawn:       none: these rollouts have no pictures, so no more questions can be asked: the session is closed\n")
	} else {
		fmt.Fprintf(out, "Drawn:       both clips of %d comparisons\n", in.drawn.Pairs)
		if in.drawn.Why != nil {
			fmt.Fprintf(out, "Not drawn:   clips that cannot be shown; the first: %v\n", in.drawn.Why)
		}
		if n := in.set.ClipSteps(); n != in.steps {
			fmt.Fprintf(out, "Note:        new questions show clips of %d steps; to show clips as long as those of the labels, import the rollouts with \"clip_steps\": %d\n", n, in.steps)
		}
	}
	fmt.Fprintf(out, "Session:     %s\nTitle:       %s\nNext:        %s\n", in.spec.ID, in.spec.Title, commandLine("serve", "--data", data))
	if !in.set.Unseen() {
		fmt.Fprintf(out, "             %s\n", commandLine("invite", "new", "--data", data, "--session", string(in.spec.ID)))
	}
}
