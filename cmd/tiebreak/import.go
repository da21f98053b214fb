package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// importFlags are the flags of import.
type importFlags struct {
	data, from, as string
	anew           bool

	rollouts, name string

	lerobotFlags
	labelFlags
	set *flag.FlagSet // all of these
}

func (f *importFlags) declare(fs *flag.FlagSet) {
	f.set = fs
	dataFlag(fs, &f.data)
	fs.StringVar(&f.from, "bundle", "", "`folder`, zip, tar or tar.gz file of the bundle; the flag can be omitted")
	fs.StringVar(&f.as, "as", "", "`id` of the new session; default: the id in the bundle")
	fs.BoolVar(&f.anew, "new-id", false, "draw a new id for the session")
	fs.StringVar(&f.rollouts, "rollouts", "", "`folder` with rollouts of another simulator (docs/rollouts.md)")
	fs.StringVar(&f.name, "name", "", recordings.NameHelp)
	f.lerobotFlags.declare(fs)
	f.labelFlags.declare(fs)
}

func importCommand() command {
	return shared.With(command{
		Name: "import", Summary: "import a session from its bundle, a data set of LeRobot, rollouts of another simulator, or labels of rollouts", Usage: "BUNDLE [flags]",
		About: "Imports a session that 'tiebreak export --format bundle' wrote, completely or not at all: every file is first\n" +
			"compared with its checksum. The session continues where it was, and exports the same bundle. Of annotators, only\n" +
			"the pseudonyms are imported: they cannot continue with their old links, so invite annotators again.\n" +
			"The server may be running on the data folder if the session is not large. docs/datasets.md says more.\n\n" +
			"With --rollouts it imports trajectories of another simulator, with pictures, videos or scenes, as an environment\n" +
			"whose clips people compare; videos need ffmpeg. docs/rollouts.md describes the files.\n\n" +
			"With --lerobot it imports a data set of LeRobot: episodes of real robots that cameras filmed, as such an environment.\n" +
			"Videos stay where they are, and are read there by ffmpeg. docs/lerobot.md says more.\n\n" +
			"With --labels it makes a session from comparisons that were published with a data set, by Uni-RLHF or Preference\n" +
			"Transformer: .npy files about segments of rollouts that were imported before, matched by position. Convert published\n" +
			"pickle files first. The posterior learns from these answers, and people can continue the session. docs/rollouts.md says more.",
		Example: "tiebreak import bundle.zip --data tiebreak-data\n" +
			"  tiebreak import bundle --data tiebreak-data --new-id\n" +
			"  tiebreak import --rollouts my-rollouts --name walks --data tiebreak-data\n" +
			"  tiebreak import --lerobot pick-and-place --name pick --policy-column policy --data tiebreak-data\n" +
			"  tiebreak import --labels hopper-labels --env rollouts-hopper --data tiebreak-data",
		Unflagged: "bundle",
	}, (*importFlags).declare, runImport)
}

func runImport(ctx context.Context, std stdio, f *importFlags) (err error) {
	f.seeded = shared.Given(f.set, "seed")
	switch {
	case f.labels != "":
		return importLabels(ctx, std, f)
	case f.labelFlags != (labelFlags{seed: 1, title: f.title}):
		return fmt.Errorf("%w: --env, --segment-steps, --leave-out, --seed and -f are for --labels", errUsage)
	case f.folder != "":
		return importLeRobot(ctx, std, f)
	case f.title != "":
		return fmt.Errorf("%w: --title is for --labels and --lerobot", errUsage)
	case f.given:
		return fmt.Errorf("%w: --cameras, --episodes-csv, --clip-seconds and the flags of columns are for --lerobot", errUsage)
	case f.rollouts != "":
		return importRollouts(ctx, std, f)
	}
	switch {
	case f.name != "":
		return fmt.Errorf("%w: --name is for --rollouts and --lerobot", errUsage)
	case f.from == "":
		return fmt.Errorf("%w: name a bundle, --rollouts, --lerobot or --labels: tiebreak import BUNDLE", errUsage)
	case f.as != "" && f.anew:
		return fmt.Errorf("%w: give --as or --new-id, not both", errUsage)
	}
	if err := present(f.from); err != nil { // before the data folder is made
		return err
	}
	db, err := openShared(ctx, f.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	spec, err := importBundle(ctx, db, f)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "Session:    %s\nTitle:      %s\nAnnotators: '%s' makes a link for them\n", spec.ID, spec.Title, commandLine("invite", "new", "--data", f.data, "--session", string(spec.ID)))
	return nil
}

// present returns an error of kind NotFound if there is nothing at path.
func present(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return idrl.Errorf(idrl.NotFound, "there is no %s", path)
	}
	return nil
}

// importBundle records the session of a bundle.
func importBundle(ctx context.Context, db *store.DB, f *importFlags) (spec idrl.SessionSpec, err error) {
	dir, remove, err := db.Scratch(ctx)
	if err != nil {
		return spec, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	b, err := bundle.Open(filepath.Clean(f.from), dir, db.Room())
	if err != nil {
		return spec, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	id := b.Session()
	if f.as != "" {
		id = idrl.SessionID(f.as)
	}
	if f.anew {
		id = newSessionID()
	}
	spec, err = db.ImportSession(ctx, b, id, judge(), dir, byCommand)
	if idrl.KindOf(err) == idrl.Conflict && f.as == "" && !f.anew {
		err = fmt.Errorf("%w (--as ID, or --new-id)", err)
	}
	return spec, err
}

// importRollouts imports rollouts of another simulator.
func importRollouts(ctx context.Context, std stdio, f *importFlags) error {
	if f.from != "" || f.as != "" || f.anew || f.name == "" {
		return fmt.Errorf("%w: with --rollouts give --name, and no bundle, --as or --new-id", errUsage)
	}
	if err := present(f.rollouts); err != nil {
		return err
	}
	set, err := recordings.Import(ctx, recordings.Config{
		From: f.rollouts, Into: filepath.Join(f.data, recordings.FolderName), Name: f.name,
		Progress: func(done, total int, what string) {
			fmt.Fprintf(std.Err, "\rreading %d of %d: %-40s", done+1, total, what)
		},
	})
	fmt.Fprint(std.Err, "\r")
	if err != nil {
		return err
	}
	sayImported(std, f.data, set)
	return nil
}

// sayImported says what was imported, and what comes next.
func sayImported(std stdio, data string, set *recordings.Set) {
	n, policies := set.Size()
	next := commandLine("session", "create", "--data", data, "--env", set.ID())
	fmt.Fprintf(std.Out, "Rollouts:    %d\n", n)
	if done, known := set.Successes(); known > 0 {
		fmt.Fprintf(std.Out, "Successes:   %d of %d\n", done, known)
	}
	if set.Named() {
		fmt.Fprintf(std.Out, "Policies:    %d\n", policies)
		if policies > 1 {
			next += "\n             or " + commandLine("arena", "new", "--data", data, "--entrants", set.ID())
		}
	} else {
		next += " --acquisition igr"
	}
	fmt.Fprintf(std.Out, "Features:    %s\nEnvironment: %s\n", set.RewardOf(), set.ID())
	fmt.Fprintf(std.Out, "Next:        %s\n             %s\nA server that is running has it already.\n", next, commandLine("serve", "--data", data))
}
