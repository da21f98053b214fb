package main

import (
	"context"
	"flag"
	"log/slog"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/training"
)

func workerCommand() command {
	return shared.With(command{
		Name: "worker", Endless: true, Summary: "train policies for a server (the server starts it itself)", Usage: "", Hidden: true,
		About:   "Reads jobs, such as trainings, from standard input and writes their results to standard output, until its\ninput ends. The server starts it and sets its priority: you need not run it yourself.",
		Example: "tiebreak worker < jobs > results",
	}, func(mine *own, fs *flag.FlagSet) {
		ownFlags(fs, mine)
		fs.StringVar(&mine.past, "rollouts", "", "`folder` of rollouts that were imported")
	}, func(ctx context.Context, io stdio, mine *own) error {
		list, err := openCatalogue(*mine)
		if err != nil {
			return err
		}
		log := slog.New(slog.NewTextHandler(io.Err, nil))
		h, err := handler(list, *mine, log)
		if err != nil {
			return err
		}
		return jobs.Serve(ctx, io.In, io.Out, h)
	})
}

// handler returns what does the jobs of this program in a worker with the environments of list, which
// are those of mine.
func handler(list *catalogue, mine own, log *slog.Logger) (jobs.Handler, error) {
	line, err := workerCommandLine(mine)
	if err != nil {
		return nil, err
	}
	out := jobs.Kinds{runKind: runHandler{envs: list.logged(log), worker: line, log: log}}
	train := &training.Handler{Envs: list.logged(log), Log: log}
	for _, kind := range training.Kinds() {
		out[kind] = train
	}
	return out, nil
}
