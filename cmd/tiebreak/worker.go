package main

import (
	"context"
	"flag"
	"log/slog"

	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/training"
)

func workerCommand() command {
	return command{
		Name: "worker", Endless: true, Summary: "train policies for a server (the server starts it itself)", Usage: "", Hidden: true,
		About:   "Reads training jobs from standard input and writes their results to standard output, until its\ninput ends. The server starts it and sets its priority: you need not run it yourself.",
		Example: "tiebreak worker < jobs > results",
		Run: func(ctx context.Context, io stdio, args []string) error {
			var mine own
			fs := flag.NewFlagSet("worker", flag.ContinueOnError)
			ownFlags(fs, &mine)
			fs.StringVar(&mine.past, "rollouts", "", "`folder` of rollouts that were imported")
			if err := parse(fs, args); err != nil {
				return err
			}
			list, err := openCatalogue(mine)
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(io.Err, nil))
			h := &training.Handler{Envs: list.logged(log), Log: log}
			return jobs.Serve(ctx, io.In, io.Out, h)
		},
	}
}
