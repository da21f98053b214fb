package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"tiebreak/internal/data/lerobot"
	"tiebreak/internal/data/recordings"
)

// lerobotFlags are those of import for data sets of LeRobot.
type lerobotFlags struct {
	folder, cameras                     string
	policy, taskOf, start, success, phi string
	csv                                 string
	clipSeconds                         float64
}

func (f *lerobotFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.folder, "lerobot", "", "`folder` of a data set of LeRobot, v3.0 or v2.1 (docs/lerobot.md)")
	fs.StringVar(&f.cameras, "cameras", "", "`names` of the cameras that are shown, separated by commas, the most important first; default: all")
	fs.StringVar(&f.policy, "policy-column", "", "`column` of the episodes or of the data that names the policy which acted; default: each episode counts as a policy of its own")
	fs.StringVar(&f.taskOf, "task-column", "", "`column` of the task; default: what the data set says")
	fs.StringVar(&f.start, "start-column", "", "`column` of a seed or a scene: episodes of one task with equal values began alike")
	fs.StringVar(&f.success, "success-column", "", "`column` that tells whether the task was done, such as next.success: true in any frame")
	fs.StringVar(&f.phi, "feature-column", "", "`column` of the data with at most 64 numbers of each frame, which the reward is made of; default: the observations, standardised")
	fs.StringVar(&f.csv, "episodes-csv", "", "`file` with the column episode_index, and any of policy, task, start and success")
	fs.Float64Var(&f.clipSeconds, "clip-seconds", 0, "length of clips; default: 10, or the longest episode")
}

func (f *lerobotFlags) options() lerobot.Options {
	o := lerobot.Options{Policy: f.policy, Task: f.taskOf, Start: f.start, Success: f.success, Features: f.phi, CSV: f.csv}
	for c := range strings.SplitSeq(f.cameras, ",") {
		if c = strings.TrimSpace(c); c != "" {
			o.Cameras = append(o.Cameras, c)
		}
	}
	return o
}

// importLeRobot imports a data set of LeRobot.
func importLeRobot(ctx context.Context, std stdio, f *importFlags) error {
	if f.from != "" || f.as != "" || f.anew || f.rollouts != "" || f.name == "" {
		return fmt.Errorf("%w: with --lerobot give --name, and no bundle, --rollouts, --as or --new-id", errUsage)
	}
	if err := present(f.folder); err != nil {
		return err
	}
	told := false
	set, err := recordings.ImportLeRobot(ctx, recordings.LeRobotConfig{
		From: f.folder, Into: filepath.Join(f.data, recordings.FolderName), Name: f.name, Title: f.title, Options: f.options(), ClipSeconds: f.clipSeconds,
		Plan: func(p recordings.Plan) { sayPlan(std.Err, p) },
		Progress: func(done, total int, what string) {
			told = true
			fmt.Fprintf(std.Err, "\r%s %d of %d          ", what, done+1, total)
		},
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
	cameras, folder := set.Filmed()
	fmt.Fprintf(std.Out, "Videos:      of %s, in %s: they are not copied, and must stay there as they are\n", strings.Join(cameras, ", "), folder)
	sayImported(std, f.data, set)
	return nil
}

// sayPlan says what an import is going to read and to write.
func sayPlan(w io.Writer, p recordings.Plan) {
	var names []string
	for _, c := range p.Cameras {
		names = append(names, c.Name)
	}
	hours := time.Duration(float64(p.Frames) / p.FPS * float64(time.Second)).Round(time.Second)
	fmt.Fprintf(w, "LeRobot %s: %d episodes, %d frames at %g a second (%s), robot: %s\n", p.Version, len(p.Episodes), p.Frames, p.FPS, hours, p.Robot)
	fmt.Fprintf(w, "Cameras: %s; %d videos with %s, which are not copied\n", strings.Join(names, ", "), len(p.Videos), megabytes(p.VideoBytes()))
	fmt.Fprintf(w, "This takes about %s, and %s of disk, and later about 0.7 MB for each clip that people see.\n",
		(time.Duration(max(1, p.Seconds)) * time.Second).Round(time.Second), megabytes(p.Place))
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
