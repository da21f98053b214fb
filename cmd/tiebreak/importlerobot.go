package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/data/recordings"
)

// lerobotFlags are those of import for data sets of LeRobot.
type lerobotFlags struct {
	folder, csv string
	config      recordings.LeRobotConfig // what the flags of recordings.LeRobotFields say
	given       bool                     // there is one of these
}

func (f *lerobotFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.folder, "lerobot", "", "`folder` of a data set of LeRobot, v3.0 or v2.1 (docs/lerobot.md)")
	for _, field := range recordings.LeRobotFields() {
		fs.Func(field.Name, field.Help, func(value string) error {
			f.given = true
			return field.Set(&f.config, value)
		})
	}
	fs.StringVar(&f.csv, "episodes-csv", "", "`file` with the column episode_index, and any of policy, task, start and success")
}

// importLeRobot imports a data set of LeRobot.
func importLeRobot(ctx context.Context, std stdio, f *importFlags) error {
	if f.from != "" || f.as != "" || f.anew || f.rollouts != "" || f.name == "" {
		return fmt.Errorf("%w: with --lerobot give --name, and no bundle, --rollouts, --as or --new-id", errUsage)
	}
	if err := present(f.folder); err != nil {
		return err
	}
	folder, err := lerobot.FolderAt(f.folder)
	if err != nil {
		return err
	}
	c, told := f.config, false
	c.From, c.Into, c.Name, c.Title, c.Options.CSV = folder, filepath.Join(f.data, recordings.FolderName), f.name, f.title, f.csv
	err = importApart(ctx, c, func(l importLine) {
		for _, line := range l.Plan {
			fmt.Fprintln(std.Err, line)
		}
		if l.What != "" {
			told = true
			fmt.Fprintf(std.Err, "\r%-70s", l.says())
		}
	})
	if told {
		fmt.Fprintln(std.Err)
	}
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("the import was interrupted, and nothing was imported: the same command continues it: %w", err)
		}
		return err
	}
	set, err := recordings.Open(filepath.Join(c.Into, c.Name))
	if err != nil {
		return err
	}
	cameras, at := set.Filmed()
	fmt.Fprintf(std.Out, "Videos:      of %s, in %s: they are not copied, and must stay there as they are\n", strings.Join(cameras, ", "), at)
	sayImported(std, f.data, set)
	return nil
}
