package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"sync"

	"tiebreak/internal/jobs"
	"tiebreak/internal/training"
)

func workerCommand() command {
	return command{
		name: "worker", endless: true, summary: "train policies for a server (the server starts it itself)", usage: "", hidden: true,
		about:   "Reads training jobs from standard input and writes their results to standard output, at the lowest\npriority once people label, until its input ends. The server starts it; there is no need to.",
		example: "tiebreak worker < jobs > results",
		run: func(ctx context.Context, io stdio, args []string) error {
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
			yield := sync.OnceFunc(func() {
				if err := jobs.LowerPriority(); err != nil {
					fmt.Fprintf(io.err, "running at normal priority: %v\n", err)
				}
			})
			log := slog.New(slog.NewTextHandler(io.err, nil))
			h := &training.Handler{Envs: list.logged(log), Yield: yield, Log: log}
			return jobs.Serve(ctx, io.in, io.out, h)
		},
	}
}
